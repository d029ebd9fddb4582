# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""From what the user names (file, ``package://`` address, xacro, text) to URDF text."""

import contextlib
import functools
import io
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from uk_dynamics.exceptions import InputError, UrdfError, expect_names
from uk_dynamics.resources import package_directory, resolve

LARGEST_DESCRIPTION = 20_000_000  # bytes; meshes are separate files, so no description comes close

_XACRO_ARGUMENT = re.compile(r"""<xacro:arg\s[^>]*\bname=["']([^"']+)["']""")

_xacro_lock = threading.Lock()


@dataclass(frozen=True)
class Source:
    """A robot description that was found."""

    text: bytes  # URDF, xacro expanded
    name: str  # what messages call it
    directory: Path  # where its relative addresses start
    warnings: tuple[str, ...] = ()  # what xacro complained about
    encoding: str | None = None  # of the text; None: what it declares


def read_source(
    urdf: str | Path, *, relative_to: Path | None = None, arguments: Mapping[str, str] | None = None
) -> Source:
    """Fetch a robot description.

    Args:
        urdf: Path or address of a URDF or ``.xacro`` file, or the text of a URDF.
        relative_to: Directory that relative paths start from; the current one when left out.
        arguments: Arguments of the xacro file, as ``name:=value`` on its command line.

    Raises:
        UrdfError: Nothing readable is there, it is too large, or xacro fails; or there are
            arguments and no xacro file, or none that takes them.
    """
    if isinstance(urdf, str) and "<" in urdf:
        return text_source(urdf)
    try:
        path = resolve(urdf, relative_to=relative_to)
    except InputError as error:
        raise UrdfError(error.problem, file=str(urdf)) from None
    except OSError as error:  # a name that no file system takes
        raise UrdfError(f"cannot be opened ({error.strerror})", file=f"{urdf!s:.80}") from None
    text = _read_file(path, path.name)
    if path.suffix != ".xacro":
        if arguments:
            raise UrdfError("takes no arguments; only .xacro files do", file=path.name)
        return Source(text, path.name, path.parent)
    text, warnings = _expand_xacro(path, path.name, dict(arguments or {}))
    return Source(_checked_size(text, path.name), path.name, path.parent, warnings)


def text_source(text: str, name: str = "robot_description") -> Source:
    """A robot description given as text. Raises UrdfError when it is empty or too large."""
    raw = text.lstrip().encode(errors="replace")
    return Source(_checked_size(raw, name), name, Path.cwd(), encoding="utf-8")


def _checked_size(text: bytes, source: str) -> bytes:
    if not text.strip():
        raise UrdfError("the robot description is empty; expected a <robot> element", file=source)
    if len(text) > LARGEST_DESCRIPTION:
        raise UrdfError(_too_large(len(text) / 1e6), file=source)
    return text


def _too_large(megabytes: float) -> str:
    limit = LARGEST_DESCRIPTION / 1e6
    return f"{megabytes:.0f} MB are too much for a robot description (at most {limit:.0f} MB)"


def _read_file(path: Path, source: str) -> bytes:
    try:
        size = path.stat().st_size
        if size > LARGEST_DESCRIPTION:
            raise UrdfError(_too_large(size / 1e6), file=source)
        return _checked_size(path.read_bytes(), source)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UrdfError(f"cannot be read ({reason}); check its permissions", file=source) from None


def _expand_xacro(
    path: Path, source: str, arguments: dict[str, str]
) -> tuple[bytes, tuple[str, ...]]:
    """Run xacro, which keeps global state, prints to stderr and wants a ROS installation."""
    import xacro  # here, since most descriptions need no xacro and it is slow to import

    declared = _XACRO_ARGUMENT.findall(path.read_text(encoding="utf-8", errors="replace"))
    expect_names("xacro argument", arguments, declared, file=source)
    complaints = io.StringIO()
    with _xacro_lock, contextlib.redirect_stderr(complaints), _finding_packages(), _reading_utf8():
        try:
            document = xacro.process_file(str(path), mappings=arguments)
        except Exception as error:  # noqa: BLE001 its expressions may raise anything
            reason = _once(" ".join(str(error).split())) or type(error).__name__
            raise UrdfError(f"xacro: {reason[:300]}", file=source) from None
    warnings = tuple(f"xacro: {complaint}" for complaint in _each_once(complaints.getvalue()))
    return bytes(document.toxml(encoding="utf-8")), warnings


def _once(text: str) -> str:
    """A complaint without the class of its cause, and without what it repeats."""
    text = re.sub(r"<class '[^']*'>:? *|\[Errno \d+\] *", "", text)
    words = text.split()
    bare = [word.strip("'") for word in words]  # a path is quoted or not
    for size in range(len(words) // 2, 2, -1):
        for k in range(len(words) - 2 * size + 1):
            if bare[k : k + size] == bare[k + size : k + 2 * size]:
                return _once(" ".join(words[:k] + words[k + size :]))
    return " ".join(words)


def _each_once(text: str) -> Iterator[str]:
    """What xacro wrote, one complaint each: it repeats itself wherever a macro is used."""
    found: dict[str, list[str]] = {}
    for complaint in re.split(r"^(?=warning: )", text, flags=re.MULTILINE):
        first, _, places = complaint.strip().partition("\n")
        if first:
            found.setdefault(first, []).append(" ".join(places.split()))
    for first, (place, *others) in found.items():
        times = f" ({len(others) + 1} times)" if others else ""
        yield f"{first}{times} {place}".rstrip()


@contextlib.contextmanager
def _finding_packages() -> Iterator[None]:
    """Let ``$(find package)`` find what ``package://`` finds, on machines without ROS as well."""
    from xacro import substitution_args

    before = substitution_args._eval_find
    substitution_args._eval_find = lambda package: str(package_directory(package))
    try:
        yield
    finally:
        substitution_args._eval_find = before


@contextlib.contextmanager
def _reading_utf8() -> Iterator[None]:
    """Let xacro read files as UTF-8, whatever the locale: it leaves the choice to ``open``."""
    import xacro

    vars(xacro)["open"] = functools.partial(open, encoding="utf-8")
    try:
        yield
    finally:
        del vars(xacro)["open"]
