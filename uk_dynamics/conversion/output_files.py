# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Files that users edit: never written over one that is there, and how they name a URDF."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from uk_dynamics.exceptions import InputError
from uk_dynamics.resources import resolve
from uk_dynamics.whole_file import whole_file


def write_files(texts: Mapping[Path, str], *, force: bool) -> None:
    """Write texts, with missing directories; where one exists, InputError before any is written."""
    check_new(texts, force=force)
    for path, text in texts.items():
        _write(path, text)


def check_new(paths: Iterable[Path], *, force: bool) -> None:
    """Refuse files that exist, with an InputError, unless they are to be replaced."""
    for path in paths:
        if path.exists() and not force:
            raise InputError("exists already; --force replaces it", file=str(path))


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be written ({reason})", file=str(path)) from None


def relative_address(urdf: str, directory: Path) -> str:
    """How a file names a URDF: as given if that is an address, relative to the file if near."""
    if "://" in urdf:
        return urdf
    path, base = resolve(urdf).resolve(), directory.absolute().resolve()
    if path.parent == base or base in path.parents:
        return str(path.relative_to(base))
    if path.parent.parent in (base, *base.parents):
        shared = path.parent.parent
        return str(Path(*[".."] * len(base.relative_to(shared).parts), path.relative_to(shared)))
    return str(path)


def filled(template: Path, words: Mapping[str, str]) -> str:
    """A template with ``@word@`` replaced."""
    return re.sub(r"@(\w+)@", lambda found: words[found[1]], template.read_text(encoding="utf-8"))
