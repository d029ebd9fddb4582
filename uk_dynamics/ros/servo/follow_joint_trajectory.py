# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The action FollowJointTrajectory of joint_trajectory_controller, for live joint tasks.

It needs ``control_msgs``; without that package there is no action, and the log says so once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectoryPoint

from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.ros.diagnostics.publisher import MessageProblems
from uk_dynamics.ros.servo.joint_trajectory_input import JointTrajectoryInput
from uk_dynamics.ros.timing.clock import steady_clock
from uk_dynamics.ros.topics.live_references import LiveReferences


class JointErrors(NamedTuple):
    """Actual minus desired motion; ``desired``: position, velocity, acceleration, (joints, 3)."""

    names: tuple[str, ...]
    desired: Array
    position: Array
    velocity: Array


class GoalTolerances:
    """Tolerances of one goal; those that are left out, 0 or negative set no limit.

    On the ``path`` and at its ``end``, of position and velocity by joint, (joints, 2);
    ``time`` in s is how long after the end of the trajectory the goal may still be reached.
    """

    def __init__(self, request: Any, names: Sequence[str]) -> None:
        """Read the tolerances of a goal of control_msgs for its joints."""
        self.path = _by_joint(request.path_tolerance, names)
        self.end = _by_joint(request.goal_tolerance, names)
        duration = request.goal_time_tolerance
        self.time = duration.sec + 1e-9 * duration.nanosec

    @staticmethod
    def problem(request: Any) -> str:
        """What is wrong with the tolerances of a goal, empty where nothing is."""
        if request.component_path_tolerance or request.component_goal_tolerance:
            return "joints with several degrees of freedom are not supported"
        names = list(request.trajectory.joint_names)
        for tolerance in (*request.path_tolerance, *request.goal_tolerance):
            if names and tolerance.name not in names:
                return f'a tolerance for "{tolerance.name:.40}", which is not in the trajectory'
            if not np.isfinite([tolerance.position, tolerance.velocity]).all():
                return f"a tolerance of {tolerance.name:.40} is not finite"
        return ""


def _by_joint(tolerances: Sequence[Any], names: Sequence[str]) -> Array:
    """Of position and velocity, (joints, 2); infinite where there is no limit."""
    given = {tolerance.name: (tolerance.position, tolerance.velocity) for tolerance in tolerances}
    values = np.array([given.get(name, (0.0, 0.0)) for name in names])
    return np.where(values > 0.0, values, np.inf)


def violated(errors: JointErrors, allowed: Array) -> str:
    """The first tolerance, of those (joints, 2), that is violated; empty where none is."""
    found = np.stack([errors.position, errors.velocity], axis=1)
    for joint, kind in np.argwhere(np.abs(found) > allowed):
        what = ("position", "velocity")[kind]
        return (
            f"{what} of {errors.names[joint]} is off by {found[joint, kind]:.3g}, "
            f"tolerance {allowed[joint, kind]:.3g}"
        )
    return ""


NAME = "~/follow_joint_trajectory"
_MONITOR_PERIOD = 0.05  # s, as joint_trajectory_controller's action_monitor_rate of 20 Hz


@dataclass
class _Goal:
    """A trajectory that is followed for a client."""

    handle: Any
    names: list[str]
    end: float
    tolerances: GoalTolerances
    over: Future


def follow_joint_trajectory(*arguments: Any) -> "FollowJointTrajectory | None":
    """The action; None where ``control_msgs`` is not installed."""
    try:
        from control_msgs.action import FollowJointTrajectory as Action
    except ImportError:
        arguments[0].get_logger().info(f"no action {NAME}: control_msgs is not installed")
        return None
    return FollowJointTrajectory(Action, *arguments)


class FollowJointTrajectory:
    """Accepts goals while tasks are followed; a new trajectory replaces the last one."""

    def __init__(
        self,
        action: Any,
        node: Node,
        tasks: Tasks,
        trajectories: JointTrajectoryInput,
        live: LiveReferences,
        problems: MessageProblems,
        state: Callable[[], State | None],
    ) -> None:
        """``state()`` has the time of the references; None while no tasks are followed."""
        self._action, self._node, self._tasks = action, node, tasks
        self._trajectories, self._live, self._problems = trajectories, live, problems
        self._state = state
        self._workspace = tasks.model.workspace()
        self._goal: _Goal | None = None
        self._server = ActionServer(
            node,
            action,
            NAME,
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=lambda handle: CancelResponse.ACCEPT,
        )
        node.create_timer(_MONITOR_PERIOD, self._look, clock=steady_clock())
        trajectories.on_replaced = lambda: self.abort("replaced by another trajectory")

    def abort(self, reason: str) -> None:
        """End the goal without success, if there is one."""
        self._end(self._action.Result.INVALID_GOAL, reason)

    def destroy(self) -> None:
        """Withdraw the action."""
        self.abort("the controller was cleaned up")
        self._server.destroy()

    def _on_goal(self, request: Any) -> GoalResponse:
        problem = ""
        if self._state() is None:
            problem = "no tasks are followed now"
        elif request.multi_dof_trajectory.points:
            problem = "joints with several degrees of freedom are not supported"
        elif not request.trajectory.points:
            problem = "the trajectory has no points"
        problem = problem or self._trajectories.check(request.trajectory)
        problem = problem or GoalTolerances.problem(request)
        if problem:
            self._problems.note(NAME, problem)
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_accepted(self, handle: Any) -> None:
        request = handle.request
        if problem := self._trajectories.follow(request.trajectory):  # aborts the goal before
            self._problems.note(NAME, problem)
        end = self._trajectories.end
        names = list(request.trajectory.joint_names) or list(self._trajectories.tasks)
        self._goal = _Goal(handle, names, end, GoalTolerances(request, names), Future())
        if problem:
            self.abort(problem)
        handle.execute()

    async def _execute(self, handle: Any) -> Any:
        goal = self._goal
        if goal is None or goal.handle is not handle:
            handle.abort()
            return self._action.Result(error_code=self._action.Result.INVALID_GOAL)
        code, text = await goal.over
        if text == _CANCELED:
            handle.canceled()
        elif code == self._action.Result.SUCCESSFUL:
            handle.succeed()
        else:
            handle.abort()
        return self._action.Result(error_code=code, error_string=text)

    def _end(self, code: int, text: str) -> None:
        goal, self._goal = self._goal, None
        if goal is not None:
            goal.over.set_result((code, text))

    def _look(self) -> None:
        """Send feedback to the client; end the goal when it is due."""
        goal, state = self._goal, self._state()
        if goal is None:
            return
        if state is None:
            self.abort("the tasks are not followed any more")
            return
        if goal.handle.is_cancel_requested:
            self._hold(goal, state)
            self._end(self._action.Result.SUCCESSFUL, _CANCELED)
            return
        errors = self._errors(goal, state)
        self._publish(goal, state, errors)
        result = self._action.Result
        if state.t < goal.end:
            if problem := violated(errors, goal.tolerances.path):
                self._hold(goal, state)
                self._end(result.PATH_TOLERANCE_VIOLATED, problem)
        elif not (problem := violated(errors, goal.tolerances.end)):
            self._end(result.SUCCESSFUL, "")
        elif state.t > goal.end + goal.tolerances.time:
            self._end(result.GOAL_TOLERANCE_VIOLATED, problem)

    def _hold(self, goal: _Goal, state: State) -> None:
        for name in goal.names:
            self._live.hold(self._trajectories.tasks[name], state.t)

    def _errors(self, goal: _Goal, state: State) -> JointErrors:
        """Desired and actual motion of the goal's joints."""
        self._workspace.update(state.q, state.v)
        rows = self._tasks.evaluate(self._workspace, state.q, state.v, state.t, self._live.followed)
        constraints = self._tasks.constraints
        desired, places = [], []
        for name in goal.names:
            task = self._trajectories.tasks[name]
            places.append(constraints.slices[task].start)
            sample = self._live.present(task, state.t)
            desired.append((sample.value[0], sample.rate[0], sample.acceleration[0]))
        scale = constraints.reference_scale[places]
        return JointErrors(
            tuple(goal.names),
            np.array(desired),
            rows.residual[places] / scale,
            rows.rate[places] / scale,
        )

    def _publish(self, goal: _Goal, state: State, errors: JointErrors) -> None:
        feedback = self._action.Feedback(joint_names=goal.names)
        feedback.header.stamp = self._node.get_clock().now().to_msg()
        desired = errors.desired
        feedback.desired = JointTrajectoryPoint(
            positions=desired[:, 0], velocities=desired[:, 1], accelerations=desired[:, 2]
        )
        feedback.actual = JointTrajectoryPoint(
            positions=desired[:, 0] + errors.position, velocities=desired[:, 1] + errors.velocity
        )
        # desired minus actual, as in joint_trajectory_controller
        feedback.error = JointTrajectoryPoint(
            positions=-errors.position, velocities=-errors.velocity
        )
        goal.handle.publish_feedback(feedback)


_CANCELED = "canceled; the joints are held"
