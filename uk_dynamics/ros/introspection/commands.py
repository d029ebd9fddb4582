# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics topic`` and ``uk_dynamics lifecycle`` as commands."""

from __future__ import annotations

import argparse
import importlib.util
from typing import TYPE_CHECKING, Any

from uk_dynamics.exceptions import InputError

if TYPE_CHECKING:
    from uk_dynamics.cli.options import Commands

_TOPIC = """\
Look at the topics of running nodes, where ros2cli is not installed: names and output are those of
ros2 topic. A subscription takes the reliability and durability that the publishers offer. Nodes are
found on the domain of ROS_DOMAIN_ID, 0 unless it is set.
"""
_TOPIC_EXAMPLES = """\
examples:
  uk_dynamics topic list -t
  uk_dynamics topic echo /joint_states --once
  uk_dynamics topic hz /effort_controller/commands
"""
_LIFECYCLE = """\
Look at nodes with a lifecycle and change their states, where ros2cli is not installed: names and
output are those of ros2 lifecycle.
"""
_LIFECYCLE_EXAMPLES = """\
examples:
  uk_dynamics lifecycle get /servo_controller
  uk_dynamics lifecycle set /servo_controller deactivate
"""


def register_topic(commands: Commands) -> None:
    """Add ``topic``."""
    verbs = _verbs(commands, "topic", "topics of running nodes", _TOPIC, _TOPIC_EXAMPLES)
    verb = _verb(verbs, "list", "names of all topics", _list_topics)
    verb.add_argument("-t", "--show-types", action="store_true", help="with their types")
    verb = _verb(verbs, "echo", "print messages as YAML", _echo)
    verb.add_argument("topic", metavar="TOPIC", help="name of a topic")
    verb.add_argument("--once", action="store_true", help="print one message")
    verb.add_argument("-f", "--full-length", action="store_true", help="all entries of long arrays")
    verb = _verb(verbs, "hz", "print its rate once a second", _rate)
    verb.add_argument("topic", metavar="TOPIC", help="name of a topic")
    verb.add_argument(
        "-w", "--window", metavar="N", type=_at_least_two, help="messages to average (10000)"
    )
    verb.add_argument("--once", action="store_true", help="print it once")


def register_lifecycle(commands: Commands) -> None:
    """Add ``lifecycle``."""
    summary = "states of nodes with a lifecycle"
    verbs = _verbs(commands, "lifecycle", summary, _LIFECYCLE, _LIFECYCLE_EXAMPLES)
    _verb(verbs, "nodes", "nodes with a lifecycle", _list_nodes)
    verb = _verb(verbs, "list", "transitions that a node can make now", _transitions)
    verb.add_argument("node", metavar="NODE", help="name of a node")
    verb = _verb(verbs, "get", "state of a node, or of all", _get_state)
    verb.add_argument("node", metavar="NODE", nargs="?", help="name of a node")
    verb = _verb(verbs, "set", "ask for a transition", _set_state)
    verb.add_argument("node", metavar="NODE", help="name of a node")
    verb.add_argument(
        "transition",
        metavar="TRANSITION",
        help="such as configure, activate, deactivate, cleanup, shutdown",
    )


def _list_topics(arguments: argparse.Namespace) -> int:
    from uk_dynamics.ros.introspection.topics import list_topics

    return list_topics(types=arguments.show_types)


def _echo(arguments: argparse.Namespace) -> int:
    from uk_dynamics.ros.introspection.topics import echo

    count = 1 if arguments.once else None
    return echo(arguments.topic, count=count, full=arguments.full_length)


def _rate(arguments: argparse.Namespace) -> int:
    from uk_dynamics.ros.introspection.topics import rate

    return rate(arguments.topic, window=arguments.window, count=1 if arguments.once else None)


def _list_nodes(arguments: argparse.Namespace) -> int:
    from uk_dynamics.ros.introspection.lifecycle import list_nodes

    return list_nodes()


def _transitions(arguments: argparse.Namespace) -> int:
    from uk_dynamics.ros.introspection.lifecycle import transitions

    return transitions(arguments.node)


def _get_state(arguments: argparse.Namespace) -> int:
    from uk_dynamics.ros.introspection.lifecycle import get_state

    return get_state(arguments.node)


def _set_state(arguments: argparse.Namespace) -> int:
    from uk_dynamics.ros.introspection.lifecycle import set_state

    return set_state(arguments.node, arguments.transition)


def _verbs(commands: Commands, name: str, summary: str, text: str, examples: str) -> Any:
    parser = commands.add_parser(
        name,
        help=summary,
        description=text,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser.add_subparsers(dest="verb", required=True, metavar="VERB")


def _verb(verbs: Any, name: str, text: str, run: Any) -> argparse.ArgumentParser:
    def checked(arguments: argparse.Namespace) -> int:
        if importlib.util.find_spec("rclpy") is None:
            raise InputError(
                'this needs ROS 2: install it in this environment (pip install ".[ros]" in the'
                " sources) or source the setup file of a ROS installation"
            )
        code: int = run(arguments)
        return code

    parser: argparse.ArgumentParser = verbs.add_parser(name, help=text, description=f"{text}.")
    parser.set_defaults(run=checked, parser=parser)
    return parser


def _at_least_two(text: str) -> int:
    if not text.isdigit() or int(text) < 2:
        raise argparse.ArgumentTypeError(f'expected a whole number from 2 on, found "{text}"')
    return int(text)
