"""Points out to workers, rows back; a worker that dies takes no point with it.

Points travel in chunks. When a worker dies, Dask blames all chunks that it had: the one that killed
it and those that were waiting there. Their points are tried again one by one, and those whose
worker died then as well are tried once more with nothing beside them: whose worker dies this time
is to blame, and is answered for by a failure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from uk_dynamics.exceptions import InputError
from uk_dynamics.sweeps.simulate_point import Row, simulate_points
from uk_dynamics.sweeps.specification import Point
from uk_dynamics.sweeps.store import optional

#: Row of a point, and the columns of its trajectory where that is wanted.
Answer = tuple[Row, dict[str, Any] | None]

_MOST_IN_CHUNK = 16  # points that one task simulates
_CHUNK = 1.0  # s that it may take: what an interruption loses
_TASKS_PER_THREAD = 3  # waiting, so that no worker idles and the scheduler stays small


def answers(client: Any, points: list[Point]) -> Iterator[list[Answer]]:
    """Answers for all points, as they come.

    Args:
        client: Of Dask.
        points: What to simulate.

    Raises:
        InputError: The scheduler is lost.
    """
    waiting = _TASKS_PER_THREAD * max(1, sum(client.nthreads().values()))
    left = points
    for largest, beside in ((len(points) // (4 * waiting), waiting), (1, waiting), (1, 1)):
        chunks, left = _Chunks(left, largest), []
        for chunk, found in _rounds(client, chunks, beside):
            if found is None:
                left += chunk
            else:
                chunks.learn(found)
                yield found
    yield [_failed(point, "the process that simulated it died, each time") for point in left]


class _Chunks:
    """Points in chunks that grow while they are quick."""

    def __init__(self, points: list[Point], most: int) -> None:
        """Divide.

        Args:
            points: In this order.
            most: Points in a chunk.
        """
        self._points, self._most = points, max(1, min(most, _MOST_IN_CHUNK))
        self._at, self._size = 0, 1

    def take(self) -> list[Point]:
        """The next chunk; empty when there is none."""
        chunk = self._points[self._at : self._at + self._size]
        self._at += len(chunk)
        return chunk

    def learn(self, found: list[Answer]) -> None:
        """Adapt the size to the time that points take."""
        mean = sum(row.get("wall_time", _CHUNK) for row, _ in found) / len(found)
        self._size = max(1, min(self._most, int(_CHUNK / max(mean, 1e-3))))


def _rounds(
    client: Any, chunks: _Chunks, most: int
) -> Iterator[tuple[list[Point], list[Answer] | None]]:
    """Each chunk with its answers, or with None where its worker died.

    Args:
        client: Of Dask.
        chunks: What to simulate.
        most: Chunks under way at a time.

    Raises:
        InputError: The scheduler is lost.
    """
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
    """Answers of a chunk, None where its worker died."""
    if future.status == "cancelled":
        raise InputError("the scheduler was lost; start again to go on")
    failure = future.exception()
    if failure is None:
        found: list[Answer] = future.result()
        return found
    if isinstance(failure, optional("distributed").KilledWorker):
        return None
    return [_failed(point, f"the worker could not simulate it: {failure!r}") for point in chunk]


def _failed(point: Point, problem: str) -> Answer:
    return {"point": point.key, **point.values, "status": "failed", "error": problem}, None
