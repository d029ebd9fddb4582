# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""command_watchdog switches the controller of the motors, where controller_manager_msgs is."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("controller_manager_msgs")

from controller_manager_msgs.srv import SwitchController
from std_msgs.msg import Float64MultiArray, UInt64MultiArray
from support.nodes.ros_ears import Ear, overrides
from support.nodes.ros_fixtures import Ros

from uk_dynamics.ros.nodes.command_watchdog import CommandWatchdog

pytestmark = pytest.mark.ros


class Manager:
    """Who is asked, and a controller that drives."""

    def __init__(self, ros: Ros) -> None:
        self.node = ros.node("controller_manager")
        self.requests: list[Any] = []
        self.zeros: list[int] = []  # commands before each request
        self.refusals = 0  # of the next requests
        self.node.create_service(SwitchController, "~/switch_controller", self._switch)
        parameters = {"mechanism": "five_bar", "timeout": 0.1, "controller": "effort_controller"}
        self.watchdog = ros.add(CommandWatchdog(**overrides(**parameters)))
        topic = "servo_controller/heartbeat"
        self.beat = self.node.create_publisher(UInt64MultiArray, topic, 10)
        self.grants = Ear(self.node, UInt64MultiArray, f"{topic}/acknowledged")
        # the subscriber of the commands has the name of the controller
        self.commands = Ear(
            ros.node("effort_controller"), Float64MultiArray, "effort_controller/commands"
        )
        ros.until(self.beat.get_subscription_count, "the watchdog")
        ros.until(self.watchdog._switch.service_is_ready, "the manager")

    def _switch(self, request: Any, response: Any) -> Any:
        self.requests.append(request)
        self.zeros.append(len(self.commands.messages))
        response.ok = self.refusals == 0
        self.refusals = max(self.refusals - 1, 0)
        return response

    def drive(self, generation: int) -> None:
        self.beat.publish(UInt64MultiArray(data=[generation, 0, 1]))


def test_the_controller_is_deactivated_once_and_zeros_go_on(ros: Ros) -> None:
    manager = Manager(ros)
    requests, zeros, commands = manager.requests, manager.zeros, manager.commands
    watchdog = manager.watchdog
    manager.drive(1)
    ros.until(lambda: requests, "the request")
    (request,) = requests
    assert list(request.deactivate_controllers) == ["effort_controller"]
    assert not request.activate_controllers
    assert request.strictness == SwitchController.Request.BEST_EFFORT
    heard = len(commands.messages)
    ros.until(lambda: len(commands.messages) > heard + 5, "zeros")
    assert len(requests) == 1
    assert zeros[0] >= 10, "zeros first"
    assert watchdog.may_end(), "the controller is deactivated, and the manager has said so"


def test_another_generation_has_the_controller_activated_again(ros: Ros) -> None:
    manager = Manager(ros)
    manager.drive(1)
    ros.until(lambda: manager.requests and manager.watchdog.may_end(), "the hand-over")
    assert len(manager.requests) == 1
    manager.refusals = 1
    heard = len(manager.grants.messages)

    def answered() -> bool:
        manager.drive(2)
        return len(manager.grants.messages) > heard

    ros.until(answered, "a lease")
    refused, done = manager.requests[1:]
    assert refused == done, "a refusal is not the last word"
    assert list(done.activate_controllers) == ["effort_controller"]
    assert not done.deactivate_controllers
    grant = manager.grants.messages[heard].data
    assert grant[0] == 2
    assert grant[2] > 0, "not one that has been taken over"


def test_what_was_not_deactivated_here_is_not_activated(ros: Ros) -> None:
    manager = Manager(ros)
    ros.until(lambda: manager.drive(1) or manager.grants.messages, "a lease")
    manager.beat.publish(UInt64MultiArray(data=[1, 0, 0]))
    ros.until(manager.watchdog.may_end, "the end")
    heard = len(manager.grants.messages)
    ros.until(
        lambda: manager.drive(2) or len(manager.grants.messages) > heard, "another generation"
    )
    assert not manager.requests
