"""What launch files share: their arguments, which packages there are, in which order all ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import Action, LaunchContext, LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    Shutdown,
)
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.tasks import Tasks

Argument = tuple[str, str, str]  # name, default and description
SWITCH = ("true", "false", "True", "False")
CHOICES = {"rviz": (*SWITCH, "auto")}  # of arguments that are not only on or off


def launch_description(
    arguments: Sequence[Argument], started: Callable[[dict[str, str]], list[Any]]
) -> LaunchDescription:
    """A launch file: its arguments, and what is started with them.

    Args:
        arguments: Those of the file.
        started: Makes the actions of the values that were given, by name.
    """
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
    """Check that packages are installed.

    Args:
        packages: Their names.
        place: What needs them.

    Raises:
        InputError: Some are not; all of them are named, with what to do.
    """
    missing = [package for package in dict.fromkeys(packages) if not installed(package)]
    if missing:
        names = " ".join("ros-$ROS_DISTRO-" + package.replace("_", "-") for package in missing)
        raise InputError(
            f"not installed, or not sourced: {', '.join(missing)}; try: sudo apt install {names}",
            place=place,
        )


def switched_on(given: Mapping[str, str], name: str) -> bool:
    """Whether an argument says true."""
    return given[name].lower() == "true"


def number(
    given: Mapping[str, str], name: str, minimum: float = 0.0, *, whole: bool = False
) -> float:
    """An argument that is a number.

    Args:
        given: Arguments by name.
        name: Of the argument.
        minimum: Smallest value that is valid.
        whole: Whether it counts something.

    Raises:
        InputError: It is none, or a smaller one.
    """
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
    """The mechanism that the arguments name; where there are tasks, they fit it.

    Whatever is wrong in the files is said before anything is started.

    Args:
        given: Arguments by name, with ``mechanism`` and ``tasks``.

    Raises:
        UkDynamicsError: Anything wrong in the files.
    """
    mechanism = Mechanism.from_file(given["mechanism"])
    if given["tasks"]:
        Tasks.from_file(given["tasks"], mechanism)
    return mechanism


def ends_all(what: str) -> Callable[[ProcessExited, LaunchContext], list[Action]]:
    """Reaction to the end of a process without which the others are of no use.

    Args:
        what: Has happened, in words.
    """

    def ended(event: ProcessExited, context: LaunchContext) -> list[Action]:
        if context.is_shutdown:
            return []
        reason = f"{what} (exit code {event.returncode})"
        # launch keeps the reason of a shutdown for itself
        return [LogInfo(msg=f"{reason}: everything ends"), Shutdown(reason=reason)]

    return ended


class LastToEnd(Node):
    """A process that outlives others, so that it still hears their last words.

    launch interrupts all processes at the same time, and so does Ctrl-C in a terminal. This one
    leaves the terminal's process group, and is interrupted when the last of the others has ended.
    Others that do not end by themselves launch kills, so it never waits in vain.
    """

    def __init__(self, *, after: Sequence[Node], **options: Any) -> None:
        """Describe the process.

        Args:
            after: Processes that end earlier; those that never start do not count.
            **options: Of the node.
        """
        prefix = ["setsid ", LaunchConfiguration("launch-prefix", default="")]
        # a label of its own, or it would be that of setsid
        super().__init__(prefix=prefix, exec_name=options["executable"], **options)
        self._others = list(after)
        self._end_is_wanted = False

    def execute(self, context: Any) -> Any:
        """Start it."""
        for other in self._others:
            heard = OnProcessExit(target_action=other, on_exit=self._on_other_ended)
            RegisterEventHandler(heard).execute(context)
        return super().execute(context)

    def _shutdown_process(self, context: Any, *, send_sigint: bool) -> Any:
        # a method of ExecuteLocal that is not public; there is no other place to wait in
        self._end_is_wanted = True
        if any(_runs(other) for other in self._others):
            return None
        return super()._shutdown_process(context, send_sigint=True)

    def _on_other_ended(self, event: Any, context: Any) -> Any:
        self._others.remove(event.action)
        if self._end_is_wanted:
            return self._shutdown_process(context, send_sigint=True)
        return None


def _runs(process: Node) -> bool:
    end = process.get_asyncio_future()
    return end is not None and not end.done()
