# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A robust law in servo_controller: promised bounds as a topic, in diagnostics, switched live."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from sensor_msgs.msg import JointState
from support.nodes.ros_ears import Ear
from support.nodes.ros_fixtures import Ros
from support.nodes.servo_bench import Bench

from uk_dynamics import ServoController, Tasks

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
    assert abs(bench.command(next(steps) * 1e-3) - with_term) > 1.0  # N m
    assert not bench.set("gains.sweep.damping_ratio", 0.7).successful
    assert bench.set("robust", True).successful
    ros.until(lambda: heard(law.promise.error[0]))
