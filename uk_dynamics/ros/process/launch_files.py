# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Helpers of launch files: arguments, settings of processes, packages, views, shutdown order."""

import importlib.util
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import Action, LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
    Shutdown,
    UnsetEnvironmentVariable,
)
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.resources import share_directory
from uk_dynamics.ros.process.udp_transport import TRANSPORTS, udp_environment

Argument = tuple[str, str, str]  # name, default, description
SWITCH = ("true", "false", "True", "False")
# of arguments that are not plain switches
CHOICES = {"rviz": (*SWITCH, "auto"), "transport": ("udp", "environment")}


def launch_description(
    arguments: Sequence[Argument], started: Callable[[dict[str, str]], list[Any]]
) -> LaunchDescription:
    """Launch description with arguments; ``started`` makes its actions from their values."""
    declared = [
        DeclareLaunchArgument(
            name,
            default_value=default,
            description=text,
            choices=CHOICES.get(name, SWITCH if default in SWITCH else None),
        )
        for name, default, text in arguments
    ]

    def start(context: LaunchContext) -> list[Any]:
        return started({n: LaunchConfiguration(n).perform(context) for n, _, _ in arguments})

    return LaunchDescription([*declared, OpaqueFunction(function=start)])


def installed(package: str) -> bool:
    """Whether a package is in the ament index."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def require(packages: Iterable[str], place: str) -> None:
    """Raise an InputError that names all packages that ``place`` needs and that are missing."""
    missing = [package for package in dict.fromkeys(packages) if not installed(package)]
    if missing:
        names = " ".join("ros-$ROS_DISTRO-" + package.replace("_", "-") for package in missing)
        raise InputError(
            f"not installed, or not sourced: {', '.join(missing)}; try: sudo apt install {names}",
            place=place,
        )


def switched_on(given: Mapping[str, str], name: str) -> bool:
    """Whether an argument is true."""
    return given[name].lower() == "true"


def number(
    given: Mapping[str, str], name: str, minimum: float = 0.0, *, whole: bool = False
) -> float:
    """An argument that is a number from a minimum on; an InputError where it is not."""
    text = given[name]
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (minimum <= value < math.inf) or (whole and value != int(value)):
        kind = "a whole number" if whole else "a number"
        raise InputError(f'expected {kind} from {minimum:g} on, found "{text}"', place=name)
    return value


def read_files(given: Mapping[str, str]) -> Mechanism:
    """The mechanism of the argument ``mechanism``, checked together with ``tasks``."""
    mechanism = Mechanism.from_file(given["mechanism"])
    if given["tasks"]:
        Tasks.from_file(given["tasks"], mechanism)
    return mechanism


def ends_all(what: str) -> Callable[[ProcessExited, LaunchContext], list[Action]]:
    """Event handler that shuts everything down when a process ends; ``what`` is the reason.

    launch shows the reason, and its exit code is not 0.
    """

    def ended(event: ProcessExited, context: LaunchContext) -> list[Action]:
        if context.is_shutdown:
            return []
        reason = f"{what} (exit code {event.returncode})"
        return [OpaqueFunction(function=_fail, args=[reason]), Shutdown(reason=reason)]

    return ended


def _fail(context: LaunchContext, reason: str) -> None:
    """Show the reason, and let launch end with exit code 1: a shutdown alone does neither."""
    context.asyncio_loop.call_exception_handler({"message": f"{reason}: everything ends"})


class LastToEnd(Node):
    """A process that ends after others, so that it still receives their final messages.

    launch interrupts all processes at the same time, and so does Ctrl-C in a terminal. This one
    leaves the terminal's process group, and is interrupted when the last of the others has ended.
    launch kills processes that do not end, so the wait always ends.
    """

    def __init__(self, *, after: Sequence[Node], **options: Any) -> None:
        """``after``: processes that end earlier; those that never start are ignored."""
        after_setsid = options.get("prefix") or [LaunchConfiguration("launch-prefix", default="")]
        prefix = ["setsid ", *after_setsid]
        # a label of its own, or it would be that of setsid
        options = {"exec_name": options["executable"], **options, "prefix": prefix}
        super().__init__(**options)
        self._others = list(after)
        self._end_requested = False

    def execute(self, context: Any) -> Any:
        """Start it."""
        for other in self._others:
            ended = OnProcessExit(target_action=other, on_exit=self._on_other_ended)
            RegisterEventHandler(ended).execute(context)
        return super().execute(context)

    def _shutdown_process(self, context: Any, *, send_sigint: bool) -> Any:
        # a private method of ExecuteLocal; there is no public hook
        self._end_requested = True
        if any(_runs(other) for other in self._others):
            return None
        return super()._shutdown_process(context, send_sigint=True)

    def _on_other_ended(self, event: Any, context: Any) -> Any:
        self._others.remove(event.action)
        return self._shutdown_process(context, send_sigint=True) if self._end_requested else None


def _runs(process: Node) -> bool:
    end = process.get_asyncio_future()
    return end is not None and not end.done()


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

    ``root`` is the link whose axes are the world's; final messages of ``after`` are recorded too.
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


TRANSPORT = (
    "transport",
    "udp",
    "Messages of Fast DDS: by udp alone, without its shared memory; or as the environment says.",
)
PRIORITY = (
    "priority",
    "0",
    "Real-time priority (SCHED_FIFO, 1 to 48) of all between states and efforts; 0: none.",
)
_HIGHEST = 48  # the watchdog has one more, the updates of controller_manager have 50


def transport(given: Mapping[str, str]) -> list[Any]:
    """Actions that set the environment of all processes for the argument ``transport``."""
    if given["transport"] != "udp":  # nodes would choose UDP by themselves
        return [SetEnvironmentVariable(TRANSPORTS, os.environ.get(TRANSPORTS) or "DEFAULT")]
    return [
        UnsetEnvironmentVariable(name) if value is None else SetEnvironmentVariable(name, value)
        for name, value in udp_environment(os.environ).items()
    ]


def priority(given: Mapping[str, str]) -> int:
    """The priority of nodes, once they run, from its argument; InputError: it is none."""
    wanted = int(number(given, "priority", whole=True))
    if wanted > _HIGHEST:
        raise InputError(f"expected at most {_HIGHEST}, found {wanted}", place="priority")
    return wanted


def scheduled(given: Mapping[str, str], executable: str) -> dict[str, Any]:
    """Options of a node that has no such parameter, for the argument ``priority``."""
    wanted = priority(given)
    if not wanted:
        return {}
    # the label in the log would be that of chrt
    prefix = [f"chrt --fifo {wanted} ", LaunchConfiguration("launch-prefix", default="")]
    return {"prefix": prefix, "exec_name": executable}
