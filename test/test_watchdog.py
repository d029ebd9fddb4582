# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What hangs fails by its name, with the stack where it stood, and what comes after it runs."""

from __future__ import annotations

import pytest
from support.repository import ROOT

pytest_plugins = ("pytester",)

TESTS = """
import ctypes
import threading
import pytest

library = ctypes.CDLL(None)
ran = []

def test_hangs_in_python():
    threading.Event().wait()

def test_hangs_in_c():  # a mutex that this very thread has locked; signals do not end the wait
    mutex = (ctypes.c_long * 16)()
    library.pthread_mutex_lock(mutex)
    library.pthread_mutex_lock(mutex)

@pytest.fixture
def failing():
    yield
    threading.Event().wait()

def test_hangs_after_a_failure(failing):
    assert False

def test_passes():
    pass
"""


@pytest.mark.slow
def test_what_hangs_fails_and_others_run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "test"))
    pytester.makepyfile(TESTS)
    side_by_side = ("-p", "support.watchdog", "--numprocesses=1", "--dist=loadgroup")
    result = pytester.runpytest_subprocess(*side_by_side, "--timeout=1", timeout=120)
    result.assert_outcomes(failed=4, passed=1)
    result.stdout.fnmatch_lines_random(
        [
            "E * Failed: Timeout (>1.0s) from pytest-timeout.",
            "worker 'gw0' crashed while running '*::test_hangs_in_c'",
            "worker 'gw1' crashed while running '*::test_hangs_after_a_failure'",
        ]
    )
    result.stderr.fnmatch_lines(["*, line * in test_hangs_in_c", "*, line * in failing"])
