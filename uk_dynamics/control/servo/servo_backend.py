# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The evaluator of a servo law, by the table of :func:`select_backend`."""

from collections.abc import Callable, Iterable
from typing import Any

from uk_dynamics.compilation import Selection, choose, chosen
from uk_dynamics.compilation.build import with_contact_rows
from uk_dynamics.compilation.runtime import CompiledServo, CompiledStanding, Deferred, forwarded
from uk_dynamics.compilation.verification import Comparison
from uk_dynamics.control.servo.interpreted_servo import InterpretedServo
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import (
    Demand,
    References,
    ServoEvaluator,
    ServoOutcome,
)
from uk_dynamics.mechanism.resolution import Array, State


def servo_evaluator(
    tasks: Tasks,
    selection: str | Selection,
    *,
    friction: bool = True,
    memory: Array | None = None,
    periods: Callable[[CompiledServo], Iterable[Comparison]] | None = None,
) -> ServoEvaluator:
    """The evaluator of the servo law of tasks; in C, on a memory as of :class:`ServoLayout`.

    Control periods are compared before its library is used for the first time.
    """
    asked = Selection.of(selection, "wait")
    interpreted: ServoEvaluator = InterpretedServo(tasks, friction=friction)
    rows = tasks if tasks.standing is None else with_contact_rows(tasks)
    if rows is None:
        if asked.backend == "compiled":
            problem = "contacts that stand, of spheres or with values of with_parameters"
            raise InputError(f"cannot be compiled: {problem}", file=tasks.spec.file)
        return interpreted
    choice = choose(rows, asked)
    if choice == "gpu":
        raise InputError(
            'a single servo law does not run on a GPU; simulate_many(..., backend="gpu") moves'
            ' motions there, under controllers with backend="compiled"',
            place="backend",
        )

    def compiled() -> ServoEvaluator:
        options: dict[str, Any] = {"friction": friction, "memory": memory, "periods": periods}
        if rows is tasks:
            return CompiledServo(tasks, interpreted, **options)
        return CompiledStanding(tasks, rows, interpreted, **options)

    return chosen(choice, rows, asked, interpreted, compiled, DeferredServo)


def compiled_servo(evaluator: ServoEvaluator, *, now: bool = False) -> CompiledServo | None:
    """The evaluator itself where it was compiled when it was asked last, or is by now."""
    if isinstance(evaluator, CompiledServo):  # other classes of a protocol take longer to compare
        return evaluator
    if isinstance(evaluator, DeferredServo):
        return compiled_servo(evaluator.current() if now else evaluator.last)
    return evaluator.law if isinstance(evaluator, CompiledStanding) else None


class DeferredServo(ServoEvaluator):
    """A law that is interpreted until it is compiled; both agree to rounding.

    It changes over between two evaluations of the law, never within one.
    """

    def __init__(self, deferred: Deferred[ServoEvaluator]) -> None:
        self._deferred = deferred
        self.last = deferred.current()  # what answered last

    def current(self) -> ServoEvaluator:
        """What answers from now on."""
        self.last = self._deferred.current()
        return self.last

    loop_closure_error = forwarded(ServoEvaluator.loop_closure_error, "last")
    errors = forwarded(ServoEvaluator.errors, "last")
    allocate = forwarded(ServoEvaluator.allocate, "last")

    def evaluate(
        self, state: State, demand: Demand, references: References | None = None
    ) -> ServoOutcome:
        """See :meth:`ServoEvaluator.evaluate`."""
        return self.current().evaluate(state, demand, references)
