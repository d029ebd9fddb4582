"""A DDS domain that no other process of this machine uses."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_DOMAINS = range(1, 102)


@contextmanager
def own_domain() -> Iterator[str]:
    """Keep what this process and its children say to this machine and to themselves.

    A domain that the user has chosen in ``ROS_DOMAIN_ID`` is kept. Otherwise one is reserved by a
    lock on a file.

    Yields:
        The domain id.
    """
    chosen = os.environ.get("ROS_DOMAIN_ID")
    if chosen:
        yield chosen
        return
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    locks = Path(tempfile.gettempdir(), f"uk_dynamics_domains-{os.getuid()}")
    locks.mkdir(exist_ok=True)
    first = os.getpid() % len(_DOMAINS)
    for domain in (*_DOMAINS[first:], *_DOMAINS[:first]):
        with (locks / f"{domain}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            os.environ["ROS_DOMAIN_ID"] = str(domain)
            try:
                yield str(domain)
            finally:
                del os.environ["ROS_DOMAIN_ID"]
            return
    yield "0"  # more demonstrations than domains: share the usual one
