# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""States that come faster than they are answered, beside a timer, in the executor of the nodes."""

from __future__ import annotations

import time

import pytest

pytest.importorskip("rclpy")

import rclpy
from sensor_msgs.msg import JointState
from support.mechanism_builder import shipped
from support.waiting import wait_until

from uk_dynamics.ros.diagnostics.publisher import MessageProblems
from uk_dynamics.ros.process.run_node import make_executor
from uk_dynamics.ros.timing.clock import nanoseconds, steady_clock, write_stamp
from uk_dynamics.ros.topics.inputs import StateInput

pytestmark = pytest.mark.ros

ANSWER = 0.01  # s that an answer takes
ANSWERS = 60


def test_timers_have_their_turns_and_the_last_state_is_the_one_that_is_answered() -> None:
    """Each answer is followed by three new states, as many as the queue can never get rid of."""
    mechanism = shipped("five_bar")
    rclpy.init()
    node = rclpy.create_node("listener")
    try:
        executor = make_executor()
        executor.add_node(node)
        publisher = node.create_publisher(JointState, "joint_states", 10)
        message = JointState(name=list(mechanism.joint_names))
        message.position = mechanism.start().q.tolist()
        message.velocity = [0.0] * len(message.name)
        sent, ticks = 0, 0
        ages: list[int] = []

        def send() -> None:
            nonlocal sent
            sent += 1
            write_stamp(message.header.stamp, sent)
            publisher.publish(message)

        def answer(stamp: object) -> None:
            ages.append(sent - nanoseconds(stamp))
            for _ in range(3):
                send()
            time.sleep(ANSWER)  # the work that an answer is

        def tick() -> None:
            nonlocal ticks
            ticks += 1

        StateInput(node, mechanism, MessageProblems(node), answer)
        wait_until(
            publisher.get_subscription_count,
            "discovery",
            meanwhile=lambda: executor.spin_once(0.01),
        )
        node.create_timer(ANSWER, tick, clock=steady_clock())

        def go_on() -> None:
            if not ages:
                send()
            executor.spin_once(0.01)

        wait_until(lambda: len(ages) >= ANSWERS, "answers", meanwhile=go_on)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
    # the timer is due once in each answer; without turns of its own it had 1 of 60
    assert ticks > 0.5 * ANSWERS
    assert sum(ages[1:]) / len(ages) < 1.0, "in the middle not one state behind"
