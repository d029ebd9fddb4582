# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Finding the file that a user names: a path, a package:// URI, or the name of a shipped file."""

import os
import re
from pathlib import Path

from uk_dynamics import resources
from uk_dynamics.exceptions import InputError, MechanismFileError
from uk_dynamics.mechanism.files.schema_check import FileKind


def find_file(name: str | os.PathLike[str], kind: FileKind) -> tuple[Path, str]:
    """Find a mechanism or tasks file.

    Args:
        name: Path, ``package://`` URI, or the name of a shipped file without its ending.
        kind: What the file is to be.

    Returns:
        Its path, which need not exist when a path was given, and its name for errors.

    Raises:
        MechanismFileError: There is no such package or shipped file.
    """
    if not isinstance(name, str | os.PathLike):
        raise MechanismFileError(f"expected a path or a name, found {type(name).__name__}")
    given = os.fspath(name)
    if "://" in given:
        try:
            return resources.resolve(given), given
        except InputError as error:
            raise MechanismFileError(error.problem, file=given) from None
    if not re.fullmatch(r"[A-Za-z0-9_-]+", given) or Path(given).is_file():
        return Path(given), given
    shipped = resources.shipped_files(kind)
    if given in shipped:
        return shipped[given], f"{given}.yaml"
    close = resources.nearest_file(given, shipped)
    remedy = f'did you mean "{close}"?' if close else f"shipped are: {', '.join(shipped)}"
    problem = f"neither a file nor a shipped {kind} file; {remedy}"
    raise MechanismFileError(problem, file=given)
