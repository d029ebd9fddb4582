# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Recordings as columns with names, such as ``q.crank``: CSV, npz and Parquet of any program."""

import csv
import io
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.did_you_mean import some
from uk_dynamics.exceptions import InputError
from uk_dynamics.resources import optional_library
from uk_dynamics.simulation.recording.trajectory_data import (
    Array,
    Names,
    Statistics,
    TrajectoryData,
)

HEADER = "t, q.JOINT, v.JOINT, effort.MOTOR"
# prefix of a column, array of the trajectory, names of its columns
_GROUPS = (
    ("q", "q", "positions"),
    ("v", "v", "velocities"),
    ("qdd", "qdd", "velocities"),
    ("effort", "efforts", "motors"),
    ("residual", "residual", "constraint_rows"),
    ("residual_rate", "residual_rate", "constraint_rows"),
    ("multiplier", "multipliers", "constraint_rows"),
    ("tracking_error", "tracking_error", "task_rows"),
    ("reference", "references", "task_rows"),
    ("bound", "bounds", "task_rows"),
    ("estimate", "estimates", "estimated"),
    ("deviation", "deviations", "estimated"),
    ("contact_gap", "contact_gaps", "contact_rows"),
    ("contact_rate", "contact_rates", "contact_rows"),
    ("contact_force", "contact_forces", "contact_rows"),
)
_NUMBERS = ("kinetic", "potential", "rank", "condition")
NO_PARQUET = "Parquet needs pyarrow: pip install pyarrow"
_DELIMITERS = ",;\t"
_LARGEST = 1e100  # of any unit: more overflows when it is squared
WALL_CLOCK = 1e8  # s: times above count from 1970
# what readers of files raise at a damaged one
BROKEN = (
    *(ValueError, TypeError, AttributeError, LookupError, RuntimeError, EOFError, MemoryError),
    *(SyntaxError, OverflowError),
    *(zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError),
)
_SHOWN = 8  # columns, in an error


def columns(trajectory: TrajectoryData) -> dict[str, list[Any]]:
    """All columns by name, the time first."""
    found: dict[str, list[Any]] = {"t": trajectory.t.tolist()}
    for prefix, field, labels in _GROUPS:
        values = getattr(trajectory, field)
        for label, column in zip(getattr(trajectory.names, labels), values.T, strict=True):
            found[f"{prefix}.{label}"] = column.tolist()
    for name in _NUMBERS:
        found[name] = getattr(trajectory, name).tolist()
    found["status"] = list(trajectory.status)
    return found


def save_csv(trajectory: TrajectoryData, path: Path) -> None:
    """Write all columns."""
    table = columns(trajectory)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)  # writes floats with all digits that tell them apart
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))


def load(path: Path) -> TrajectoryData:
    """Read a recording by its columns; see :func:`from_columns`."""
    if not path.is_file():
        raise InputError("there is no such file", file=str(path))
    reader = {".csv": _read_csv, ".parquet": _read_parquet}[path.suffix.lower()]
    try:
        return from_columns(reader(path), path.stem)
    except InputError as error:
        raise error.located(file=str(path)) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=str(path)) from None


def from_columns(table: Mapping[str, Any], name: str) -> TrajectoryData:
    """A trajectory from columns by name, as many as there are; what is missing is NaN.

    Args:
        table: ``t`` in s, and any of ``q.JOINT``, ``v.JOINT``, ``qdd.JOINT``, ``effort.MOTOR`` and
            the other columns of :func:`columns`, (K,) each.
        name: Of the recording.

    Raises:
        InputError: No time, no position, a column that is not known, or times that do not increase.
    """
    arrays: dict[str, dict[str, Array]] = {field: {} for _, field, _ in _GROUPS}
    fields = {prefix: field for prefix, field, _ in _GROUPS}
    single = {}
    for column, values in table.items():
        prefix, _, label = column.partition(".")
        if column in ("t", "status", *_NUMBERS):
            single[column] = values if column == "status" else _numbers(column, values)
        elif prefix in fields and label:
            arrays[fields[prefix]][label] = _numbers(column, values)
        elif column and not column.startswith("Unnamed: "):  # numbers of rows, as pandas has them
            raise _unlike(f'the column "{column:.60}" has no meaning', table)
    if "t" not in single or not arrays["q"]:
        raise _unlike("found no column t" if "t" not in single else "found no column q.…", table)
    t = single["t"]
    for column, values in table.items():
        if np.shape(values) != t.shape:
            raise InputError(f"found {np.size(values)} values at {t.size} times", place=column)
    if t.ndim != 1 or len(t) < 2 or not np.isfinite(t).all() or (np.diff(t) < 0.0).any():
        raise InputError("expected at least two times that increase, in s", place="t")
    names = {
        labels: tuple(dict.fromkeys(x for _, f, n in _GROUPS if n == labels for x in arrays[f]))
        for _, _, labels in _GROUPS
    }
    if set(names["velocities"]) <= set(names["positions"]):  # each coordinate has one velocity
        names["velocities"] = names["positions"]
    missing = np.full(len(t), np.nan)
    whole: dict[str, Any] = {
        field: np.column_stack(
            [np.zeros((len(t), 0)), *(arrays[field].get(x, missing) for x in names[labels])]
        )
        for _, field, labels in _GROUPS
    }
    if t[0] > WALL_CLOCK:
        t = t - t[0]
    numbers: dict[str, Any] = {x: single.get(x, missing) for x in _NUMBERS}
    return TrajectoryData(
        name=name,
        names=Names(**names),
        t=t,
        effort_limits=np.full(len(names["motors"]), np.inf),
        rank=np.nan_to_num(numbers.pop("rank"), nan=-1.0, posinf=-1.0, neginf=-1.0).astype(int),
        status=tuple(map(str, single.get("status", [""] * len(t)))),
        warnings=(),
        statistics=Statistics(steps=len(t), evaluations=0, wall_time=float(t[-1] - t[0])),
        **whole,
        **numbers,
    )


def template(
    joints: Sequence[str],  # whose positions are measured
    motors: Sequence[str],  # whose efforts are recorded
    positions: Sequence[float],  # of the joints, in m or rad
) -> str:
    """A CSV recording to fill in: the header, and two samples at rest."""
    header = ["t", *(f"{x}.{joint}" for x in "qv" for joint in joints)]
    lines = [[*header, *(f"effort.{motor}" for motor in motors)]]
    still = [*(f"{x:.9g}" for x in positions), *["0"] * (len(joints) + len(motors))]
    lines += [[t, *still] for t in ("0.000", "0.002")]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def _unlike(problem: str, found: Mapping[str, Any]) -> InputError:
    shown = some((f"{x:.40}" for x in found), _SHOWN)
    wanted = f"columns such as {HEADER}, with the time in s"
    return InputError(f"{problem}; expected {wanted}, found {shown}")


def _numbers(column: str, values: Any) -> Array:
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError("expected numbers", place=f"{column:.60}") from None
    beyond = numbers[np.isfinite(numbers) & (np.abs(numbers) > _LARGEST)]
    if len(beyond):
        problem = f"expected numbers up to {_LARGEST:g}, found {beyond[0]:g}"
        raise InputError(problem, place=f"{column:.60}")
    return numbers


def _read_csv(path: Path) -> dict[str, Any]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        try:
            return _parsed(file)
        except UnicodeDecodeError:
            raise InputError("is no text in UTF-8") from None
        except csv.Error as error:
            raise InputError(f"is no CSV file: {error}") from None


def _parsed(lines: Iterator[str]) -> dict[str, Any]:
    first = next(lines, "").removeprefix("#")  # as numpy.savetxt writes it
    delimiter = max(_DELIMITERS, key=first.count)
    header = [x.strip() for x in next(csv.reader([first], delimiter=delimiter), [])]
    again = [x for k, x in enumerate(header) if x and x in header[:k]]
    if again:
        raise InputError(f'found the column "{again[0]:.60}" twice')
    rows: list[list[str]] = []
    numbers: list[int] = []  # of lines
    reader = csv.reader(lines, delimiter=delimiter)
    for cells in filter(None, reader):
        numbers.append(reader.line_num + 1)
        if len(cells) != len(header):
            problem = f"found {len(cells)} values in {len(header)} columns"
            raise InputError(problem, place=f"line {numbers[-1]}")
        rows.append(cells)
    cells_of = dict(zip(header, zip(*rows, strict=True), strict=True)) if rows else {}
    return {x: _cells(x, cells_of.get(x, ()), numbers) for x in header if x}


def _cells(column: str, cells: Sequence[str], lines: Sequence[int]) -> Array | Sequence[str]:
    if column == "status":
        return cells
    found, k = np.empty(len(cells)), 0
    try:
        for k, cell in enumerate(cells):
            found[k] = float(cell or "nan")
    except ValueError:
        problem = f'expected a number, found "{cells[k]:.40}"'
        raise InputError(problem, place=f"line {lines[k]}: {column:.60}") from None
    return found


def _read_parquet(path: Path) -> dict[str, Any]:
    parquet, arrow = (optional_library(name, NO_PARQUET) for name in ("pyarrow.parquet", "pyarrow"))
    try:
        table = parquet.read_table(path)
        return {x: table.column(x).to_pylist() for x in table.column_names}
    except (arrow.ArrowException, *BROKEN) as error:
        raise InputError(f"is no Parquet file: {error!s:.200}") from None


def read_npz(path: Path) -> dict[str, Array]:
    """All arrays of an npz file; InputError: it cannot be read."""
    try:
        with np.load(path) as data:
            return dict(data)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=str(path)) from None
    except BROKEN:
        raise InputError("is no file with arrays that numpy.savez wrote", file=str(path)) from None
