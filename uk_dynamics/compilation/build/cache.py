# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Compiled mechanisms in the user's cache directory, found again by what they were made from.

An entry is a library and the digest of its bytes; one that does not match is compiled again,
never loaded. Processes that want the same entry at once wait for the first of them.

Entries used lately stay, within a size. When one is made, those unused for long are removed, then
the least recently used until the rest is small enough, and the temporary files of processes that
were killed. An entry used within the last hour stays: a process may be about to load it. (One that
is loaded may be removed: its pages stay.) Several processes may do all this at once.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from uk_dynamics.compilation.build.compiler import CompilationError, Compiler
from uk_dynamics.mechanism.resolution import ResolvedMechanism

OTHER_CACHE = "set XDG_CACHE_HOME to a directory of your own, from which programs may run"
UNUSED = 90 * 86400.0  # s: entries that have not been loaded for longer are removed
LARGEST = 200 * 2**20  # bytes of all entries; one of a large mechanism takes 0.2 MiB
_NOW = 3600.0  # s: used within that, an entry stays; nor is its use noted more often
_BUILD = 86400.0  # s: no compiler works for so long
_LAYERS = ("core", "model", "constraints", "forces", "mechanism", "compilation")


def directory() -> Path:
    """Where entries are, usually ``~/.cache/uk_dynamics/compiled``; no home: CompilationError."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        home = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    except RuntimeError:
        raise CompilationError(f"there is no home directory; {OTHER_CACHE}") from None
    return home / "uk_dynamics" / "compiled"


def key_of(mechanism: ResolvedMechanism, compiler: Compiler, part: str = "") -> str:
    """Name of the entry: digest of robot, mechanism file, this package and the compiler."""
    digest = hashlib.sha256()
    for text in (
        *_made_from(mechanism, part),
        _code_digest(),
        compiler.version,
        " ".join(compiler.command),
        part,
    ):
        digest.update(text.encode())
        digest.update(b"\0")
    return digest.hexdigest()


def library_for(
    mechanism: ResolvedMechanism, compiler: Compiler, source: Callable[[], str], part: str = ""
) -> Path:
    """The library of a mechanism, compiled when there is none."""
    entry = find(mechanism, compiler, part)
    if entry.intact:
        note_use(entry.library)
        return entry.library
    folder = entry.library.parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with locked(entry.library):
        if not entry.intact:
            _make(entry.library, entry.key, compiler, source())
    trim(folder)
    return entry.library


def forget(library: Path) -> None:
    """Have an entry compiled again."""
    library.with_suffix(".sha256").unlink(missing_ok=True)


def find(mechanism: ResolvedMechanism, compiler: Compiler, part: str = "") -> "Entry":
    """Where the library of a mechanism is, or would be."""
    key = key_of(mechanism, compiler, part)
    name = mechanism.name if mechanism.local is None or part else "clusters"
    return Entry(directory() / f"{name}{part}-{key[:24]}.so", key)


def _made_from(mechanism: ResolvedMechanism, part: str) -> tuple[str, ...]:
    """What a library depends on: the mechanism, or the types of its rows where tables hold it."""
    if mechanism.local is None or part:
        varied = mechanism.varied
        if varied is None:
            return mechanism.model.description.text, repr(mechanism.spec)
        return varied.base.description.text, repr(varied.base.spec), repr(varied.names)
    layout = mechanism.local.constraints.layout
    return tuple(sorted({repr(type(family)) for family, _ in layout.families}))


class Entry(NamedTuple):
    """A place in the cache."""

    library: Path  # the file
    key: str  # digest of what it is made from

    @property
    def intact(self) -> bool:
        """Whether there is a library, whole and made by this user for this key."""
        digest = self.library.with_suffix(".sha256")
        if not (self.library.is_file() and digest.is_file()):  # devices and pipes may have no end
            return False
        try:
            owned = self.library.stat().st_uid == os.getuid()
            return owned and digest.read_text(encoding="ascii") == _mark(self.library, self.key)
        except (OSError, UnicodeDecodeError):
            return False


def _make(library: Path, key: str, compiler: Compiler, source: str) -> None:
    with tempfile.TemporaryDirectory(dir=library.parent, prefix=".building-") as name:
        text, made = Path(name, "mechanism.c"), Path(name, "mechanism.so")
        text.write_text(source, encoding="utf-8")
        compiler.build(text, made)
        mark = Path(name, "digest")
        mark.write_text(_mark(made, key), encoding="ascii")
        # The digest last: an entry without a matching one is none.
        os.replace(made, library)
        os.replace(mark, library.with_suffix(".sha256"))


def _mark(library: Path, key: str) -> str:
    return f"{key} {hashlib.sha256(library.read_bytes()).hexdigest()}\n"


@cache
def _code_digest() -> str:
    """Digest of all code that a compiled mechanism comes from."""
    digest = hashlib.sha256()
    package = next(p for p in Path(__file__).resolve().parents if p.name == "uk_dynamics")
    for layer in _LAYERS:
        for folder, folders, names in os.walk(package / layer):  # half the time of Path.rglob
            folders.sort()
            for name in sorted(names):
                if name.endswith((".py", ".c", ".h")):
                    with open(os.path.join(folder, name), "rb") as file:
                        digest.update(file.read())
    return digest.hexdigest()


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
