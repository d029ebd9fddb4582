# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What all tests share: one thread per process, patient property tests, ROS tests only with ROS."""

from __future__ import annotations

import gc
import importlib.util
import os

import pytest

# Before NumPy is loaded: on small matrices threads only cost time, and they make timings jump.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A backend that changes over while a test runs would make its numbers depend on time; tests of
# ``auto`` take it back.
os.environ.setdefault("UK_DYNAMICS_BACKEND", "interpreted")

import hypothesis

pytest_plugins = ("support.nodes.ros_fixtures", "support.skips", "support.watchdog")

# A deadline per example would fail on a busy machine, where nothing is wrong. Examples are other
# ones in every run, also where CI is set: few of them a day find more than many once.
quick = hypothesis.settings(
    hypothesis.settings.get_profile("default"), deadline=None, print_blob=True, max_examples=30
)
hypothesis.settings.register_profile("uk_dynamics", quick)
hypothesis.settings.register_profile("thorough", quick, max_examples=500)
hypothesis.settings.load_profile("uk_dynamics")


@pytest.hookimpl(tryfirst=True)  # before groups are read
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip the tests marked ``ros`` where rclpy is not installed; group tests; allow retries.

    Where tests run side by side, the ROS tests of a file stay in one process, which has a DDS
    domain of its own, and so do tests marked ``together``. Only a test marked ``retry`` may fail
    in the first try.
    """
    installed = importlib.util.find_spec("rclpy")
    retrying = config.pluginmanager.hasplugin("rerunfailures")
    side_by_side = config.pluginmanager.hasplugin("xdist")
    for item in items:
        together = item.get_closest_marker("together")
        if together and side_by_side:
            item.add_marker(pytest.mark.xdist_group(*together.args))
        if item.get_closest_marker("ros"):
            if side_by_side and not together:
                item.add_marker(pytest.mark.xdist_group(item.path.stem))
            if not installed:
                item.add_marker(pytest.mark.skip(reason="rclpy is not installed"))
        if (retry := item.get_closest_marker("retry")) and retrying:
            assert retry.kwargs["reason"], f"{item.nodeid}: why?"
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_collection_finish() -> None:
    """Leave what is there now out of garbage collection: modules and tests, a million objects."""
    gc.collect()
    gc.freeze()
