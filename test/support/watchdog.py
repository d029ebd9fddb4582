# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A test that hangs fails, wherever it hangs, and the others run.

pytest-timeout fails a test by an exception, which is raised when the interpreter comes to its next
instruction: in a library that does not return it never comes. Nor is there one after a failure, in
finalizers and in a second try, since pytest-timeout stands back where a debugger might begin. So
each phase of a test has a limit beyond which the process is ended. Where tests run side by side,
xdist tells which test it was, and goes on with another process.
"""

from __future__ import annotations

import faulthandler
import os
import sys
from collections.abc import Iterator

import pytest
from xdist.scheduler import LoadGroupScheduling
from xdist.workermanage import WorkerController


class Watchdog:
    """Writes where all threads of Python stand and ends the process, without asking it."""

    def __init__(self, timeout: float) -> None:
        self._limit = 1.2 * timeout  # s; pytest-timeout is first
        # as it is before output is captured, and where xdist replaces sys.stderr
        self._output = os.fdopen(os.dup(sys.__stderr__.fileno()), "w")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        faulthandler.dump_traceback_later(self._limit, exit=True, file=self._output)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()

    pytest_runtest_call = pytest_runtest_teardown = pytest_runtest_setup


def pytest_configure(config: pytest.Config) -> None:
    """Watch, unless a debugger may hold a test up."""
    given = config.getoption("timeout")
    timeout = float(config.getini("timeout") if given is None else given)
    if timeout and not config.option.usepdb:
        config.pluginmanager.register(Watchdog(timeout))


class Scheduling(LoadGroupScheduling):
    """Groups of tests, of which one that has ended its process is not tried again."""

    def remove_node(self, node: WorkerController) -> str | None:
        """Tell which test ended a process; leave what else was before it to others."""
        units = self.assigned_work[node]
        pending = [(unit, name) for unit in units.values() for name in unit if not unit[name]]
        for unit, name in pending[:1]:
            unit[name] = True
        self.assigned_work[node] = {
            scope: units[scope] for scope in units if not all(units[scope].values())
        }
        super().remove_node(node)
        return pending[0][1] if pending else None

    def schedule(self) -> None:
        """Give two groups to a new process, too: it begins a test when it knows the next."""
        super().schedule()
        super().schedule()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Scheduling | None:
    """Schedule groups, where that is asked for."""
    return Scheduling(config, log) if config.getvalue("dist") == "loadgroup" else None
