# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Whether a library may be used: what came of its trial, kept in the cache next to it."""

import contextlib
import hashlib
import logging
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from uk_dynamics.compilation.build.compiler import CompilationError, find_compiler, processor
from uk_dynamics.compilation.verification.comparison import Comparison
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.whole_file import whole_file

_log = logging.getLogger(__name__)
_SUFFIX = ".verified"
_TRIALS = "5"  # changes with what is tried
_wrong: dict[Path, str] = {}  # found in this process
_right: set[tuple[Path, int]] = set()  # records, likewise, with the time of the library's change


class WrongLibraryError(CompilationError):
    """What a compiler made of a mechanism answers otherwise than the interpreted evaluator."""


def verify(
    library: Path, name: str, comparisons: Callable[[], Iterable[Comparison]], part: str = ""
) -> None:
    """Try a library in the cache on this processor, unless it, or this part of it, has been tried.

    ``comparisons`` compares its answers with those of the reference; it is called if need be. A
    WrongLibraryError says which function differs, by how much, and the compiler.
    """
    record = library.with_suffix(f".{part}{_SUFFIX}" if part else _SUFFIX)
    known = record, library.stat().st_mtime_ns
    if known in _right:
        return
    identity = library.read_bytes() + (processor() + _TRIALS).encode()
    key = hashlib.sha256(identity).hexdigest()
    problem = _read(record, key)
    if problem is None:
        start = time.monotonic()
        problem = next((each.problem for each in comparisons() if each.problem), "")
        _log.debug("%s verified in %.3f s", library.name, time.monotonic() - start)
        with contextlib.suppress(OSError, UkDynamicsError), whole_file(record) as path:
            path.write_text(f"{key}\n{problem}", encoding="utf-8")
    if problem:
        compiler = find_compiler()
        made_by = "the compiler" if compiler is None else compiler.version.splitlines()[0]
        message = (
            f"what {made_by} made of {name} answers wrongly on this processor: {problem}; name"
            " another compiler in CC"
        )
        _wrong[library] = message
        raise WrongLibraryError(message)
    _right.add(known)


def wrong_libraries() -> tuple[str, ...]:
    """Give what was found wrong in this process, a line each; the interpreted evaluator answers."""
    return tuple(_wrong.values())


def _read(record: Path, key: str) -> str | None:
    """What was found; empty: nothing wrong; None: it has not been tried."""
    try:
        found, _, problem = record.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return problem if found == key else None
