"""Writing files that a user may have edited: never over one that is there, and whole or not."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from uk_dynamics.exceptions import InputError


def write_files(texts: Mapping[Path, str], *, force: bool) -> None:
    """Write texts; missing directories are made.

    Args:
        texts: By path.
        force: Whether existing files may be replaced.

    Raises:
        InputError: A file exists, or cannot be written; then nothing has been written over.
    """
    if not force:
        for path in texts:
            if path.exists():
                raise InputError("exists already; --force replaces it", file=str(path))
    for path, text in texts.items():
        _write(path, text)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, text)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be written ({reason})", file=str(path)) from None


def _replace(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
