"""Loops that do not close, or nearly, or only outside the limits of the joints."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from uk_dynamics.checks.finding import Finding
from uk_dynamics.checks.subject import Subject
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import Array

_NEARLY = 1e-2  # of the machine's size
_OPEN = 1e-9  # m or rad: what is below is closed
_PULLED = 0.1  # of the largest gap: a loop that is open by less was pulled open by the other
_OTHER_UNIT = 50.0  # times the longest link: mm instead of m
_OUTSIDE = "outside the joint limits"


def closure(subject: Subject) -> Iterator[Finding]:
    """Whether the loops close from the initial guess, and what is in the way."""
    found = subject.assembly
    if found.closed:
        return
    if _OUTSIDE in found.reason:
        joints = tuple(
            name
            for name in subject.mechanism.joint_names
            if f"{name} = " in found.reason.partition(": ")[2]
        )
        yield Finding(
            "limits",
            "error",
            joints,
            found.reason,
            "widen these limits in the URDF, or begin from another initial_guess",
        )
        return
    gaps = {name: gap for name, gap in found.violations.items() if gap > _OPEN}
    largest = max(gaps.values(), default=0.0)
    for name, gap in gaps.items():
        if largest <= _NEARLY * subject.size:
            yield _nearly_closed(subject, name, gap)
        elif gap > _PULLED * largest:
            remedy = found.reason
            if gap > _OTHER_UNIT * (reach := _reach(subject.mechanism)):
                remedy = (
                    f"the links of the URDF are about {reach:.2g} m long: lengths are in m here too"
                )
            yield Finding(
                "loop",
                "error",
                (name,),
                f"does not close: a gap of {gap:.3g} m or rad remains",
                remedy,
            )


def _reach(mechanism: Mechanism) -> float:
    """Length of the longest link of the URDF, from joint to joint or to its mass, in m."""
    description = mechanism.model.description
    joints = [joint.pose.translation for joint in description.joints]
    masses = [link.center_of_mass for link in description.links]
    return max((float(np.linalg.norm(place)) for place in joints + masses), default=0.0) or 1.0


def _nearly_closed(subject: Subject, name: str, gap: float) -> Finding:
    dependent = _dependent_rows(subject.mechanism, subject.assembly.q)
    remedy = "give lengths and offsets all their digits"
    if dependent:
        remedy += (
            f"; here {', '.join(dependent)} hardly add anything to the other rows: leave out what"
            " the other joints hold already (type frame with the axes that are needed)"
        )
    return Finding(
        "loop",
        "error",
        (name,),
        f"nearly closes: a gap of {gap:.3g} m or rad remains, which no motion takes away",
        remedy,
    )


def _dependent_rows(mechanism: Mechanism, q: Array) -> list[str]:
    """Rows of which others leave less than a hundredth, in the order of the file."""
    workspace = mechanism.model.workspace()
    workspace.update_positions(q)
    A, _ = mechanism.constraints.position(workspace, 0.0, q, mechanism.references.sample(0.0))
    basis: list[Array] = []
    names = []
    for name, row in zip(mechanism.row_names, A, strict=True):
        rest = row.copy()
        for direction in basis:
            rest -= (direction @ rest) * direction
        left, size = float(np.linalg.norm(rest)), float(np.linalg.norm(row))
        if left > _NEARLY * size:
            basis.append(rest / left)
        elif size > 0.0:
            names.append(name)
    return names
