# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Machines follow their tasks to a millionth, by nodes in lockstep at 1 kHz and 5 Hz gains.

With as many motors as rows, and with more. All six are in test_control_tracking.py, computed
without nodes: the same numbers bit by bit, as test_ros_lockstep.py shows.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from servo_machines import MOTIONS, shipped_files, size_of
from servo_runs import over_dds
from support.mechanism_builder import shipped

from uk_dynamics.ros.process.node_processes import own_domain

pytestmark = pytest.mark.ros

SETTLED = 0.5  # s; at 5 Hz 1e-4 m of rounding in the files has died away to 3e-10 m


@pytest.mark.slow
@pytest.mark.parametrize("name", ["parallel_2dof", "two_mass_spring"])
def test_a_millionth_of_the_motion_is_left(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped(name)
    monkeypatch.delenv("ROS_DOMAIN_ID")  # nobody else is to be heard
    motion = MOTIONS[name]
    _, tasks = shipped_files(motion).load()
    with own_domain():
        run = over_dds(shipped_files(motion), 0.8, 1e-3, tmp_path)
    assert len(run.t) > 700, "the ear of a busy machine may miss some"
    assert run.worst(after=SETTLED) <= 1e-6 * size_of(tasks, motion.duration)
    assert run.open <= 1e-9
    assert run.load <= 1.0
