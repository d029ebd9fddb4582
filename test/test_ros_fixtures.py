"""The fixtures that tests with nodes rely on."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest
from node_process import NodeProcess
from ros_fixtures import DOMAINS, Ros, StartProcess, reserved_domain

pytestmark = pytest.mark.ros

STUBBORN = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("up", flush=True)
time.sleep(60)
"""

LISTENER = """
from rclpy.node import Node
from std_msgs.msg import String

from uk_dynamics.ros.run_node import run_node


class Echo(Node):
    def __init__(self):
        super().__init__("echo")
        publisher = self.create_publisher(String, "answer", 1)
        self.create_subscription(String, "question", publisher.publish, 1)
        print("ready", flush=True)


code = run_node(Echo)
print("done", flush=True)
raise SystemExit(code)
"""


def test_process_has_a_domain_that_no_other_test_process_takes(ros_domain: int) -> None:
    assert ros_domain in DOMAINS
    with reserved_domain() as other:
        assert other in set(DOMAINS) - {ros_domain}
        with reserved_domain() as third:
            assert third in set(DOMAINS) - {ros_domain, other}


@pytest.mark.parametrize("repetition", [1, 2])
def test_every_test_has_its_own_context(ros: Ros, repetition: int) -> None:
    node = ros.node()
    ros.until(lambda: node.get_node_names(), "the node's own name")
    assert node.get_node_names() == ["tester"], "nodes of the other repetition are gone"


def test_message_to_a_process_and_back(ros: Ros, start_process: StartProcess) -> None:
    from std_msgs.msg import String

    process = start_process([sys.executable, "-c", LISTENER])
    process.wait_for_output("ready")
    node = ros.node()
    answers: list[str] = []
    node.create_subscription(String, "answer", lambda message: answers.append(message.data), 1)
    question = node.create_publisher(String, "question", 1)
    ros.until(lambda: question.get_subscription_count() and node.count_publishers("answer"), "echo")
    # the way back may be known here before it is known there
    ros.until(lambda: question.publish(String(data="hello")) or answers, "an answer")
    assert answers[0] == "hello"
    assert process.stop() == 0
    assert "done" in process.output


def test_process_that_ignores_the_signal_is_killed_and_reported(tmp_path: Path) -> None:
    process = NodeProcess([sys.executable, "-c", STUBBORN], tmp_path / "log")
    process.wait_for_output("up")
    with pytest.raises(AssertionError, match="still runs"):
        process.stop(timeout=0.2)
    assert not process.end(timeout=0.2)
    assert process.exit_code == -signal.SIGKILL


def test_waiting_for_the_output_of_a_process_that_fails(start_process: StartProcess) -> None:
    process = start_process([sys.executable, "-c", "raise SystemExit('broken')"])
    with pytest.raises(AssertionError, match="broken"):
        process.wait_for_output("ready")
    assert process.wait() == 1
