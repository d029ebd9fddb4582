# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Nodes as processes of their own: started with parameters, stopped by a signal, output kept."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from support.nodes.forked_process import ForkedProcess, ForkServer
from support.waiting import DEADLINE, wait_until

LAST_PATIENCE = 5.0  # s
_numbers = itertools.count()


def node_command(
    executable: str,
    *,
    directory: Path,
    parameters: Mapping[str, Any] | None = None,
    remappings: Mapping[str, str] | None = None,
    namespace: str = "",
    name: str = "",
) -> list[str]:
    """Return the command line that starts a node of this package from where the tests run.

    Args:
        executable: Name of the node's executable and module.
        directory: Where the file with the parameters is written.
        parameters: Parameter values by name.
        remappings: New names of topics and services by their old ones.
        namespace: Namespace of the node.
        name: Name of the node; its own when empty.

    Returns:
        The command, ready to be run.
    """
    rules = dict(remappings or {})
    if namespace:
        rules["__ns"] = "/" + namespace.strip("/")
    if name:
        rules["__node"] = name
    command = [sys.executable, "-m", "uk_dynamics.ros.nodes", executable, "--ros-args"]
    for old, new in rules.items():
        command += ["-r", f"{old}:={new}"]
    if parameters:
        file = directory / f"{executable}_{next(_numbers)}.yaml"
        file.write_text(yaml.safe_dump({"/**": {"ros__parameters": dict(parameters)}}))
        command += ["--params-file", str(file)]
    return command


def _family(pid: int) -> list[int]:
    """Ids of the processes that a process has started, and those that these have started."""
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    pids = [int(child) for child in listed.read_text().split()] if listed.exists() else []
    return [*pids, *itertools.chain.from_iterable(_family(child) for child in pids)]


class NodeProcess:
    """A running process whose output goes to a file.

    Attributes:
        command: What was started; forked where a server for that is given.
    """

    def __init__(
        self,
        command: list[str],
        log: Path,
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        new_session: bool = False,
        fork_server: ForkServer | None = None,
    ) -> None:
        self.command = command
        self._log = log
        options: dict[str, Any] = {"env": env, "cwd": cwd, "start_new_session": new_session}
        self._process: subprocess.Popen[bytes] | ForkedProcess
        with log.open("wb") as output:
            if fork_server:
                self._process = fork_server.start(command, stdout=output, **options)
            else:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    **options,
                )

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def output(self) -> str:
        """What the process has written so far, errors included."""
        return self._log.read_text(errors="replace")

    @property
    def exit_code(self) -> int | None:
        """Exit code, or None while the process runs."""
        return self._process.poll()

    @property
    def running(self) -> bool:
        """Whether the process has not ended yet."""
        return self.exit_code is None

    def wait_for_output(self, text: str, timeout: float = DEADLINE) -> None:
        """Wait until the process has written a text; fail when it ends without it."""

        def written() -> bool:
            if text in self.output:
                return True
            assert self.running or text in self.output, self.report(f'ended without "{text}"')
            return False

        try:
            wait_until(written, f'"{text}"', timeout)
        except AssertionError as error:
            raise AssertionError(self.report(str(error))) from None

    def wait(self, timeout: float = DEADLINE) -> int:
        """Wait for the end of the process and return its exit code."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(self.report(f"still runs after {timeout:.0f} s")) from None

    def send_signal(self, signum: int) -> None:
        """Send a signal, unless the process has ended."""
        self._process.send_signal(signum)

    def stop(self, signum: int = signal.SIGINT, timeout: float = DEADLINE) -> int:
        """Send a signal, wait for the end of the process and return its exit code."""
        self._process.send_signal(signum)
        return self.wait(timeout)

    def end(self, timeout: float = DEADLINE) -> bool:
        """End the process by all means; tell whether it obeyed SIGINT."""
        if self.running:
            self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._kill()
            print(self.report("was killed"))  # noqa: T201  pytest shows it with the failure
            return False
        return True

    def _kill(self) -> None:
        """Kill the process and what it has started, which would otherwise run on for ever.

        Aborted, it writes first where its threads stood.
        """
        family = _family(self.pid)
        self._process.send_signal(signal.SIGABRT)
        try:
            self._process.wait(LAST_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pid in family:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def report(self, event: str) -> str:
        """What has happened to the process, and what it has written."""
        return f"{' '.join(self.command)}: {event}; its output:\n{self.output}"
