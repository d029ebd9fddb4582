# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Run a command, and a copy of it that is interrupted at each of many moments.

``python interrupted_everywhere.py REPORT IMPORTS CALLS ARGUMENTS`` runs ``uk_dynamics ARGUMENTS``.
At every IMPORTS-th import and every CALLS-th call of a Python function it forks: the copy gets
SIGINT there and goes on to its end, while the original waits. A line of REPORT is the moment, the
status of the copy and what it wrote to stderr, as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

LONGEST = 60  # seconds; SIGALRM ends a copy that hangs


class Moments:
    """Where copies are made."""

    def __init__(self, report: Path, imports: int, calls: int) -> None:
        self.report = report
        self.imports, self.calls = imports, calls
        self.imports_seen = self.calls_seen = 0
        self.original = os.getpid()
        self.busy = False

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An import is about to begin."""
        if event == "import" and os.getpid() == self.original and not self.busy:
            # xml.etree takes whatever ends this import for a missing accelerator, and goes on
            self.imports_seen += arguments[0] != "pyexpat"
            if self.imports_seen % self.imports == 0 and arguments[0] != "pyexpat":
                self.interrupt_copy(f"import {arguments[0]}")

    def profile(self, frame: FrameType, event: str, _: object) -> None:
        """A function is called."""
        if event == "call" and os.getpid() == self.original and not self.busy:
            self.calls_seen += 1
            code = frame.f_code
            # Python writes what is raised in a callback of a weak reference, whatever it is, and
            # compiled modules write what is raised while they are imported
            callback = code.co_name == "cb" or "charset_normalizer" in code.co_filename
            if self.calls_seen >= self.calls and not callback:
                self.calls_seen = 0
                self.interrupt_copy(f"{code.co_filename}:{frame.f_lineno} {code.co_name}")

    def interrupt_copy(self, moment: str) -> None:
        """Fork; the copy returns with the signal, the original when the copy has ended."""
        if threading.active_count() > 1:
            return  # a copy would wait for locks of threads that it does not have
        self.busy = True
        with tempfile.TemporaryFile() as complaints:
            copy = os.fork()
            if copy == 0:
                os.dup2(complaints.fileno(), 2)
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                sys.setprofile(None)
                signal.alarm(LONGEST)
                signal.raise_signal(signal.SIGINT)
                return
            status = os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])
            complaints.seek(0)
            text = complaints.read().decode()
        with self.report.open("a") as lines:
            lines.write(json.dumps([moment, status, text]) + "\n")
        self.busy = False


if __name__ == "__main__":
    report, imports, calls, *arguments = sys.argv[1:]
    sys.argv = ["uk_dynamics", *arguments]
    from uk_dynamics.__main__ import run

    moments = Moments(Path(report), int(imports), int(calls))
    sys.addaudithook(moments.audit)
    sys.setprofile(moments.profile)
    status = run()
    sys.exit(status)
