# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Reference page of the command line, from its parsers."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator

from docs.generators.markdown import code, heading, plain, table
from uk_dynamics.cli.main import build_parser, find_studies

# Commands of the studies, and those that need running nodes.
ADDED = (
    "uk_dynamics_studies.commands.benchmark:register",
    "uk_dynamics_studies.commands.reproduce:register",
    "uk_dynamics.ros.demo.demo:register",
    "uk_dynamics.ros.introspection.commands:register_lifecycle",
    "uk_dynamics.ros.demo.replay:register",
    "uk_dynamics.ros.introspection.commands:register_topic",
)


def page() -> str:
    """All commands, with what each of them takes.

    Raises:
        ImportError: ROS 2 is not installed.
    """
    find_studies()
    parser = build_parser(["describe"])  # the built-in ones
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    for name in ADDED:
        module, _, register = name.partition(":")
        getattr(importlib.import_module(module), register)(commands)
    helps = {choice.dest: choice.help or "" for choice in commands._choices_actions}
    parts = [
        heading(1, "Commands"),
        _prose(parser.description or ""),
        table(
            ("command", "what for"),
            ((f"[{code(name)}](#{name})", helps[name]) for name in commands.choices),
        ),
    ]
    for name, command in commands.choices.items():
        parts += [heading(2, name), *_command(command)]
        for verb, parser in _verbs(command).items():
            parts += [heading(3, f"{name} {verb}"), *_command(parser)]
    return "\n\n".join(parts) + "\n"


def _verbs(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    found = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    return dict(found[0].choices) if found else {}


def _command(parser: argparse.ArgumentParser) -> Iterator[str]:
    yield _prose(parser.description or "")
    if arguments := list(_arguments(parser)):
        yield table(("argument", "what it is"), arguments)
    examples, _, rest = (parser.epilog or "").partition("examples:\n")
    if examples.strip():
        yield _prose(examples)
    if rest:
        block, _, notes = rest.partition("\n\n")
        lines = "\n".join(line.removeprefix("  ") for line in block.rstrip().splitlines())
        yield f"```text\n{lines}\n```"
        if notes.strip():
            yield _prose(notes)


def _arguments(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for action in parser._actions:
        if isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
            continue
        if action.help == argparse.SUPPRESS:
            continue
        yield code(_written(action)), _help(action, parser)


def _written(action: argparse.Action) -> str:
    """An argument as it is typed."""
    value = action.metavar or ("{" + ",".join(action.choices) + "}" if action.choices else "")
    value = " ".join(value) if isinstance(value, tuple) else value
    if not action.option_strings:
        return f"[{value or action.dest}]" if action.nargs in ("?", "*") else value or action.dest
    option = ", ".join(action.option_strings)
    return f"{option} {value}" if action.nargs != 0 and value else option


def _help(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    values = vars(action) | {"prog": parser.prog}
    return plain((action.help or "") % values)


def _prose(text: str) -> str:
    return plain(text.strip())
