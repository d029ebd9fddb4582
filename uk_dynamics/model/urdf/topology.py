# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Links and joints must form one tree; loops are closed elsewhere."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from uk_dynamics.exceptions import UrdfError
from uk_dynamics.model.urdf.description import ONE_DOF, Joint, Link, Mimic

CLOSE_IN_MECHANISM = "keep one and close the loop under `constraints` of the mechanism file"


def order_joints(links: Sequence[Link], joints: Sequence[Joint]) -> tuple[str, tuple[Joint, ...]]:
    """Find the root link and sort the joints depth first, siblings in the order of the file.

    Raises UrdfError: No link, unknown or repeated links, several roots, or a cycle.
    """
    if not links:
        raise UrdfError("there is no <link>; a robot has at least one")
    by_parent = _check_ends([link.name for link in links], joints)
    children = {joint.child for joint in joints}
    roots = [link.name for link in links if link.name not in children]
    if len(roots) > 1:
        shown = ", ".join(roots[:6])
        raise UrdfError(f"the links {shown} have no parent; connect them by joints to one root")
    ordered: list[Joint] = []
    waiting = list(reversed(by_parent.get(roots[0], []))) if roots else []
    while waiting:
        joint = waiting.pop()
        ordered.append(joint)
        waiting += reversed(by_parent.get(joint.child, []))
    if len(ordered) < len(joints):
        reached = {joint.name for joint in ordered}
        cycle = ", ".join([joint.name for joint in joints if joint.name not in reached][:6])
        raise UrdfError(f"the joints {cycle} form a cycle; {CLOSE_IN_MECHANISM}")
    return roots[0], tuple(ordered)


def _check_ends(links: Sequence[str], joints: Sequence[Joint]) -> dict[str, list[Joint]]:
    known = set(links)
    mover: dict[str, str] = {}
    by_parent: dict[str, list[Joint]] = {}
    for joint in joints:
        place = f"joint {joint.name}"
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in known:
                raise UrdfError(f'no {role} link "{link}"; {_suggestion(link, links)}', place=place)
        if joint.parent == joint.child:
            raise UrdfError(f"parent and child are both {joint.parent}", place=place)
        if joint.child in mover:
            raise UrdfError(
                f"link {joint.child} already is the child of joint {mover[joint.child]};"
                f" {CLOSE_IN_MECHANISM}",
                place=place,
            )
        mover[joint.child] = joint.name
        by_parent.setdefault(joint.parent, []).append(joint)
    return by_parent


def check_mimics(mimics: Iterable[Mimic], joints: Sequence[Joint]) -> None:
    """Every mimic joint must lead to a free joint through one-dof joints. Raises UrdfError."""
    by_name = {joint.name: joint for joint in joints}
    source = {mimic.joint: mimic.source for mimic in mimics}
    for follower in source:
        place = f"joint {follower}"
        passed = [follower]
        while passed[-1] in source:
            leader = source[passed[-1]]
            if leader not in by_name:
                remedy = _suggestion(leader, list(by_name))
                raise UrdfError(f'no joint "{leader}" to mimic; {remedy}', place=place)
            if leader in passed:
                raise UrdfError(f"mimics itself through {', '.join(passed)}", place=place)
            passed.append(leader)
        for name in passed:
            if by_name[name].type not in ONE_DOF:
                raise UrdfError(
                    f"{name} is {by_name[name].type} and cannot be mimicked", place=place
                )


def moves_no_mass(links: Iterable[Link], ordered: Sequence[Joint]) -> list[str]:
    """Names of the moving joints beyond which there is neither mass nor inertia."""
    heavy = {link.name for link in links if link.mass or link.inertia.any()}
    massless = []
    for joint in reversed(ordered):
        if joint.child in heavy:
            heavy.add(joint.parent)
        elif joint.type != "fixed":
            massless.append(joint.name)
    return massless[::-1]


def _suggestion(name: str, candidates: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, candidates, n=1)
    if close:
        return f'did you mean "{close[0]}"?'
    return "there are: " + ", ".join(candidates[:12])
