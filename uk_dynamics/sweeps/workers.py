"""Processes that simulate: started here, or those of a Dask cluster that is already there."""

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
    """A Dask client, and processes of its own that end with it where no scheduler is named.

    Args:
        scheduler: Address of a Dask scheduler, or None.
        workers: Number of processes here; None: as many as cores.

    Raises:
        InputError: Dask is not installed, or the scheduler cannot be reached.
    """
    distributed = optional("distributed")
    if scheduler is None:
        with own_workers(workers) as cluster, distributed.Client(cluster) as client:
            yield client
        return
    try:
        client = distributed.Client(scheduler, timeout=_CONNECT)
    except (OSError, ValueError) as error:
        raise InputError(f"the scheduler {scheduler} cannot be reached: {error}") from None
    with client:
        yield client


@contextmanager
def own_workers(workers: int | None) -> Iterator[Any]:
    """A Dask cluster of processes on this machine.

    Args:
        workers: How many; None: as many as cores.

    Raises:
        InputError: Dask is not installed.
    """
    distributed, config = optional("distributed"), optional("dask.config")
    cluster = distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        # Rows say what became of points; interrupted tasks and lost workers would only add noise.
        silence_logs=logging.CRITICAL,
        # A task whose worker dies is answered for at once: who was to blame is found out by us.
        scheduler_kwargs={"allowed_failures": 0},
    )
    # A worker that dies is started again. Dask gives it up where it is not there 15 s after a
    # death, which it is not when it has died once more by then; nobody would do its work.
    with config.set({"distributed.deploy.lost-worker-timeout": _NEVER}), cluster:
        yield cluster
