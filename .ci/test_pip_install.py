# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The plain library: installed by pip into an empty environment, without ROS."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import typed_program
from support.repository import ROOT

BUILT = shutil.ignore_patterns(".*", "*.egg-info", "__pycache__")
OUTPUT = {"build", "install", "log", "out"}  # at the root; a folder of the package is called so too


def built(folder: str, names: list[str]) -> set[str]:
    """What of a folder is made, not written."""
    return BUILT(folder, names) | (OUTPUT if Path(folder) == ROOT else set())


SMOKE = """
import importlib.resources, importlib.util, json
import uk_dynamics as ukd
from uk_dynamics.resources import share_directory

mechanism = ukd.Mechanism.from_file("package://uk_dynamics/config/four_bar.yaml")
state = mechanism.state(mechanism.assemble())
package = importlib.resources.files("uk_dynamics")
print(json.dumps({
    "code": ukd.__file__,
    "share": str(share_directory()),
    "ros": importlib.util.find_spec("rclpy") is not None,
    "typed": package.joinpath("py.typed").is_file(),
    "schemas": [entry.name for entry in package.joinpath("mechanism", "files", "schema").iterdir()],
    "moves": bool(abs(ukd.forward_dynamics(mechanism, state).qdd).max() > 0.1),
}))
"""


class Installation:
    """An environment with nothing but the package, and a place to work that is not its source."""

    def __init__(self, directory: Path) -> None:
        self.prefix = directory / "environment"
        self._elsewhere = directory / "elsewhere"
        self._elsewhere.mkdir()
        self.source = shutil.copytree(ROOT, directory / "source", ignore=built)
        interpreter = os.path.realpath(sys._base_executable)
        self.run(interpreter, "-m", "venv", str(self.prefix))
        for requirement in ("pip>=25", str(self.source)):
            self.run("pip", "install", "--quiet", "--no-compile", requirement)

    def run(self, program: str, *arguments: str) -> str:
        """Run a program, of the environment unless its path is given; return its output."""
        result = subprocess.run(
            [str(self.prefix / "bin" / program), *arguments],
            cwd=self._elsewhere,
            env={key: os.environ[key] for key in os.environ if key not in INHERITED},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout


INHERITED = {"PYTHONPATH", "LD_LIBRARY_PATH", "_ROS_WHEELS_BOOTSTRAP_COMPLETE", "AMENT_PREFIX_PATH"}


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    directory = tmp_path_factory.mktemp("pip")
    yield Installation(directory)
    shutil.rmtree(directory)


def test_library_works_without_ros(installation: Installation) -> None:
    facts = json.loads(installation.run("python", "-c", SMOKE))
    assert not facts["ros"]
    assert facts["moves"]
    assert facts["typed"]
    assert {"mechanism.schema.json", "tasks.schema.json"} <= set(facts["schemas"])
    assert facts["code"].startswith(str(installation.prefix))
    assert facts["share"] == str(installation.prefix / "share" / "uk_dynamics")


def test_every_shipped_file_is_installed(installation: Installation) -> None:
    share = installation.prefix / "share" / "uk_dynamics"
    for top in ("launch", "config", "urdf", "rviz", "layouts"):
        for file in (ROOT / top).rglob("*.*"):
            if file.is_file() and "__pycache__" not in file.parts:
                assert (share / file.relative_to(ROOT)).read_bytes() == file.read_bytes()


def test_command_describes_a_shipped_mechanism(installation: Installation) -> None:
    file = str(installation.prefix / "share" / "uk_dynamics" / "config" / "four_bar.yaml")
    report = json.loads(installation.run("uk_dynamics", "describe", file, "--json"))
    assert report["mobility"] == 1, "a four-bar linkage has one degree of freedom"


def test_the_studies_come_with_their_extra_alone(installation: Installation) -> None:
    program = installation.prefix / "bin" / "uk_dynamics"
    refused = subprocess.run(
        [program, "reproduce", "--list"], cwd=installation.prefix, capture_output=True, text=True
    )
    assert refused.returncode == 2
    assert 'pip install ".[studies]"' in refused.stderr
    installation.run("pip", "install", "--quiet", "--no-compile", f"{installation.source}[studies]")
    assert "servo" in installation.run("uk_dynamics", "reproduce", "--list")
    assert "Compare simulations" in installation.run("uk_dynamics", "benchmark", "--help")


def test_a_user_has_types(installation: Installation, tmp_path: Path) -> None:
    python = installation.prefix / "bin" / "python"
    typed_program.check(python, tmp_path, ROOT / ".mypy_cache" / "installed")
