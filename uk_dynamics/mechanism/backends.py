"""Evaluators by name: the interpreted one is here, layers above bring others."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Literal, get_args

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.interpreted import InterpretedDynamics

if TYPE_CHECKING:
    from uk_dynamics.mechanism.mechanism import Mechanism

Backend = Literal["auto", "cached", "interpreted", "compiled", "jax"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)

# Module of each backend beside the interpreted one; it has ``dynamics(mechanism, backend)``. By
# name, since it is a layer above this one and is needed by those only who ask for it.
_MODULES = {
    "auto": "uk_dynamics.compilation.backend",
    "cached": "uk_dynamics.compilation.backend",
    "compiled": "uk_dynamics.compilation.backend",
    "jax": "uk_dynamics.compilation.backend",
}


def make_dynamics(mechanism: Mechanism, backend: str) -> InterpretedDynamics:
    """An evaluator of a mechanism.

    Raises:
        InputError: There is no such backend, or it cannot evaluate this mechanism.
    """
    if backend == "interpreted":
        return InterpretedDynamics(mechanism)
    if backend not in _MODULES:
        raise InputError(
            f'no backend "{backend}"; there are: {", ".join(BACKENDS)}', place="backend"
        )
    module = importlib.import_module(_MODULES[backend])
    made: InterpretedDynamics = module.dynamics(mechanism, backend)
    return made
