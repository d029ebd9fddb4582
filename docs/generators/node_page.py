# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Reference page of the nodes: parameters as they are declared, topics of docs/topics.md.

The tables of topics and this page are compared with the running nodes by ``test_ros_readme.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from docs.generators.markdown import code, heading, plain, table
from uk_dynamics.control.servo.task_gains import Gains
from uk_dynamics.ros.parameters.parameter import (
    SWITCHES,
    TABLES,
    Parameter,
    gain_parameters,
    motor_parameters,
    row_parameter,
    switch_parameter,
)

_GAINS = Gains(frequency=0.0, damping_ratio=0.0)  # only names and descriptions are shown
# Parameters that appear with the files of a configured node, and where their defaults come from.
TOPICS = Path(__file__).resolve().parent.parent / "topics.md"
_OF_FILES = {
    "servo_controller": (
        *((p, "of the tasks file") for p in gain_parameters("<task>", _GAINS, 0.0, damped=True)),
        *zip(
            motor_parameters("<motor>", 0.0, 0.0),
            ("of the mechanism file", "of the tasks file"),
            strict=True,
        ),
        (row_parameter("<row>", 0.0), "of the tasks file"),
        *((switch_parameter(x), f"true, where the tasks file has {x}") for x in SWITCHES),
    )
}
_WHAT = {
    "simulator": "Simulates a mechanism in place of the robot.",
    "forward_dynamics": "Accelerations and constraint forces of a real or simulated mechanism.",
    "joint_state_completer": "Estimates passive joints from the measured ones."
    " See [hardware](../hardware.md#joint_state_completer).",
    "servo_controller": "Drives the motors; a lifecycle node."
    " See [servo_controller](../servo_controller.md).",
    "command_watchdog": "Commands zero efforts when the controller has ended.",
    "wrench_observer": "External forces from the momentum of the machine."
    " See [external forces](../identification.md#external-forces).",
    "viewer": "The mechanism in the browser. See [the view](../view.md).",
}


_INTRODUCTION = """\
Started with `ros2 run uk_dynamics NODE --ros-args -p NAME:=VALUE`. Names of topics are relative,
`~` is the node's own name, and `<task>`, `<constraint>`, `<row>` and `<motor>` stand for names from
your files. *Live* parameters can be set while the node runs. All [topics](../topics.md) and
[faults](../faults.md) have pages of their own."""


def page() -> str:
    """All nodes: topics, services and parameters."""
    parts = [
        heading(1, "Nodes, topics, parameters"),
        _INTRODUCTION,
    ]
    topics = _rows("topics")
    for node, declared in TABLES.items():
        own = [row for row in topics if row[0] == code(node)]
        parts += [
            heading(2, node),
            _WHAT.get(node, ""),
            table(("direction", "name", "type"), ([row[1], row[2], row[3]] for row in own)),
            table(
                ("parameter", "default", "valid", "live", "what it is"),
                [*_declared(declared), *_of_files(node)],
            ),
        ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _declared(parameters: Sequence[Parameter]) -> Iterator[tuple[str, ...]]:
    for parameter in parameters:
        default = parameter.default
        written = code(default if default != "" else '""')
        unit = f" [{parameter.unit}]" if parameter.unit else ""
        live = "yes" if parameter.live else ""
        description = plain(parameter.description) + unit
        yield code(parameter.name), written, parameter.valid, live, description


def _of_files(node: str) -> Iterator[tuple[str, ...]]:
    for parameter, default in _OF_FILES.get(node, ()):
        unit = f" [{parameter.unit}]" if parameter.unit else ""
        yield code(parameter.name), default, "", "yes", plain(parameter.description) + unit


def _rows(name: str) -> list[tuple[str, ...]]:
    """Rows of a table of docs/topics.md, cells as they are written."""
    text = TOPICS.read_text(encoding="utf-8")
    section = text.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines[2:]]
