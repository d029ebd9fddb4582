# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Gravity compensation and hold: machines that weigh nothing, machines that stay."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import arm, joint, link, mechanism, near, shipped

import uk_dynamics as ukd
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.simulate import simulate

MACHINES = ["four_bar", "five_bar_maximal", "stewart_platform", "coordinated_robots", "dual_panda"]


def acceleration(machine: Mechanism, state, efforts) -> np.ndarray:
    return machine.dynamics().evaluate(state, machine.inputs(efforts=efforts)).qdd


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("mode", [ukd.GravityCompensation, ukd.Hold])
def test_a_machine_at_rest_stays_at_rest(name, mode):
    machine = shipped(name)
    state = machine.start()
    command = mode(machine).command(state)
    assert command.unreachable == ()
    assert command.limited_by == {}
    near(acceleration(machine, state, command.efforts), 0.0, 10.0)
    near(command.qdd, 0.0, 10.0)
    np.testing.assert_array_equal(command.efforts, command.requested)


def test_without_weight_energy_of_motion_stays():
    """A five-bar pushed once turns on as in space: its kinetic energy is constant."""
    machine = shipped("five_bar")
    assert machine.conservative
    start = machine.start(velocities={"crank": 2.0})
    run = simulate(machine, start, 1.0, controller=ukd.GravityCompensation(machine))
    assert run.energy[-1] != pytest.approx(run.energy[0], abs=0.1)  # the motor carried weight
    np.testing.assert_allclose(run.kinetic, run.kinetic[0], rtol=0, atol=1e-6 * run.kinetic[0])


def test_hold_brings_back_what_was_pushed():
    machine = shipped("four_bar")
    hold = ukd.Hold(machine, frequency=2.0)
    rest = machine.start()
    hold.command(rest)
    pushed = machine.start({"crank": float(rest.q[0]) + 0.1})
    assert hold.tracking_error(pushed)[0] == pytest.approx(0.1, abs=1e-9)
    run = simulate(machine, pushed, 1.5, controller=hold, rtol=1e-7)
    # Critically damped at 2 Hz, 1.5 s are 19 time constants.
    assert np.abs(run.tracking_error[-1]).max() < 1e-6
    assert run.names.task_rows == machine.model.velocity_names
    hold.reset()
    assert np.abs(hold.tracking_error(pushed)).max() == 0.0
    hold.command(pushed)
    near(hold.position, pushed.q)


def test_hold_stays_within_limits_and_says_so():
    parts = link("base") + link("l1", com="0.5 0 0") + joint("j1", "base", "l1")
    machine = mechanism(parts, "actuators: {m: {joint: j1, effort_limit: 3}}\n")
    command = ukd.Hold(machine).command(machine.state())
    assert abs(command.requested[0]) == pytest.approx(0.5 * 9.81, rel=1e-9)
    assert abs(command.efforts[0]) == 3.0
    assert command.limited_by == {"m": "effort"}
    np.testing.assert_allclose(
        command.qdd, acceleration(machine, machine.state(), command.efforts), rtol=0, atol=1e-9
    )


def test_what_no_motor_holds_is_named():
    machine = mechanism(arm([1.0, 1.0]), "actuators: {a: {joint: j1}}\n")
    command = ukd.GravityCompensation(machine).command(machine.state())
    assert "j2" in command.unreachable
    with pytest.raises(InputError, match="no motors"):
        ukd.Hold(mechanism(arm([1.0])))
    with pytest.raises(InputError, match="frequency"):
        ukd.Hold(machine, frequency=0.0)


def test_rates_are_limited_from_what_motors_give():
    parts = link("base") + link("l1", com="0.5 0 0") + joint("j1", "base", "l1")
    text = "actuators: {m: {joint: j1, effort_limit: 9, rate_limit: 1000}}\n"
    machine = mechanism(parts, text)
    with pytest.raises(InputError, match="control period"):
        ukd.GravityCompensation(machine)
    carry = ukd.GravityCompensation(machine, control_period=1e-3)
    carry.reset({"m": 0.0})
    state = machine.state()
    sizes = [abs(carry.command(state).efforts[0]) for _ in range(6)]
    assert sizes == pytest.approx([1.0, 2.0, 3.0, 4.0, 4.905, 4.905], abs=1e-9)


def test_redundant_motors_hold_as_asked():
    machine = shipped("coordinated_robots")
    state = machine.start()
    plain = ukd.Hold(machine).command(state)
    tight = ukd.Hold(machine, preload={"u1": 30.0}).command(state)
    assert abs(tight.efforts - plain.efforts).max() > 1.0
    near(acceleration(machine, state, tight.efforts), 0.0, 10.0)
    for options, place in (
        ({"weights": "least"}, "weights"),
        ({"weights": {"u1": -1.0}}, "weights.u1"),
        ({"weights": {"u1": 1.0}}, "allocation.weights"),
        ({"preload": {"u7": 1.0}}, "allocation.preload"),
    ):
        with pytest.raises(InputError) as caught:
            ukd.GravityCompensation(machine, **options)
        assert caught.value.place == place
