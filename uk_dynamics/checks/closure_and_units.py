# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Loops that do not close, or only nearly, that are still open, or out of plane; lengths in mm."""

from collections.abc import Iterator

import numpy as np

from uk_dynamics.checks.subject import Finding, Subject
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution import LEAST_INTERPRETED
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model import coincident_frames, loop_directions

_NEARLY = 1e-2  # of the machine's size
_CONSEQUENCE = 0.1  # of the largest error: a loop with less is only affected by another one
_OTHER_UNIT = 50.0  # times the longest link: mm instead of m


def closure(subject: Subject) -> Iterator[Finding]:
    """Whether the loops close from the initial guess, and if not, why."""
    found = subject.assembly
    if found.closed:
        if isinstance(subject.start, InputError):
            place = tuple(subject.mechanism.spec.initial_velocity)
            remedy = "give fewer velocities under initial_velocity, or others"
            yield Finding(
                "start", "error", tuple(n for n, _ in place), subject.start.problem, remedy
            )
        return
    if found.closes_beyond:
        yield Finding(
            "limits",
            "error",
            tuple(violation.joint for violation in found.closes_beyond),
            found.reason,
            "widen these limits in the URDF, or choose another initial_guess",
        )
        return
    errors = {
        name: error
        for name, error in found.violations.items()
        if error > subject.mechanism.closure_tolerance
    }
    largest = max(errors.values(), default=0.0)
    for name, error in errors.items():
        if largest <= _NEARLY * subject.size:
            yield _nearly_closed(subject, name, error)
        elif error > _CONSEQUENCE * largest:
            remedy = found.reason
            if error > _OTHER_UNIT * (reach := _reach(subject.mechanism)):
                remedy = (
                    f"the links of the URDF are about {reach:.2g} m long: give lengths in m here,"
                    " too"
                )
            problem = f"does not close: the loop-closure error is {error:.3g} m or rad"
            yield Finding("loop", "error", (name,), problem, remedy)


def _reach(mechanism: Mechanism) -> float:
    """Length of the longest link, from joint to joint or centre of mass, in m."""
    description = mechanism.model.description
    joints = [joint.pose.translation for joint in description.joints]
    masses = [link.center_of_mass for link in description.links]
    return max((float(np.linalg.norm(place)) for place in joints + masses), default=0.0) or 1.0


def _nearly_closed(subject: Subject, name: str, error: float) -> Finding:
    found = subject.assembly
    remedy = found.reason if found.has_remedy else "write lengths and offsets with all digits"
    problem = (
        f"nearly closes: a loop-closure error of {error:.3g} m or rad remains in every"
        " configuration nearby"
    )
    return Finding("loop", "error", (name,), problem, remedy)


_ROUNDING = 1e-6  # rad
_INTENDED = 0.2  # rad: a larger angle between axes is intended


def open_loops(subject: Subject) -> Iterator[Finding]:
    """Marker frames that coincide with others and can move apart."""
    if not subject.closed or subject.mechanism.model.nv >= LEAST_INTERPRETED:
        return
    mechanism = subject.mechanism
    mentioned = {
        frame.link
        for constraint in mechanism.spec.constraints
        for frame in (constraint.parent, constraint.child)
        if frame is not None
    }
    for pair in coincident_frames(mechanism.model, subject.assembly.q):
        if pair.marked and not {pair.parent, pair.child} & mentioned:
            yield Finding(
                "open_loop",
                "warning",
                (pair.parent, pair.child),
                "coincide, and no constraint mentions either: is this a loop that is still open?",
                "close it under constraints, or ignore this if they coincide by chance",
            )


def planarity(subject: Subject) -> Iterator[Finding]:
    """Joints of a loop that move slightly out of the plane of the others."""
    model = subject.mechanism.model
    for constraint in subject.mechanism.constraints.constraints:
        if constraint.parent is None or constraint.child is None:
            continue
        loop = loop_directions(model, subject.workspace, constraint.parent, constraint.child)
        tilted = {n: d for n, d in loop.deviations.items() if _ROUNDING < d < _INTENDED}
        if not tilted or any(d >= _INTENDED for d in loop.deviations.values()):
            continue
        worst = max(tilted.values())
        shown = f"{worst:.2g} rad ({np.degrees(worst):.2g}°)"
        yield Finding(
            "planarity",
            "warning",
            (*tilted, constraint.name),
            f"the joints of this loop move in one plane, but {', '.join(tilted)} by up to {shown}"
            " out of it: rigid bodies then jam",
            "write angles with all digits (1.5707963267948966, or ${pi/2} in xacro), and axes as"
            " 0 1 0",
        )
