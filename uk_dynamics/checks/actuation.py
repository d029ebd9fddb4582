# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Actuation: what the motors drive, and tasks that they cannot realise."""

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from uk_dynamics.checks.subject import Finding, Subject
from uk_dynamics.control.servo import ServoController, servo_controllability
from uk_dynamics.exceptions import UndeterminedMotionError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import InterpretedDynamics

_NOTHING = 1e-9  # of the acceleration that the motor would cause without constraints
_ON_REFERENCE = 1e-3  # m or rad
_PERIOD = 1e-3  # s, for motors with a rate limit
_actuation_warning = partial(Finding, "actuation", "warning")
_actuation_note = partial(Finding, "actuation", "note")
_task_error = partial(Finding, "task", "error")
_task_warning = partial(Finding, "task", "warning")


def actuation(subject: Subject) -> Iterator[Finding]:
    """Motors that move nothing, unactuated degrees of freedom, unreachable tasks."""
    if not subject.closed or isinstance(subject.solution, UndeterminedMotionError):
        return
    facts = subject.report
    # contact forces of feet that stand drive the rest
    stands = subject.tasks is not None and subject.tasks.standing is not None
    if facts.mobility and not facts.motors:
        yield _actuation_note(
            (),
            f"no motors: nothing drives its {facts.mobility}"
            f" degree{'s' * (facts.mobility > 1)} of freedom",
            "declare motors under actuators, if there are any",
        )
    elif facts.actuated_freedoms < facts.mobility and not stands:
        yield _actuation_note(
            facts.motors,
            f"drive{'s' * (len(facts.motors) == 1)} {facts.actuated_freedoms} of"
            f" {facts.mobility} degrees of freedom: the others"
            " are unactuated",
            "add motors, if all degrees of freedom are to be controlled",
        )
    yield from _idle_motors(subject)
    if subject.tasks is not None:
        yield from _tasks(subject, subject.tasks)


def _idle_motors(subject: Subject) -> Iterator[Finding]:
    """Motors whose effort the constraint forces balance completely."""
    motors = subject.mechanism.actuators
    factorization = InterpretedDynamics(subject.mechanism).prepare(subject.state).factorization
    motion, unconstrained = factorization.admissible_coordinates(motors.matrix)
    moved = np.linalg.norm(motion, axis=0)
    for name, part, whole in zip(motors.names, moved, unconstrained, strict=True):
        if part <= _NOTHING * whole:
            yield _actuation_warning(
                (name,),
                "moves nothing in this configuration: the constraints fix all that it acts on",
                "drive another joint, or find the constraint that fixes this one",
            )


def _tasks(subject: Subject, tasks: Tasks) -> Iterator[Finding]:
    if not len(subject.mechanism.actuators):
        yield _task_error(tasks.names, "there are no motors to realise them", "add actuators")
        return
    facts = subject.mechanism.report(subject.assembly.q, tasks).tasks
    if facts is not None and facts.reachable_rows < facts.independent_rows:
        yield _task_error(
            facts.unreachable,
            f"the motors reach {facts.reachable_rows} of {facts.independent_rows} independent task"
            f" rows: {facts.reason}",
            "remove these rows, or add motors that move them",
        )
    limited = subject.mechanism.actuators.limits_of_derivatives
    controller = ServoController(
        subject.mechanism, tasks, control_period=_PERIOD if limited else None
    )
    found = servo_controllability(controller, subject.state)
    if found.held:
        yield _task_warning(
            found.held,
            "are determined by the structure: no motor can move them",
            "remove them from the tasks",
        )
    if found.contradicting_tasks:
        yield _task_error(
            found.contradicting_tasks,
            "are inconsistent with each other or with the constraints",
            "remove some of these rows, or give them priorities",
        )
    unserved = tuple(row for row in found.unserved if row not in found.contradicting_tasks)
    if unserved and found.controllable:
        yield _task_error(
            unserved,
            "have desired accelerations at t = 0 that the motors cannot cause",
            "start the references where the mechanism starts",
        )
    yield from _too_weak(subject, controller, {} if facts is None else facts.errors)


def _too_weak(
    subject: Subject, controller: ServoController, errors: Mapping[str, float]
) -> Iterator[Finding]:
    """Motors whose limits are too low for the tasks at the start."""
    worst = max(errors, key=lambda row: abs(errors[row]), default="")
    off = ""
    if worst and abs(errors[worst]) > _ON_REFERENCE:
        off = f"; {worst} is {errors[worst]:.3g} m or rad off its reference there"
    motors = subject.mechanism.actuators
    command = controller.command(subject.state)
    requested = dict(zip(motors.names, command.requested, strict=True))
    limits = dict(zip(motors.names, motors.effort_limits, strict=True))
    for name, reason in command.limited_by.items():
        if reason == "effort" and abs(requested[name]) <= limits[name]:
            continue  # it only compensates for another motor at its limit
        yield _task_warning(
            (name,),
            f"needs {abs(requested[name]):.3g} N m or N at t = 0, and has"
            f" {limits[name]:.3g} (limit of {reason}){off}",
            "start on the references (--start-on-tasks), start them at the position and velocity"
            " of the mechanism, or reduce them",
        )
