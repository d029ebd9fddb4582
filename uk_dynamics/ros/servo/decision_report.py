# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What servo_controller publishes of its decisions: diagnostics, references and tracking errors."""

from collections.abc import Callable, Mapping

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from uk_dynamics.arrays import largest
from uk_dynamics.constraints.references import Followed
from uk_dynamics.control import Command, MotorCommand
from uk_dynamics.control.servo import TASKS, ServoController, ServoModes
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.ros.diagnostics.publisher import Report
from uk_dynamics.ros.servo.written_estimates import report_estimates
from uk_dynamics.ros.topics.dynamics_topics import SubscribedPublishers
from uk_dynamics.ros.topics.messages import MotionMessage
from uk_dynamics.ros.topics.serialized import FIELDS, JointStateMessage


def report_decision(
    report: Report, modes: ServoModes, errors: Array, decision: MotorCommand, warning: float
) -> None:
    """Add mode, tracking errors (rows,), efforts and limits; ``warning`` in m or rad."""
    error = largest(errors)
    report.add("mode", modes.mode)
    report.add("in_transfer", modes.in_transfer)
    report.add("tracking_error", error)
    if error > warning:
        worst = int(np.argmax(np.abs(errors)))
        what = "task " if modes.mode == TASKS else ""
        report.warn(f"{what}{modes.row_names[worst]} is off by {error:.3g}")
    if isinstance(decision, Command):
        _report_tasks(report, modes, decision)
        if modes.servo is not None:
            report_estimates(report, modes.servo)
    report.add("unreachable", ", ".join(decision.unreachable) or "none")
    if decision.unreachable:
        report.warn(f"the motors cannot produce the motion of {', '.join(decision.unreachable)}")
    report.add("largest_effort", largest(decision.efforts))
    limited = ", ".join(f"{motor}: {limit}" for motor, limit in decision.limited_by.items())
    report.add("limited_by", limited or "none")
    report.add("settled", decision.settled)
    for limit in dict.fromkeys(decision.limited_by.values()):
        motors = [motor for motor, by in decision.limited_by.items() if by == limit]
        report.warn(f"{limit} limit reached: {', '.join(motors)}")
    if not decision.settled:
        report.warn("the search for the best efforts within the limits was cut short")


def _report_tasks(report: Report, modes: ServoModes, command: Command) -> None:
    report.add("actuation", command.actuation)
    report.add("task_rank", command.servo.rank)
    report.add("task_rows", len(command.tracking_error))
    report.add("efforts_held", command.held)
    report.add("unreachable_residual", largest(command.servo.residual))
    for task in modes.tasks.names:
        report.add(f"missing.{task}", command.missing.get(task, 0.0))
    if command.error_bound is not None:
        report.add("beyond_bound", ", ".join(command.beyond_bound) or "none")
        if command.robust is not None:
            report.add("robust_authority", command.robust.authority)
        if command.beyond_bound:
            rows = ", ".join(command.beyond_bound)
            report.warn(
                f"the error of {rows} is above what robust promises: the machine differs by more"
                " than the tasks file says, or it has not arrived yet"
            )
    if command.missing:
        parts = ", ".join(f"{task}: {size:.3g} m/s²" for task, size in command.missing.items())
        report.warn(f"tasks do not get their full desired acceleration, {parts}")


class TaskTopics:
    """Publishes the rows of the tasks by name; topics without subscribers are not computed."""

    def __init__(self, node: Node, controller: ServoController | None) -> None:
        """Create the publishers below the node's name; none without a controller of tasks."""
        self._controller = controller
        if controller is None:
            return
        names = controller.tasks.row_names
        self._states = JointStateMessage(names, *FIELDS)
        self._references = MotionMessage(names)
        self._publishers = SubscribedPublishers(
            node,
            {"task_states": JointState, "task_references": JointTrajectory}
            | ({} if controller.promise is None else {"task_bounds": JointState})
            | ({"estimates": JointState} if controller.tasks.adaptive else {}),
        )
        estimated = [x.name for x in controller.estimates]
        self._estimates = JointStateMessage(estimated, "position", "effort")
        self._bounds = JointStateMessage(names, "position")

    def publish(
        self,
        stamp: Time,
        state: State,
        last_command: Callable[[], MotorCommand],
        followed: Mapping[str, Followed],
    ) -> None:
        """Publish the topics that have subscribers; nothing in modes other than ``tasks``."""
        if self._controller is None:
            return
        subscribed = self._publishers.subscribed
        if not subscribed or not isinstance(decision := last_command(), Command):
            return
        tasks = self._controller.tasks
        if "task_states" in subscribed:
            error = self._controller.errors(state, followed)
            self._states.position[:] = error.residual
            self._states.velocity[:] = error.rate
            self._states.effort[:] = decision.residual / tasks.constraints.reference_scale
            self._states.publish(self._publishers["task_states"], stamp)
        if "task_bounds" in subscribed and decision.error_bound is not None:
            self._bounds.position[:] = decision.error_bound
            self._bounds.publish(self._publishers["task_bounds"], stamp)
        if "estimates" in subscribed:
            for k, found in enumerate(self._controller.estimates):
                self._estimates.position[k] = found.value
                self._estimates.effort[k] = found.deviation
            self._estimates.publish(self._publishers["estimates"], stamp)
        if "task_references" in subscribed:
            sample = tasks.sample(state.t, followed)
            motion = (0.0, 0.0, 0.0) if sample is None else tuple(sample)
            message = self._references.write(stamp, *motion)
            self._publishers["task_references"].publish(message)
