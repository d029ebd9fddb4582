# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Whether numbers can be the inertia of a body."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from uk_dynamics.exceptions import CodedWarning, UrdfError
from uk_dynamics.model.urdf.description import Array, Joint, Link, Pose

RELATIVE_ROUNDING = 1e-6  # files carry six digits
_SMALL = 1e-12  # m², radius of gyration of 1 µm squared: CAD writes rounding where it means zero


def inertia_problem(mass: float, inertia: Array) -> tuple[str, bool]:
    """Look for what no distribution of mass can have.

    Args:
        mass: In kg, not negative.
        inertia: About the center of mass, symmetric, (3, 3), in kg m².

    Returns:
        A message, empty when all is well, and whether dynamics would be nonsense with it.
    """
    moments = np.linalg.eigvalsh(inertia)
    rounding = RELATIVE_ROUNDING * float(np.abs(moments).max()) + _SMALL * mass
    shown = ", ".join(f"{moment:.4g}" for moment in moments)
    if moments[0] < -rounding:
        return f"the inertia is not positive definite: principal moments {shown} kg m²", True
    if moments[2] > moments[0] + moments[1] + rounding:
        return (
            f"no body has principal moments {shown} kg m²: one exceeds the sum of the others",
            False,
        )
    if mass == 0.0 and moments[2] > 0.0:
        return "it has inertia but no mass", False
    return "", False


def outweighed(links: Iterable[Link], joints: Iterable[Joint], names: Iterable[str]) -> list[str]:
    """Warnings for links with impossible inertia that vanish in the body they are fixed to.

    Only whole rigid bodies, links joined by fixed joints, enter the mass matrix: it is positive
    semi-definite if the principal moments of each of them are not negative.

    names: Links whose dynamics alone would be nonsense. Raises UrdfError: The body as a whole is
    impossible too.
    """
    by_name = {link.name: link for link in links}
    fixed = [joint for joint in joints if joint.type == "fixed"]
    above = {joint.child: joint for joint in fixed}
    below: dict[str, list[Joint]] = {}
    for joint in fixed:
        below.setdefault(joint.parent, []).append(joint)
    warnings: list[str] = []
    for name in names:
        top = name
        while top in above:
            top = above[top].parent
        problem, _ = inertia_problem(by_name[name].mass, by_name[name].inertia)
        mass, inertia = _whole(list(_parts(top, Pose(), by_name, below)))
        if inertia_problem(mass, inertia)[1]:
            raise UrdfError(problem, place=f"link {name}")
        text = (
            f"link {name}: {problem}; used as it is, since the body it is fixed to ({top})"
            " outweighs it; export its inertia from CAD again, or leave its <inertial> out"
        )
        warnings.append(CodedWarning(text, "inertia"))
    return warnings


def _parts(
    name: str, pose: Pose, links: dict[str, Link], below: dict[str, list[Joint]]
) -> Iterator[tuple[float, Array, Array]]:
    """Mass, centre and inertia about it of each link of a body, in axes of its first link."""
    link, turn = links[name], pose.rotation
    center = pose.translation + turn @ link.center_of_mass
    yield link.mass, center, turn @ link.inertia @ turn.T
    for joint in below.get(name, ()):
        place = pose.translation + turn @ joint.pose.translation
        yield from _parts(joint.child, Pose(place, turn @ joint.pose.rotation), links, below)


def _whole(parts: list[tuple[float, Array, Array]]) -> tuple[float, Array]:
    """Mass of a body, and its inertia about its centre of mass, (3, 3)."""
    mass = sum(part[0] for part in parts)
    inertia: Array = np.sum([part[2] for part in parts], axis=0)
    if mass:
        center = np.sum([m * c for m, c, _ in parts], axis=0) / mass
        for m, c, _ in parts:
            arm = c - center
            inertia = inertia + m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return mass, inertia
