# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The library and its commands in a Python where no part of ROS can be imported."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points

import pytest
from support.repository import ROOT

BLOCK_ROS = """
import sys

class WithoutRos:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        library = name.split(".")[0]
        if library.startswith(("rcl", "rosidl", "ament_", "launch")) or library.endswith(
            ("_msgs", "_srvs", "_interfaces")
        ):
            return None
        return self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(WithoutRos, sys.meta_path)
"""

IMPORT_EVERYTHING = """
import importlib, pkgutil, uk_dynamics
for module in pkgutil.walk_packages(uk_dynamics.__path__, "uk_dynamics."):
    if not module.name.startswith("uk_dynamics.ros") and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""

USE_THE_LIBRARY = """
import json
import numpy as np
import uk_dynamics as ukd

mechanism = ukd.Mechanism.from_file("package://uk_dynamics/config/four_bar.yaml")
state = mechanism.state(mechanism.assemble())
solution = ukd.forward_dynamics(mechanism, state)
gap = mechanism.dynamics().residual(state).position
print(json.dumps({
    "gap": float(np.abs(gap).max()),
    "acceleration": float(np.abs(solution.qdd).max()),
    "residual": float(np.abs(solution.residual).max()),
}))
"""

RUN_COMMAND = """
import sys
from uk_dynamics.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code in a new process that has no ROS."""
    return subprocess.run(
        [sys.executable, "-c", BLOCK_ROS + code, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def test_the_block_holds() -> None:
    for library in ("rclpy", "sensor_msgs.msg", "std_srvs", "builtin_interfaces.msg"):
        result = python(f"import {library}")
        assert result.returncode == 1
        assert "ModuleNotFoundError" in result.stderr


@pytest.mark.slow
def test_everything_outside_the_ros_layer_can_be_imported() -> None:
    result = python(IMPORT_EVERYTHING)
    assert result.returncode == 0, result.stderr


def test_importing_the_package_loads_no_more_than_it_must() -> None:
    result = python("import uk_dynamics, sys; print(*{m.split('.')[0] for m in sys.modules})")
    assert result.returncode == 0, result.stderr
    assert not {"rclpy", "matplotlib", "tqdm"} & set(result.stdout.split())


@pytest.mark.slow
def test_a_shipped_mechanism_closes_and_moves() -> None:
    result = python(USE_THE_LIBRARY)
    assert result.returncode == 0, result.stderr
    numbers = json.loads(result.stdout)
    assert numbers["gap"] < 1e-9, "the loops close, in m or rad"
    assert numbers["acceleration"] > 0.1, "gravity moves it, in rad/s²"
    assert numbers["residual"] < 1e-9 * numbers["acceleration"], "within its constraints"


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [["--help"], ["describe", "package://uk_dynamics/config/four_bar.yaml"]]
)
def test_commands_that_need_no_nodes_work(arguments: list[str]) -> None:
    result = python(RUN_COMMAND, *arguments)
    assert result.returncode == 0, result.stderr
    assert result.stdout


@pytest.mark.skipif(
    not entry_points(group="uk_dynamics.commands"), reason="the package is not installed"
)
def test_command_that_needs_nodes_says_what_is_missing() -> None:
    result = python(RUN_COMMAND, "demo")
    assert result.returncode == 2
    assert "needs ROS 2" in result.stderr
    assert "Traceback" not in result.stderr
