"""What the motors drive, and what of the tasks they cannot do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from uk_dynamics.checks.finding import Finding
from uk_dynamics.checks.subject import Subject
from uk_dynamics.control.servo_controller import ServoController
from uk_dynamics.control.servo_examination import examine
from uk_dynamics.exceptions import UndeterminedMotionError
from uk_dynamics.mechanism.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.tasks import Tasks

_NOTHING = 1e-9  # of the effect that a motor would have without constraints
_ON_REFERENCE = 1e-3  # m or rad
_PERIOD = 1e-3  # s, for motors with a rate limit


def actuation(subject: Subject) -> Iterator[Finding]:
    """Motors that move nothing, freedoms that no motor drives, tasks out of reach."""
    if not subject.closed or isinstance(subject.solution, UndeterminedMotionError):
        return
    facts = subject.report
    if facts.mobility and not facts.motors:
        yield Finding(
            "actuation",
            "note",
            (),
            f"no motors: nothing drives its {facts.mobility} freedom{'s' * (facts.mobility > 1)}",
            "declare them under actuators, if it has some",
        )
    elif facts.actuated_freedoms < facts.mobility:
        yield Finding(
            "actuation",
            "note",
            facts.motors,
            f"drive {facts.actuated_freedoms} of {facts.mobility} freedoms: the others move as they"
            " like",
            "more motors, if all freedoms shall be controlled",
        )
    yield from _idle_motors(subject)
    yield from _effort_limits(subject)
    if subject.tasks is not None:
        yield from _tasks(subject, subject.tasks)


def _idle_motors(subject: Subject) -> Iterator[Finding]:
    """Motors whose effort the structure bears alone."""
    motors = subject.mechanism.actuators
    factorization = InterpretedDynamics(subject.mechanism).prepare(subject.state).factorization
    motion, unconstrained = factorization.admissible_coordinates(motors.matrix)
    moved = np.linalg.norm(motion, axis=0)
    for name, part, whole in zip(motors.names, moved, unconstrained, strict=True):
        if part <= _NOTHING * whole:
            yield Finding(
                "actuation",
                "warning",
                (name,),
                "moves nothing here: the structure holds all that it acts on",
                "drive another joint, or look which constraint holds this one",
            )


def _effort_limits(subject: Subject) -> Iterator[Finding]:
    motors = subject.mechanism.actuators
    known = np.isfinite(motors.effort_limits)
    if known.any() and not known.all():
        yield Finding(
            "actuation",
            "warning",
            tuple(name for name, there in zip(motors.names, known, strict=True) if not there),
            "have no effort limit while others have one: redundant motors share by their limits",
            "give all of them an effort_limit",
        )


def _tasks(subject: Subject, tasks: Tasks) -> Iterator[Finding]:
    if not len(subject.mechanism.actuators):
        yield Finding(
            "task", "error", tasks.names, "there are no motors that could do them", "add actuators"
        )
        return
    facts = subject.mechanism.report(subject.assembly.q, tasks).tasks
    if facts is not None and facts.reachable_rows < facts.independent_rows:
        yield Finding(
            "task",
            "error",
            facts.unreachable,
            f"the motors reach {facts.reachable_rows} of {facts.independent_rows} independent task"
            f" rows: {facts.reason}",
            "drop these rows, or add motors that move them",
        )
    limited = np.isfinite(subject.mechanism.actuators.rate_limits).any()
    controller = ServoController(
        subject.mechanism, tasks, control_period=_PERIOD if limited else None
    )
    found = examine(controller, subject.state)
    if found.held:
        yield Finding(
            "task",
            "warning",
            found.held,
            "are held by the structure: no motor moves them",
            "drop them from the tasks",
        )
    if found.contradicting_tasks:
        yield Finding(
            "task",
            "error",
            found.contradicting_tasks,
            "ask together for what no motion of the structure gives",
            "drop some of these rows, or give them priorities",
        )
    rest = tuple(row for row in found.unserved if row not in found.contradicting_tasks)
    if rest and found.controllable:
        yield Finding(
            "task",
            "error",
            rest,
            "cannot be given as they are asked at t = 0",
            "begin the references where the mechanism starts",
        )
    yield from _too_weak(subject, controller, {} if facts is None else facts.errors)


def _too_weak(
    subject: Subject, controller: ServoController, errors: Mapping[str, float]
) -> Iterator[Finding]:
    """Motors whose limits end before what the tasks ask at the start."""
    worst = max(errors, key=lambda row: abs(errors[row]), default="")
    off = ""
    if worst and abs(errors[worst]) > _ON_REFERENCE:
        off = f"; {worst} is {errors[worst]:.3g} m or rad off its reference there"
    motors = subject.mechanism.actuators
    command = controller.command(subject.state)
    wanted = dict(zip(motors.names, command.requested, strict=True))
    limits = dict(zip(motors.names, motors.effort_limits, strict=True))
    for name, reason in command.limited_by.items():
        if reason == "effort" and abs(wanted[name]) <= limits[name]:
            continue  # it only helps a motor that is too weak
        yield Finding(
            "task",
            "warning",
            (name,),
            f"would have to give {abs(wanted[name]):.3g} N m or N at t = 0, and has"
            f" {limits[name]:.3g} (limit of {reason}){off}",
            "start on the references (--start-on-tasks), begin them where the mechanism starts,"
            " with its velocity, or ask less",
        )
