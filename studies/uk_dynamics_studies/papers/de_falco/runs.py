# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Simulations of the five-bar that may go wrong: bounded by a budget, measured at every step."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, cast

import numpy as np
from scipy.integrate import DOP853, RK45, ode

from uk_dynamics.core.integration import AdaptiveMethod, AdaptiveStepper, Tolerances
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics_studies.papers.de_falco.machine import Solver, angles, exact_angle, state_at
from uk_dynamics_studies.papers.output.study import step_done

Integrator = Literal["adams", "DOP853", "RK45"]

#: Angle up to which a motion counts as correct, in rad; the paper does not say its own.
CORRECT = 1e-2
_FIRST_STEP = 0.66e-2  # s, as in the paper


@dataclass(frozen=True)
class Case:
    """One simulation."""

    solver: Solver
    # ``adams`` (implicit Adams formulas of order 1 to 12, VODE) or a Runge–Kutta method with error
    # control
    integrator: Integrator
    tolerance: float  # relative and absolute tolerance of the integrator
    start: float  # angle of the legs at the start, in degrees
    projected: bool = False  # whether positions and velocities are projected after each step


@dataclass
class Outcome:
    """What a simulation came to."""

    duration: float  # how far it should have gone, in s
    reached: float = 0.0  # how far it went, in s
    # until when all angles were within :data:`CORRECT` of the exact ones, in s
    correct: float = 0.0
    angle_error: float = 0.0  # largest error of an angle, in rad
    violation: float = 0.0  # largest Σ Ψᵢ², in m²
    evaluations: int = 0
    steps: int = 0  # accepted steps
    end: str = ""  # why it ended before its time; empty when it did not
    # time [s], angle error [rad] and Σ Ψᵢ² [m²] after each step
    trace: list[tuple[float, float, float]] = field(default_factory=list)

    @property
    def result(self) -> str:
        """In the words of the paper's tables."""
        whole = self.correct >= self.duration
        digits = 1 if self.correct < self.duration - 0.05 else 3
        said = "correct" if whole else f"correct up to {self.correct:.{digits}f} s"
        return said if not self.end else f"{said}, {self.end} at {self.reached:.1f} s"


def run(case: Case, duration: float, budget: int) -> Outcome:
    """Simulate until the end, the budget of evaluations or a failure, whichever is first."""
    mechanism = case.solver.machine()
    outcome = Outcome(duration)
    motion = _Motion(mechanism, case, duration)
    start = np.radians(case.start)
    still_correct = True
    try:
        for t, q, v in motion.steps():
            closure_errors = motion.dynamics.residual(State(t, q, v)).position
            theta = exact_angle(t, start, asymmetric=case.solver.asymmetric)
            exact = np.append(np.full(3, theta), 0.0)
            error = float(np.abs(angles(mechanism, q) - exact).max())
            violation = float(closure_errors @ closure_errors)
            outcome.steps += 1
            outcome.reached = min(t, duration)
            outcome.angle_error = max(outcome.angle_error, error)
            outcome.violation = max(outcome.violation, violation)
            outcome.trace.append((t, error, violation))
            still_correct = still_correct and error <= CORRECT
            if still_correct:
                outcome.correct = outcome.reached
            if t >= duration:
                break
            if motion.evaluations >= budget:
                outcome.end = "budget spent"
                break
    except (UkDynamicsError, ArithmeticError) as error:
        outcome.end = f"stopped ({type(error).__name__})"
    outcome.evaluations = motion.evaluations
    step_done()
    return outcome


class _Motion:
    """Steps of an integrator over the mechanism's own dynamics."""

    def __init__(self, mechanism: Mechanism, case: Case, duration: float) -> None:
        self.dynamics = InterpretedDynamics(mechanism)
        self.evaluations = 0
        self._case = case
        self._model = mechanism.model
        self._duration = duration
        self._start = state_at(mechanism, np.radians(case.start))
        self._inputs = Inputs(stabilize=case.solver.stabilized)

    def steps(self) -> Iterator[tuple[float, Array, Array]]:
        """Time and state after each accepted step."""
        if self._case.projected:
            return self._projected()
        return self._adams() if self._case.integrator == "adams" else self._runge_kutta()

    def _acceleration(self, t: float, q: Array, v: Array) -> Array:
        self.evaluations += 1
        if not np.isfinite(q).all() or not np.isfinite(v).all():
            raise FloatingPointError("the motion has become infinite")
        return self.dynamics.evaluate(State(t, q, v), self._inputs).qdd

    def _rates(self, t: float, y: Array) -> Array:
        n = self._model.nv
        return np.concatenate((y[n:], self._acceleration(t, y[:n], y[n:])))

    def _initial(self) -> Array:
        return np.concatenate((self._start.q, self._start.v))

    def _adams(self) -> Iterator[tuple[float, Array, Array]]:
        n, tolerance = self._model.nv, self._case.tolerance
        solver: Any = ode(self._rates).set_integrator(
            "vode", method="adams", rtol=tolerance, atol=tolerance, first_step=_FIRST_STEP
        )
        solver.set_initial_value(self._initial(), 0.0)
        while True:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # said by successful()
                y = solver.integrate(self._duration, step=True)
            if not solver.successful():
                raise FloatingPointError("the integrator gave up")
            yield float(solver.t), y[:n], y[n:]

    def _runge_kutta(self) -> Iterator[tuple[float, Array, Array]]:
        n, tolerance = self._model.nv, self._case.tolerance
        method: Any = {"DOP853": DOP853, "RK45": RK45}[self._case.integrator]
        solver = method(
            self._rates,
            0.0,
            self._initial(),
            self._duration,
            rtol=tolerance,
            atol=tolerance,
            first_step=_FIRST_STEP,
        )
        while solver.status == "running":
            solver.step()
            if solver.status == "failed":
                raise FloatingPointError("the step size vanished")
            yield float(solver.t), solver.y[:n], solver.y[n:]

    def _projected(self) -> Iterator[tuple[float, Array, Array]]:
        def project(t: float, q: Array, v: Array) -> tuple[Array, Array]:
            state = self.dynamics.project(State(t, q, v))
            return state.q, state.v

        stepper = AdaptiveStepper(
            self._model,
            self._acceleration,
            0.0,
            self._start.q,
            self._start.v,
            self._duration,
            method=cast(AdaptiveMethod, self._case.integrator),
            tolerances=Tolerances(self._case.tolerance, self._case.tolerance),
            project=project,
            first_step=_FIRST_STEP,
        )
        while not stepper.finished:
            stepper.step()
            yield stepper.t, stepper.q, stepper.v
