# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Joint trajectories that come over ROS, for tasks with a live reference."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from builtin_interfaces.msg import Time
from trajectory_msgs.msg import JointTrajectory

from uk_dynamics.constraints.references import Live, Trajectory, Waypoints
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.ros.diagnostics.publisher import MessageProblems
from uk_dynamics.ros.timing.clock import nanoseconds
from uk_dynamics.ros.topics.live_references import LiveReferences
from uk_dynamics.ros.topics.messages import first_unusable


class _Plan(NamedTuple):
    """A valid message, at times of the references in s; no waypoints: hold."""

    names: list[str]
    waypoints: Waypoints | None
    now: float
    start: float
    end: float


class JointTrajectoryInput:
    """Trajectories from ``~/joint_trajectory``, with the rules of joint_trajectory_controller.

    A new one replaces the present one for the joints it names, and starts at position and velocity
    of the present references; one without points holds its joints where they are. ``tasks`` has
    the tasks by their name in messages; ``end`` is that of the last trajectory, in s.
    """

    def __init__(
        self,
        tasks: Tasks,
        live: LiveReferences,
        problems: MessageProblems,
        *,
        now: Callable[[], float | None],
        since: Callable[[Time], float],
    ) -> None:
        """``now()`` and ``since(stamp)`` are times of the references, in s; None: not running."""
        self._live = live
        self._now, self._since = now, since
        self.tasks = driven_joints(tasks)
        self.end = 0.0
        self.on_replaced: Callable[[], None] = lambda: None
        problems.listen(JointTrajectory, "~/joint_trajectory", self.follow)

    def check(self, message: JointTrajectory) -> str:
        """What is wrong with a message, empty where nothing is."""
        plan = self._plan(message)
        return plan if isinstance(plan, str) else ""

    def follow(self, message: JointTrajectory) -> str:
        """Follow a message from now on, or return what is wrong with it."""
        plan = self._plan(message)
        if isinstance(plan, str):
            return plan
        self.on_replaced()
        self.end = plan.end
        for column, name in enumerate(plan.names):
            task = self.tasks[name]
            if plan.waypoints is None:
                self._live.hold(task, plan.now)
                continue
            one = _column(plan.waypoints, column, plan.start)
            present = self._live.present(task, plan.now)
            self._live.followed[task] = Trajectory.through(one, now=plan.now, present=present)
        return ""

    def _plan(self, message: JointTrajectory) -> _Plan | str:
        """Read a message, or return what is wrong with it."""
        now = self._now()
        if now is None:
            return "the controller has not received a state yet"
        names = list(message.joint_names) or list(self.tasks)
        if problem := _check_names(names, self.tasks):
            return problem
        if not message.points:
            return _Plan(names, None, now, now, now)
        try:
            waypoints = read_waypoints(message)
        except InputError as error:
            return f"{error.place}: {error.problem}"
        start = now if nanoseconds(message.header.stamp) == 0 else self._since(message.header.stamp)
        end = start + float(waypoints.times[-1])
        if end < now:
            return f"it ended {now - end:.3g} s ago"
        return _Plan(names, waypoints, now, start, end)


def driven_joints(tasks: Tasks) -> dict[str, str]:
    """Tasks that trajectories drive, by their name in messages.

    Those with a live reference whose kind has one coordinate: ``joint`` by the name of its joint,
    others such as ``joint_coupling`` by their own name.
    """
    found = {}
    for task in tasks.spec.tasks:
        if isinstance(task.reference, Live):
            name = task.kind.trajectory_name(task.name)
            # A joint of the robot goes before a task that happens to have its name.
            if name is not None and (name != task.name or name not in found):
                found[name] = task.name
    return found


def read_waypoints(message: JointTrajectory) -> Waypoints:
    """Points of a message, with times from its start; InputError where they are not valid."""
    count = len(message.joint_names)
    times = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in message.points]
    if times[0] < 0.0:
        raise InputError(f"{times[0]:g} s is before the start", place="time_from_start")
    fields = {
        field: _field(field, [getattr(point, field) for point in message.points], count)
        for field in ("positions", "velocities", "accelerations")
    }
    positions = fields.pop("positions")
    if positions is None:
        raise InputError("none are given", place="positions")
    return Waypoints(np.array(times), positions, **fields)


def _field(field: str, values: Sequence[Sequence[float]], count: int) -> Array | None:
    sizes = {len(one) for one in values}
    if sizes == {0}:
        return None
    if sizes != {count}:
        shown = " or ".join(str(size) for size in sorted(sizes - {count}))
        raise InputError(f"{shown} numbers at a point, expected {count}", place=field)
    array = np.array(values)
    if (bad := first_unusable(array.ravel())) is not None:
        raise InputError(f"has {array.flat[bad]:g}", place=field)
    return array


def _check_names(names: Sequence[str], known: Mapping[str, str]) -> str:
    if not known:
        return "no joint task has a live reference"
    for name in names:
        if name not in known:
            return f'"{name:.40}" has no live task; there are: {", ".join(list(known)[:8])}'
    return "a joint is named more than once" if len(set(names)) < len(names) else ""


def _column(waypoints: Waypoints, column: int, start: float) -> Waypoints:
    """Points of one joint, at times of the references."""
    chosen = slice(column, column + 1)
    fields = (waypoints.positions, waypoints.velocities, waypoints.accelerations)
    times = start + waypoints.times
    return Waypoints(times, *(None if f is None else f[:, chosen] for f in fields))
