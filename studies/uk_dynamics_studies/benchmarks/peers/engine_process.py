# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""An engine in a process of its own, which is asked and answers in lines of JSON.

Engines that bring another Pinocchio cannot be in the same process as ours.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uk_dynamics_studies.benchmarks.peers.peer import PeerError


class EngineProcess:
    """A program beside this module, run by a Python that has the engine."""

    def __init__(self, engine: str, variable: str, program: str, *arguments: str) -> None:
        """Start it.

        Args:
            engine: Its name in errors.
            variable: Environment variable that names the Python.
            program: File beside this one.
            arguments: Of the program.

        Raises:
            PeerError: There is no such Python.
        """
        self._engine = engine
        interpreter = shutil.which(os.environ.get(variable, ""))
        if interpreter is None:
            raise PeerError(f"{variable} names no Python that has {engine}")
        self._process = subprocess.Popen(
            [interpreter, "-I", str(Path(__file__).with_name(program)), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            text=True,
        )

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a request.

        Raises:
            PeerError: There is none, or the engine tells a problem.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            problem = "process ended: it does not solve this, or is not installed"
            raise PeerError(f"{self._engine}'s {problem}")
        answer: dict[str, Any] = json.loads(line)
        if "problem" in answer:
            raise PeerError(f"{self._engine}: {answer['problem']}")
        return answer

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
