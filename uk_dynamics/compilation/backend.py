"""Which evaluator a mechanism gets: compiled where that is possible."""

from __future__ import annotations

import functools
import logging

from uk_dynamics.compilation.compiled import CompiledDynamics
from uk_dynamics.compilation.compiler import CompilationError
from uk_dynamics.mechanism.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.mechanism import Mechanism

_log = logging.getLogger(__name__)


def dynamics(mechanism: Mechanism, backend: str) -> InterpretedDynamics:
    """Compiled dynamics of a mechanism.

    Args:
        mechanism: What to evaluate.
        backend: ``compiled``, or ``auto`` to fall back on the interpreted evaluator, which the log
            says once.

    Raises:
        CompilationError: With ``compiled``: the mechanism has parts that cannot be compiled, or
            there is no compiler.
    """
    if backend == "compiled":
        return CompiledDynamics(mechanism)
    try:
        return CompiledDynamics(mechanism)
    except CompilationError as error:
        _announce(str(error))
        return InterpretedDynamics(mechanism)


@functools.cache
def _announce(reason: str) -> None:
    _log.warning("not compiled, the interpreted evaluator is used: %s", reason)
