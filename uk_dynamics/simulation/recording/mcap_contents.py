# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a recording in MCAP holds: topics of the nodes, definitions of their messages, metadata."""

from __future__ import annotations

import json
import math

from uk_dynamics.simulation.recording.machine_data import MachineData
from uk_dynamics.simulation.recording.trajectory_data import Array

_PARTS = {
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "builtin_interfaces/Duration": "int32 sec\nuint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "std_msgs/MultiArrayDimension": "string label\nuint32 size\nuint32 stride",
    "std_msgs/MultiArrayLayout": "MultiArrayDimension[] dim\nuint32 data_offset",
    "diagnostic_msgs/KeyValue": "string key\nstring value",
    "diagnostic_msgs/DiagnosticStatus": """\
byte OK=0
byte WARN=1
byte ERROR=2
byte STALE=3
byte level
string name
string message
string hardware_id
KeyValue[] values""",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
    "geometry_msgs/Pose": "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation",
    "geometry_msgs/Twist": "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular",
    "geometry_msgs/Transform": (
        "geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation"
    ),
    "geometry_msgs/PoseWithCovariance": "geometry_msgs/Pose pose\nfloat64[36] covariance",
    "geometry_msgs/TwistWithCovariance": "geometry_msgs/Twist twist\nfloat64[36] covariance",
    "trajectory_msgs/MultiDOFJointTrajectoryPoint": """\
geometry_msgs/Transform[] transforms
geometry_msgs/Twist[] velocities
geometry_msgs/Twist[] accelerations
builtin_interfaces/Duration time_from_start""",
    "trajectory_msgs/JointTrajectoryPoint": """\
float64[] positions
float64[] velocities
float64[] accelerations
float64[] effort
builtin_interfaces/Duration time_from_start""",
}
_STAMPED = ("std_msgs/Header", "builtin_interfaces/Time")

_TWISTS = ("geometry_msgs/Twist", "geometry_msgs/Vector3")

_OWN_FIELDS = {
    "sensor_msgs/msg/JointState": (
        """\
std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort""",
        _STAMPED,
    ),
    "std_msgs/msg/Float64MultiArray": (
        "MultiArrayLayout layout\nfloat64[] data",
        ("std_msgs/MultiArrayLayout", "std_msgs/MultiArrayDimension"),
    ),
    "trajectory_msgs/msg/JointTrajectory": (
        "std_msgs/Header header\nstring[] joint_names\nJointTrajectoryPoint[] points",
        (
            *_STAMPED,
            "trajectory_msgs/JointTrajectoryPoint",
            "builtin_interfaces/Duration",
        ),
    ),
    "nav_msgs/msg/Odometry": (
        """\
std_msgs/Header header
string child_frame_id
geometry_msgs/PoseWithCovariance pose
geometry_msgs/TwistWithCovariance twist""",
        (
            *_STAMPED,
            "geometry_msgs/PoseWithCovariance",
            "geometry_msgs/TwistWithCovariance",
            "geometry_msgs/Pose",
            *_TWISTS,
            "geometry_msgs/Point",
            "geometry_msgs/Quaternion",
        ),
    ),
    "trajectory_msgs/msg/MultiDOFJointTrajectory": (
        "std_msgs/Header header\nstring[] joint_names\nMultiDOFJointTrajectoryPoint[] points",
        (
            *_STAMPED,
            "trajectory_msgs/MultiDOFJointTrajectoryPoint",
            "geometry_msgs/Transform",
            *_TWISTS,
            "geometry_msgs/Quaternion",
            "builtin_interfaces/Duration",
        ),
    ),
    "rosgraph_msgs/msg/Clock": (
        "builtin_interfaces/Time clock",
        ("builtin_interfaces/Time",),
    ),
    "diagnostic_msgs/msg/DiagnosticArray": (
        "std_msgs/Header header\nDiagnosticStatus[] status",
        (*_STAMPED, "diagnostic_msgs/DiagnosticStatus", "diagnostic_msgs/KeyValue"),
    ),
}

# Format of MCAP's ros2msg encoding: own fields, then each type that occurs in them.
SCHEMAS = {
    name: "\n".join([fields, *(f"{'=' * 80}\nMSG: {part}\n{_PARTS[part]}" for part in used)])
    for name, (fields, used) in _OWN_FIELDS.items()
}


STATES = "/joint_states"
COMMANDS = "/effort_controller/commands"
MOTION = "/forward_dynamics/dynamics"
ROWS = "/forward_dynamics/constraint_states"
TASKS = "/servo_controller/task_states"
CONTACTS = "/simulator/contacts"
REFERENCES = "/servo_controller/task_references"
DIAGNOSTICS = "/diagnostics"
NUMBERS = ("kinetic", "potential", "rank", "condition")
# arrays of a trajectory that are positions, velocities and efforts of a JointState
OF_ROWS = {
    ROWS: ("residual", "residual_rate", "multipliers"),
    CONTACTS: ("contact_gaps", "contact_rates", "contact_forces"),
    TASKS: ("tracking_error",),
}
START, END = "uk_dynamics", "uk_dynamics.end"
SECOND = 1_000_000_000  # ns


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
