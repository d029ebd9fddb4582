"""Which evaluator the servo law of some tasks gets: compiled where that is possible."""

from __future__ import annotations

from uk_dynamics.control.interpreted_servo import InterpretedServo
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.backends import BACKENDS
from uk_dynamics.mechanism.servo_evaluation import ServoEvaluator
from uk_dynamics.mechanism.tasks import Tasks


def servo_evaluator(tasks: Tasks, backend: str, *, friction: bool = True) -> ServoEvaluator:
    """Evaluator of the law.

    Args:
        tasks: What motors shall do.
        backend: As of :meth:`Mechanism.dynamics`.
        friction: Whether friction and damping are fed forward.

    Raises:
        InputError: There is no such backend.
        CompilationError: With ``compiled``: something cannot be compiled.
    """
    if backend not in BACKENDS:
        problem = f'no backend "{backend}"; there are: {", ".join(BACKENDS)}'
        raise InputError(problem, place="backend")
    interpreted = InterpretedServo(tasks, friction=friction)
    if backend == "interpreted":
        return interpreted
    from uk_dynamics.compilation.compiled_servo import CompiledServo
    from uk_dynamics.compilation.compiler import CompilationError
    from uk_dynamics.compilation.library import announce, is_servo_cached
    from uk_dynamics.compilation.limits import check, check_size

    if backend == "cached" and not is_servo_cached(tasks):
        return interpreted
    try:
        if backend == "auto" and not is_servo_cached(tasks):
            check(tasks.mechanism)
            check_size(tasks.mechanism)
        return CompiledServo(tasks, interpreted, friction=friction)
    except CompilationError as error:
        if backend == "compiled":
            raise
        announce(f"not compiled, the interpreted servo law is used: {error}")
        return interpreted
