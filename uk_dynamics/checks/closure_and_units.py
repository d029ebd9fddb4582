# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Loops that do not close, or only nearly, or only outside the joint limits; lengths in mm."""

from collections.abc import Iterator

import numpy as np

from uk_dynamics.checks.subject import Finding, Subject
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism_class import Mechanism

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
