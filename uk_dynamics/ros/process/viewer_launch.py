"""RViz, the browser view and the recorder in launch files."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from launch_ros.actions import Node

from uk_dynamics.exceptions import InputError
from uk_dynamics.resources import share_directory
from uk_dynamics.ros.process.launch_files import LastToEnd, installed, require, switched_on

VIEW = ("view", "false", "Show it in the browser, at http://127.0.0.1:8080; needs viser.")
RECORD = ("record", "", "Recording to write, a file that ends in .mcap; empty: none.")
RVIZ = "Start RViz: true, false, or auto: where it is installed."


def watchers(
    node: Callable[..., Node],
    given: Mapping[str, str],
    files: Mapping[str, object],
    root: str,
    *,
    after: Sequence[Node] = (),
) -> list[Node]:
    """Nodes that the arguments ``view``, ``record`` and ``rviz`` ask for.

    Args:
        node: Makes a node of the launch file.
        given: Arguments by name.
        files: Parameters ``mechanism`` and ``tasks``.
        root: Link whose axes are the world's.
        after: Processes whose final messages are recorded too.

    Raises:
        InputError: What an argument requests is not installed, or the recording has a wrong name.
    """
    package = "uk_dynamics"
    started = []
    if switched_on(given, "view"):
        _need("viser", "view", 'pip install viser, or ".[view]" of the sources')
        started.append(node(package, "viewer", files))
    if given["record"]:
        _need("mcap_ros2", "record", 'pip install mcap-ros2-support, or ".[record]" of the sources')
        file = Path(given["record"]).expanduser().absolute()
        if file.suffix != ".mcap":
            raise InputError(f'name a file that ends in .mcap, found "{file.name}"', place="record")
        recorded = {"mechanism": files["mechanism"], "file": str(file)}
        started.append(node(package, "recorder", recorded, kind=LastToEnd, after=after))
    if switched_on(given, "rviz"):
        require(["rviz2"], "rviz")
    if switched_on(given, "rviz") or (given["rviz"] == "auto" and installed("rviz2")):
        display = str(share_directory() / "rviz" / "mechanism.rviz")
        started.append(node(package, "markers", files))
        started.append(node("rviz2", "rviz2", arguments=["-d", display, "-f", root]))
    return started


def _need(module: str, place: str, remedy: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise InputError(f"{module} is not installed here; try: {remedy}", place=place)
