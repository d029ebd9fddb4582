"""From what the user names (file, ``package://`` address, xacro, text) to URDF text."""

from __future__ import annotations

import contextlib
import io
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from uk_dynamics.exceptions import InputError, UrdfError
from uk_dynamics.resources import ament_prefixes, resolve

LARGEST_DESCRIPTION = 20_000_000  # bytes; meshes are separate files, so no description comes close

_xacro_lock = threading.Lock()


def read_source(urdf: str | Path) -> tuple[bytes, str]:
    """Fetch a robot description.

    Args:
        urdf: Path or address of a URDF or ``.xacro`` file, or the text of a URDF.

    Returns:
        The URDF text (xacro expanded), and the name of its source for messages.

    Raises:
        UrdfError: Nothing readable is there, it is too large, or xacro fails.
    """
    if isinstance(urdf, str) and "<" in urdf:
        return checked_size(urdf.encode(), "robot_description"), "robot_description"
    try:
        path = resolve(urdf)
    except InputError as error:
        raise UrdfError(error.problem, file=str(urdf)) from None
    source = path.name
    text = _read_file(path, source)
    if path.suffix == ".xacro":
        text = checked_size(_expand_xacro(path, source), source)
    return text, source


def checked_size(text: bytes, source: str) -> bytes:
    """The text itself, unless it is empty or too large to be a robot description."""
    if not text.strip():
        raise UrdfError("the robot description is empty; expected a <robot> element", file=source)
    if len(text) > LARGEST_DESCRIPTION:
        size = len(text) / 1e6
        raise UrdfError(_too_large(size), file=source)
    return text


def _too_large(megabytes: float) -> str:
    limit = LARGEST_DESCRIPTION / 1e6
    return f"{megabytes:.0f} MB are too much for a robot description (at most {limit:.0f} MB)"


def _read_file(path: Path, source: str) -> bytes:
    try:
        size = path.stat().st_size
        if size > LARGEST_DESCRIPTION:
            raise UrdfError(_too_large(size / 1e6), file=source)
        return checked_size(path.read_bytes(), source)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UrdfError(f"cannot be read ({reason}); check its permissions", file=source) from None


def _expand_xacro(path: Path, source: str) -> bytes:
    """Run xacro, which keeps global state, prints to stderr and wants an ament environment."""
    import xacro  # here, since most descriptions need no xacro and it is slow to import

    complaints = io.StringIO()
    with _xacro_lock, contextlib.redirect_stderr(complaints), _ament_environment():
        try:
            document = xacro.process_file(str(path))
        except Exception as error:  # noqa: BLE001 xacro evaluates expressions: any exception may come out
            reason = " ".join(str(error).split()) or repr(error)
            raise UrdfError(f"xacro: {reason[:300]}", file=source) from None
    return bytes(document.toxml(encoding="utf-8"))


@contextlib.contextmanager
def _ament_environment() -> Iterator[None]:
    """Let ``$(find package)`` see the packages that ``package://`` addresses see."""
    before = os.environ.get("AMENT_PREFIX_PATH")
    os.environ["AMENT_PREFIX_PATH"] = os.pathsep.join(str(prefix) for prefix in ament_prefixes())
    try:
        yield
    finally:
        if before is None:
            del os.environ["AMENT_PREFIX_PATH"]
        else:
            os.environ["AMENT_PREFIX_PATH"] = before
