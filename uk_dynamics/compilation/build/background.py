# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Compiling in a process of its own, so that no evaluation waits for it.

The compiling process reads a pipe from the process that wants the libraries. When that one ends,
in any way, the pipe closes: the compilation is interrupted, removes its temporary files and
ends. It has a session of its own, so that Ctrl-C in a terminal does not reach it, and a low
priority. What it makes is in the cache, whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from typing import NamedTuple

from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.files import MechanismSpec, TasksSpec
from uk_dynamics.mechanism.resolution import ResolvedMechanism, read_description

_NICE = 10
_INTERRUPTED = 130
_START = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer);"
    f" from {__name__} import main; main()"
)


class Job(NamedTuple):
    """What is to be compiled."""

    spec: MechanismSpec  # of the mechanism
    description: str  # text of its robot
    tasks: TasksSpec | None = None  # tasks whose servo law is wanted; None: the mechanism itself
    parameters: tuple[str, ...] | None = None  # that stay inputs of the code; None: none

    @classmethod
    def of(cls, subject: ResolvedMechanism | Tasks) -> Job:
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


def main() -> None:
    """Compile the job that comes through the standard input; say what is wrong in one line."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        job: Job = pickle.load(sys.stdin.buffer)
        threading.Thread(target=_end_with_parent, daemon=True).start()
        # the parent may be in a control loop with real-time priority
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.nice(_NICE)
        _compile(job)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except UkDynamicsError as error:
        sys.stdout.write(" ".join(str(error).split()))
        sys.exit(1)


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)  # nothing comes but the end
    os.kill(os.getpid(), signal.SIGINT)


def _compile(job: Job) -> None:
    from uk_dynamics.compilation.build.library import Library, library_of

    mechanism = ResolvedMechanism(job.spec, read_description(job.spec, job.description))
    if job.parameters is not None:
        mechanism = mechanism.with_parameters(job.parameters)
    if job.tasks is not None:
        library_of(Tasks(job.tasks, mechanism))
    else:
        library_of(mechanism)
        library_of(mechanism, Library.BATCH)
