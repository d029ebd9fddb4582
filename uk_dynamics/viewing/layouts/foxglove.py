# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Layouts for Foxglove: the machine with its forces, tabs of plots, buttons of the simulator."""

from __future__ import annotations

import json
from typing import Any

from uk_dynamics.colours import COLOURS
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.recording import DIAGNOSTICS
from uk_dynamics.viewing.layouts.curves import DIAGNOSTIC_ARRAY, Curve, Plot, tabs
from uk_dynamics.viewing.scene.stage import stage

_BUTTONS = (
    ("play", "pause", '{"data": false}'),
    ("pause", "pause", '{"data": true}'),
    ("step", "step", "{}"),
    ("reset", "reset", "{}"),
)


def foxglove_layout(mechanism: Mechanism, namespace: str = "", tasks: Tasks | None = None) -> str:
    """The layout as JSON; without tasks ``servo_controller`` is not shown."""
    prefix = f"/{namespace.strip('/')}" if namespace.strip("/") else ""
    panels: dict[str, Any] = {"3D!machine": _scene(mechanism, prefix)}
    panels["DiagnosticSummary!nodes"] = {"topicToRender": DIAGNOSTICS, "minLevel": 0}
    buttons = []
    for text, service, request in _BUTTONS:
        buttons.append(f"CallService!{text}")
        panels[buttons[-1]] = {
            "serviceName": f"{prefix}/simulator/{service}",
            "requestPayload": request,
            "buttonText": text,
            "editingMode": False,
        }
    shown = []
    for title, plots in tabs(mechanism, namespace, tasks).items():
        names = []
        for index, plot in enumerate(plots):
            names.append(f"Plot!{title}_{index}")
            panels[names[-1]] = _plot(plot)
        shown.append({"title": title, "layout": _stack(names, "column")})
    panels["Tab!plots"] = {"activeTabIdx": 0, "tabs": shown}
    below = _split("column", _stack(buttons, "row"), "DiagnosticSummary!nodes", 40)
    left = _split("column", "3D!machine", below, 70)
    layout = {
        "configById": panels,
        "globalVariables": {},
        "userNodes": {},
        "playbackConfig": {"speed": 1},
        "layout": _split("row", left, "Tab!plots", 50),
    }
    return json.dumps(layout, indent=1, ensure_ascii=False) + "\n"


def message_path(curve: Curve) -> str:
    """Where Foxglove finds a number in a message."""
    if curve.type == DIAGNOSTIC_ARRAY:
        status, key = json.dumps(curve.field), json.dumps(curve.name)
        return f"{curve.topic}.status[:]{{name=={status}}}.values[:]{{key=={key}}}.value"
    return f"{curve.topic}.{curve.field}[{curve.index}]"


def _plot(plot: Plot) -> dict[str, Any]:
    drawn = [
        (message_path(curve), curve.name, COLOURS[index % len(COLOURS)])
        for index, curve in enumerate(plot.curves)
    ]
    drawn += [(f"{line:g}", "limit", "#888888") for line in plot.lines]  # horizontal lines
    common = {"enabled": True, "timestampMethod": "receiveTime"}
    return {
        "foxglovePanelTitle": plot.title,
        "paths": [
            {"value": value, "label": label, "color": colour} | common
            for value, label, colour in drawn
        ],
        "showXAxisLabels": True,
        "showYAxisLabels": True,
        "showLegend": True,
        "legendDisplay": "floating",
        "isSynced": True,
        "xAxisVal": "timestamp",
        "followingViewWidth": 10,
    }


def _scene(mechanism: Mechanism, prefix: str) -> dict[str, Any]:
    room = stage(mechanism)
    return {
        "cameraState": {
            "perspective": True,
            "distance": round(2.0 * room.size, 3),
            "phi": 70,
            "thetaOffset": 20,
            "target": [0, 0, 0],
            "targetOffset": [round(x, 3) for x in (0.5 * (room.low + room.high)).tolist()],
            "targetOrientation": [0, 0, 0, 1],
            "fovy": 45,
            "near": 0.01,
            "far": 5000,
        },
        "followMode": "follow-pose",
        "followTf": mechanism.model.description.root,
        "topics": {f"{prefix}/mechanism_markers": {"visible": True}},
        "layers": {
            "grid": {
                "layerId": "foxglove.Grid",
                "instanceId": "grid",
                "label": "Grid",
                "visible": True,
                "size": 10,
                "divisions": 20,
                "lineWidth": 1,
                "color": "#888888ff",
                "position": [0, 0, 0],
                "rotation": [0, 0, 0],
                "order": 1,
            },
            "machine": {
                "layerId": "foxglove.Urdf",
                "instanceId": "machine",
                "label": mechanism.name,
                "visible": True,
                "sourceType": "topic",
                "topic": f"{prefix}/robot_description",
                "url": "",
                "filePath": "",
                "parameter": "",
                "framePrefix": "",
                "displayMode": "visual",
                "order": 2,
            },
        },
    }


def _stack(names: list[str], direction: str) -> str | dict[str, Any]:
    """Panels side by side (``row``) or one below the other (``column``), equal in size."""
    first, *others = names
    if not others:
        return first
    return _split(direction, first, _stack(others, direction), round(100 / len(names), 2))


def _split(direction: str, first: object, second: object, percentage: float) -> dict[str, Any]:
    names = ("direction", "first", "second", "splitPercentage")
    return dict(zip(names, (direction, first, second, percentage), strict=True))
