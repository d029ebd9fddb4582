# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Results of a sweep on disk, as Parquet parts that are written atomically."""

import json
import logging
import uuid
from functools import partial
from pathlib import Path
from typing import Any

from uk_dynamics.exceptions import InputError
from uk_dynamics.resources import optional_library
from uk_dynamics.whole_file import whole_file

_log = logging.getLogger(__name__)


_MISSING = "sweeps need Dask and Parquet: pip install 'dask[distributed]' pyarrow"
optional = partial(optional_library, missing=_MISSING)  # a module of these


class Store:
    """A directory of results.

    ``rows/`` and ``trajectories/`` contain parts; ``results.parquet`` has all rows of the sweep in
    declared order and is written at its end.
    """

    def __init__(self, directory: str | Path) -> None:
        """Open or create the directory.

        Raises:
            InputError: It cannot be created, or pyarrow is not installed.
        """
        self._arrow, self._parquet = optional("pyarrow"), optional("pyarrow.parquet")
        self.directory = Path(directory)
        self.results = self.directory / "results.parquet"  # the file with all rows
        self._rows, self._trajectories = self.directory / "rows", self.directory / "trajectories"
        try:
            self._rows.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(f"cannot be written ({reason})", file=str(directory)) from None

    def rows(self) -> dict[str, dict[str, Any]]:
        """The latest row of each point on disk."""
        found: dict[str, dict[str, Any]] = {}
        parts = sorted(self._rows.glob("[!.]*.parquet"), key=lambda path: path.stat().st_mtime_ns)
        for part in parts:
            try:
                rows = self._parquet.read_table(part).to_pylist()
            except (self._arrow.ArrowException, OSError):  # after a disk failure
                _log.warning("%s cannot be read; its points are simulated again", part)
                continue
            found.update((row["point"], row) for row in rows)
        return found

    def add(self, rows: list[dict[str, Any]], trajectories: list[dict[str, Any]]) -> None:
        """Write a part."""
        if trajectories:
            self._trajectories.mkdir(exist_ok=True)
            tables = [self._arrow.table(columns) for columns in trajectories]
            joined = self._arrow.concat_tables(tables, promote_options="default")
            self._write(joined, self._trajectories / f"{uuid.uuid4().hex}.parquet")
        if rows:
            self._write(self._table(rows), self._rows / f"{uuid.uuid4().hex}.parquet")

    def finish(self, rows: list[dict[str, Any]]) -> Path:
        """Write all rows into one file."""
        self._write(self._table(rows), self.results)
        return self.results

    def _table(self, rows: list[dict[str, Any]]) -> Any:
        columns = list(dict.fromkeys(name for row in rows for name in row))
        return self._arrow.table({n: self._column([row.get(n) for row in rows]) for n in columns})

    def _column(self, values: list[Any]) -> Any:
        """An array; values of mixed types become text."""
        try:
            return self._arrow.array(values)
        except (self._arrow.ArrowInvalid, self._arrow.ArrowTypeError):
            return self._arrow.array([json.dumps(value) for value in values])

    def _write(self, table: Any, path: Path) -> None:
        with whole_file(path) as unfinished:
            self._parquet.write_table(table, unfinished)
