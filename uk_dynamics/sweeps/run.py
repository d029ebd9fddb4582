# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Running a sweep on Dask: on all local cores, or on an existing cluster."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from uk_dynamics.sweeps.distribution import Answer, answers, connect
from uk_dynamics.sweeps.store import Store
from uk_dynamics.sweeps.sweep_specification import SweepSpec

_WRITE_EVERY = 5.0  # s
_WORTH_COMPILING = 5.0  # s of simulated time of a mechanism, which take longer than a compiler


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
    """Simulate all points that are not on disk yet; an interrupted sweep can be resumed.

    Raises:
        InputError: Dask is not installed, or the scheduler cannot be reached or is lost.
    """
    begin = time.monotonic()
    points = spec.points()
    rows = store.rows()
    if retry_failed:
        rows = {key: row for key, row in rows.items() if row["status"] == "ok"}
    known = {point.key for point in points} & rows.keys()
    waiting = list({p.key: p for p in points if p.key not in known}.values())
    collector = _Collector(store, len(known), progress)
    kinds = len({json.dumps(point.mechanism, sort_keys=True) for point in waiting})
    simulated = sum(float(point.simulation["duration"]) for point in waiting)
    if simulated >= _WORTH_COMPILING * kinds:
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
