# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""command_watchdog deactivates the controller of the motors, where controller_manager_msgs is."""

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


def test_the_controller_is_deactivated_once_and_zeros_go_on(ros: Ros) -> None:
    manager = ros.node("controller_manager")
    requests: list[Any] = []
    zeros: list[int] = []

    def switch(request: Any, response: Any) -> Any:
        requests.append(request)
        zeros.append(len(commands.messages))
        response.ok = True
        return response

    manager.create_service(SwitchController, "~/switch_controller", switch)
    parameters = {"mechanism": "five_bar", "timeout": 0.1, "controller": "effort_controller"}
    watchdog = ros.add(CommandWatchdog(**overrides(**parameters)))
    beat = manager.create_publisher(UInt64MultiArray, "servo_controller/heartbeat", 10)
    commands = Ear(manager, Float64MultiArray, "effort_controller/commands")
    ros.until(beat.get_subscription_count, "the watchdog")
    ros.until(watchdog._switch.service_is_ready, "the manager")
    beat.publish(UInt64MultiArray(data=[1, 0, 1]))
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
