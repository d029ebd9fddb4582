"""Arguments that commands share."""

from uk_dynamics.cli.options.arguments import (
    VIEW_PORT,
    Commands,
    add_start_on_tasks,
    count,
    positive,
)

__all__ = [
    "VIEW_PORT",
    "Commands",
    "add_start_on_tasks",
    "count",
    "positive",
]
