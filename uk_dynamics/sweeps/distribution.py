# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Distribution of the points to workers; a worker that dies loses no point.

Points are sent in chunks. When a worker dies, Dask reports all chunks that it had: the one that
killed it and those that were queued. Their points are repeated one by one, and those whose worker
dies again are repeated with nothing else running: a point whose worker dies then has failed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from uk_dynamics.exceptions import InputError
from uk_dynamics.sweeps.simulate_point import Row, simulate_points
from uk_dynamics.sweeps.store import optional
from uk_dynamics.sweeps.sweep_specification import Point

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
