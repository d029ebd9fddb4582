"""The compiled evaluator."""

from uk_dynamics.compilation.runtime.compiled_dynamics import CompiledDynamics
from uk_dynamics.compilation.runtime.compiled_servo import CompiledServo
from uk_dynamics.compilation.runtime.deferred import Deferred

__all__ = [
    "CompiledDynamics",
    "CompiledServo",
    "Deferred",
]
