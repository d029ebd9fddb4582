# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Files that a user names: by a path, a package:// URI, or the name of a shipped file.

What they say may also come as text, or as data of Python.
"""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from uk_dynamics import resources
from uk_dynamics.did_you_mean import did_you_mean, nearest_file
from uk_dynamics.exceptions import InputError, MechanismFileError
from uk_dynamics.mechanism.files.schema_check import FileKind
from uk_dynamics.mechanism.files.yaml_file import parse_yaml, read_yaml, yaml_text

S = TypeVar("S", bound="Read")


def find_file(name: str | os.PathLike[str], kind: FileKind) -> tuple[Path, str]:
    """Find a mechanism or tasks file: its path, and its name for errors.

    It is named by a path, which need not exist, a ``package://`` URI, or as a shipped file without
    its ending; of packages and shipped files that are not there, MechanismFileError.
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
    every = f"shipped are: {', '.join(shipped)}; others are in examples/ of the source"
    remedy = did_you_mean(nearest_file(given, shipped), every)
    for example in (resources.share_directory() / "examples").glob(f"*/{given}.yaml"):
        remedy = f"it is an example, {example}"
    raise MechanismFileError(f"neither a file nor a shipped {kind} file; {remedy}", file=given)


class Read(ABC):
    """What a file says, checked; read from the file, from its text, or from data."""

    kind: ClassVar[FileKind]

    @classmethod
    def from_file(cls: type[S], path: str | os.PathLike[str]) -> S:
        """Read a file.

        Args:
            path: Path, package:// URI, or the name of a shipped file.

        Raises:
            MechanismFileError: The file is missing, unreadable or malformed.
        """
        found, shown = find_file(path, cls.kind)
        return cls._from_data(read_yaml(found, shown), shown, found.parent)

    @classmethod
    def from_text(
        cls: type[S],
        text: str,
        *,
        file: str = "<text>",
        directory: str | os.PathLike[str] | None = None,
    ) -> S:
        """Read the text of a file.

        Args:
            text: YAML.
            file: Name that errors give the text.
            directory: Where relative paths start; the current directory when left out.

        Raises:
            MechanismFileError: The text is malformed.
        """
        return cls._from_data(parse_yaml(text, file), file, Path(directory or "."))

    @classmethod
    def from_data(cls: type[S], data: Mapping[str, Any]) -> S:
        """Read what a file would contain; ``schema`` may be left out.

        Raises:
            MechanismFileError: It is malformed.
        """
        return cls.from_text(yaml_text(data), file="<data>")

    @classmethod
    @abstractmethod
    def _from_data(cls: type[S], raw: object, file: str, directory: Path) -> S:
        """Build it from data that are not checked yet; relative paths start in the directory."""
