"""Reading the text of a file, or saying why it cannot be read."""

from __future__ import annotations

import stat
from pathlib import Path

from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.resources import nearest_file

MAX_BYTES = 1_000_000


def read_text(path: Path, file: str) -> str:
    """Read a UTF-8 file of at most ``MAX_BYTES``."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise MechanismFileError("is a directory; give a YAML file in it", file=file)
        if not stat.S_ISREG(mode):
            raise MechanismFileError("is not a regular file; give a YAML file", file=file)
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise MechanismFileError(f"no such file; {_nearest_file(path)}", file=file) from None
    except OSError as error:
        reason = (error.strerror or "input error").lower()
        problem = f"cannot be read ({reason}); check the path and its permissions"
        raise MechanismFileError(problem, file=file) from None
    except ValueError:
        raise MechanismFileError("is no file name; remove the NUL character", file=file) from None
    if len(data) > MAX_BYTES:
        raise MechanismFileError(too_large(), file=file)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start} is not UTF-8 text; save the file as UTF-8 YAML"
        raise MechanismFileError(problem, file=file) from None


def _nearest_file(path: Path) -> str:
    try:
        neighbours = [entry.name for entry in path.parent.iterdir() if entry.suffix == ".yaml"]
    except OSError:
        return "its directory does not exist either, check the path"
    close = nearest_file(path.name, neighbours)
    return f'did you mean "{close}"?' if close else "give the path of a YAML file"


def too_large() -> str:
    """What is said of a file beyond the limit."""
    return (
        f"is larger than {MAX_BYTES // 1000} kB; a mechanism file is a few kB, split or shorten it"
    )
