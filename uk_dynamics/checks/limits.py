# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Limits of joints, with the start relative to them, and effort limits that motors lack."""

from collections.abc import Iterator
from functools import partial
from itertools import compress

import numpy as np

from uk_dynamics.checks.subject import Finding, Subject

_AT = 1e-9  # rad or m
_warning = partial(Finding, "limits", "warning")


def limits(subject: Subject) -> Iterator[Finding]:
    """Joints that cannot move, or start outside or at their limits."""
    model, q = subject.mechanism.model, subject.assembly.q
    places, velocities = model.position_of_joint, model.velocity_of_joint
    outside = {v.joint: str(v) for v in subject.assembly.limit_violations}
    guess = {v.joint: str(v) for v in model.limit_violations(subject.mechanism.initial_guess)}
    named = dict(subject.mechanism.spec.initial_guess)
    for name, place, velocity in zip(
        model.joint_names, places.tolist(), velocities.tolist(), strict=True
    ):
        lower, upper = float(model.lower[velocity]), float(model.upper[velocity])
        if lower == upper:
            yield _warning(
                (name,),
                f"lower and upper limit are both {lower:g}: it cannot move",
                "write both limits (the default of URDF is 0), or make the joint continuous or"
                " fixed",
            )
        elif name in outside:
            yield Finding(
                "limits",
                "error",
                (name,),
                f"{outside[name]} where the loops are closed",
                "choose another initial position, or widen the limits in the URDF",
            )
        elif name in guess and name in named:
            yield _warning(
                (name,),
                f"the initial guess {guess[name]}; closing the loops moves it inside",
                "choose an initial_guess within the limits",
            )
        elif subject.closed and min(abs(q[place] - lower), abs(q[place] - upper)) <= _AT:
            yield Finding(
                "limits",
                "note",
                (name,),
                f"starts at its limit {q[place]:g}: motion in one direction violates it at once",
                "limits are reported, not enforced, unless joints: {NAME: {stop: ...}} is given",
            )


def effort_limits(subject: Subject) -> Iterator[Finding]:
    """Motors without an effort limit among others that have one."""
    motors = subject.mechanism.actuators
    known = np.isfinite(motors.effort_limits)
    if known.any() and not known.all():
        yield Finding(
            "actuation",
            "warning",
            tuple(compress(motors.names, ~known)),
            "have no effort limit while others have one: redundant motors share the effort by"
            " their limits",
            "give all of them an effort_limit",
        )
