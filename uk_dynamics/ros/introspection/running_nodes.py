# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A look at running nodes: their topics, messages and rates, and their lifecycles."""

import array
import signal
import statistics
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
import yaml
from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions

from uk_dynamics.escaping import one_line
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.ros.topics.messages import message_type

_DISCOVERY = 5.0  # s until nodes that run have been found, also on a busy computer
_QUIET = 1.0  # s without anything new: what runs has been found
_LOOK = 0.05  # s between two looks
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Session:
    """A node that looks at others, in a ``with`` statement.

    Ctrl-C, or the end of a pipe that is read no more, ends the statement.
    """

    def __enter__(self) -> "Session":
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        self.node = rclpy.create_node(
            "uk_dynamics_look", start_parameter_services=False, enable_rosout=False
        )
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._interrupted = False
        self._handlers = {number: signal.signal(number, self._interrupt) for number in _SIGNALS}
        return self

    def __exit__(self, kind: type[BaseException] | None, *reason: object) -> bool:
        self._executor.shutdown()
        self.node.destroy_node()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        rclpy.try_shutdown()
        return kind is not None and issubclass(kind, KeyboardInterrupt | ExternalShutdownException)

    def _interrupt(self, *_: object) -> None:
        """End at the next look.

        An exception in the middle of a message's conversion would become another one there.
        """
        self._interrupted = True

    def wait(self, condition: Callable[[], bool], seconds: float | None = None) -> bool:
        """Spin until a condition holds, or for some time; whether it holds."""
        end = None if seconds is None else time.monotonic() + seconds
        while not condition():
            left = _LOOK if end is None else min(_LOOK, end - time.monotonic())
            if left <= 0.0:
                return False
            self._executor.spin_once(timeout_sec=left)
            if self._interrupted:
                raise KeyboardInterrupt
        return True

    def settle(self, what: Callable[[], object]) -> None:
        """Wait until what is found has not changed for a moment."""
        seen, since = what(), time.monotonic()

        def quiet() -> bool:
            nonlocal seen, since
            now = what()
            if now != seen:
                seen, since = now, time.monotonic()
            return time.monotonic() - since > _QUIET

        self.wait(quiet, _DISCOVERY)


_WINDOW = 10000  # messages, as ros2 topic hz
_DEPTH = 100  # messages of a burst that wait
_MOST = 128  # numbers of an array, unless all are asked for


def list_topics(arguments: Namespace) -> int:
    """Print the names, and types, of all topics."""
    with Session() as looking:
        looking.settle(looking.node.get_topic_names_and_types)
        for name, kinds in sorted(looking.node.get_topic_names_and_types()):
            print(f"{name} [{', '.join(kinds)}]" if arguments.show_types else name)
    return 0


def echo(arguments: Namespace) -> int:
    """Print messages as YAML until interrupted, or as many as asked for."""
    with Session() as looking:
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
    with Session() as looking:
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
    return yaml.safe_dump(
        _plain(message, most), sort_keys=False, allow_unicode=True, width=sys.maxsize
    )


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
    if not looking.wait(lambda: bool(node.get_publishers_info_by_topic(name)), _DISCOVERY):
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
    node.create_subscription(message_type(kinds[0], name), name, receive, qos)


_ANSWER = 30.0  # s; a node may compile while it is configured
# s, after which a question is asked again: nodes drop answers to those they have not found yet.
_AGAIN = 2.0
_SERVICE = "/get_state"
_TYPE = "lifecycle_msgs/srv/GetState"


def list_nodes(_: Namespace) -> int:
    """Print the nodes that have a lifecycle."""
    with Session() as looking:
        looking.settle(lambda: _nodes(looking))
        for name in _nodes(looking):
            print(name)
    return 0


def list_transitions(arguments: Namespace) -> int:
    """Print the transitions that a node can make now."""
    with Session() as looking:
        for one in _transitions(looking, _found(looking, arguments.node)):
            print(f"- {one.transition.label} [{one.transition.id}]")
            print(f"\tStart: {one.start_state.label}\n\tGoal: {one.goal_state.label}")
    return 0


def get_state(arguments: Namespace) -> int:
    """Print the state of a node, or of all."""
    with Session() as looking:
        if arguments.node is not None:
            print(_state(looking, _found(looking, arguments.node)))
            return 0
        looking.settle(lambda: _nodes(looking))
        for name in _nodes(looking):
            print(f"{name}: {_state(looking, name)}")
    return 0


def set_state(arguments: Namespace) -> int:
    """Ask a node for a transition; 1 if it did not make it."""
    with Session() as looking:
        name, wanted = _found(looking, arguments.node), arguments.transition
        ids = {one.transition.label: one.transition.id for one in _transitions(looking, name)}
        if wanted not in ids:
            raise UnknownNameError("transition", wanted, tuple(ids))
        request = ChangeState.Request()
        request.transition.id = ids[wanted]
        success = bool(_ask(looking, ChangeState, f"{name}/change_state", request).success)
        print("Transitioning successful" if success else "Transitioning failed")
        return 0 if success else 1
    return 1  # interrupted


def _nodes(looking: Session) -> list[str]:
    return sorted(
        name.removesuffix(_SERVICE)
        for name, kinds in looking.node.get_service_names_and_types()
        if name.endswith(_SERVICE) and _TYPE in kinds
    )


def _found(looking: Session, node: str) -> str:
    name = node if node.startswith("/") else f"/{node}"
    if not looking.wait(lambda: name in _nodes(looking), _DISCOVERY):
        raise UnknownNameError("node with a lifecycle", one_line(name), tuple(_nodes(looking)))
    return name


def _transitions(looking: Session, name: str) -> Any:
    """The transitions that a node offers."""
    service, kind = f"{name}/get_available_transitions", GetAvailableTransitions
    return _ask(looking, kind, service, kind.Request()).available_transitions


def _state(looking: Session, name: str) -> str:
    state = _ask(looking, GetState, f"{name}{_SERVICE}", GetState.Request()).current_state
    return f"{state.label} [{state.id}]"


def _ask(looking: Session, kind: Any, service: str, request: Any) -> Any:
    client = looking.node.create_client(kind, service)
    try:
        if looking.wait(client.service_is_ready, _DISCOVERY):
            answer = client.call_async(request)
            if kind is not ChangeState and not looking.wait(answer.done, _AGAIN):
                answer = client.call_async(request)
            if looking.wait(answer.done, _ANSWER):
                return answer.result()
        raise InputError("does not answer; is it still there?", place=service)
    finally:
        looking.node.destroy_client(client)
