# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""QoS profiles of all topics."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_system_default

# Publishers of states, solutions, diagnostics; subscribers may be best effort.
PUBLISHED_QOS = 10
JOINT_STATE_QOS = qos_profile_system_default  # as joint_state_broadcaster
# Accepts every publisher, and never works through states that are already old.
STATE_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
# Deep enough for several sources that publish at the same time; they share one queue.
MEASURED_QOS = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
# As the command topics of ros2_control.
COMMAND_QOS = QoSProfile(depth=10)
# The last message is kept for late subscribers: URDF, active constraints, time origin.
LATCHED_QOS = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# Accepts every publisher, and has room for what arrives while a chunk is written.
RECORDING_QOS = QoSProfile(depth=200, reliability=ReliabilityPolicy.BEST_EFFORT)
