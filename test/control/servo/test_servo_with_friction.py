# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Servo control of machines whose loop joints rub."""

import numpy as np
import pytest
from support.mechanism_builder import arm, joint, link, mechanism

from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.core.equation.solution import Status
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.simulation.simulate import simulate

# A crank, a rod, and a piston that loop joints hold; all joints of the loop rub.
PARTS = (
    arm((0.3, 0.8))
    + link("piston", 0.5)
    + joint("slide", "base", "piston", kind="prismatic", axis="1 0 0")
)
TEXT = """actuators: {crank: {joint: j1, effort_limit: 100}}
initial_guess: {j1: 0.6, j2: -0.9, slide: 1.0}
constraints:
  pin:
    type: frame
    axes: [x, z]
    parent: {link: piston}
    child: {link: l2, xyz: [0.8, 0, 0]}
    friction: {coulomb: MU, viscous: 0.05, radius: 0.05, velocity: 0.02}
"""
TASK = """schema: 1
tasks:
  turn:
    type: joint
    joint: j1
    reference: {type: sinusoid, offset: 0.6, amplitude: 0.4, frequency: 0.5}
"""


def servo(mu):
    machine = mechanism(PARTS, TEXT.replace("MU", str(mu)))
    return machine, ServoController(machine, Tasks(TasksSpec.from_text(TASK), machine))


@pytest.mark.slow
@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_tasks_are_followed_exactly_in_spite_of_friction(mu):
    machine, controller = servo(mu)
    start = machine.start({"j1": 0.6}, {"j1": 0.4 * np.pi})
    trajectory = simulate(machine, start, 0.3, controller=controller, rtol=1e-6)
    assert np.abs(trajectory.tracking_error).max() < 1e-6
    assert set(trajectory.status) == {"OK"}


def test_the_efforts_agree_with_the_friction_that_they_cause():
    machine, controller = servo(0.3)
    state = machine.start({"j1": 0.6}, {"j1": 1.5})
    command = controller.command(state)
    inputs = controller.inputs(command)
    solution = machine.dynamics().evaluate(state, inputs)
    assert solution.status is Status.OK
    # What the stabilised task asks of the crank, from its own error.
    omega = 2.0 * np.pi * 5.0
    accelerates = -(2.0 * omega * command.tracking_rate + omega**2 * command.tracking_error)
    assert solution.qdd[0] == pytest.approx(accelerates[0], abs=1e-8)
    without = servo(0.0)[1].command(state)
    assert abs(command.efforts[0] - without.efforts[0]) > 0.01
    assert command.unreachable == ()
