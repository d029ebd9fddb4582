# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics topic`` and ``uk_dynamics lifecycle`` as commands."""

import argparse
from pathlib import Path
from typing import Any

from uk_dynamics.cli.options import Commands, add_command, need_ros, text_beside


def register_topic(commands: Commands) -> None:
    """Add ``topic``."""
    verbs = _verbs(commands, "topic")
    verb = _verb(verbs, "list", "names of all topics", "list_topics")
    verb.add_argument("-t", "--show-types", action="store_true", help="with their types")
    verb = _verb(verbs, "echo", "print messages as YAML", "echo")
    verb.add_argument("topic", metavar="TOPIC", help="name of a topic")
    verb.add_argument("--once", action="store_true", help="print one message")
    verb.add_argument("-f", "--full-length", action="store_true", help="all entries of long arrays")
    verb = _verb(verbs, "hz", "print its rate once a second", "rate")
    verb.add_argument("topic", metavar="TOPIC", help="name of a topic")
    verb.add_argument(
        "-w", "--window", metavar="N", type=_at_least_two, help="messages to average (10000)"
    )
    verb.add_argument("--once", action="store_true", help="print it once")


def register_lifecycle(commands: Commands) -> None:
    """Add ``lifecycle``."""
    verbs = _verbs(commands, "lifecycle")
    _verb(verbs, "nodes", "nodes with a lifecycle", "list_nodes")
    node = {"metavar": "NODE", "help": "name of a node"}
    verb = _verb(verbs, "list", "transitions that a node can make now", "list_transitions")
    verb.add_argument("node", **node)
    verb = _verb(verbs, "get", "state of a node, or of all", "get_state")
    verb.add_argument("node", nargs="?", **node)
    verb = _verb(verbs, "set", "ask for a transition", "set_state")
    verb.add_argument("node", **node)
    verb.add_argument(
        "transition",
        metavar="TRANSITION",
        help="such as configure, activate, deactivate, cleanup, shutdown",
    )


def _verbs(commands: Commands, name: str) -> Any:
    text = text_beside(Path(__file__).with_name(name))
    parser = add_command(commands, name, text, run=lambda arguments: 0)
    return parser.add_subparsers(dest="verb", required=True, metavar="VERB")


def _verb(verbs: Any, name: str, text: str, function: str) -> argparse.ArgumentParser:
    """A verb that calls a function of ``running_nodes``, which is loaded only then."""

    def run(arguments: argparse.Namespace) -> int:
        need_ros("this")
        from uk_dynamics.ros.introspection import running_nodes

        return getattr(running_nodes, function)(arguments)

    parser: argparse.ArgumentParser = verbs.add_parser(name, help=text, description=f"{text}.")
    parser.set_defaults(run=run, parser=parser)
    return parser


def _at_least_two(text: str) -> int:
    if not text.isdigit() or int(text) < 2:
        raise argparse.ArgumentTypeError(f'expected a whole number from 2 on, found "{text}"')
    return int(text)
