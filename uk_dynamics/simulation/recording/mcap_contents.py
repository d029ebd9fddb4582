# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a recording in MCAP holds: topics of the nodes, definitions of their messages, metadata."""

import json
import math
import re
from functools import cache
from typing import Any

from uk_dynamics.simulation.recording.machine_data import MachineData
from uk_dynamics.simulation.recording.trajectory_data import Array

# of ROS: each type with its fields
_DEFINITIONS = """\
sensor_msgs/JointState: std_msgs/Header header, string[] name, float64[] position,
    float64[] velocity, float64[] effort
std_msgs/Float64MultiArray: MultiArrayLayout layout, float64[] data
trajectory_msgs/JointTrajectory: std_msgs/Header header, string[] joint_names,
    JointTrajectoryPoint[] points
nav_msgs/Odometry: std_msgs/Header header, string child_frame_id,
    geometry_msgs/PoseWithCovariance pose, geometry_msgs/TwistWithCovariance twist
trajectory_msgs/MultiDOFJointTrajectory: std_msgs/Header header, string[] joint_names,
    MultiDOFJointTrajectoryPoint[] points
rosgraph_msgs/Clock: builtin_interfaces/Time clock
diagnostic_msgs/DiagnosticArray: std_msgs/Header header, DiagnosticStatus[] status
builtin_interfaces/Time: int32 sec, uint32 nanosec
builtin_interfaces/Duration: int32 sec, uint32 nanosec
std_msgs/Header: builtin_interfaces/Time stamp, string frame_id
std_msgs/MultiArrayDimension: string label, uint32 size, uint32 stride
std_msgs/MultiArrayLayout: MultiArrayDimension[] dim, uint32 data_offset
diagnostic_msgs/KeyValue: string key, string value
diagnostic_msgs/DiagnosticStatus: byte OK=0, byte WARN=1, byte ERROR=2, byte STALE=3, byte level,
    string name, string message, string hardware_id, KeyValue[] values
geometry_msgs/Point: float64 x, float64 y, float64 z
geometry_msgs/Vector3: float64 x, float64 y, float64 z
geometry_msgs/Quaternion: float64 x, float64 y, float64 z, float64 w
geometry_msgs/Pose: geometry_msgs/Point position, geometry_msgs/Quaternion orientation
geometry_msgs/Twist: geometry_msgs/Vector3 linear, geometry_msgs/Vector3 angular
geometry_msgs/Transform: geometry_msgs/Vector3 translation, geometry_msgs/Quaternion rotation
geometry_msgs/PoseWithCovariance: geometry_msgs/Pose pose, float64[36] covariance
geometry_msgs/TwistWithCovariance: geometry_msgs/Twist twist, float64[36] covariance
trajectory_msgs/MultiDOFJointTrajectoryPoint: geometry_msgs/Transform[] transforms,
    geometry_msgs/Twist[] velocities, geometry_msgs/Twist[] accelerations,
    builtin_interfaces/Duration time_from_start
trajectory_msgs/JointTrajectoryPoint: float64[] positions, float64[] velocities,
    float64[] accelerations, float64[] effort, builtin_interfaces/Duration time_from_start
"""
_LINE = "=" * 80  # between definitions in MCAP's ros2msg encoding


@cache
def schemas() -> dict[str, str]:
    """Definitions of messages by type, such as ``nav_msgs/msg/Odometry``, in ros2msg encoding.

    Own fields come first, then each type that occurs in them.
    """
    lines = (line.split(": ") for line in re.split(r"\n(?! )", _DEFINITIONS.strip()))
    fields = {name: re.sub(r",\s+", "\n", text) for name, text in lines}
    found = {}
    for name in fields:
        used = [name]
        for one in used:  # which grows
            words = re.findall(r"^[\w/]+", fields[one], re.MULTILINE)
            package = one.partition("/")[0]
            parts = (word if "/" in word else f"{package}/{word}" for word in words)
            used += [part for part in dict.fromkeys(parts) if part in fields and part not in used]
        others = (f"{_LINE}\nMSG: {part}\n{fields[part]}" for part in used[1:])
        found[name.replace("/", "/msg/")] = "\n".join([fields[name], *others])
    return found


STATES = "/joint_states"
COMMANDS = "/effort_controller/commands"
MOTION = "/forward_dynamics/dynamics"
ROWS = "/forward_dynamics/constraint_states"
TASKS = "/servo_controller/task_states"
BOUNDS = "/servo_controller/task_bounds"
ESTIMATES = "/servo_controller/estimates"
CONTACTS = "/simulator/contacts"
REFERENCES = "/servo_controller/task_references"
DIAGNOSTICS = "/diagnostics"
NUMBERS = ("kinetic", "potential", "rank", "condition")
# names of rows, and arrays that are positions, velocities and efforts of a JointState, or none
OF_ROWS: dict[str, tuple[str, tuple[str | None, ...]]] = {
    ROWS: ("constraint_rows", ("residual", "residual_rate", "multipliers")),
    CONTACTS: ("contact_rows", ("contact_gaps", "contact_rates", "contact_forces")),
    BOUNDS: ("task_rows", ("bounds",)),
    ESTIMATES: ("estimated", ("estimates", None, "deviations")),
    TASKS: ("task_rows", ("tracking_error",)),
}
START, END = "uk_dynamics", "uk_dynamics.end"
SECOND = 1_000_000_000  # ns


def nanoseconds(stamp: Any) -> int:
    """Whole nanoseconds of a stamp in a message."""
    return int(stamp.sec) * SECOND + int(stamp.nanosec)


def description(
    mechanism: str,  # its name
    machine: MachineData,  # with the names of its motors
    effort_limits: Array,  # (motors,), in N or N·m, infinite where none is declared
) -> dict[str, str]:
    """Metadata at the start of a recording."""
    limits = [limit if math.isfinite(limit) else None for limit in effort_limits.tolist()]
    return {
        "mechanism": mechanism,
        "motors": json.dumps(list(machine.motors)),
        "machine": machine.text(),
        "effort_limits": json.dumps(limits),
    }
