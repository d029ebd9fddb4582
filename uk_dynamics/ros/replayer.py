"""Publishes recorded messages in the rhythm in which they came."""

from __future__ import annotations

import importlib
import time
from pathlib import Path

import rclpy
from rclpy.node import Node
from rclpy.publisher import Publisher

from uk_dynamics.exceptions import InputError
from uk_dynamics.simulation.mcap_log import McapReader, Message

_COMMANDS = ("/commands", "/joint_commands", "/joint_trajectory")  # what moves a machine
_LONGEST_SLEEP = 0.1  # s; the end is noticed between two


def replay(path: Path, *, speed: float = 1.0, loop: bool = False, commands: bool = False) -> int:
    """Publish a recording.

    Args:
        path: Recording, ``.mcap``.
        speed: Recorded time per real time.
        loop: Whether it starts again at the end.
        commands: Whether commands of motors are published as well.

    Returns:
        Exit code.

    Raises:
        InputError: There is no such recording, it is empty, or a type is not installed.
    """
    reader = McapReader(path)
    messages = [
        message
        for message in reader.messages(decode=False)
        if commands or not message.topic.endswith(_COMMANDS)
    ]
    if not messages:
        raise InputError("there is nothing to publish in this recording", file=str(path))
    rclpy.init(args=[])
    try:
        node = rclpy.create_node("replay", start_parameter_services=False)
        publishers = _publishers(node, messages)
        _publish(publishers, messages, speed)
        while loop and rclpy.ok():
            _publish(publishers, messages, speed)
    finally:
        rclpy.try_shutdown()
    return 0


def _publishers(node: Node, messages: list[Message]) -> dict[str, Publisher]:
    publishers = {}
    for topic, type_ in {message.topic: message.type for message in messages}.items():
        package, _, name = type_.replace("/msg/", "/").partition("/")
        try:
            kind = getattr(importlib.import_module(f"{package}.msg"), name)
        except (ImportError, AttributeError):
            raise InputError(f"{topic}: type {type_} is not installed here") from None
        publishers[topic] = node.create_publisher(kind, topic, 10)
    return publishers


def _publish(publishers: dict[str, Publisher], messages: list[Message], speed: float) -> None:
    began, first = time.monotonic(), messages[0].time
    for message in messages:
        due = began + (message.time - first) * 1e-9 / speed
        while (rest := due - time.monotonic()) > 0.0 and rclpy.ok():
            time.sleep(min(rest, _LONGEST_SLEEP))
        if not rclpy.ok():
            return
        publishers[message.topic].publish(message.data)
