# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What ``topic`` does: the topics there are, their messages and their rates."""

from __future__ import annotations

import array
import importlib
import statistics
import sys
import time
from argparse import Namespace
from typing import Any

import numpy as np
import yaml
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from uk_dynamics.escaping import one_line
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.ros.introspection.session import DISCOVERY, Session, session

_WINDOW = 10000  # messages, as ros2 topic hz
_DEPTH = 100  # messages of a burst that wait
_MOST = 128  # numbers of an array, unless all are asked for


def list_topics(arguments: Namespace) -> int:
    """Print the names, and types, of all topics."""
    with session() as looking:
        looking.settle(looking.node.get_topic_names_and_types)
        for name, kinds in sorted(looking.node.get_topic_names_and_types()):
            print(f"{name} [{', '.join(kinds)}]" if arguments.show_types else name)
    return 0


def echo(arguments: Namespace) -> int:
    """Print messages as YAML until interrupted, or as many as asked for."""
    with session() as looking:
        left = 1 if arguments.once else None
        most = None if arguments.full_length else _MOST

        def show(message: Any) -> None:
            nonlocal left
            if left != 0:
                print(as_yaml(message, most), end="---\n", flush=True)
                left = None if left is None else left - 1

        _subscribe(looking, arguments.topic, show)
        looking.wait(lambda: left == 0)
    return 0


def rate(arguments: Namespace) -> int:
    """Print the rate of a topic once a second until interrupted, or as often as asked for."""
    with session() as looking:
        times: list[float] = []

        def note(_: Any) -> None:
            times.append(time.monotonic())
            del times[: -(arguments.window or _WINDOW)]

        _subscribe(looking, arguments.topic, note)
        left = 1 if arguments.once else None
        while left != 0:
            seen = times[-1:]
            looking.wait(lambda: False, 1.0)
            if len(times) < 2 or times[-1:] == seen:
                print("no new messages", flush=True)
                continue
            steps = np.diff(times).tolist()
            print(
                f"average rate: {1.0 / statistics.fmean(steps):.3f}\n"
                f"\tmin: {min(steps):.3f}s max: {max(steps):.3f}s "
                f"std dev: {statistics.pstdev(steps):.5f}s window: {len(times)}",
                flush=True,
            )
            left = None if left is None else left - 1
    return 0


def as_yaml(message: Any, most: int | None = None) -> str:
    """A message as ``ros2 topic echo`` prints it; arrays are cut after ``most`` entries."""
    text: str = yaml.safe_dump(
        _plain(message, most), sort_keys=False, allow_unicode=True, width=sys.maxsize
    )
    return text


def _plain(value: Any, most: int | None) -> Any:
    if hasattr(value, "get_fields_and_field_types"):
        return {name: _plain(getattr(value, name), most) for name in value._fields_and_field_types}
    if isinstance(value, np.ndarray | array.array | list | tuple):
        entries = [_plain(one, most) for one in list(value)[:most]]
        return entries + ["..."] * (len(value) > len(entries))
    return value.item() if isinstance(value, np.generic) else value


def _subscribe(looking: Session, topic: str, receive: Any) -> None:
    """Subscribe with what its publishers offer; refuse what does not exist."""
    node = looking.node
    name = node.resolve_topic_name(topic)
    if not looking.wait(lambda: bool(node.get_publishers_info_by_topic(name)), DISCOVERY):
        known = dict(node.get_topic_names_and_types())
        if name in known:
            sys.stderr.write(f"{name} has no publisher yet: waiting\n")
        else:
            raise UnknownNameError("topic", one_line(name), tuple(sorted(known)))
    looking.settle(lambda: len(node.get_publishers_info_by_topic(name)))
    kinds = dict(node.get_topic_names_and_types()).get(name, [])
    if not kinds:
        raise InputError("its publisher has just ended", place=name)
    if len(kinds) > 1:
        raise InputError(f"has {len(kinds)} types: {', '.join(kinds)}", place=name)
    offered = [info.qos_profile for info in node.get_publishers_info_by_topic(name)]
    reliable = all(one.reliability == ReliabilityPolicy.RELIABLE for one in offered)
    kept = offered and all(one.durability == DurabilityPolicy.TRANSIENT_LOCAL for one in offered)
    qos = QoSProfile(
        depth=_DEPTH,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if kept else DurabilityPolicy.VOLATILE,
    )
    node.create_subscription(_message_type(kinds[0]), name, receive, qos)


def _message_type(name: str) -> Any:
    package, _, kind = name.replace("/msg/", "/").partition("/")
    try:
        return getattr(importlib.import_module(f"{package}.msg"), kind)
    except (ImportError, AttributeError):
        raise InputError(f"type {name} is not installed here; install {package}") from None
