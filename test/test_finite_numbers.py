# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Every public function refuses numbers that are not finite, in one line that names the joint."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.mechanism_builder import joint, link, mechanism

import uk_dynamics as ukd
from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.exceptions import InputError

BACKENDS = [
    "interpreted",
    pytest.param(
        "compiled", marks=pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
    ),
]
BAD = [math.nan, math.inf, -math.inf]
PERIOD = 1e-3  # s

MACHINE = ukd.Mechanism.from_file("five_bar")
TASKS = ukd.Tasks.from_file("five_bar_sweep", MACHINE)
START = MACHINE.start(tasks=TASKS)


def spoiled(what: str, bad: float) -> ukd.State:
    """The start with one number that is not finite, of the joint ``coupler`` or the time."""
    q, v = START.q.copy(), START.v.copy()
    at = MACHINE.model.velocity_index("coupler")
    if what == "q":
        q[at] = bad
    if what == "v":
        v[at] = bad
    return ukd.State(bad if what == "t" else 0.0, q, v)


def servo(backend: str) -> ukd.ServoController:
    return ukd.ServoController(MACHINE, TASKS, control_period=PERIOD, backend=backend)


def delayed(backend: str) -> ukd.DelayCompensation:
    return ukd.DelayCompensation(servo(backend), 2e-3, control_period=PERIOD, backend=backend)


Door = Callable[[ukd.State, Any], object]
# What takes a state; the second argument is a backend.
OF_STATES: dict[str, Door] = {
    "Mechanism.state": lambda s, b: MACHINE.state(s.q, s.v, s.t),
    "Mechanism.terms": lambda s, b: MACHINE.terms(s),
    "Mechanism.energy": lambda s, b: MACHINE.energy(s),
    "Mechanism.jacobian": lambda s, b: MACHINE.jacobian("right_leg", s),
    "Mechanism.contacts": lambda s, b: MACHINE.contacts(s),
    "Mechanism.derivatives": lambda s, b: MACHINE.derivatives(s),
    "Mechanism.linearize": lambda s, b: MACHINE.linearize(s),
    "Dynamics.evaluate": lambda s, b: MACHINE.dynamics(b).evaluate(s),
    "Dynamics.acceleration": lambda s, b: MACHINE.dynamics(b).acceleration(s.q, s.v, t=s.t),
    "Dynamics.evaluate_batch": lambda s, b: MACHINE.dynamics(b).evaluate_batch(
        np.array([START.q, s.q]), np.array([START.v, s.v]), t=[0.0, s.t]
    ),
    "Dynamics.rollout": lambda s, b: MACHINE.dynamics(b).rollout(
        s.q, s.v, steps=2, dt=PERIOD, t=s.t
    ),
    "Dynamics.residual": lambda s, b: MACHINE.dynamics(b).residual(s),
    "Dynamics.project": lambda s, b: MACHINE.dynamics(b).project(s),
    "Dynamics.energy": lambda s, b: MACHINE.dynamics(b).energy(s),
    "forward_dynamics": lambda s, b: ukd.forward_dynamics(MACHINE, s),
    "inverse_dynamics": lambda s, b: ukd.inverse_dynamics(MACHINE, s, {"crank": 0.1}),
    "simulate": lambda s, b: ukd.simulate(MACHINE, s, 0.01, backend=b),
    "simulate_many": lambda s, b: ukd.simulate_many(
        MACHINE, [s], 0.01, controllers=[servo(b)], control_period=PERIOD, backend=b
    ),
    "ServoController.command": lambda s, b: servo(b).command(s),
    "ServoController.compute": lambda s, b: servo(b).compute(s),
    "DelayCompensation.command": lambda s, b: delayed(b).command(s),
    "GravityCompensation.compute": lambda s, b: ukd.GravityCompensation(MACHINE).compute(s),
    "Hold.compute": lambda s, b: ukd.Hold(MACHINE, frequency=2.0).compute(s),
    "MotionDerivatives.at": lambda s, b: ukd.MotionDerivatives(MACHINE, b).at(s),
    "ParameterDerivatives.at": lambda s, b: ukd.ParameterDerivatives(
        MACHINE, ["links.coupler_link.mass"], b
    ).at(s),
    "ServoDerivatives.at": lambda s, b: ukd.ServoDerivatives(TASKS, b).at(s),
    "ProjectionDerivatives.at": lambda s, b: ukd.ProjectionDerivatives(MACHINE, b).at(s),
    "linearize": lambda s, b: ukd.linearize(MACHINE, s),
}
# Public names that take no state, or are not called: what is theirs to refuse is tested with them.
NO_STATE = {
    *("Derivatives", "Equilibrium", "Inputs", "InverseDynamics", "LinearSystem", "Mechanism"),
    *("Solution", "State", "Status", "Tasks", "Trajectory", "UkDynamicsError", "__version__"),
    *("Reality", "Standing", "standing"),
    *("StateCompletion", "equilibrium", "internal_efforts", "linearize_along"),
}


def refused(call: Callable[[], object], *names: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    assert any(name in text for name in names), text


def test_all_public_names_are_here() -> None:
    walked = {name.partition(".")[0] for name in OF_STATES}
    assert set(ukd.__all__) - walked <= NO_STATE


@pytest.mark.slow
@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("what", ["t", "q", "v"])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("door", OF_STATES)
def test_states(door: str, backend: str, what: str, bad: float) -> None:
    refused(
        lambda: OF_STATES[door](spoiled(what, bad), backend),
        *(["t"] if what == "t" else ["coupler"]),
    )


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("backend", BACKENDS)
def test_efforts(backend: str, bad: float) -> None:
    dynamics, tau = MACHINE.dynamics(backend), np.zeros(MACHINE.model.nv)
    tau[MACHINE.model.velocity_index("coupler")] = bad
    q, v = START.q[None], START.v[None]
    refused(lambda: dynamics.evaluate(START, ukd.Inputs(tau)), "coupler")
    refused(lambda: dynamics.acceleration(START.q, START.v, tau), "coupler")
    refused(lambda: dynamics.evaluate_batch(q, v, tau), "coupler")
    refused(lambda: dynamics.rollout(q, v, tau, steps=2, dt=PERIOD), "coupler")
    refused(lambda: ukd.forward_dynamics(MACHINE, START, tau={"coupler": bad}), "coupler")
    refused(lambda: ukd.simulate(MACHINE, START, 0.01, tau={"coupler": bad}), "coupler")
    refused(lambda: ukd.inverse_dynamics(MACHINE, START, {"crank": bad}), "crank")


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("backend", BACKENDS)
def test_references_and_positions(backend: str, bad: float) -> None:
    sample = ReferenceSample(np.array([bad]), np.zeros(1), np.zeros(1))
    refused(lambda: servo(backend).command(START, references={"sweep": sample}), "sweep")
    inputs = ukd.Inputs(references={"middle_pin": ReferenceSample(*np.full((3, 2), bad))})
    refused(lambda: MACHINE.dynamics(backend).evaluate(START, inputs), "middle_pin")
    refused(lambda: MACHINE.assemble(crank=bad), "crank")
    refused(lambda: ukd.equilibrium(MACHINE, {"crank": bad}), "crank")


@pytest.mark.parametrize("backend", BACKENDS)
def test_finite_numbers_that_lead_to_others_are_no_answer(backend: str) -> None:
    """A mass of 1e308 kg overflows; it was answered with NaN and the status OK."""
    parts = link("base") + link("heavy", mass=1e308, com="1 0 0") + joint("turn", "base", "heavy")
    machine = mechanism(parts)
    state = machine.state([0.3], [1.0])
    refused(lambda: machine.dynamics(backend).evaluate(state), "turn")
