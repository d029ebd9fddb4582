# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Robust and adaptive laws in servo_controller: bounds, estimates, diagnostics, switched live."""

from __future__ import annotations

from array import array
from itertools import count
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy")

from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from support.nodes.ros_ears import Ear
from support.nodes.ros_fixtures import Ros
from support.nodes.servo_bench import Bench

from uk_dynamics import Mechanism, ServoController, State, Tasks
from uk_dynamics.mechanism.resolution import Inputs

pytestmark = pytest.mark.ros

TASKS = """
schema: 1
robust:
  parameters: {links.coupler_link.mass: [1.0, 3.0], joints.crank.friction: [0.0, 1.0]}
  bandwidth: 40.0
tasks:
  sweep: {type: joint, joint: crank, reference: {type: constant, value: 0.7}}
"""


def test_bounds_are_published_and_the_term_is_switched(ros: Ros, tmp_path: Path) -> None:
    file = tmp_path / "robust.yaml"
    file.write_text(TASKS)
    steps = count(1)
    bench = Bench(
        ros, autostart=True, state_timeout=60.0, tasks=str(file), transfer_time=0.0, blend_time=0.0
    )
    bounds = Ear(bench.node, JointState, "servo_controller/task_bounds")
    tasks = Tasks.from_file(file, bench.mechanism)
    law = ServoController(bench.mechanism, tasks)
    assert law.promise is not None
    bench.q = bench.mechanism.assemble(crank=0.69)

    def heard(expected: float) -> bool:
        bench.command(next(steps) * 1e-3)
        last = bounds.messages[-1].position[0] if bounds.messages else None
        return last == pytest.approx(expected, rel=1e-9)

    ros.until(lambda: heard(law.promise.error[0]))
    assert bounds.messages[-1].name == ["sweep"]
    told = "the error of sweep is above what robust promises"
    ros.until(lambda: heard(law.promise.error[0]) and told in bench.diagnostics.message)

    with_term = bench.command(next(steps) * 1e-3)
    assert bench.set("robust", False).successful
    ros.until(lambda: heard(float("inf")))
    # N m; what was decided before may still come
    ros.until(lambda: abs(bench.command(next(steps) * 1e-3) - with_term) > 1.0, "another effort")
    assert not bench.set("gains.sweep.damping_ratio", 0.7).successful
    assert bench.set("robust", True).successful
    ros.until(lambda: heard(law.promise.error[0]))


LEARNING = """
schema: 1
robust:
  parameters: {links.coupler_link.mass: [1.0, 3.0], joints.crank.friction: [0.0, 1.0]}
adaptive: [links.coupler_link.mass, joints.crank.friction]
observer: 1.0
tasks:
  sweep:
    type: joint
    joint: crank
    reference: {type: sinusoid, offset: 0.9, amplitude: 0.3, frequency: 0.5, phase: -1.570796}
"""


@pytest.mark.slow
def test_estimates_are_published_switched_and_written(ros: Ros, tmp_path: Path) -> None:
    """A machine of 2.6 kg, simulated here, whose model has 2 kg.

    Commands have stamps here: a state that is sent again is answered again, and who takes the next
    command for that of the next state has a machine with a period of delay. It learns 2.67 kg.
    """
    file, rate = tmp_path / "learning.yaml", 500.0
    file.write_text(LEARNING)
    bench = Bench(
        ros,
        autostart=True,
        state_timeout=60.0,
        tasks=str(file),
        transfer_time=0.05,
        blend_time=0.0,
        update_rate=rate,
        command_mode="joint_state",
        estimates_folder=str(tmp_path / "found"),
    )
    heard = Ear(bench.node, JointState, "servo_controller/estimates")
    commands = Ear(bench.node, JointState, "joint_commands")
    real = bench.mechanism.with_parameters({"links.coupler_link.mass": 2.6})
    dynamics = real.dynamics("interpreted")
    state = bench.mechanism.start(tasks=Tasks.from_file(file, bench.mechanism))
    S = real.actuators.matrix
    efforts: list[float] = []

    def periods(count: int) -> None:
        nonlocal state
        for _ in range(count):
            bench.q, v, t = state.q, array("d", state.v), state.t
            ros.until(
                lambda v=v, t=t: (
                    bench.send(t, velocity=v)
                    or any(x.header.stamp == bench.stamp(t) for x in commands.messages[-1:])
                )
            )
            efforts.append(float(commands.messages[-1].effort[0]))
            tau = S @ [efforts[-1]]
            h = 1.0 / rate
            qdd = dynamics.evaluate(state, Inputs(tau=tau)).qdd
            middle = State(state.t, state.q, state.v + 0.5 * h * qdd)
            q = real.model.integrate(state.q, h * middle.v)
            state = dynamics.project(State(state.t + h, q, state.v + h * qdd))

    periods(400)
    ros.until(lambda: bool(heard.messages))
    names = ["links.coupler_link.mass", "joints.crank.friction"]
    assert heard.messages[-1].name == names
    # steps of first order and the discrete derivative: 2 %
    assert heard.messages[-1].position[0] == pytest.approx(2.6, abs=0.05)
    for name in ("robust", "adaptive", "observer"):
        for value in (False, True):
            assert bench.set(name, value).successful
            periods(30)
    # a change is handed over within 0.05 s: no effort jumps by more than a tenth of 30 N m
    assert np.abs(np.diff(efforts[300:])).max() < 3.0
    client = bench.node.create_client(Trigger, "servo_controller/write_estimates")
    answer = ros.call(client, Trigger.Request())
    assert answer.success, answer.message
    found = Mechanism.from_file(tmp_path / "found" / "five_bar.yaml")
    assert found.parameters[names[0]].value == pytest.approx(2.6, abs=0.05)
    assert found.spec.identified[-1].by == "adapt"
