# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The parameters of the nodes: those of ``parameters.yaml``, and those of tasks and motors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uk_dynamics.mechanism.files import read_yaml
from uk_dynamics.ros.parameters.parameter import Parameter, Parameters, live_number

if TYPE_CHECKING:
    from uk_dynamics.control.servo import Gains

EFFORT_COMMANDS = "effort_controller/commands"
JOINT_COMMANDS = "joint_commands"

REQUIRED = "required"  # value of watchdog

# Values of command_mode, and the topic of each.
EFFORT_ARRAY, JOINT_STATE, TRAJECTORY = "effort_array", "joint_state", "trajectory"
_TOPICS = {
    EFFORT_ARRAY: EFFORT_COMMANDS,
    JOINT_STATE: JOINT_COMMANDS,
    TRAJECTORY: "joint_trajectory_controller/joint_trajectory",
}

# Read by configure of servo_controller; they can be set until then.
CONFIGURED = (
    *("mechanism", "robot_description", "robot_description_timeout"),
    *("backend", "tasks", "update_rate", "command_mode", "command_topic"),
)


def _read_tables() -> dict[str, tuple[Parameter, ...]]:
    nodes: Any = read_yaml(Path(__file__).with_name("parameters.yaml"))
    tables = {node: tuple(_parameter(*item) for item in t.items()) for node, t in nodes.items()}
    tables["servo_controller"] = tuple(
        replace(p, live=True) if p.name in CONFIGURED else p for p in tables["servo_controller"]
    )
    return tables


def _parameter(name: str, fields: Mapping[str, Any]) -> Parameter:
    given = dict(fields)
    minimum, maximum = given.pop("bounds", (None, None))
    choices = tuple(given.pop("choices", ()))
    return Parameter(name, minimum=minimum, maximum=maximum, choices=choices, **given)


TABLES = _read_tables()


def command_topic(settings: Parameters) -> str:
    """Topic of the commands by ``command_topic``, or by ``command_mode`` where that is empty."""
    return settings["command_topic"] or _TOPICS[settings["command_mode"]]


def gain_parameters(task: str, gains: Gains, rate: float, *, damped: bool) -> tuple[Parameter, ...]:
    """Feedback parameters of one task at ``rate`` states per second (0: unknown).

    A tenth of the rate is the largest natural frequency for which efforts that are constant during
    a period serve well. ``damped``: whether a damping ratio applies.
    """
    frequency = live_number(
        f"gains.{task}.frequency",
        gains.frequency,
        f"Natural frequency of the feedback of task {task}; 0: no feedback.",
        (0.0, max(gains.frequency, rate / 10.0 or 1e3)),
        "Hz",
    )
    damping_ratio = live_number(
        f"gains.{task}.damping_ratio",
        gains.damping_ratio,
        f"Damping ratio of the feedback of task {task}; 1 is critical.",
        (0.0, max(gains.damping_ratio, 10.0)),
    )
    return (frequency, damping_ratio) if damped else (frequency,)


def row_parameter(row: str, force: float) -> Parameter:
    """Internal force of one constraint row; ``force`` in N or N·m is that of the tasks file."""
    text = f"Internal (squeeze) force of {row}, on top of what the motion needs."
    return Parameter(f"internal_forces.{row}", force, text, unit="N or N m", live=True)


def motor_parameters(motor: str, limit: float, preload: float) -> tuple[Parameter, ...]:
    """Parameters of one motor by its effort limit (infinite: none) and preload, in N or N·m."""
    return (
        live_number(
            f"limits.{motor}.effort",
            limit,
            f"Largest effort of {motor}, at most that of the mechanism file.",
            (0.0, limit),
            "N or N m",
        ),
        live_number(
            f"preload.{motor}",
            preload,
            f"Effort that {motor} stays close to where that does not affect the motion.",
            (min(-limit, preload), max(limit, preload)),
            "N or N m",
        ),
    )
