"""Which evaluator a mechanism gets: compiled where that is possible."""

from __future__ import annotations

from uk_dynamics.compilation.compiled import CompiledDynamics
from uk_dynamics.compilation.compiler import CompilationError
from uk_dynamics.compilation.library import announce, is_cached
from uk_dynamics.compilation.limits import check, check_size
from uk_dynamics.mechanism.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.resolved_mechanism import ResolvedMechanism


def dynamics(mechanism: ResolvedMechanism, backend: str) -> InterpretedDynamics:
    """Compiled dynamics of a mechanism.

    Args:
        mechanism: What to evaluate.
        backend: ``compiled``; ``jax``, for batches on a GPU; ``auto`` to fall back on the
            interpreted evaluator, also where compiling takes minutes, which the log says once;
            ``cached`` to do so silently where compiling would take time.

    Raises:
        CompilationError: With ``compiled`` and ``jax``: the mechanism has parts that cannot be
            compiled, or there is no compiler.
        InputError: With ``jax``: it is not installed.
    """
    if backend == "compiled":
        return CompiledDynamics(mechanism)
    if backend == "jax":
        from uk_dynamics.compilation.jax_dynamics import JaxDynamics

        return JaxDynamics(mechanism)
    if backend == "cached" and not is_cached(mechanism):
        return InterpretedDynamics(mechanism)
    try:
        check(mechanism)
        if backend == "auto" and not is_cached(mechanism):
            check_size(mechanism)
        return CompiledDynamics(mechanism)
    except CompilationError as error:
        announce(f"not compiled, the interpreted evaluator is used: {error}")
        return InterpretedDynamics(mechanism)
