# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What must be there before a command begins."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from uk_dynamics.exceptions import InputError


def need_ros(what: str) -> None:
    """Refuse a command where ROS 2 is not installed."""
    if importlib.util.find_spec("rclpy") is None:
        raise InputError(
            f'{what} needs ROS 2: install it in this environment (pip install ".[ros]" in the'
            " sources) or source the setup file of a ROS installation"
        )


def check_writable(path: str | None, suffixes: Sequence[str]) -> None:
    """Refuse an output file before a long computation instead of after it."""
    if path is None:
        return
    if Path(path).suffix.lower() not in suffixes:
        raise InputError(f"the name of this file must end with {' or '.join(suffixes)}", file=path)
    if Path(path).is_dir():
        raise InputError("is a directory; give the name of a file", file=path)
    if not Path(path).absolute().parent.is_dir():
        raise InputError("its directory does not exist; create it first", file=path)
