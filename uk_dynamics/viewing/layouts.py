# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Layouts for Foxglove and PlotJuggler: tabs of plots of the topics that the nodes publish.

Foxglove's shows the machine with its forces and buttons of the simulator, too.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

import uk_dynamics.simulation.recording as topics
from uk_dynamics.colours import COLOURS
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.viewing.scene.stage import stage

_JOINT_STATE = "sensor_msgs/msg/JointState"
_ARRAY = "std_msgs/msg/Float64MultiArray"
_TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
_DIAGNOSTIC_ARRAY = "diagnostic_msgs/msg/DiagnosticArray"

_STATUS = "forward_dynamics: dynamics"


@dataclass(frozen=True)
class Curve:
    """One number of a message over time."""

    topic: str  # with its namespace
    type: str
    # array that it stands in, such as ``points[0].accelerations``; for diagnostics the name of the
    # status
    field: str
    index: int  # its place there
    name: str  # joint, row or motor that it belongs to; for diagnostics the key


@dataclass(frozen=True)
class Plot:
    """Curves over one axis."""

    title: str  # what they are, with the unit
    curves: tuple[Curve, ...]  # one or more
    lines: tuple[float, ...] = ()  # values at which horizontal lines stand, such as limits


def tabs(
    mechanism: Mechanism, namespace: str = "", tasks: Tasks | None = None
) -> dict[str, tuple[Plot, ...]]:
    """Plots by the title of their tab; a mechanism without loops or motors has fewer."""
    prefix = f"/{namespace.strip('/')}" if namespace.strip("/") else ""
    joints, motors, rows = mechanism.joint_names, mechanism.actuators.names, mechanism.row_names

    asked = tasks.row_names if tasks else ()

    def of(topic: str, field: str, names: Sequence[str]) -> tuple[Curve, ...]:
        return _curves(prefix + topic, _JOINT_STATE, field, names)

    states = partial(of, topics.STATES, names=joints)
    of_rows = partial(of, topics.ROWS, names=rows)
    of_tasks = partial(of, topics.TASKS, names=asked)
    references = _curves(prefix + topics.REFERENCES, _TRAJECTORY, "points[0].positions", asked)
    accelerations = _curves(prefix + topics.MOTION, _TRAJECTORY, "points[0].accelerations", joints)
    status = f"{prefix.lstrip('/')}/{_STATUS}".lstrip("/")
    limits = mechanism.actuators.effort_limits
    finite = np.unique(limits[np.isfinite(limits)]).tolist()
    plots = {
        "motion": (
            Plot("position [rad or m]", states("position")),
            Plot("velocity [rad/s or m/s]", states("velocity")),
            Plot("acceleration [rad/s² or m/s²]", accelerations),
        ),
        "motors": (
            Plot(
                "commands and limits [N m or N]",
                _curves(prefix + topics.COMMANDS, _ARRAY, "data", motors),
                (*(-limit for limit in reversed(finite)), *finite),
            ),
            Plot("efforts at the joints [N m or N]", states("effort")),
        ),
        "tasks": (
            Plot("reference [m or rad]", references),
            Plot("tracking error [m or rad]", of_tasks("position")),
            Plot("its rate [m/s or rad/s]", of_tasks("velocity")),
            Plot("acceleration that is missing [m/s² or rad/s²]", of_tasks("effort")),
        ),
        "loops": (
            Plot("residual [m or rad]", of_rows("position")),
            Plot("rate of the residual [m/s or rad/s]", of_rows("velocity")),
            Plot("multiplier [N or N m]", of_rows("effort")),
        ),
        "health": tuple(
            Plot(
                title,
                tuple(Curve(topics.DIAGNOSTICS, _DIAGNOSTIC_ARRAY, status, 0, x) for x in keys),
            )
            for title, keys in (
                ("energy [J]", ("energy", "kinetic_energy")),
                ("largest residual [m or rad]", ("residual",)),
                ("rank", ("rank",)),
                ("condition", ("condition",)),
            )
        ),
    }
    if not motors:
        del plots["motors"]
    filled = {title: tuple(p for p in every if p.curves) for title, every in plots.items()}
    return {title: every for title, every in filled.items() if every}


def _curves(topic: str, type_: str, field: str, names: Sequence[str]) -> tuple[Curve, ...]:
    return tuple(Curve(topic, type_, field, index, name) for index, name in enumerate(names))


_BUTTONS = (
    ("play", "pause", '{"data": false}'),
    ("pause", "pause", '{"data": true}'),
    ("step", "step", "{}"),
    ("reset", "reset", "{}"),
)


def foxglove_layout(mechanism: Mechanism, namespace: str = "", tasks: Tasks | None = None) -> str:
    """The layout as JSON; without tasks ``servo_controller`` is not shown."""
    prefix = f"/{namespace.strip('/')}" if namespace.strip("/") else ""
    layout = json.loads(Path(__file__).with_name("foxglove_layout.json").read_text())
    templates = layout.pop("panels")
    panels = layout["configById"]
    panels["3D!machine"] = _scene(templates["3D!machine"], mechanism, prefix)
    nodes = "DiagnosticSummary!nodes"
    panels[nodes] = templates[nodes] | {"topicToRender": topics.DIAGNOSTICS}
    buttons = [f"CallService!{text}" for text, _, _ in _BUTTONS]
    for button, (text, service, request) in zip(buttons, _BUTTONS, strict=True):
        panels[button] = templates["CallService!"] | {
            "serviceName": f"{prefix}/simulator/{service}",
            "requestPayload": request,
            "buttonText": text,
        }
    shown = []
    for title, plots in tabs(mechanism, namespace, tasks).items():
        drawn = {
            f"Plot!{title}_{index}": templates["Plot!"]
            | {"foxglovePanelTitle": plot.title, "paths": _paths(plot)}
            for index, plot in enumerate(plots)
        }
        panels |= drawn
        shown.append({"title": title, "layout": _stack(list(drawn), "column")})
    panels["Tab!plots"] = templates["Tab!plots"] | {"tabs": shown}
    below = _split("column", _stack(buttons, "row"), nodes, 40)
    left = _split("column", "3D!machine", below, 70)
    layout["layout"] = _split("row", left, "Tab!plots", 50)
    return json.dumps(layout, indent=1, ensure_ascii=False) + "\n"


def message_path(curve: Curve) -> str:
    """Where Foxglove finds a number in a message."""
    if curve.type == _DIAGNOSTIC_ARRAY:
        status, key = json.dumps(curve.field), json.dumps(curve.name)
        return f"{curve.topic}.status[:]{{name=={status}}}.values[:]{{key=={key}}}.value"
    return f"{curve.topic}.{curve.field}[{curve.index}]"


def _paths(plot: Plot) -> list[dict[str, Any]]:
    """The curves of a plot, and its horizontal lines."""
    drawn = [
        (message_path(curve), curve.name, COLOURS[index % len(COLOURS)])
        for index, curve in enumerate(plot.curves)
    ]
    drawn += [(f"{line:g}", "limit", "#888888") for line in plot.lines]
    common = {"enabled": True, "timestampMethod": "receiveTime"}
    return [
        {"value": value, "label": label, "color": colour} | common for value, label, colour in drawn
    ]


def _scene(scene: Any, mechanism: Mechanism, prefix: str) -> Any:
    """The panel of the machine, from its template."""
    room = stage(mechanism)
    scene["cameraState"]["distance"] = round(2.0 * room.size, 3)
    offset = (0.5 * (room.low + room.high)).tolist()
    scene["cameraState"]["targetOffset"] = [round(x, 3) for x in offset]
    scene["followTf"] = mechanism.model.description.root
    scene["topics"] = {f"{prefix}/mechanism_markers": {"visible": True}}
    scene["layers"]["machine"] |= {"label": mechanism.name, "topic": f"{prefix}/robot_description"}
    return scene


def _stack(names: list[str], direction: str) -> str | dict[str, Any]:
    """Panels side by side (``row``) or one below the other (``column``), equal in size."""
    first, *others = names
    if not others:
        return first
    return _split(direction, first, _stack(others, direction), round(100 / len(names), 2))


def _split(direction: str, first: object, second: object, percentage: float) -> dict[str, Any]:
    names = ("direction", "first", "second", "splitPercentage")
    return dict(zip(names, (direction, first, second, percentage), strict=True))


_BUFFER = 30  # s that are kept while it listens


def plotjuggler_layout(
    mechanism: Mechanism, namespace: str = "", tasks: Tasks | None = None
) -> str:
    """The layout as XML; without tasks ``servo_controller`` is not shown."""
    root = ET.Element("root")
    window = ET.SubElement(root, "tabbed_widget", {"name": "Main Window", "parent": "main_window"})
    for title, plots in tabs(mechanism, namespace, tasks).items():
        tab = ET.SubElement(window, "Tab", tab_name=title, containers="1")
        container = ET.SubElement(tab, "Container")
        share = ";".join([f"{1.0 / len(plots):.6f}"] * len(plots))
        below = ET.SubElement(
            container, "DockSplitter", orientation="-", count=str(len(plots)), sizes=share
        )
        for plot in plots:
            _add_plot(below, plot, mechanism.name)
    ET.SubElement(window, "currentTabIndex", index="0")
    ET.SubElement(root, "use_relative_time_offset", enabled="1")
    ET.SubElement(root, "streaming_buffer_size", value=str(_BUFFER))
    ET.indent(root)
    return "<?xml version='1.0' encoding='UTF-8'?>\n" + ET.tostring(root, "unicode") + "\n"


def series(curve: Curve, mechanism: str) -> str:
    """Name that PlotJuggler gives to a number of a ROS 2 message.

    JointState and DiagnosticArray it takes apart by names, other messages by fields and places.
    """
    if curve.type == _JOINT_STATE:
        return f"{curve.topic}/{curve.name}/{curve.field}"
    if curve.type == _DIAGNOSTIC_ARRAY:
        return f"{curve.topic}/{mechanism}/{curve.field}/{curve.name}"
    return f"{curve.topic}/{curve.field.replace('.', '/')}[{curve.index}]"


def _add_plot(parent: ET.Element, plot: Plot, mechanism: str) -> None:
    area = ET.SubElement(parent, "DockArea", name=plot.title)
    drawn = ET.SubElement(
        area, "plot", mode="TimeSeries", style="Lines", flip_x="false", flip_y="false"
    )
    ET.SubElement(drawn, "range", left="0", right="10", bottom="-1", top="1")
    ET.SubElement(drawn, "limitY")
    for index, curve in enumerate(plot.curves):
        colour = COLOURS[index % len(COLOURS)].lower()
        ET.SubElement(drawn, "curve", name=series(curve, mechanism), color=colour)
