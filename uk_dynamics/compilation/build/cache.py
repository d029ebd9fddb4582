# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Compiled mechanisms in the user's cache directory, found again by what they were made from.

An entry is a library and the digest of its bytes; one that does not match is compiled again,
never loaded. Processes that want the same entry at once wait for the first of them. Which entries
stay is decided in :mod:`uk_dynamics.compilation.build.cache_policy`.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from uk_dynamics.compilation.build.cache_policy import locked, note_use, trim
from uk_dynamics.compilation.build.compiler import CompilationError, Compiler
from uk_dynamics.mechanism.resolution import ResolvedMechanism

OTHER_CACHE = "set XDG_CACHE_HOME to a directory of your own, from which programs may run"
_LAYERS = ("core", "model", "constraints", "forces", "mechanism", "compilation")


def directory() -> Path:
    """Where entries are: ``$XDG_CACHE_HOME/uk_dynamics/compiled``, usually below ``~/.cache``.

    Raises:
        CompilationError: This user has no home directory.
    """
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
