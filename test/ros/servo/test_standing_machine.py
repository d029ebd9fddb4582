# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A biped stands by contact forces: simulator and servo_controller in lockstep over DDS."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

pytest.importorskip("rclpy")

from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from support.nodes.floating_machine import state_of
from support.nodes.ros_ears import DiagnosticsEar, Ear
from support.nodes.ros_fixtures import Ros, StartProcess
from support.repository import ROOT

from uk_dynamics import Mechanism, ServoController, Tasks, simulate
from uk_dynamics.ros.servo.fault_reactions import Fault
from uk_dynamics.ros.timing.clock import nanoseconds

pytestmark = [pytest.mark.ros, pytest.mark.together("standing biped")]

FOLDER = ROOT / "examples" / "biped"
PERIOD = 0.002  # s


def tasks_file(tmp_path: Path, **contacts: Any) -> Path:
    """The biped lowers its centre of mass; its feet stand as given."""
    data = yaml.safe_load((FOLDER / "stand.yaml").read_text())
    data["contacts"] = {"left_sole": contacts, "right_sole": contacts}
    lower = ["0.035", "0", "0.7 - 0.01*(1 - cos(2*pi*t))"]
    data["tasks"]["balance"]["reference"] = {"type": "expression", "value": lower}
    path = tmp_path / "lower.yaml"
    path.write_text(yaml.safe_dump(data))
    return path


def start_both(start_node: StartProcess, tasks: Path, **parameters: Any) -> None:
    common = {
        "mechanism": str(FOLDER / "biped.yaml"),
        "tasks": str(tasks),
        "command_mode": "joint_state",
    }
    start_node(
        "simulator",
        parameters=common | {"rate": 1.0 / PERIOD, "start_on_tasks": True, "lockstep": True},
    )
    start_node(
        "servo_controller",
        parameters={
            **common,
            "update_rate": 1.0 / PERIOD,
            "autostart": True,
            "state_timeout": 60.0,
            **parameters,
        },
    )


@pytest.mark.parametrize(
    ("contacts", "topic"),
    [
        pytest.param({}, "", id="planned", marks=pytest.mark.slow),
        pytest.param(
            {"stands": "detected"}, "", id="told by the simulator", marks=pytest.mark.slow
        ),
        pytest.param({"stands": "detected"}, "simulator/contacts", id="detected by force"),
    ],
)
def test_it_moves_over_dds_as_in_the_library(
    ros: Ros, start_node: StartProcess, tmp_path: Path, contacts: dict[str, Any], topic: str
) -> None:
    node = ros.node()
    joints, bases = Ear(node, JointState, "joint_states"), Ear(node, Odometry, "odom")
    diagnostics = DiagnosticsEar(node, "servo_controller")
    tasks = tasks_file(tmp_path, **contacts)
    start_both(start_node, tasks, contact_topic=topic)
    end = round(0.2e9)  # ns

    def there() -> bool:
        # of the two nodes the controller may be the first
        waits = any(text in diagnostics.message for text in ("odom", "no usable joint_states yet"))
        assert diagnostics.level != b"\x02" or waits, diagnostics.message
        return any(nanoseconds(m.header.stamp) >= end for m in joints.messages[-5:])

    ros.until(there, "0.2 s of motion", 120.0)
    mechanism = Mechanism.from_file(FOLDER / "biped.yaml")
    loaded = Tasks.from_file(tasks, mechanism)
    by_stamp = {nanoseconds(m.header.stamp): m for m in bases.messages}
    stamped = {nanoseconds(m.header.stamp): m for m in joints.messages}
    states = [
        state_of(mechanism, message, by_stamp[stamp])
        for stamp, message in sorted(stamped.items())
        if stamp in by_stamp and stamp <= end
    ]
    assert len(states) > 80
    law = ServoController(mechanism, loaded, control_period=PERIOD)
    run = simulate(
        mechanism,
        mechanism.start(tasks=loaded),
        0.2,
        controller=law,
        control_period=PERIOD,
        sample_period=PERIOD,
        method="moreau",
    )
    # m or rad, after 100 periods of 2 ms: the first efforts come a period later in lockstep, and
    # contacts that are detected by their forces are known a period later
    k = int(np.argmin(np.abs(run.t - states[-1].t)))  # the base of the last may still be under way
    assert states[-1].t == pytest.approx(run.t[k], abs=1e-9)
    difference = mechanism.model.difference(run.q[k], states[-1].q)
    assert np.abs(difference).max() < (1e-9 if not topic else 1e-4)
    place = law.tracking_error(states[-1])
    assert np.abs(place[:6]).max() < 1e-4  # m or rad


@pytest.mark.slow
def test_it_walks_ten_steps_over_dds(ros: Ros, start_node: StartProcess, tmp_path: Path) -> None:
    """From footsteps.yaml by footsteps.py to the last footprint, as a user would start it."""
    walk, plan = tmp_path / "walk.yaml", yaml.safe_load((FOLDER / "footsteps.yaml").read_text())
    program = [sys.executable, FOLDER / "footsteps.py", FOLDER / "footsteps.yaml", walk]
    subprocess.run(program, check=True)
    node = ros.node()
    joints, bases = Ear(node, JointState, "joint_states"), Ear(node, Odometry, "odom")
    diagnostics = DiagnosticsEar(node, "servo_controller")
    start_both(start_node, walk)
    end = round(1e9 * plan["end"])  # ns

    def there() -> bool:
        # of the two nodes the controller may be the first
        waits = any(text in diagnostics.message for text in ("odom", "no usable joint_states yet"))
        assert diagnostics.level != b"\x02" or waits, diagnostics.message
        assert all(m.pose.pose.position.z > 0.7 for m in bases.messages[-1:])  # m, at first 0.76
        return any(nanoseconds(m.header.stamp) >= end for m in joints.messages[-5:])

    ros.until(there, "the end of the walk", 240.0)
    mechanism = Mechanism.from_file(FOLDER / "biped.yaml")
    by_stamp = {nanoseconds(m.header.stamp): m for m in bases.messages[-50:]}
    message = next(m for m in joints.messages[::-1] if nanoseconds(m.header.stamp) in by_stamp)
    last = state_of(mechanism, message, by_stamp[nanoseconds(message.header.stamp)])
    for foot, number in (("right", -2), ("left", -1)):
        place, rotation = mechanism.pose(f"{foot}_foot", last.q)
        to = plan["steps"][number]["to"]
        np.testing.assert_allclose(place, [*to, 0.07], rtol=0, atol=1e-3)  # m
        np.testing.assert_allclose(rotation, np.eye(3), rtol=0, atol=2e-3)  # rad
    assert np.abs(last.v).max() < 1e-3  # rad/s: it stands


@pytest.mark.slow
def test_silent_contacts_are_a_fault(ros: Ros, start_node: StartProcess, tmp_path: Path) -> None:
    node = ros.node()
    diagnostics = DiagnosticsEar(node, "servo_controller")
    tasks = tasks_file(tmp_path, stands="detected")
    start_both(start_node, tasks, contact_topic="nobody", state_timeout=1.0)
    ros.until(lambda: Fault.CONTACTS_STALE.name.lower() in diagnostics.message, "the fault", 60.0)
    assert "nothing usable on nobody" in diagnostics.message
