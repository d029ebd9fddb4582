# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Publishes recorded messages with their original timing."""

import time
from argparse import Namespace
from pathlib import Path
from tempfile import TemporaryDirectory

import rclpy
from rclpy.publisher import Publisher
from rosgraph_msgs.msg import Clock

from uk_dynamics.exceptions import InputError
from uk_dynamics.ros.timing.clock import write_stamp
from uk_dynamics.ros.topics.messages import message_type
from uk_dynamics.simulation import Trajectory
from uk_dynamics.simulation.recording import BagReader, Message, is_bag

_COMMANDS = ("/commands", "/joint_commands", "/joint_trajectory")  # ends of motor command topics
_CLOCK = "/clock"
_LONGEST_SLEEP = 0.1  # s; an interruption is noticed between two
_LOOK = 0.02  # s between two checks for subscribers
_OTHERS = 0.3  # s; other subscribers are discovered soon after the first


def replay(arguments: Namespace) -> int:
    """Publish the recording that the command ``replay`` names, and return the exit code.

    Without waiting for a subscriber the first messages would be lost during discovery. What is not
    an MCAP is published as the nodes would have.
    """
    messages = _messages(Path(arguments.file), commands=arguments.commands)
    if not messages:
        raise InputError("this recording has nothing to publish", file=arguments.file)
    rclpy.init(args=[])
    try:
        node = rclpy.create_node("replay", start_parameter_services=False)
        kinds = {message.topic: message.type for message in messages}
        publishers = {
            topic: node.create_publisher(message_type(kind, topic), topic, 10)
            for topic, kind in kinds.items()
        }
        ticker = None
        if arguments.clock and _CLOCK not in publishers:
            ticker = node.create_publisher(Clock, _CLOCK, 10)
        _await_subscriber(publishers, arguments.wait)
        _publish(publishers, messages, arguments.speed, ticker)
        while arguments.loop and rclpy.ok():
            _publish(publishers, messages, arguments.speed, ticker)
    finally:
        rclpy.try_shutdown()
    return 0


def _messages(path: Path, *, commands: bool) -> list[Message]:
    if not is_bag(path):
        with TemporaryDirectory() as directory:
            written = Path(directory) / "recording.mcap"
            Trajectory.load(path).save(written)
            return _messages(written, commands=commands)
    return [
        message
        for message in BagReader(path).messages(decode=False)
        if commands or not message.topic.endswith(_COMMANDS)
    ]


def _await_subscriber(publishers: dict[str, Publisher], longest: float) -> None:
    """Wait for the first subscriber, and then a moment for others."""
    end = time.monotonic() + longest
    while time.monotonic() < end and rclpy.ok():
        if any(publisher.get_subscription_count() for publisher in publishers.values()):
            time.sleep(min(_OTHERS, max(0.0, end - time.monotonic())))
            return
        time.sleep(_LOOK)


def _publish(
    publishers: dict[str, Publisher],
    messages: list[Message],
    speed: float,
    ticker: Publisher | None,
) -> None:
    began, first = time.monotonic(), messages[0].time
    now = Clock()
    published = -1
    for message in messages:
        due = began + (message.time - first) * 1e-9 / speed
        while (rest := due - time.monotonic()) > 0.0 and rclpy.ok():
            time.sleep(min(rest, _LONGEST_SLEEP))
        if not rclpy.ok():
            return
        if ticker is not None and message.time != published:
            published = message.time
            write_stamp(now.clock, published)
            ticker.publish(now)
        publishers[message.topic].publish(message.data)
