# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Python processes without the time that imports take: forked from a server that has done them.

A node imports for 1.5 s of processor time before it does anything, and the tests start hundreds.
What is forked is a process like any other, with its own arguments, environment, directory, output
and session; it is started and watched here as :class:`subprocess.Popen` does it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from support.nodes import fork_server


class ForkedProcess:
    """A process that a :class:`ForkServer` has started.

    Attributes:
        pid: Process id.
        returncode: Exit code, negative for a signal; None until the end has been noticed.
    """

    def __init__(self, command: Sequence[str], watch: socket.socket) -> None:
        self._command = command
        self._watch = watch
        self.pid = int(watch.recv(64) or b"-1")
        assert self.pid > 0, "the server that forks processes has ended"
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while the process runs."""
        return self._noticed(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code.

        Raises:
            subprocess.TimeoutExpired: It did not come within ``timeout`` s.
        """
        code = self._noticed(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self._command, timeout or 0.0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def _noticed(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._watch], [], [], timeout)[0]:
            # nothing comes where the server itself was killed
            self.returncode = int(self._watch.recv(64) or -signal.SIGKILL)
            self._watch.close()
        return self.returncode


class ForkServer:
    """A process that has imported modules, and forks others that need them."""

    def __init__(self, modules: Sequence[str]) -> None:
        """Start the server.

        Args:
            modules: What it imports: nothing that starts threads or opens connections.
        """
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, fork_server.__file__, str(theirs.fileno()), *modules],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    def start(
        self,
        command: Sequence[str],
        *,
        stdout: IO[bytes],
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        start_new_session: bool = False,
    ) -> ForkedProcess:
        """Start ``python -m MODULE ARGUMENT...``; input is empty, errors go where output goes."""
        interpreter, option, module, *arguments = command
        assert (interpreter, option) == (sys.executable, "-m"), "only Python modules can be forked"
        request = {
            "module": module,
            "arguments": arguments,
            "env": dict(os.environ if env is None else env),
            "cwd": str(cwd or Path.cwd()),
            "new_session": start_new_session,
        }
        watch, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            descriptors = [stdout.fileno(), theirs.fileno()]
            socket.send_fds(self._requests, [json.dumps(request).encode()], descriptors)
        return ForkedProcess(command, watch)

    def close(self) -> None:
        """End the server, not what it has started."""
        self._requests.close()
        self._process.wait()
