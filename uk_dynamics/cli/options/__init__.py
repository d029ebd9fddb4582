# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Arguments of commands: how their texts declare them, and what commands share."""

from uk_dynamics.cli.options.command_text import Commands, add_command, text_beside
from uk_dynamics.cli.options.requirements import check_writable, need_ros
