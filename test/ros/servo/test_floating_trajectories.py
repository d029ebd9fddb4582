# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Machines that float follow trajectories: drives with position loops between the nodes."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

pytest.importorskip("rclpy")

from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from support.floating_five_bar import floating_five_bar, sweep
from support.nodes.floating_machine import state_of
from support.nodes.ros_ears import DiagnosticsEar, Ear, overrides
from support.nodes.ros_fixtures import Ros, StartProcess
from support.repository import ROOT
from trajectory_msgs.msg import JointTrajectory

from uk_dynamics import Mechanism, ServoController, State, Tasks
from uk_dynamics.exceptions import InputError
from uk_dynamics.ros.nodes.servo_controller import ServoControllerNode
from uk_dynamics.ros.timing.clock import nanoseconds

pytestmark = [pytest.mark.ros, pytest.mark.together("floating base")]

BIPED = ROOT / "examples" / "biped"
PERIOD = 0.002  # s
STAMPS = 1000  # ns, by which sums of periods and stamps differ at most


class Drives:
    """Position loops of all driven joints, with the efforts of the trajectory fed forward.

    They sample it at the state that it answers, as joint_trajectory_controller does, and command
    the simulator, which waits for them.
    """

    def __init__(self, ros: Ros, stiffness: float, damping: float) -> None:
        node = ros.node()
        self.joints, self.bases = Ear(node, JointState, "joint_states"), Ear(node, Odometry, "odom")
        self._stiffness, self._damping = stiffness, damping
        self._efforts = node.create_publisher(JointState, "joint_commands", 10)
        topic = "joint_trajectory_controller/joint_trajectory"
        node.create_subscription(JointTrajectory, topic, self.follow, 10)

    def follow(self, message: JointTrajectory) -> None:
        begin = nanoseconds(message.header.stamp)
        for state in self.joints.messages[-5:][::-1]:
            if abs(nanoseconds(state.header.stamp) - begin) < STAMPS:
                break
        else:
            return  # the state that is answered is still under way; it will be sent again
        now, then = message.points[:2]  # the efforts of a point are those of the period before it
        places = [state.name.index(name) for name in message.joint_names]
        off = np.array(now.positions) - np.array(state.position)[places]
        slow = np.array(now.velocities) - np.array(state.velocity)[places]
        efforts = np.array(then.effort) + self._stiffness * off + self._damping * slow
        command = JointState(name=message.joint_names, effort=array("d", efforts))
        command.header.stamp = state.header.stamp
        self._efforts.publish(command)

    def states(self, mechanism: Mechanism) -> list[State]:
        by_stamp = {nanoseconds(m.header.stamp): m for m in self.bases.messages}
        stamped = {nanoseconds(m.header.stamp): m for m in self.joints.messages}
        return [
            state_of(mechanism, message, by_stamp[stamp])
            for stamp, message in sorted(stamped.items())
            if stamp in by_stamp
        ]


def run(
    ros: Ros, start_node: StartProcess, drives: Drives, duration: float, **files: Path
) -> list[State]:
    """States of simulator and servo_controller, each a process, from 0 to the duration."""
    diagnostics = DiagnosticsEar(ros.node(), "servo_controller")
    common: dict[str, Any] = {name: str(file) for name, file in files.items()}
    simulator = {"rate": 1.0 / PERIOD, "command_mode": "joint_state", "lockstep": True}
    start_node("simulator", parameters=common | simulator | {"start_on_tasks": True})
    controller = {"update_rate": 1.0 / PERIOD, "command_mode": "trajectory", "autostart": True}
    start_node("servo_controller", parameters=common | controller | {"state_timeout": 60.0})
    end = round(duration * 1e9)

    def there() -> bool:
        said = diagnostics.message
        assert diagnostics.level != b"\x02" or "yet" in said or "odom" in said, said
        return any(nanoseconds(m.header.stamp) >= end for m in drives.joints.messages[-5:])

    ros.until(there, f"{duration} s of motion", 120.0)
    return drives.states(Mechanism.from_file(files["mechanism"]))


@pytest.mark.slow
def test_a_free_flying_machine_follows(ros: Ros, start_node: StartProcess, tmp_path: Path) -> None:
    """Its base swings against the crank, in the desired motion and in the real one."""
    file, tasks = floating_five_bar(tmp_path, gravity="[0, 0, 0]"), sweep(tmp_path)
    drives = Drives(ros, stiffness=200.0, damping=20.0)
    states = run(ros, start_node, drives, 0.5, mechanism=file, tasks=tasks)
    assert len(states) > 200
    mechanism = Mechanism.from_file(file)
    references = Tasks.from_file(tasks, mechanism).references
    crank = mechanism.model.position_index("crank")
    off = [s.q[crank] - references.one("sweep", s.t, None).value[0] for s in states]
    # rad: efforts are constant over 2 ms, and accelerations of the desired motion, too
    assert np.abs(off).max() < 1e-4
    tilts = [mechanism.model.difference(states[0].q, state.q)[4] for state in states]
    assert np.ptp(tilts) > 0.02


@pytest.mark.slow
def test_a_biped_on_its_feet_follows(ros: Ros, start_node: StartProcess, tmp_path: Path) -> None:
    """It lowers its centre of mass by 20 mm and comes back up, on soles that nothing holds."""
    data = yaml.safe_load((BIPED / "stand.yaml").read_text())
    lower = ["0.035", "0", "0.7 - 0.01*(1 - cos(2*pi*t))"]
    data["tasks"]["balance"]["reference"] = {"type": "expression", "value": lower}
    tasks = tmp_path / "lower.yaml"
    tasks.write_text(yaml.safe_dump(data))
    drives = Drives(ros, stiffness=2000.0, damping=40.0)
    states = run(ros, start_node, drives, 1.0, mechanism=BIPED / "biped.yaml", tasks=tasks)
    mechanism = Mechanism.from_file(BIPED / "biped.yaml")
    law = ServoController(mechanism, Tasks.from_file(tasks, mechanism), backend="interpreted")
    errors = np.abs([law.tracking_error(state)[:6] for state in states[::10]])
    # m and rad: what drives and ground give way, of a way of 20 mm
    assert errors.max() < 5e-4
    feet = [mechanism.pose(f"{side}_foot", states[-1].q)[0][2] for side in ("left", "right")]
    np.testing.assert_allclose(feet, 0.07, rtol=0, atol=1e-5)  # m: soles on the ground


@pytest.mark.usefixtures("ros")
def test_a_motor_that_drives_the_base_has_no_trajectory(tmp_path: Path) -> None:
    file = floating_five_bar(tmp_path)
    file.write_text(file.read_text().replace("joint: crank,", "joint: root.vx,"))
    values = {"mechanism": str(file), "tasks": str(sweep(tmp_path)), "command_mode": "trajectory"}
    with pytest.raises(InputError, match=r"has no root\.vx"):
        ServoControllerNode(**overrides(**values, backend="interpreted", autostart=True))
