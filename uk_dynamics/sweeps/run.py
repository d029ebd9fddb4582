# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Running a sweep on Dask, on local cores or an existing cluster, and its results on disk.

Points are sent in chunks; a worker that dies loses no point. Dask then reports all chunks that it
had: the one that killed it and those that were queued. Their points are repeated one by one, and
those whose worker dies again are repeated with nothing else running: a point whose worker dies then
has failed.
"""

import json
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from uk_dynamics.exceptions import InputError
from uk_dynamics.resources import optional_library
from uk_dynamics.sweeps.simulate_point import Row, simulate_points
from uk_dynamics.sweeps.sweep_specification import Point, SweepSpec
from uk_dynamics.whole_file import whole_file

_log = logging.getLogger(__name__)

_MISSING = "sweeps need Dask and Parquet: pip install 'dask[distributed]' pyarrow"
optional = partial(optional_library, missing=_MISSING)  # a module of these

#: Row of a point, and the columns of its trajectory if they are stored.
Answer = tuple[Row, dict[str, Any] | None]

_MOST_IN_CHUNK = 16  # points
_SIDE_BY_SIDE = 8  # points: those that fit into the widest vectors
_CHUNK = 1.0  # s, duration of a chunk, which an interruption loses
_TASKS_PER_THREAD = 3  # queued, so that no worker idles and the scheduler is not flooded

_CONNECT = 20.0  # s
_NEVER = 1e6  # s


def answers(client: Any, points: list[Point]) -> Iterator[list[Answer]]:
    """Results of all points, in the order of completion."""
    waiting = _TASKS_PER_THREAD * max(1, sum(client.nthreads().values()))
    left = points
    for largest, concurrent in ((len(points) // (4 * waiting), waiting), (1, waiting), (1, 1)):
        chunks, left = _Chunks(left, largest), []
        for chunk, found in _results(client, chunks, concurrent):
            if found is None:
                left += chunk
            else:
                chunks.adapt(found)
                yield found
    yield [_failed(point, "the process that simulated it died, each time") for point in left]


class _Chunks:
    """Chunks of points, whose size adapts to the time of a simulation."""

    def __init__(self, points: list[Point], most: int) -> None:
        """Start with chunks of one point, or of as many as C moves side by side."""
        self._points, self._most = points, max(1, min(most, _MOST_IN_CHUNK))
        # motions under control go side by side
        together = bool(points) and "control_period" in points[0].simulation
        self._least = min(self._most, _SIDE_BY_SIDE) if together else 1
        self._at, self._size = 0, self._least

    def take(self) -> list[Point]:
        """The next chunk; empty when there is none."""
        chunk = self._points[self._at : self._at + self._size]
        self._at += len(chunk)
        return chunk

    def adapt(self, found: list[Answer]) -> None:
        """Adapt the size to the time of these points."""
        mean = sum(row.get("wall_time", _CHUNK) for row, _ in found) / len(found)
        size = min(self._most, int(_CHUNK / max(mean, 1e-3)))
        self._size = max(self._least, size - size % self._least)


def _results(
    client: Any, chunks: _Chunks, most: int
) -> Iterator[tuple[list[Point], list[Answer] | None]]:
    """Each chunk with its results, or with None if its worker died."""
    running: dict[Any, list[Point]] = {}
    stream = optional("distributed").as_completed()

    def submit() -> None:
        if chunk := chunks.take():
            future = client.submit(simulate_points, chunk, pure=False)
            running[future] = chunk
            stream.add(future)

    for _ in range(most):
        submit()
    while running:
        future = next(stream)
        chunk = running.pop(future)
        yield chunk, _found(future, chunk)
        submit()


def _found(future: Any, chunk: list[Point]) -> list[Answer] | None:
    """Results of a chunk; None if its worker died."""
    if future.status == "cancelled":
        raise InputError("the connection to the scheduler was lost; start again to resume")
    failure = future.exception()
    if failure is None:
        found: list[Answer] = future.result()
        return found
    if isinstance(failure, optional("distributed").KilledWorker):
        return None
    return [_failed(point, f"the worker could not simulate it: {failure!r}") for point in chunk]


def _failed(point: Point, problem: str) -> Answer:
    return {"point": point.key, **point.values, "status": "failed", "error": problem}, None


@contextmanager
def connect(scheduler: str | None, workers: int | None) -> Iterator[Any]:
    """A Dask client; without a scheduler, with local processes that end with it."""
    distributed = optional("distributed")
    if scheduler is None:
        with local_workers(workers) as cluster, distributed.Client(cluster) as client:
            yield client
        return
    try:
        client = distributed.Client(scheduler, timeout=_CONNECT)
    except (OSError, ValueError) as error:
        raise InputError(f"the scheduler {scheduler} cannot be reached: {error}") from None
    with client:
        yield client


@contextmanager
def local_workers(workers: int | None) -> Iterator[Any]:
    """A Dask cluster of local processes."""
    distributed, config = optional("distributed"), optional("dask.config")
    cluster = distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        # Failures are in the rows; messages about interrupted tasks and lost workers are redundant.
        silence_logs=logging.CRITICAL,
        # A task whose worker dies is reported at once: :mod:`answers` finds the point that did it.
        scheduler_kwargs={"allowed_failures": 0},
    )
    # A worker that dies is restarted. By default, Dask abandons it if it is not back after 15 s,
    # as when it has died again by then, and its tasks would never be done.
    with config.set({"distributed.deploy.lost-worker-timeout": _NEVER}), cluster:
        yield cluster


class Store:
    """A directory of results.

    ``rows/`` and ``trajectories/`` contain parts; ``results.parquet`` has all rows of the sweep in
    declared order and is written at its end.
    """

    def __init__(self, directory: str | Path) -> None:
        """Open or create the directory; InputError: impossible, or pyarrow is not installed."""
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


_WRITE_EVERY = 5.0  # s
# s of simulated time of a mechanism, and of one with contacts, which take longer than a compiler
_WORTH_COMPILING = 5.0, 0.5


@dataclass(frozen=True)
class Outcome:
    """Outcome of a sweep."""

    total: int  # number of points
    found: int  # number of points that were on disk already
    ok: int  # number of points simulated now
    failed: dict[str, str]  # errors by point, including those on disk
    wall: float  # wall time in s


def sweep(
    spec: SweepSpec,
    store: Store,
    *,
    scheduler: str | None = None,  # address of a Dask scheduler; None starts local workers
    workers: int | None = None,  # number of local processes; None: one per core
    retry_failed: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Simulate all points that are not on disk yet, by Dask; interrupted ones can be resumed."""
    begin = time.monotonic()
    points = spec.points()
    rows = store.rows()
    if retry_failed:
        rows = {key: row for key, row in rows.items() if row["status"] == "ok"}
    known = {point.key for point in points} & rows.keys()
    waiting = list({p.key: p for p in points if p.key not in known}.values())
    collector = _Collector(store, len(known), progress)
    if worth_compiling(waiting):
        waiting = [replace(point, compiles=True) for point in waiting]
    if waiting:
        with connect(scheduler, workers) as client:
            try:
                for found in answers(client, waiting):
                    collector.take(found)
            finally:
                collector.write()
    rows |= collector.rows
    ordered = [rows[point.key] for point in points]
    store.finish(ordered)
    failed = {row["point"]: row["error"] for row in ordered if row["status"] != "ok"}
    ok = sum(row["status"] == "ok" for row in collector.rows.values())
    return Outcome(len(points), len(known), ok, failed, time.monotonic() - begin)


def worth_compiling(points: Sequence[Point]) -> bool:
    """Whether points are simulated for longer, interpreted, than their mechanisms are compiled."""
    kinds = len({json.dumps(point.mechanism, sort_keys=True) for point in points})
    simulated = sum(float(point.simulation["duration"]) for point in points)
    return simulated >= _WORTH_COMPILING[any("contacts" in one.mechanism for one in points)] * kinds


class _Collector:
    """Collects rows and writes them periodically."""

    def __init__(
        self, store: Store, done: int, progress: Callable[[int, int], None] | None
    ) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self._store, self._done, self._progress = store, done, progress
        self._new: list[dict[str, Any]] = []
        self._trajectories: list[dict[str, Any]] = []
        self._written = time.monotonic()
        self._failed = 0

    def take(self, answers: list[Answer]) -> None:
        """Add results of some points."""
        for row, trajectory in answers:
            self.rows[row["point"]] = row
            self._new.append(row)
            self._failed += row["status"] != "ok"
            if trajectory is not None:
                self._trajectories.append(trajectory)
        if self._progress is not None:
            self._progress(self._done + len(self.rows), self._failed)
        if time.monotonic() - self._written > _WRITE_EVERY:
            self.write()

    def write(self) -> None:
        """Write everything to disk."""
        self._store.add(self._new, self._trajectories)
        self._new, self._trajectories = [], []
        self._written = time.monotonic()
