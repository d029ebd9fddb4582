"""Running a sweep on Dask: here on all cores, or on a cluster that is already there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from uk_dynamics.exceptions import InputError
from uk_dynamics.sweeps.simulate_point import simulate_points
from uk_dynamics.sweeps.specification import Point, SweepSpec
from uk_dynamics.sweeps.store import Store, optional

_WRITE_EVERY = 5.0  # s
_MOST_IN_CHUNK = 16  # points that one task simulates
_CHUNKS_PER_THREAD = 3  # waiting, so that no worker idles and the scheduler stays small
_RETRIES = 2  # of tasks whose worker died
_CONNECT = 20.0  # s


@dataclass(frozen=True)
class Outcome:
    """What became of a sweep.

    Attributes:
        total: Number of points.
        found: Points that were on disk already.
        ok: Points simulated now.
        failed: Errors by point, those found on disk included.
        wall: In s.
    """

    total: int
    found: int
    ok: int
    failed: dict[str, str]
    wall: float


def sweep(
    spec: SweepSpec,
    store: Store,
    *,
    scheduler: str | None = None,
    workers: int | None = None,
    retry_failed: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Simulate all points that are not on disk yet.

    Interrupted, it keeps what it has; called again, it goes on from there.

    Args:
        spec: What to simulate.
        store: Where results are and go.
        scheduler: Address of a Dask scheduler; None starts workers here.
        workers: Number of processes here; None: as many as cores.
        retry_failed: Whether points that failed before are simulated again.
        progress: Called with points done and failed points.

    Raises:
        InputError: Dask is not installed, or the scheduler cannot be reached.
    """
    begin = time.monotonic()
    points = spec.points()
    rows = store.rows()
    if retry_failed:
        rows = {key: row for key, row in rows.items() if row["status"] == "ok"}
    known = {point.key for point in points} & rows.keys()
    waiting = list({p.key: p for p in points if p.key not in known}.values())
    collector = _Collector(store, len(known), progress)
    if waiting:
        with _client(scheduler, workers) as client:
            try:
                for chunk, answers in _answers(client, waiting):
                    collector.take(chunk, answers)
            finally:
                collector.write()
    rows |= collector.rows
    ordered = [rows[point.key] for point in points]
    store.finish(ordered)
    failed = {row["point"]: row["error"] for row in ordered if row["status"] != "ok"}
    ok = sum(row["status"] == "ok" for row in collector.rows.values())
    return Outcome(len(points), len(known), ok, failed, time.monotonic() - begin)


class _Collector:
    """Gathers rows and writes them now and then."""

    def __init__(
        self, store: Store, done: int, progress: Callable[[int, int], None] | None
    ) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self._store, self._done, self._progress = store, done, progress
        self._new: list[dict[str, Any]] = []
        self._trajectories: list[dict[str, Any]] = []
        self._written = time.monotonic()
        self._failed = 0

    def take(self, chunk: list[Point], answers: Any) -> None:
        """Rows of a chunk, or the exception that took its worker."""
        if isinstance(answers, BaseException):
            problem = f"the worker was lost: {answers!r}"
            answers = [
                ({"point": p.key, **p.values, "status": "failed", "error": problem}, None)
                for p in chunk
            ]
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
        """Bring everything to disk."""
        self._store.add(self._new, self._trajectories)
        self._new, self._trajectories = [], []
        self._written = time.monotonic()


def _client(scheduler: str | None, workers: int | None) -> Any:
    distributed = optional("distributed")
    if scheduler is None:
        cluster = distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        )
        return _Local(cluster, distributed.Client(cluster))
    try:
        return distributed.Client(scheduler, timeout=_CONNECT)
    except (OSError, ValueError) as error:
        raise InputError(f"the scheduler {scheduler} cannot be reached: {error}") from None


class _Local:
    """A client that takes its cluster with it."""

    def __init__(self, cluster: Any, client: Any) -> None:
        self._cluster, self._client = cluster, client

    def __enter__(self) -> Any:
        return self._client

    def __exit__(self, *_: object) -> None:
        self._client.close()
        self._cluster.close()


def _answers(client: Any, points: list[Point]) -> Iterator[tuple[list[Point], Any]]:
    """Chunks of points with their answers, in the order in which they come."""
    threads = max(1, sum(client.nthreads().values()))
    size = max(1, min(_MOST_IN_CHUNK, len(points) // (4 * threads)))
    chunks = iter([points[k : k + size] for k in range(0, len(points), size)])
    running: dict[Any, list[Point]] = {}

    def submit(chunk: list[Point]) -> Any:
        future = client.submit(simulate_points, chunk, pure=False, retries=_RETRIES)
        running[future] = chunk
        return future

    first = [submit(chunk) for chunk in islice(chunks, _CHUNKS_PER_THREAD * threads)]
    stream = optional("distributed").as_completed(first)
    for future in stream:
        chunk = running.pop(future)
        failure = future.exception()
        yield chunk, failure if failure is not None else future.result()
        following = next(chunks, None)
        if following is not None:
            stream.add(submit(following))
