# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts, stops and one-sided constraints at the start, and next to loops."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from uk_dynamics.checks.subject import Finding, Subject
from uk_dynamics.constraints.rows import RopeRow
from uk_dynamics.core.linalg import null_basis
from uk_dynamics.mechanism.contact import CLOSE, ContactDynamics
from uk_dynamics.mechanism.resolution import State

_FAR_OFF = 0.75 * np.pi  # rad: from there on half a turn is near
_HELD = 1e-9  # part of a row that the loops leave
_REMEDIES = {  # of what begins inside; of other kinds the last one
    "contact": "see where its surface is, and of a plane which way its z axis points",
    "rope": "lengthen it",
    "": "see its numbers, and whether at_least or at_most is meant",
}


def inside(subject: Subject) -> Iterator[Finding]:
    """Contacts, hard stops and one-sided constraints that the start violates."""
    mechanism, q = subject.mechanism, subject.assembly.q
    if not mechanism.one_sided:
        return
    start = State(0.0, q, np.zeros(mechanism.model.nv))
    contacts = ContactDynamics(mechanism)
    kinds = {one.name: one.kind for one in mechanism.constraints.constraints}
    deep: dict[str, list[tuple[float, str]]] = {}  # of each entry
    for name, gap in zip(contacts.names, contacts.places(start).gap.tolist(), strict=True):
        if gap < -CLOSE:
            deep.setdefault(name.partition(".")[0], []).append((-float(f"{gap:.3g}"), name))
    for points in deep.values():
        most, name = max(points, key=lambda one: one[0])  # the first of those that are alike
        more = f", as do {len(points) - 1} more of its points" if len(points) > 1 else ""
        remedy = _REMEDIES.get(kinds[name], _REMEDIES[""])
        yield Finding(
            "limits",
            "error",
            (name,),
            f"starts {most:g} m or rad inside{more}: simulations cannot begin there",
            f"choose another initial_guess, or {remedy}",
        )


def ropes(subject: Subject) -> Iterator[Finding]:
    """Ropes that at the start are inside of a pulley, or do not lie on it."""
    for one in subject.mechanism.constraints.constraints:
        for row in one.rows:
            if not (isinstance(row, RopeRow) and row.radius.any()):
                continue
            way = row.way(subject.workspace, subject.assembly.q)
            rims = np.abs(row.mark).sum(axis=1) > 0.0
            first = int(rims[0])  # a rim is no point of the file
            if (near := np.flatnonzero((way.size[: len(rims)] < CLOSE) & ~rims)).size:
                k = near[0] - first
                problem = f"between points.{k} and points.{k + 1} it begins inside of a pulley"
                remedy = "choose another initial_guess, a smaller radius, or other places"
                yield Finding("rope", "error", (one.name,), problem, remedy)
                continue
            for k in np.flatnonzero(way.arcs < -CLOSE):
                problem, remedy = "unwound from the drum", "give it more turns, or turn it back"
                if not row.lifts[k]:
                    problem, remedy = "bent away from the pulley", "look at its side and axis"
                elif not row.winding[k].any():
                    continue
                problem = f"is {problem} points.{row.pulleys[k] - first} by {-way.arcs[k]:.3g} rad"
                yield Finding("rope", "warning", (one.name,), f"{problem} at the start", remedy)
            off = np.abs(way.arcs - row.middle - row.winding @ subject.assembly.q)
            for k in np.flatnonzero((off > _FAR_OFF) & row.winding.any(axis=1)):
                problem = (
                    f"leaves the drum points.{row.pulleys[k] - first} {off[k]:.3g} rad off the"
                    " direction in which its turns are counted: half a turn off they jump by one"
                )
                remedy = "let it leave nearer to where it starts while all joints are at 0"
                yield Finding("rope", "warning", (one.name,), problem, remedy)


def doubled(subject: Subject) -> Iterator[Finding]:
    """Those whose gap the loops fix: the same is held twice."""
    mechanism, q = subject.mechanism, subject.assembly.q
    if not mechanism.one_sided or not subject.closed:
        return
    state = State(0.0, q, np.zeros(mechanism.model.nv))
    loops: Any = mechanism.terms(state).A  # sparse where the mechanism is large
    held = np.asarray(loops.toarray() if hasattr(loops, "toarray") else loops)
    free = null_basis(held, mechanism.spec.solver.rank_tolerance)
    workspace = mechanism.model.workspace()
    workspace.update(state.q, state.v)
    rows = mechanism.constraints.evaluate(workspace, state.t, state.q, state.v).A
    for one in mechanism.one_sided:
        row = rows[mechanism.constraints.slices[one.name].start]
        size = np.linalg.norm(row)  # zero: a spare row of two bodies, or friction of a loop joint
        if size > 0.0 and np.linalg.norm(row @ free) <= _HELD * size:
            yield Finding(
                "redundancy",
                "warning",
                (one.name,),
                "never opens or closes: the loops fix where it is, and would share its force",
                "remove it, or the constraint that holds the same",
            )
