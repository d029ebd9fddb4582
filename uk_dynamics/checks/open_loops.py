# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Loops that are still open, and loops whose axes are not quite parallel."""

from collections.abc import Iterator

import numpy as np

from uk_dynamics.checks.subject import Finding, Subject
from uk_dynamics.mechanism.resolution import LEAST_INTERPRETED
from uk_dynamics.model import coincident_frames, loop_directions

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
