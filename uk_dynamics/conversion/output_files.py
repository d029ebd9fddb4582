"""Writing files that a user may have edited: never over one that is there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from uk_dynamics.exceptions import InputError
from uk_dynamics.whole_file import whole_file


def write_files(texts: Mapping[Path, str], *, force: bool) -> None:
    """Write texts; missing directories are made.

    Args:
        texts: By path.
        force: Whether existing files may be replaced.

    Raises:
        InputError: A file exists, before anything is written, or cannot be written.
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
        with whole_file(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be written ({reason})", file=str(path)) from None
