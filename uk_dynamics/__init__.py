# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Udwadia–Kalaba dynamics and servo control of closed-loop mechanisms.

The names below are the public surface; they are imported on first use, and none of them needs ROS.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uk_dynamics.control.delay_compensation import DelayCompensation
    from uk_dynamics.control.estimation.state_completion import StateCompletion
    from uk_dynamics.control.hold_and_gravity_compensation import GravityCompensation, Hold
    from uk_dynamics.control.internal_efforts import internal_efforts
    from uk_dynamics.control.inverse_dynamics import InverseDynamics, inverse_dynamics
    from uk_dynamics.control.servo.servo_controller import ServoController
    from uk_dynamics.control.static_stability import Standing, standing
    from uk_dynamics.core.equation.solution import Solution, Status
    from uk_dynamics.derivatives.effort_derivatives import ServoDerivatives
    from uk_dynamics.derivatives.equilibrium_search import equilibrium
    from uk_dynamics.derivatives.linearization import linearize, linearize_along
    from uk_dynamics.derivatives.motion_derivatives import MotionDerivatives
    from uk_dynamics.derivatives.parameter_derivatives import ParameterDerivatives
    from uk_dynamics.derivatives.projection_derivatives import ProjectionDerivatives
    from uk_dynamics.exceptions import UkDynamicsError
    from uk_dynamics.mechanism.analysis.equilibrium import Equilibrium
    from uk_dynamics.mechanism.analysis.linear_system import LinearSystem
    from uk_dynamics.mechanism.dynamics.derivatives import Derivatives
    from uk_dynamics.mechanism.reality import Reality
    from uk_dynamics.mechanism.resolution.state import Inputs, State
    from uk_dynamics.mechanism.tasks import Tasks
    from uk_dynamics.mechanism_class import Mechanism
    from uk_dynamics.simulation.forward_dynamics import forward_dynamics
    from uk_dynamics.simulation.simulate import simulate
    from uk_dynamics.simulation.simulate_many import simulate_many
    from uk_dynamics.simulation.trajectory import Trajectory

__version__ = "0.1.0"

_HOMES = {
    "DelayCompensation": "uk_dynamics.control.delay_compensation",
    "Derivatives": "uk_dynamics.mechanism.dynamics.derivatives",
    "Equilibrium": "uk_dynamics.mechanism.analysis.equilibrium",
    "GravityCompensation": "uk_dynamics.control.hold_and_gravity_compensation",
    "Hold": "uk_dynamics.control.hold_and_gravity_compensation",
    "Inputs": "uk_dynamics.mechanism.resolution.state",
    "InverseDynamics": "uk_dynamics.control.inverse_dynamics",
    "LinearSystem": "uk_dynamics.mechanism.analysis.linear_system",
    "Mechanism": "uk_dynamics.mechanism_class",
    "MotionDerivatives": "uk_dynamics.derivatives.motion_derivatives",
    "ParameterDerivatives": "uk_dynamics.derivatives.parameter_derivatives",
    "ProjectionDerivatives": "uk_dynamics.derivatives.projection_derivatives",
    "Reality": "uk_dynamics.mechanism.reality",
    "ServoController": "uk_dynamics.control.servo.servo_controller",
    "ServoDerivatives": "uk_dynamics.derivatives.effort_derivatives",
    "Solution": "uk_dynamics.core.equation.solution",
    "Standing": "uk_dynamics.control.static_stability",
    "State": "uk_dynamics.mechanism.resolution.state",
    "StateCompletion": "uk_dynamics.control.estimation.state_completion",
    "Status": "uk_dynamics.core.equation.solution",
    "Tasks": "uk_dynamics.mechanism.tasks",
    "Trajectory": "uk_dynamics.simulation.trajectory",
    "UkDynamicsError": "uk_dynamics.exceptions",
    "equilibrium": "uk_dynamics.derivatives.equilibrium_search",
    "forward_dynamics": "uk_dynamics.simulation.forward_dynamics",
    "internal_efforts": "uk_dynamics.control.internal_efforts",
    "inverse_dynamics": "uk_dynamics.control.inverse_dynamics",
    "linearize": "uk_dynamics.derivatives.linearization",
    "linearize_along": "uk_dynamics.derivatives.linearization",
    "simulate": "uk_dynamics.simulation.simulate",
    "simulate_many": "uk_dynamics.simulation.simulate_many",
    "standing": "uk_dynamics.control.static_stability",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
