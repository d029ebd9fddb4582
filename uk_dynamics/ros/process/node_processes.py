# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Nodes of this package as processes, in a DDS domain of their own."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_PATIENCE = 20.0  # s until a process that does not end is aborted
_LAST_PATIENCE = 5.0  # s until one that cannot even be aborted is killed
_SHOWN_LINES = 5
STACK_LINES = 60  # of all threads
DOMAINS = range(1, 102)


class NodeProcesses:
    """Starts nodes, and ends all of them at the end."""

    def __init__(self, directory: Path) -> None:
        """Start nothing yet; ``directory`` is for the output of the nodes, ``<node>.log``."""
        self._directory = directory
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "NodeProcesses":
        return self

    def __exit__(self, kind: object, *reason: object) -> None:
        try:
            self.stop()
        except TimeoutError:
            if kind is None:  # what has gone wrong before says more
                raise

    def start(
        self,
        node: str,
        parameters: Mapping[str, object],
        remappings: Mapping[str, str] | None = None,
    ) -> None:
        """Start a node, or start it again when it has ended; ``remappings``: new by old names."""
        module = ["-m", "uk_dynamics.ros.nodes", node]
        # so that one that hangs can be asked where
        command = [sys.executable, "-X", "faulthandler", *module, "--ros-args"]
        for name, value in parameters.items():
            command += ["-p", f"{name}:={json.dumps(value)}"]
        for old, new in (remappings or {}).items():
            command += ["-r", f"{old}:={new}"]
        # a signal between start and registration would leave the process behind
        with self._log(node).open("wb") as log, _uninterrupted():
            self._processes[node] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )

    def ended(self) -> list[str]:
        """Nodes that have ended."""
        return [node for node, process in self._processes.items() if process.poll() is not None]

    def __getitem__(self, node: str) -> subprocess.Popen[bytes]:
        """The process of a node."""
        return self._processes[node]

    def last_lines(self, node: str, count: int = _SHOWN_LINES) -> str:
        """The last lines of a node's output."""
        return "\n".join(self._log(node).read_text(errors="replace").splitlines()[-count:])

    def stop(self, patience: float = _PATIENCE) -> dict[str, int]:
        """End all nodes as Ctrl-C does; return their exit codes.

        Raises:
            TimeoutError: A node did not end within ``patience`` s and was aborted; the error says
                where its threads stood. All have ended by then.
        """
        with _uninterrupted():
            for process in self._processes.values():
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)
            deadline = time.monotonic() + patience
            hung = [
                node for node, process in self._processes.items() if not _ends(process, deadline)
            ]
        if hung:
            shown = (f"{node}:\n{self.last_lines(node, STACK_LINES)}" for node in hung)
            raise TimeoutError("\n".join((f"did not end within {patience:g} s:", *shown)))
        return {node: process.returncode for node, process in self._processes.items()}

    def _log(self, node: str) -> Path:
        return self._directory / f"{node}.log"


@contextmanager
def own_domain() -> Iterator[str]:
    """Give this process and its children a DDS domain that no other process here uses.

    A domain that the user has chosen in ``ROS_DOMAIN_ID`` is kept. Otherwise one is reserved, and
    discovery is limited to this computer. Where all are in use, the default one is shared.
    """
    chosen = os.environ.get("ROS_DOMAIN_ID")
    if chosen:
        yield chosen
        return
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    with reserved_domain() as domain:
        if domain is None:
            yield "0"
            return
        os.environ["ROS_DOMAIN_ID"] = str(domain)
        try:
            yield str(domain)
        finally:
            del os.environ["ROS_DOMAIN_ID"]


@contextmanager
def reserved_domain() -> Iterator[int | None]:
    """Hold a domain id that no other process of this user holds, by the lock of a file.

    None where all are held.
    """
    locks = Path(tempfile.gettempdir(), f"uk_dynamics_domains-{os.getuid()}")
    locks.mkdir(exist_ok=True)
    first = os.getpid() % len(DOMAINS)
    for domain in (*DOMAINS[first:], *DOMAINS[:first]):
        with (locks / f"{domain}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            yield domain
            return
    yield None


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Postpone Ctrl-C and SIGTERM to the end of a block."""
    received: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: received.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if received:
        raise KeyboardInterrupt


def _ends(process: subprocess.Popen[bytes], deadline: float) -> bool:
    """Whether a process ends by itself; otherwise abort it, by which it tells where it stood."""
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        process.send_signal(signal.SIGCONT)  # or one that is suspended would not notice
        try:
            process.wait(_LAST_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        return False
    return True
