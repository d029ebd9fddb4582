"""Worker processes: local ones, or those of an existing Dask cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from uk_dynamics.exceptions import InputError
from uk_dynamics.sweeps.store import optional

_CONNECT = 20.0  # s
_NEVER = 1e6  # s


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
