# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Efforts that squeeze: the loops bear what was asked for, and nothing moves."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import closed_states, shipped

from uk_dynamics.control.internal_efforts import internal_efforts
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.control.servo.servo_modes import ServoModes
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.resolution.state import Inputs
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.resources import share_directory

WANTED = {
    "coordinated_robots": {"load_seam.x": 30.0, "load_seam.ry": -4.0},
    "dual_panda": {"right_grasp.y": 25.0, "right_grasp.rz": 2.0},
}


@pytest.mark.parametrize("name", ["coordinated_robots", "dual_panda"])
def test_loops_bear_what_is_asked_and_nothing_moves(name):
    machine, wanted = shipped(name), WANTED[name]
    dynamics, S = machine.dynamics(), machine.actuators.matrix
    scale = machine.constraints.reference_scale
    for state in closed_states(machine, np.random.default_rng(3), 4, excursion=2):
        efforts = internal_efforts(machine, state, wanted)
        before = dynamics.evaluate(state)
        tau = S @ np.array([efforts[motor] for motor in machine.actuators.names])
        after = dynamics.evaluate(state, Inputs(tau=tau))
        # conditions of up to 1e3 times rounding, against accelerations of up to 1e2
        assert np.abs(after.qdd - before.qdd).max() < 1e-8
        more = dict(
            zip(
                machine.row_names,
                (after.joint_multipliers - before.joint_multipliers) * scale,
                strict=True,
            )
        )
        for row, force in more.items():
            assert force == pytest.approx(wanted.get(row, 0.0), abs=1e-7)


def test_a_controller_squeezes_while_it_moves_the_load():
    machine = shipped("coordinated_robots")
    tasks = Tasks.from_file("coordinated_robots_lift", machine)
    controller, dynamics = ServoController(machine, tasks), machine.dynamics()
    for t in (0.0, 0.8, 1.9):
        state = machine.start(t=t, tasks=tasks)
        loads, motions = [], []
        for preload in ({}, internal_efforts(machine, state, {"load_seam.x": 40.0})):
            controller.reset()
            command = controller.command(state, preload=preload)
            solution = dynamics.evaluate(state, controller.inputs(command))
            assert not command.limited_by
            loads.append(solution.joint_multipliers)
            motions.append(solution.qdd)
        assert loads[1] - loads[0] == pytest.approx([40.0, 0.0, 0.0], abs=1e-8)
        assert np.abs(motions[1] - motions[0]).max() < 1e-9


SQUEEZE = "allocation: {internal_forces: {load_seam.x: 40.0}}\n"


def lift(machine, more=""):
    text = (share_directory() / "config/tasks/coordinated_robots_lift.yaml").read_text()
    return Tasks(TasksSpec.from_text(text + more), machine)


def test_what_a_tasks_file_asks_for_is_borne_in_every_mode_and_period():
    machine = shipped("coordinated_robots")
    dynamics = machine.dynamics()
    plain = ServoModes(machine, lift(machine), 0.002)
    pressing = ServoModes(machine, lift(machine, SQUEEZE), 0.002)
    inputs = pressing.servo.inputs
    for mode in ("tasks", "hold", "gravity_compensation"):
        for t in (0.0, 0.9):
            state = machine.start(t=t, tasks=plain.tasks)
            found = []
            for modes in (plain, pressing):
                modes.select(mode)
                modes.reset()
                found.append(dynamics.evaluate(state, inputs(modes.command(state))))
            less, more = found
            # the efforts are right for the middle of the period, 1 ms ahead, at up to 0.5 m/s
            assert more.joint_multipliers - less.joint_multipliers == pytest.approx(
                [40.0, 0.0, 0.0], abs=0.1
            )
            assert np.abs(more.qdd - less.qdd).max() < 0.1


def test_pressing_can_be_changed():
    machine = shipped("coordinated_robots")
    modes = ServoModes(machine, lift(machine, SQUEEZE), None)
    controller = ServoController(machine, modes.tasks)
    state = machine.start()
    squeezed = controller.command(state).efforts
    controller.set_internal_forces({"load_seam.x": 15.0})
    less = controller.command(state).efforts
    controller.set_internal_forces({})
    plain = controller.command(state).efforts
    # efforts are linear in the force
    assert less - plain == pytest.approx((squeezed - plain) * 15.0 / 40.0, abs=1e-9)
    assert np.abs(squeezed - plain).max() > 1.0
    assert modes.command(state).efforts == pytest.approx(squeezed, abs=1e-12)
    modes.set_internal_forces({"load_seam.x": 15.0})
    assert modes.command(state).efforts == pytest.approx(less, abs=1e-12)


def test_mistakes_in_a_tasks_file_are_named():
    machine = shipped("coordinated_robots")
    with pytest.raises(
        UnknownNameError, match=r'allocation\.internal_forces: no .* "load_seam\.q"'
    ):
        lift(machine, "allocation: {internal_forces: {load_seam.q: 1.0}}\n")
    stewart = shipped("stewart_platform")  # six motors for six freedoms
    text = (share_directory() / "config/tasks/stewart_platform_heave_roll.yaml").read_text()
    text += f"allocation: {{internal_forces: {{{stewart.row_names[0]}: 1.0}}}}\n"
    with pytest.raises(InputError, match="cannot cause internal forces"):
        ServoController(stewart, Tasks(TasksSpec.from_text(text), stewart))


def test_what_cannot_be_pressed_is_said():
    stewart = shipped("stewart_platform")  # six motors for six freedoms
    row = stewart.row_names[0]
    with pytest.raises(InputError, match="cannot cause internal forces"):
        internal_efforts(stewart, stewart.start(), {row: 10.0})
    machine = shipped("coordinated_robots")
    with pytest.raises(InputError, match="load_seam"):
        internal_efforts(machine, machine.start(), {"load_seam.y": 1.0})
