# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Compiling in a process of its own, so that no evaluation waits for it.

The compiling process, whose program is ``compile_job``, reads a pipe from the process that wants
the libraries. When that one ends, in any way, the pipe closes: the compilation is interrupted,
removes its temporary files and ends. It has a session of its own, so that Ctrl-C in a terminal
does not reach it, and a low priority. What it makes is in the cache, whole or not at all.
"""

import contextlib
import pickle
import subprocess
import sys
from typing import NamedTuple

from uk_dynamics.compilation.build.compilable import Subject
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.files import MechanismSpec, TasksSpec

_START = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer);"
    " from uk_dynamics.compilation.compile_job import main; main()"
)


class Job(NamedTuple):
    """What is to be compiled."""

    spec: MechanismSpec  # of the mechanism
    description: str  # text of its robot
    tasks: TasksSpec | None = None  # tasks whose servo law is wanted; None: the mechanism itself
    parameters: tuple[str, ...] | None = None  # that stay inputs of the code; None: none

    @classmethod
    def of(cls, subject: Subject) -> "Job":
        """The job of a mechanism, or of the servo law of tasks."""
        if isinstance(subject, Tasks):
            return cls.of(subject.mechanism)._replace(tasks=subject.spec)
        if subject.varied is not None:
            spec, description = subject.varied.base
            return cls(spec, description.text, parameters=subject.varied.names)
        return cls(subject.spec, subject.model.description.text)


def build(job: Job) -> str:
    """Have a job done and wait for it; why that failed, empty where it did not."""
    process = subprocess.Popen(
        [sys.executable, "-c", _START],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended: its status says more
            process.stdin.write(pickle.dumps(sys.path) + pickle.dumps(job))
            process.stdin.flush()
        said = process.stdout.read().decode(errors="replace").strip()
    if process.returncode == 0:
        return ""
    return said or f"the compiling process ended with status {process.returncode}"
