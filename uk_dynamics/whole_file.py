# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Files that are whole or not there, whatever ends the program that writes them or reads them."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from uk_dynamics.exceptions import InputError


def require_regular(path: Path) -> None:
    """Refuse a device or a pipe, which may have no end, with an InputError."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError("is not a regular file", file=str(path))


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a new, empty file beside a path, with its suffix; at the end it takes its place.

    An error or an interrupt leaves nothing behind, and what was there before as it was. Devices and
    pipes are written to directly.

    Raises:
        OSError: The file cannot be written.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        yield target
        return
    name = f".{target.stem}.{os.getpid()}-{secrets.token_hex(4)}{target.suffix}"
    temporary = target.with_name(name)
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        if target.exists():
            with target.open("ab"):  # a file that must not be written is not replaced either
                pass
            shutil.copymode(target, temporary)
        yield temporary
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def output_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """As :func:`whole_file`, for a file that a user asked for: an InputError tells why not."""
    try:
        with whole_file(path) as unfinished:
            yield unfinished
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be written: {reason}", file=os.fspath(path)) from None
