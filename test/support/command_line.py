# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The arguments of commands."""

from __future__ import annotations

import argparse

from uk_dynamics.cli.main import build_parser


def option(command: str, name: str) -> argparse.Action:
    """An option of a command that comes with the package."""
    actions = build_parser([command])._actions
    (commands,) = (a.choices for a in actions if isinstance(a, argparse._SubParsersAction))
    found: argparse.Action = commands[command]._option_string_actions[name]
    return found


def choices(command: str, name: str) -> list[str]:
    """The values that an option may have."""
    return list(option(command, name).choices or ())
