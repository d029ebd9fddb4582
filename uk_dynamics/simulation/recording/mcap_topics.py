# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contents of a recording: topics of the nodes, and metadata at its start and end."""

from __future__ import annotations

import json
import math

from uk_dynamics.simulation.recording.machine_data import MachineData
from uk_dynamics.simulation.recording.trajectory_data import Array

STATES = "/joint_states"
COMMANDS = "/effort_controller/commands"
MOTION = "/forward_dynamics/dynamics"
ROWS = "/forward_dynamics/constraint_states"
TASKS = "/servo_controller/task_states"
CONTACTS = "/simulator/contacts"
REFERENCES = "/servo_controller/task_references"
DIAGNOSTICS = "/diagnostics"
START, END = "uk_dynamics", "uk_dynamics.end"
SECOND = 1_000_000_000  # ns


def description(mechanism: str, machine: MachineData, effort_limits: Array) -> dict[str, str]:
    """Metadata at the start of a recording.

    Args:
        mechanism: Its name.
        machine: With the names of its motors.
        effort_limits: (motors,), in N or N·m, infinite where none is declared.
    """
    limits = [limit if math.isfinite(limit) else None for limit in effort_limits.tolist()]
    return {
        "mechanism": mechanism,
        "motors": json.dumps(list(machine.motors)),
        "machine": machine.text(),
        "effort_limits": json.dumps(limits),
    }
