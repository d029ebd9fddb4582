# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The action FollowJointTrajectory, of nodes in processes of their own.

control_msgs is not on PyPI: tools/build_messages.py makes it for a run of these tests without
an installation of ROS.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from sensor_msgs.msg import JointState
from support.nodes.ros_ears import DiagnosticsEar, Ear
from support.nodes.ros_fixtures import Ros, StartProcess
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from uk_dynamics.ros.servo.follow_joint_trajectory import GoalTolerances, JointErrors, violated

pytestmark = pytest.mark.ros

CONTROLLER = {
    "mechanism": "five_bar",
    "tasks": "five_bar_track",
    "autostart": True,
    "update_rate": 200.0,
    # a computer that does other work lets states come late
    "state_timeout": 30.0,
    "position_jump": 10.0,
}


@pytest.mark.slow
def test_without_the_messages_there_is_no_action(ros: Ros, start_node: StartProcess) -> None:
    try:
        import control_msgs  # noqa: F401
    except ImportError:
        process = start_node("servo_controller", parameters=CONTROLLER)
        process.wait_for_output("control_msgs is not installed")
        diagnostics = DiagnosticsEar(ros.node(), "servo_controller")
        diagnostics.until(ros, "no usable joint_states yet")
    else:
        pytest.skip("they are installed")


def test_tolerances_by_joint() -> None:
    def tolerance(name: str, position: float, velocity: float = 0.0) -> SimpleNamespace:
        return SimpleNamespace(name=name, position=position, velocity=velocity)

    goal = SimpleNamespace(
        trajectory=JointTrajectory(joint_names=["a", "b"]),
        path_tolerance=[tolerance("b", 0.1, 0.5)],
        goal_tolerance=[tolerance("a", -1.0), tolerance("b", 0.01)],
        goal_time_tolerance=Duration(sec=1, nanosec=500_000_000),
        component_path_tolerance=[],
        component_goal_tolerance=[],
    )
    assert GoalTolerances.problem(goal) == ""
    tolerances = GoalTolerances(goal, ["a", "b"])
    assert tolerances.time == 1.5

    def errors(*position: float, velocity: float = 0.0) -> JointErrors:
        rates = np.full(2, velocity)
        return JointErrors(("a", "b"), np.zeros((2, 3)), np.array(position), rates)

    assert violated(errors(9.0, 0.09), tolerances.path) == "", "nothing is said of a"
    assert violated(errors(0.0, -0.11), tolerances.path).startswith("position of b is off by -0.11")
    assert violated(errors(0.0, 0.0, velocity=0.6), tolerances.path).startswith("velocity of b")
    assert violated(errors(9.0, 0.0, velocity=0.6), tolerances.end) == "", "a has none, by its sign"
    assert violated(errors(0.0, 0.02), tolerances.end) != ""
    goal.goal_tolerance = [tolerance("c", 0.1)]
    assert 'for "c", which is not in the trajectory' in GoalTolerances.problem(goal)
    goal.goal_tolerance = [tolerance("a", math.nan)]
    assert "not finite" in GoalTolerances.problem(goal)
    goal.goal_tolerance, goal.component_goal_tolerance = [], [object()]
    assert "several degrees of freedom" in GoalTolerances.problem(goal)


class Bench:
    """A simulated five-bar, its controller, and a client."""

    def __init__(self, ros: Ros, start_node: StartProcess) -> None:
        control_msgs = pytest.importorskip("control_msgs.action")
        from rclpy.action import ActionClient

        self.ros = ros
        self.action = control_msgs.FollowJointTrajectory
        self.node = ros.node()
        self.states = Ear(self.node, JointState, "joint_states")
        start_node("simulator", parameters={"mechanism": "five_bar", "rate": 200.0})
        start_node("servo_controller", parameters=CONTROLLER)
        self.diagnostics = DiagnosticsEar(self.node, "servo_controller")
        self.client = ActionClient(
            self.node, self.action, "servo_controller/follow_joint_trajectory"
        )
        ros.until(self.client.server_is_ready, "the action")
        ros.until(lambda: self.diagnostics.values.get("mode") == "tasks", "control")
        self.feedback: list[Any] = []

    def send(self, position: float, seconds: float, joint: str = "crank", **more: Any) -> Any:
        nanosec = round(seconds % 1.0 * 1e9)
        point = JointTrajectoryPoint(
            positions=[position], time_from_start=Duration(sec=int(seconds), nanosec=nanosec)
        )
        trajectory = JointTrajectory(joint_names=[joint], points=[point])
        goal = self.action.Goal(trajectory=trajectory, **more)
        future = self.client.send_goal_async(goal, lambda m: self.feedback.append(m.feedback))
        self.ros.until(future.done, "an answer")
        return future.result()

    def result(self, handle: Any) -> tuple[int, Any]:
        future = handle.get_result_async()
        self.ros.until(future.done, "the result")
        return future.result().status, future.result().result

    def tolerance(self, position: float) -> Any:
        from control_msgs.msg import JointTolerance

        return JointTolerance(name="crank", position=position)

    @property
    def crank(self) -> float:
        state = self.states.messages[-1]
        return float(state.position[state.name.index("crank")])


def test_goals_succeed_and_tell_how_it_goes(ros: Ros, start_node: StartProcess) -> None:
    bench = Bench(ros, start_node)
    # on a busy computer the machine arrives later
    late = {"goal_tolerance": [bench.tolerance(0.01)], "goal_time_tolerance": Duration(sec=20)}
    handle = bench.send(0.8, 0.6, **late)
    assert handle.accepted
    status, result = bench.result(handle)
    assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string
    assert result.error_code == bench.action.Result.SUCCESSFUL
    assert bench.crank == pytest.approx(0.8, abs=0.01)
    assert len(bench.feedback) >= 3
    last = bench.feedback[-1]
    assert last.joint_names == ["crank"]
    assert last.desired.positions[0] == pytest.approx(0.8, abs=1e-9)
    difference = last.desired.positions[0] - last.actual.positions[0]
    assert last.error.positions[0] == pytest.approx(difference, abs=1e-12)

    handle = bench.send(0.6, 5.0)
    heard = len(bench.feedback)
    ros.until(lambda: len(bench.feedback) > heard + 2, "the beginning")
    future = handle.cancel_goal_async()
    ros.until(future.done, "the cancellation")
    status, _ = bench.result(handle)
    assert status == GoalStatus.STATUS_CANCELED
    assert 0.7 < bench.crank < 0.81, "held on the way"


def test_goals_end_when_something_else_begins(ros: Ros, start_node: StartProcess) -> None:
    bench = Bench(ros, start_node)
    first = bench.send(0.8, 10.0)
    second = bench.send(0.7, 10.0)
    status, result = bench.result(first)
    assert status == GoalStatus.STATUS_ABORTED
    assert "another trajectory" in result.error_string
    change = bench.node.create_client(ChangeState, "servo_controller/change_state")
    transition = Transition(id=Transition.TRANSITION_DEACTIVATE)
    assert ros.call(change, ChangeState.Request(transition=transition)).success
    status, result = bench.result(second)
    assert status == GoalStatus.STATUS_ABORTED
    assert "not followed any more" in result.error_string
    assert not bench.send(0.8, 1.0).accepted
    bench.diagnostics.until(ros, "no tasks are followed now")


def test_goals_are_refused_or_aborted_for_a_reason(ros: Ros, start_node: StartProcess) -> None:
    bench = Bench(ros, start_node)
    assert not bench.send(0.8, 1.0, joint="elbow").accepted
    bench.diagnostics.until(ros, '"elbow" has no live task')
    impossible = [bench.tolerance(1e-12)]
    status, result = bench.result(bench.send(0.8, 10.0, path_tolerance=impossible))
    assert status == GoalStatus.STATUS_ABORTED
    assert result.error_code == bench.action.Result.PATH_TOLERANCE_VIOLATED
    assert "position of crank is off by" in result.error_string
    status, result = bench.result(bench.send(0.7, 0.2, goal_tolerance=impossible))
    assert status == GoalStatus.STATUS_ABORTED
    assert result.error_code == bench.action.Result.GOAL_TOLERANCE_VIOLATED
