# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which compiled libraries stay in the cache: those used lately, within a size.

When an entry is made, those unused for long are removed, then the least recently used until the
rest is small enough, and the temporary files of processes that were killed. An entry used within
the last hour stays: a process may be about to load it. (One that is loaded may be removed: its
pages stay.) Several processes may do all this at once.
"""

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

UNUSED = 90 * 86400.0  # s: entries that have not been loaded for longer are removed
LARGEST = 200 * 2**20  # bytes of all entries; one of a large mechanism takes 0.2 MiB
_NOW = 3600.0  # s: used within that, an entry stays; nor is its use noted more often
_BUILD = 86400.0  # s: no compiler works for so long


class Removed(NamedTuple):
    """Removed entries."""

    libraries: int  # how many
    size: int  # bytes


class _Kept(NamedTuple):
    used: float
    size: int
    library: Path


def note_use(library: Path) -> None:
    """Take note that a library is used now; that of another user or a read-only cache stays."""
    mark = library.with_suffix(".sha256")
    with contextlib.suppress(OSError):
        if time.time() - mark.stat().st_mtime > _NOW:
            os.utime(mark)


def trim(folder: Path, *, largest: int = LARGEST) -> Removed:
    """Remove what has not been used for long or is too much."""
    now = time.time()
    _remove_unfinished(folder, now - _BUILD)
    count = size = total = 0
    for entry in sorted(_entries(folder), reverse=True):
        total += entry.size
        age = now - entry.used
        if age > _NOW and (age > UNUSED or total > largest) and _remove(entry.library):
            count, size, total = count + 1, size + entry.size, total - entry.size
    return Removed(count, size)


def clear(folder: Path) -> Removed:
    """Remove all entries but those that are being made at this moment."""
    gone = [entry for entry in _entries(folder) if _remove(entry.library)]
    _remove_unfinished(folder, time.time() - _BUILD)
    return Removed(len(gone), sum(entry.size for entry in gone))


@contextmanager
def locked(library: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of an entry; yields whether it is held."""
    path = library.with_suffix(".lock")
    if path.exists() and not path.is_file():
        raise OSError(f"{path.name} is no file")
    while True:
        with path.open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
                return
            if not _is(path, file.fileno()):
                continue  # the file was removed with its entry
            yield True
            return


def _is(path: Path, descriptor: int) -> bool:
    """Whether an open file is the one that is there now."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _entries(folder: Path) -> Iterator[_Kept]:
    for library in folder.glob("*.so"):
        with contextlib.suppress(OSError):  # gone meanwhile
            found = library.stat()
            used = found.st_mtime
            with contextlib.suppress(OSError):
                used = library.with_suffix(".sha256").stat().st_mtime
            yield _Kept(used, found.st_size, library)


def _remove(library: Path) -> bool:
    """Remove an entry unless it is being built; whether it was removed."""
    try:
        with locked(library, wait=False) as held:
            if not held:
                return False
            # the digest first: an entry without one is compiled again, never loaded
            for suffix in (".sha256", ".verified", ".motion.verified", ".so", ".lock"):
                library.with_suffix(suffix).unlink(missing_ok=True)
    except OSError:
        return False
    return True


def _remove_unfinished(folder: Path, before: float) -> None:
    """Remove what builders left that were killed, and locks without a library."""
    for path in folder.glob(".building-*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < before:
                shutil.rmtree(path, ignore_errors=True)
    for path in folder.glob("*.lock"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < before and not path.with_suffix(".so").exists():
                _remove(path.with_suffix(".so"))
