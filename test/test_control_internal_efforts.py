"""Efforts that squeeze: the loops bear what was asked for, and nothing moves."""

from __future__ import annotations

import numpy as np
import pytest
from mechanism_builder import closed_states, shipped

from uk_dynamics.control.internal_efforts import internal_efforts
from uk_dynamics.control.servo_controller import ServoController
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.state import Inputs
from uk_dynamics.mechanism.tasks import Tasks

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
        more = dict(zip(machine.row_names, (after.loads - before.loads) * scale, strict=True))
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
            loads.append(solution.loads)
            motions.append(solution.qdd)
        assert loads[1] - loads[0] == pytest.approx([40.0, 0.0, 0.0], abs=1e-8)
        assert np.abs(motions[1] - motions[0]).max() < 1e-9


def test_what_cannot_be_pressed_is_said():
    stewart = shipped("stewart_platform")  # six motors for six freedoms
    row = stewart.row_names[0]
    with pytest.raises(InputError, match="cannot press"):
        internal_efforts(stewart, stewart.start(), {row: 10.0})
    machine = shipped("coordinated_robots")
    with pytest.raises(InputError, match="load_seam"):
        internal_efforts(machine, machine.start(), {"load_seam.y": 1.0})
