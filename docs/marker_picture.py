# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Draws what RViz is told: the markers as they are heard from the topic, drawn with Matplotlib.

The nodes move the Stewart platform, and the node markers listens to them. Grey lines stand for
the links, which RViz draws from the robot description.

Run it:  python docs/marker_picture.py
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sensor_msgs.msg import JointState
from std_msgs.msg import UInt64MultiArray
from std_srvs.srv import SetBool
from visualization_msgs.msg import Marker, MarkerArray

from uk_dynamics import Mechanism
from uk_dynamics.ros.process.node_processes import NodeProcesses, own_domain
from uk_dynamics.ros.process.run_node import make_executor

Array = NDArray[np.float64]

TARGET = Path(__file__).resolve().parent / "images" / "rviz_markers.png"
MECHANISM, TASKS = "stewart_platform", "stewart_platform_heave_roll"
PATIENCE = 60.0  # s
MOVING = 1.0  # s before the picture
DARK = (48 / 255,) * 3  # RViz's background
POINTS_PER_METRE = 700.0  # of line widths


def heard() -> tuple[MarkerArray, JointState]:
    """Markers and states of the machine while its motors move it."""
    files = {"mechanism": MECHANISM, "tasks": TASKS}
    with (
        tempfile.TemporaryDirectory() as directory,
        own_domain(),
        NodeProcesses(Path(directory)) as processes,
    ):
        # in lockstep the picture is the same however busy the computer is
        waiting = {"lockstep": True, "command_mode": "joint_state"}
        machine = {"rate": 200.0, "paused": True, "publish_clock": True, **waiting}
        processes.start("simulator", {"mechanism": MECHANISM, **machine})
        shared = {**files, "use_sim_time": True}
        driving = {"update_rate": 200.0, "autostart": True, "state_timeout": 30.0, **waiting}
        processes.start("servo_controller", {**shared, **driving})
        processes.start("markers", shared)
        return _listen()


def _listen() -> tuple[MarkerArray, JointState]:
    rclpy.init()
    node = rclpy.create_node("picture")
    arrays: list[MarkerArray] = []
    states: list[JointState] = []
    node.create_subscription(MarkerArray, "mechanism_markers", arrays.append, 10)
    node.create_subscription(JointState, "joint_states", states.append, 10)
    executor = make_executor()
    executor.add_node(node)

    def until(condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                raise SystemExit(f"waited in vain for {what}")
            executor.spin_once(timeout_sec=0.1)

    def moved() -> bool:
        stamps = [array.markers[0].header.stamp for array in arrays if array.markers]
        return bool(stamps) and stamps[-1].sec + 1e-9 * stamps[-1].nanosec > MOVING

    pause = node.create_client(SetBool, "simulator/pause")
    active: list[UInt64MultiArray] = []
    node.create_subscription(UInt64MultiArray, "servo_controller/heartbeat", active.append, 10)
    until(pause.service_is_ready, "the simulator")
    until(lambda: bool(active), "the controller")
    until(lambda: node.count_publishers("mechanism_markers") > 0, "the node markers")
    pause.call_async(SetBool.Request(data=False))
    until(moved, "motion")
    executor.remove_node(node)
    node.destroy_node()
    rclpy.try_shutdown()
    return arrays[-1], states[-1]


def draw(axis: Any, marker: Marker) -> None:
    """Draw one marker."""
    colour = _rgba(marker.color)
    points = np.array([(p.x, p.y, p.z) for p in marker.points]).reshape(-1, 3)
    if marker.type == Marker.LINE_LIST:
        colours = [_rgba(c) for c in marker.colors[::2]] or [colour] * (len(points) // 2)
        width = max(POINTS_PER_METRE * marker.scale.x, 1.2)
        for (start, end), own in zip(points.reshape(-1, 2, 3), colours, strict=True):
            axis.plot(*np.array([start, end]).T, color=own, linewidth=width)
    elif marker.type == Marker.ARROW:
        start, end = points
        axis.quiver(
            *start,
            *(end - start),
            color=colour,
            linewidth=0.2 * POINTS_PER_METRE * marker.scale.x,
            arrow_length_ratio=marker.scale.z / float(np.linalg.norm(end - start)),
        )
    elif marker.type == Marker.SPHERE:
        place = marker.pose.position
        size = (0.5 * POINTS_PER_METRE * marker.scale.x) ** 2
        axis.scatter(place.x, place.y, place.z, s=size, color=colour)
    elif marker.type == Marker.TEXT_VIEW_FACING:
        place = marker.pose.position
        axis.text(place.x, place.y, place.z, marker.text, color=colour, fontsize=7, ha="center")


def draw_links(axis: Any, states: JointState) -> None:
    """Lines from the origin of each link to the joints that it carries."""
    model = Mechanism.from_file(MECHANISM).model
    workspace = model.workspace()
    workspace.update_positions(np.array(states.position))
    for joint in model.description.joints:
        ends = [
            workspace.translation[model.frame_index(link)] for link in (joint.parent, joint.child)
        ]
        axis.plot(*np.array(ends).T, color="0.6", linewidth=4.0, alpha=0.7)


def _rgba(colour: Any) -> tuple[float, float, float, float]:
    return (colour.r, colour.g, colour.b, colour.a)


def main() -> int:
    """Listen, draw, and say what is in the picture."""
    array, states = heard()
    figure = Figure(figsize=(7.5, 6.0), facecolor=DARK)
    axis: Any = figure.add_subplot(projection="3d", facecolor=DARK)
    draw_links(axis, states)
    shown = [marker for marker in array.markers if marker.action == Marker.ADD]
    for marker in shown:
        if marker.ns != "torques":  # switched off in the shipped display
            draw(axis, marker)
    spans = np.ptp(np.array([axis.get_xlim(), axis.get_ylim(), axis.get_zlim()]), axis=1)
    axis.set_box_aspect(spans, zoom=1.35)  # equal scales
    axis.set_axis_off()
    axis.view_init(elev=18.0, azim=-60.0)
    figure.savefig(TARGET, dpi=110, facecolor=DARK, bbox_inches="tight", pad_inches=0.0)
    counts = {ns: sum(m.ns == ns for m in shown) for ns in dict.fromkeys(m.ns for m in shown)}
    sys.stdout.write(f"{TARGET}: {counts}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
