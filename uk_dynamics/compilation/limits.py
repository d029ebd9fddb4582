"""What of a mechanism cannot be compiled, by name."""

from __future__ import annotations

from uk_dynamics.compilation.compiler import CompilationError
from uk_dynamics.mechanism.mechanism import Mechanism

_METHODS = ("auto", "udwadia_kalaba")


def obstacles(mechanism: Mechanism) -> tuple[str, ...]:
    """What would have to be left out for a mechanism to be compiled; empty: nothing."""
    found = []
    if mechanism.nonideal is not None:
        found.append("the non-ideal force is a Python function")
    if mechanism.friction.active:
        rubbing = [c.name for c in mechanism.spec.constraints if c.friction is not None]
        found += [f"constraints.{name}.friction" for name in rubbing]
    found += [
        f"constraints.{constraint.name}.compliance"
        for constraint in mechanism.constraints.constraints
        if constraint.compliance
    ]
    if mechanism.local is not None:
        found.append("so many velocities, which the interpreted evaluator takes in linear time")
    method = mechanism.spec.solver.method
    if method not in _METHODS:
        found.append(f"solver.method: {method}")
    return tuple(found)


def check(mechanism: Mechanism) -> None:
    """Refuse what cannot be compiled.

    Raises:
        CompilationError: There are obstacles; names them.
    """
    found = obstacles(mechanism)
    if found:
        raise CompilationError(
            f'cannot be compiled: {", ".join(found)}; use backend="auto" or "interpreted"',
            file=mechanism.spec.file,
        )
