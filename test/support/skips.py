# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Skips that are expected: where tests must run, any other one is a failure.

A test that is skipped proves nothing, and nobody notices. With ``--fail-on-unlisted-skip``, and
where ``CI`` is set, a skip fails the run unless ``expected_skips.txt`` lists it.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

import pytest

from support.repository import ROOT

LIST = ROOT / "test" / "expected_skips.txt"


def expected(text: str) -> list[str]:
    """The reasons that a list allows, as patterns: all lines but comments and empty ones."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


class Skips:
    """Collects the skips of a run and judges them at its end."""

    def __init__(self, allowed: list[str]) -> None:
        self._allowed = allowed
        self.unlisted: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of a test that is skipped; one that is expected to fail is none."""
        if report.skipped and not hasattr(report, "wasxfail"):
            self._note(report.nodeid, report.longrepr)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take note of a module that is skipped."""
        if report.skipped:
            self._note(report.nodeid, report.longrepr)

    def _note(self, name: str, why: object) -> None:
        text = why[2] if isinstance(why, tuple) else str(why)
        reason = text.removeprefix("Skipped: ")
        if not any(fnmatchcase(reason, pattern) for pattern in self._allowed):
            self.unlisted.append(f"{name}: {reason}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run that has passed."""
        if self.unlisted and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name them."""
        if self.unlisted:
            terminalreporter.section("skipped, and not expected", red=True)
            for line in self.unlisted:
                terminalreporter.line(line)
            terminalreporter.line(f"install what is missing, or list the reason in {LIST.name}")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption(
        "--fail-on-unlisted-skip",
        action="store_true",
        default=os.environ.get("CI", "") not in ("", "0", "false"),
        help="fail where a test is skipped for a reason that expected_skips.txt does not list",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Watch, in the process that gathers the reports."""
    if config.getoption("fail_on_unlisted_skip") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Skips(expected(LIST.read_text(encoding="utf-8"))))
