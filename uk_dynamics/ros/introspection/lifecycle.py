# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What ``lifecycle`` does: nodes with a lifecycle, their states and transitions."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState

from uk_dynamics.escaping import one_line
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.ros.introspection.session import DISCOVERY, Session, session

_ANSWER = 30.0  # s; a node may compile while it is configured
# s, after which a question is asked again: nodes drop answers to those they have not found yet.
_AGAIN = 2.0
_SERVICE = "/get_state"
_TYPE = "lifecycle_msgs/srv/GetState"


def list_nodes(_: Namespace) -> int:
    """Print the nodes that have a lifecycle."""
    with session() as looking:
        looking.settle(lambda: _nodes(looking))
        for name in _nodes(looking):
            print(name)
    return 0


def list_transitions(arguments: Namespace) -> int:
    """Print the transitions that a node can make now."""
    with session() as looking:
        for one in _transitions(looking, _found(looking, arguments.node)):
            print(f"- {one.transition.label} [{one.transition.id}]")
            print(f"\tStart: {one.start_state.label}\n\tGoal: {one.goal_state.label}")
    return 0


def get_state(arguments: Namespace) -> int:
    """Print the state of a node, or of all."""
    with session() as looking:
        if arguments.node is not None:
            print(_state(looking, _found(looking, arguments.node)))
            return 0
        looking.settle(lambda: _nodes(looking))
        for name in _nodes(looking):
            print(f"{name}: {_state(looking, name)}")
    return 0


def set_state(arguments: Namespace) -> int:
    """Ask a node for a transition; 1 if it did not make it."""
    with session() as looking:
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
    services = looking.node.get_service_names_and_types()
    return sorted(
        name.removesuffix(_SERVICE)
        for name, kinds in services
        if name.endswith(_SERVICE) and _TYPE in kinds
    )


def _found(looking: Session, node: str) -> str:
    name = node if node.startswith("/") else f"/{node}"
    if not looking.wait(lambda: name in _nodes(looking), DISCOVERY):
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
        if looking.wait(client.service_is_ready, DISCOVERY):
            answer = client.call_async(request)
            if kind is not ChangeState and not looking.wait(answer.done, _AGAIN):
                answer = client.call_async(request)
            if looking.wait(answer.done, _ANSWER):
                return answer.result()
        raise InputError("does not answer; is it still there?", place=service)
    finally:
        looking.node.destroy_client(client)
