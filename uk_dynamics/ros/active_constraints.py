"""Constraints that are switched over ROS, and what other nodes hear of it.

The topic carries a JointState that stays for who comes late: ``name`` lists the rows of the
switchable constraints that are on, ``position`` the values at which they were closed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool

from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import ActiveConstraints
from uk_dynamics.ros.diagnostics import MessageProblems
from uk_dynamics.ros.machine import SimulatedMachine
from uk_dynamics.ros.message_readers import LARGEST
from uk_dynamics.ros.messages import view

ACTIVE_QOS = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ACTIVE_TOPIC = "simulator/active_constraints"


class ConstraintSwitches:
    """Services ``~/<constraint>/enable`` of a simulated machine, and ``~/active_constraints``."""

    def __init__(self, node: Node, machine: SimulatedMachine, stamp: Callable[[], Time]) -> None:
        """Offer a service for each switchable constraint.

        Args:
            node: Who offers them.
            machine: Whose constraints are switched.
            stamp: Gives the time of the machine's state.
        """
        self._node = node
        self._machine = machine
        self._stamp = stamp
        names = machine.mechanism.hierarchy.switchable
        self._publisher = None
        if names:
            self._publisher = node.create_publisher(JointState, "~/active_constraints", ACTIVE_QOS)
        for name in names:
            node.create_service(
                SetBool, f"~/{name}/enable", functools.partial(self._on_enable, name)
            )
        self.publish()

    def publish(self) -> None:
        """Tell what is on."""
        if self._publisher is None:
            return
        message = to_message(self._machine.mechanism, self._machine.active)
        message.header.stamp = self._stamp()
        self._publisher.publish(message)

    def _on_enable(
        self, name: str, request: SetBool.Request, response: SetBool.Response
    ) -> SetBool.Response:
        try:
            lost = self._machine.switch({name: request.data})
        except UkDynamicsError as error:
            response.message = str(error)
            return response
        self.publish()
        response.success = True
        response.message = f"{name} is {'on' if request.data else 'off'}; {lost:.6g} J lost"
        self._node.get_logger().info(response.message)
        return response


class ActiveConstraintsInput:
    """Follows the constraints that a simulator, or whoever knows the machine, has switched.

    Attributes:
        active: Those that are on; None until the first message: as the mechanism file says.
    """

    def __init__(
        self,
        node: Node,
        mechanism: Mechanism,
        problems: MessageProblems,
        on_switched: Callable[[ActiveConstraints], None] | None = None,
    ) -> None:
        """Listen to ``simulator/active_constraints`` if something is switchable.

        Args:
            node: Who listens.
            mechanism: Whose constraints they are.
            problems: Remembers messages that cannot be used.
            on_switched: Called after each usable message.
        """
        self.active: ActiveConstraints | None = None
        self._node = node
        self._mechanism = mechanism
        self._problems = problems
        self._on_switched = on_switched
        self._subscription = None
        if mechanism.hierarchy.switchable:
            self._subscription = node.create_subscription(
                JointState, ACTIVE_TOPIC, self._receive, ACTIVE_QOS
            )

    def destroy(self) -> None:
        """Stop listening."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)

    def _receive(self, message: JointState) -> None:
        active, problem = from_message(self._mechanism, message)
        if active is None:
            self._problems.note(ACTIVE_TOPIC, problem)
            return
        self.active = active
        if self._on_switched is not None:
            self._on_switched(active)


def to_message(mechanism: Mechanism, active: ActiveConstraints) -> JointState:
    """Rows of the constraints that are on, with the values at which they were closed.

    Args:
        mechanism: Whose constraints.
        active: Which are on.
    """
    names: list[str] = []
    values: list[float] = []
    for name, rows in mechanism.constraints.slices.items():
        if name in active.names:
            labels = mechanism.row_names[rows]
            names += labels
            values += active.captured.get(name, np.zeros(len(labels))).tolist()
    return JointState(name=names, position=values)


def from_message(mechanism: Mechanism, message: JointState) -> tuple[ActiveConstraints | None, str]:
    """What :func:`to_message` told, or None and what is wrong with the message."""
    if len(message.name) != len(message.position):
        return None, f"{len(message.name)} names, but {len(message.position)} positions"
    values = view(message.position)
    if not (np.abs(values) < LARGEST).all():  # false for nan
        return None, "positions that are not finite"
    by_row = dict(zip(message.name, values.tolist(), strict=True))
    names: set[str] = set()
    captured: dict[str, np.ndarray] = {}
    for name, spec in mechanism.hierarchy.switchable.items():
        labels = mechanism.row_names[mechanism.constraints.slices[name]]
        found = [by_row.pop(label) for label in labels if label in by_row]
        if not found:
            continue
        if len(found) < len(labels):
            return None, f'some rows of "{name}" are missing'
        names.add(name)
        if spec.on_activation == "capture":
            captured[name] = np.array(found)
    if by_row:
        return None, f'"{next(iter(by_row))}" is no row of a switchable constraint'
    return ActiveConstraints(frozenset(names), captured), ""
