# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Arguments that commands share."""

from uk_dynamics.cli.options.arguments import (
    RECORDING,
    VIEW_PORT,
    Commands,
    add_command,
    add_json,
    add_options,
    add_start_on_tasks,
    check_writable,
    count,
    need_ros,
)
