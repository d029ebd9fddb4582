# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a process in the background does: it compiles one job, and verifies what it has made."""

import os
import pickle
import signal
import sys
import threading

from uk_dynamics.compilation.build.background import Job
from uk_dynamics.compilation.build.library import Library, holds_in_c, library_of
from uk_dynamics.compilation.runtime import CompiledDynamics
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import ResolvedMechanism, read_description

_NICE = 10
_INTERRUPTED = 130


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
    """Leave libraries in the cache; of a mechanism verified, so that loading takes no time."""
    mechanism = ResolvedMechanism(job.spec, read_description(job.spec, job.description))
    if job.parameters is not None:
        mechanism = mechanism.with_parameters(job.parameters)
    if job.tasks is not None:
        library_of(Tasks(job.tasks, mechanism))
    else:
        CompiledDynamics(mechanism).load()
        if holds_in_c(mechanism):
            library_of(mechanism, Library.JOINT_SPACE)
