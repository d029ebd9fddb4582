# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Files that come with packages, what a ``package://`` address means; optional libraries.

The files of this package (``config``, ``urdf``, ``launch``, ``rviz``) stand next to the code in a
source tree and under ``share/uk_dynamics`` of an installation, whether pip or colcon made it. Other
packages are found as ROS finds them, through the ament index of every prefix in
``AMENT_PREFIX_PATH``. The Python environment is searched too: packages installed by pip bring an
ament index of their own, and no setup file is sourced for them.
"""

import importlib
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from uk_dynamics.did_you_mean import closest, did_you_mean, nearest_file
from uk_dynamics.exceptions import InputError

PACKAGE = "uk_dynamics"
_SHIPPED = {"mechanism": "config", "tasks": "config/tasks"}
_INDEX = Path("share", "ament_index", "resource_index", "packages")


@cache
def share_directory() -> Path:
    """Absolute path of the directory with ``config``, ``urdf`` and ``launch`` of this package.

    The files that belong to the running code win over others of the same name: a source tree in use
    (also through an editable or symlinked installation) never gets files of an older installation.

    Raises:
        InputError: The package was installed without its files.
    """
    if (tree := source_tree()) is not None:
        return tree
    for prefix in (*Path(__file__).resolve().parents, *ament_prefixes()):
        share = prefix / "share" / PACKAGE
        if (share / "package.xml").is_file():
            return share
    raise InputError(
        f"{PACKAGE} was installed without its share directory; install it with pip or colcon"
    )


def source_tree() -> Path | None:
    """Return the source tree that the running code is in; None where it is installed."""
    tree = Path(__file__).resolve().parents[1]
    return tree if (tree / "package.xml").is_file() else None


def shipped_files(kind: str) -> dict[str, Path]:
    """Mechanism or tasks files that come with this package, by name, in alphabetical order."""
    folder = share_directory() / _SHIPPED[kind]
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def package_directory(package: str) -> Path:
    """Absolute path of ``share/<package>`` in the first prefix that knows a ROS package.

    Pip packages that bring an ament index are found, too; of unknown ones, InputError.
    """
    if package == PACKAGE:
        return share_directory()
    for prefix in ament_prefixes():
        share = prefix / "share" / package
        if (prefix / _INDEX / package).is_file() and share.is_dir():
            return share
    raise InputError(f'no package "{package}"; {_remedy(package)}')


def resolve(address: str | Path, *, relative_to: Path | None = None) -> Path:
    """Return the file that an address names.

    Args:
        address: ``package://<package>/<path>``, ``file://<absolute path>``, or a path, in which
            ``~`` is the home directory.
        relative_to: Directory that relative paths start from; the current one when left out.

    Returns:
        Absolute path of an existing file.

    Raises:
        InputError: The address is malformed, its package is unknown, or there is no such file.
    """
    path = _path(str(address), relative_to or Path.cwd())
    if path.is_file():
        return path
    problem = "it is a directory" if path.is_dir() else _missing(path)
    shown = str(path) if str(address) == str(path) else f"{address} ({path})"
    raise InputError(f"no file {shown}; {problem}")


def ament_prefixes() -> Iterator[Path]:
    """Yield the prefixes that are searched for packages, the most important one first."""
    seen: set[Path] = set()
    sourced = filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))
    # wheels of C++ libraries and robot models may carry a prefix inside site-packages
    wheels = (Path(entry).absolute() / "cmeel.prefix" for entry in sys.path if entry)
    for prefix in (*(Path(entry).absolute() for entry in sourced), Path(sys.prefix), *wheels):
        if prefix not in seen and (prefix / _INDEX).is_dir():
            seen.add(prefix)
            yield prefix


def _path(address: str, base: Path) -> Path:
    if "://" not in address:
        return (base / Path(address).expanduser()).absolute()
    url = urlsplit(address)
    rest = unquote(url.path).lstrip("/")
    if url.scheme == "package":
        if not url.netloc or not rest:
            raise InputError(f'"{address}" is not of the form package://<package>/<path>')
        return package_directory(url.netloc) / rest
    if url.scheme == "file":
        if url.netloc not in ("", "localhost"):
            raise InputError(f'"{address}" is not of the form file:///<path>')
        return Path("/", rest)
    raise InputError(
        f'"{address}" has the scheme "{url.scheme}"; use a path, package:// or file://'
    )


def _remedy(package: str) -> str:
    known = {entry.name for prefix in ament_prefixes() for entry in (prefix / _INDEX).iterdir()}
    otherwise = "source the workspace that holds it, or install it in this Python environment"
    return did_you_mean(closest(package, sorted(known | {PACKAGE})), otherwise)


def _missing(path: Path) -> str:
    """Say what is there instead: the nearest name, or the last directory that exists."""
    parent = path.parent
    if parent.is_dir():
        names = [entry.name for entry in parent.iterdir()]
        return did_you_mean(nearest_file(path.name, names), f"{parent} has no such entry")
    while not parent.is_dir():
        parent = parent.parent
    return f"the path exists up to {parent}"


def optional_library(name: str, missing: str, file: str | os.PathLike[str] = "") -> Any:
    """Import a library; InputError: it is not there, with what to do (``missing``)."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError(missing, file=os.fspath(file)) from None
