# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Steps of ``moreau`` between contacts: of order two, and energy by the work of forces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
import yaml
from support.mechanism_builder import arm, link, mechanism
from support.repository import ROOT

from uk_dynamics import Inputs, Mechanism, State, simulate
from uk_dynamics.mechanism.contact import ContactStepping
from uk_dynamics.mechanism.dynamics import Backend

STEPS = np.array([5e-3, 2.5e-3, 1.25e-3])  # s
SPAN = 0.2  # s
BRICK = link("brick").replace('iyy="0.1"', 'iyy="0.15"').replace('izz="0.1"', 'izz="0.22"')
FLOOR = {"parent": {"link": "world", "xyz": [0.0, 0.0, -9.0]}, "friction": 0.5}
AIR = "contacts: {floor: {parent: {link: world, xyz: [0, 0, -9]}, child: {link: %s}}}"


def tumbling() -> tuple[Mechanism, State]:
    """A brick that turns about all of its axes."""
    found = mechanism(BRICK, "model: {root: floating}\n" + AIR % "brick")
    return found, found.state([0, 0, 0, 0, 0, 0, 1], [1.0, 0.0, 2.0, 5.0, 8.0, -3.0])


def swinging() -> tuple[Mechanism, State]:
    """A double pendulum."""
    found = mechanism(arm([0.4, 0.3]), AIR % "l2")
    return found, found.state([-1.2, 0.4], [2.0, -9.0])


def closed() -> tuple[Mechanism, State]:
    """A slider-crank, whose rod turns unevenly."""
    data = yaml.safe_load((ROOT / "config/slider_crank.yaml").read_text())
    data["joints"] = {name: {"damping": 0.0, "friction": 0.0} for name in data["initial_guess"]}
    data["contacts"] = {"floor": FLOOR | {"child": {"link": "piston"}}}
    found = Mechanism.from_data(data)
    start = found.start()
    start.v[found.model.velocity_index("crank")] = 9.0
    return found, found.dynamics("interpreted").project(start)


def chain() -> tuple[Mechanism, State]:
    """Links that float, turn and fold."""
    found = mechanism(arm([0.4, 0.3]), "model: {root: floating}\n" + AIR % "l2")
    return found, found.state(found.start().q, [1.0, 0.0, 2.0, 3.0, 5.0, -2.0, 4.0, -9.0])


def momentum(machine: Mechanism, state: State) -> np.ndarray:
    """Linear momentum and angular momentum about the centre of mass, (6,), in world axes."""
    model = machine.model.pinocchio
    found = pin.computeCentroidalMomentum(model, model.createData(), state.q, state.v)
    return np.asarray(found.vector)


@pytest.mark.parametrize("machine", [tumbling, swinging, closed, chain])
def test_free_motion_converges_at_order_two_and_keeps_its_energy(
    machine: Callable[[], tuple[Mechanism, State]],
) -> None:
    moved, start = machine()
    exact = simulate(moved, start, SPAN, method="DOP853")
    off, drift, lost = [], [], []
    mass = sum(body.mass for body in moved.model.bodies)
    for h in STEPS.tolist():
        found = simulate(moved, start, SPAN, method="moreau", step=h, backend="interpreted")
        assert not found.switchings
        off.append(np.abs(found.q - exact.q).max())
        states = map(State, found.t, found.q, found.v)
        energy = np.array([moved.energy(state).total for state in states])
        drift.append(np.abs(energy - energy[0]).max() / moved.energy(start).kinetic)
        if moved.model.bodies[0].kind == "floating":
            fall = mass * moved.model.gravity * SPAN
            change = momentum(moved, State(SPAN, found.q[-1], found.v[-1])) - momentum(moved, start)
            lost.append([np.abs(change[:3] - fall).max(), np.abs(change[3:]).max()])
    for errors in (off, *np.transpose(lost)):
        order = np.polyfit(np.log(STEPS), np.log(errors), 1)[0]
        # the next order adds a part of h times the rates, which are about 10 per s
        assert order == pytest.approx(2.0, abs=0.2)
    assert max(drift) < 1e-12


def test_a_body_that_does_not_turn_keeps_its_momentum_but_for_its_weight() -> None:
    moved, start = tumbling()
    start = replace(start, v=np.array([3.0, -1.0, 4.0, 0.0, 0.0, 0.0]))
    found = simulate(moved, start, SPAN, method="moreau", step=4e-3, backend="interpreted")
    fallen = start.v[:3] + moved.model.gravity * SPAN
    assert np.abs(found.v[-1] - [*fallen, 0.0, 0.0, 0.0]).max() < 1e-13


DRIVEN = """
joints: {j1: {damping: 0.3, spring: {stiffness: 20.0, rest: 0.5}}, j2: {friction: 0.2}}
forces:
  strut: {type: line_spring, stiffness: 30.0, length: 0.2, damping: 2.0, child: {link: l2},
    parent: {link: base, xyz: [0, 1, 0]}}
  drive: {type: effort, joints: {j2: 1}, effort: 0.7}
"""


def test_energy_changes_by_the_work_of_forces_in_python_and_c() -> None:
    moved = mechanism(arm([0.4, 0.3]), DRIVEN + AIR % "l2")
    plain = mechanism(arm([0.4, 0.3]), AIR % "l2")
    state, h, tau = moved.state([-1.2, 0.4], [2.0, -9.0]), 2e-3, np.array([0.5, -0.3])
    stepping, compiled = ContactStepping(moved), moved.dynamics("compiled")
    interpreted, without = (one.dynamics("interpreted") for one in (moved, plain))
    for _ in range(100):
        reached, _ = stepping.step(state, h, interpreted, Inputs(tau))
        in_c, _ = stepping.advance(state, state.t + h, 1, compiled, Inputs(tau))
        assert np.abs(np.concatenate((in_c.q - reached.q, in_c.v - reached.v))).max() < 1e-12
        # of the velocity before it was scaled, which differs by 1e-6 of it
        mean, middle = 0.5 * (state.v + reached.v), state.q + 0.5 * h * state.v
        there, still = State(state.t, middle, state.v), State(state.t, middle, 0.0 * state.v)
        force = interpreted.terms(there).F - without.terms(there).F
        force -= interpreted.terms(still).F - without.terms(still).F
        force[1] += 0.7
        gained = moved.energy(reached).total - moved.energy(state).total
        assert gained == pytest.approx(h * mean @ (force + tau), abs=1e-7)
        state = reached


def test_what_rests_is_left_alone() -> None:
    floor = {"parent": {"link": "world"}, "child": {"link": "brick"}, "friction": 0.5}
    corners = {"a": [-0.1, -0.1, -0.1], "b": [0.1, -0.1, -0.1], "c": [0.0, 0.1, -0.1]}
    data = {"model": {"root": "floating"}, "contacts": {"floor": floor | {"points": corners}}}
    moved = Mechanism.from_data(data, robot_description=f'<robot name="one">{BRICK}</robot>')
    start = moved.state([3.0, 2.0, 0.1, 0.0, 0.0, 0.0, 1.0], [0.0] * 6)
    found = simulate(moved, start, 0.5, method="moreau", backend="interpreted")
    assert np.abs(found.v).max() < 1e-12
    assert np.abs(found.q - start.q).max() < 1e-12


@pytest.mark.parametrize("restitution", [1.0, 0.9])
def test_energy_never_grows_where_things_strike_slide_and_stick(restitution: float) -> None:
    law = {"parent": {"link": "world"}, "friction": 0.4, "restitution": restitution}
    ends = {"a": [-0.2, 0.0, 0.1], "b": [0.2, 0.1, -0.1], "c": [0.0, -0.2, 0.0]}
    data = {"model": {"root": "floating"}, "contacts": {"floor": law | {"points": ends}}}
    data["contacts"]["floor"]["child"] = {"link": "brick"}
    moved = Mechanism.from_data(data, robot_description=f'<robot name="one">{BRICK}</robot>')
    start = moved.state([0, 0, 0.4, 0, 0, 0, 1], [0.3, 0.0, 0.0, 2.0, -3.0, 1.0])
    found = simulate(moved, start, 1.0, method="moreau", sample_period=1e-3, backend="interpreted")
    assert np.abs(np.diff(found.v, axis=0)).max() > 1.0  # m/s or rad/s: it strikes
    assert np.diff(found.energy).max() < 1e-12


def test_a_step_gains_nothing_however_much_it_would() -> None:
    machine, start = tumbling()
    steps = ContactStepping(machine)
    for factor in (1.1, 1.5, 30.0):
        end = steps._balanced(start, replace(start, v=factor * start.v), 0.0, lasts=False)
        assert machine.energy(end).total == pytest.approx(machine.energy(start).total, abs=1e-12)


@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
@pytest.mark.parametrize("machine", [closed, tumbling])
def test_steps_that_are_far_too_long_gain_nothing(
    machine: Callable[[], tuple[Mechanism, State]], backend: Backend
) -> None:
    """They turn by some rad a step."""
    moved, start = machine()
    start = replace(start, v=7.0 * start.v)
    how = {"method": "moreau", "step": 0.05, "sample_period": 0.05}
    found = simulate(moved, start, 3.0, backend=backend, **how)
    assert np.diff(found.energy).max() < 1e-11  # J, of 470: rounding


def test_a_ball_that_rolls_keeps_its_energy() -> None:
    bowl = {"type": "cylinder", "radius": 1.0, "hollow": True}
    touch = {"parent": {"link": "world"}, "child": {"link": "brick"}, "friction": 0.9}
    touch |= {"surface": bowl, "radius": 0.1}
    data = {
        "model": {"root": "floating", "gravity": [0.0, -9.81, 0.0]},
        "contacts": {"bowl": touch},
    }
    moved = Mechanism.from_data(data, robot_description=f'<robot name="one">{BRICK}</robot>')
    start = moved.state([0.9 * np.sin(0.5), -0.9 * np.cos(0.5), 0, 0, 0, 0, 1], [0.0] * 6)
    found = simulate(moved, start, 1.0, method="moreau", backend="interpreted")
    later = found.energy[found.t > 0.01]
    assert np.abs(later - later[0]).max() < 1e-12
    assert later[0] == pytest.approx(found.energy[0], abs=1e-2)
