"""Arguments that commands share."""

from uk_dynamics.cli.options.arguments import Commands, add_start_on_tasks, count, positive

__all__ = ["Commands", "add_start_on_tasks", "count", "positive"]
