# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A posed machine is held, what it shows are the forces of the held machine, and off is off."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import joint, link, mechanism

import uk_dynamics as ukd
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.viewing.live_simulation import LiveSimulation, MotorChoices
from uk_dynamics.viewing.scene.marks import Marker


def _potential(mechanism, q):
    return mechanism.dynamics().energy(mechanism.state(q)).potential


def test_the_cylinders_of_a_posed_excavator_carry_its_weight():
    mechanism = ukd.Mechanism.from_file("excavator")
    start = mechanism.start()
    snapshot = LiveSimulation(mechanism, start).frame(0.0)
    assert "held" in snapshot.mode
    # virtual work: lengthening one cylinder alone lifts the centre of mass
    cylinders = ("boom_cylinder", "stick_cylinder", "bucket_cylinder")
    h = 1e-4  # m; errors h² times the third derivative of the energy: below 0.01 N
    for name, effort in zip(cylinders, snapshot.efforts[1:], strict=True):
        ends = []
        for way in (h, -h):
            guess = start.q.copy()
            guess[mechanism.model.position_index(name)] += way
            ends.append(_potential(mechanism, mechanism.assembly(guess, hold=cylinders).q))
        assert abs(effort - (ends[0] - ends[1]) / (2.0 * h)) < 1.0, name  # N, of up to 200,000
    dynamics = InterpretedDynamics(mechanism)
    solution = dynamics.evaluate(start, snapshot.inputs)
    assert np.abs(solution.qdd).max() < 1e-9
    marker = Marker(mechanism)
    marks = marker.marks(start, dynamics.residual(start, snapshot.inputs).position, solution)
    pin = marks.forces[marker.constraints.index("boom_rod_pin")]
    # the rod is light against what it carries: the pin takes the force of the cylinder
    assert abs(np.linalg.norm(pin) - snapshot.efforts[1]) < 1_000.0
    assert np.linalg.norm(pin) > 150_000.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["excavator", "five_bar", "stewart_platform"])
def test_a_machine_that_is_held_stays(name):
    mechanism = ukd.Mechanism.from_file(name)
    start = mechanism.start()
    source = LiveSimulation(mechanism, start, playing=True, most_work=np.inf)
    snapshot = source.frame(0.5)
    assert abs(snapshot.state.t - 0.5) < 0.003
    assert np.abs(snapshot.state.q - start.q).max() < 1e-6  # m or rad; hold starts in equilibrium
    assert not snapshot.message


@pytest.mark.slow
def test_motors_off_says_so_and_falls():
    mechanism = ukd.Mechanism.from_file("excavator")
    source = LiveSimulation(mechanism, mechanism.start(), most_work=np.inf)
    source.drive("off")
    before = source.frame(0.0)
    assert "motors off" in before.mode
    assert not before.efforts.any()
    source.control("play")
    fallen = source.frame(0.3)
    assert "motors off" in fallen.mode
    boom = mechanism.model.position_index("boom_cylinder")
    assert fallen.state.q[boom] < before.state.q[boom] - 0.05  # m, it gives way
    source.drive("hold")  # catches it in the air
    caught = source.frame(1.5).state
    assert np.abs(caught.v).max() < 1e-3  # rad/s; 5 Hz, critically damped


def test_motors_that_cannot_hold_a_pose_are_named():
    mechanism = ukd.Mechanism.from_file("landing_leg")  # a motor in the knee, and the body falls
    source = LiveSimulation(mechanism, mechanism.start())
    assert "cannot hold this pose" in source.frame(0.0).message


def test_a_pose_is_held_where_it_was_posed():
    mechanism = ukd.Mechanism.from_file("five_bar")
    source = LiveSimulation(mechanism, mechanism.start(), most_work=np.inf)
    weight = source.frame(0.0).efforts
    source.lead_joint("crank", 1.2)
    posed = source.frame(0.0)
    assert np.abs(posed.efforts - weight).max() > 0.1  # N·m: another pose, another weight
    source.control("play")
    assert np.abs(source.frame(0.3).state.q - posed.state.q).max() < 1e-6


def test_tasks_are_followed_where_there_are_some():
    mechanism = ukd.Mechanism.from_file("five_bar")
    tasks = ukd.Tasks.from_file("five_bar_sweep", mechanism)
    source = LiveSimulation(mechanism, mechanism.start(), tasks=tasks)
    assert source.driving == source.motors[0] == "tasks"
    assert source.frame(0.0).efforts.any()  # held until then
    assert source.motors[1:] == ("hold", "gravity", "off")


@pytest.mark.parametrize(("height", "stands"), [(0.0, True), (0.1, False)])
def test_what_contacts_carry_the_motors_need_not(height, stands):
    lift = joint("z", "base", "body", kind="prismatic", axis="0 0 1")
    arm = joint("swing", "body", "arm") + link("arm", 0.5, 0.01, "0.2 0 0")
    text = """
actuators: {motor: {joint: swing, effort_limit: 5.0}}
contacts: {foot: {parent: {link: base}, child: {link: body}}}
"""
    machine = mechanism(link("base") + link("body", 2.0) + lift + arm, text)
    choices = MotorChoices(machine, None, 0.002)
    found = choices.at_rest("hold", machine.state({"z": height}))
    assert found.problem == ("" if stands else "the motors cannot hold this pose: z will move")
    if stands:
        assert abs(found.efforts[0]) == pytest.approx(0.5 * 9.81 * 0.2, rel=1e-9)
