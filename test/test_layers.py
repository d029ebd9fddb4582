"""Imports run downwards only, and each foreign library has one place.

The source is read, not run, so that imports inside functions and for type checkers count as well.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "uk_dynamics"

# From top to bottom; those on one line do not know each other. The empty name is the package
# itself, the names it offers.
LAYERS = (
    ("__main__",),
    ("ros",),
    ("cli",),
    ("papers", "benchmarks", "sweeps", "viewing", "conversion", "checks"),
    ("",),
    ("simulation", "control"),
    ("compilation",),
    ("mechanism",),
    ("forces",),
    ("constraints",),
    ("model",),
    ("core",),
    ("resources", "threads", "whole_file"),
    ("exceptions",),
)
RANK = {name: rank for rank, names in enumerate(reversed(LAYERS)) for name in names}

# Libraries that only one layer may know; the first of two is its home.
HOME = {
    "pinocchio": ("model", "benchmarks"),  # its solvers are measured beside ours
    "eigenpy": ("model",),
    "urdf_parser_py": ("model",),
    "xacro": ("model",),
    "mujoco": ("benchmarks", "conversion"),
    "pydrake": ("benchmarks",),
    "jax": ("compilation", "benchmarks"),
    "viser": ("viewing",),
}
CORE_LIBRARIES = {"numpy", "scipy"}
ROS_LIBRARIES = {
    "rclpy",
    "rosidl_runtime_py",
    "tf2_ros",
    "ament_index_python",
    "builtin_interfaces",
    "launch",
    "launch_ros",
}
ROS_SUFFIXES = ("_msgs", "_srvs", "_interfaces")


class Import(NamedTuple):
    """One import statement of a file of the package."""

    layer: str
    target: str
    place: str


def layer_of(module: str) -> str:
    """Layer of a module of this package, given by its dotted name."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def imports(root: Path) -> Iterator[Import]:
    """All imports in the package below ``root``."""
    for file in sorted((root / PACKAGE).rglob("*.py")):
        path = file.relative_to(root).with_suffix("")
        layer = layer_of(".".join(path.parts).removesuffix(".__init__"))
        for node in ast.walk(ast.parse(file.read_text(), str(file))):
            for target in targets(node, root):
                yield Import(layer, target, f"{file.relative_to(root)}:{node.lineno}")


def targets(node: ast.AST, root: Path) -> list[str]:
    """Dotted names of the modules that a statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    assert node.module, "imports are absolute"
    if node.module != PACKAGE:
        return [node.module]
    return [
        f"{PACKAGE}.{alias.name}" if is_module(root / PACKAGE / alias.name) else PACKAGE
        for alias in node.names
    ]


def is_module(path: Path) -> bool:
    """Whether there is a module or package at a path, given without suffix."""
    return path.is_dir() or path.with_suffix(".py").is_file()


def is_ros(target: str) -> bool:
    """Whether a module comes with ROS."""
    library = target.split(".")[0]
    return (
        library in ROS_LIBRARIES or library.startswith("launch") or library.endswith(ROS_SUFFIXES)
    )


def violations(root: Path) -> list[str]:
    """One line per import that the layers do not allow."""
    return [f"{entry.place}: {reason}" for entry in imports(root) if (reason := objection(entry))]


def objection(entry: Import) -> str:
    """Why an import is not allowed; empty when it is."""
    layer, target, _ = entry
    library = target.split(".")[0]
    if library == PACKAGE:
        below = layer_of(target)
        if below != layer and RANK[below] >= RANK[layer]:
            return f"{layer or PACKAGE} imports {target}, which is not below it"
    elif is_ros(target) and layer != "ros":
        return f"{target} is for uk_dynamics/ros only"
    elif layer not in HOME.get(library, (layer,)):
        return f"{target} is for uk_dynamics/{HOME[library][0]} only"
    elif layer == "core" and not (library in CORE_LIBRARIES or is_standard(library)):
        return f"uk_dynamics/core takes arrays and needs no {target}"
    elif layer in ("exceptions", "resources") and not is_standard(library):
        return f"uk_dynamics/{layer}.py needs no {target}"
    return ""


def is_standard(library: str) -> bool:
    """Whether a library comes with Python."""
    return library in sys.stdlib_module_names


def write(root: Path, file: str, source: str) -> None:
    """Make a package with all layers, and one file in it."""
    for layer in set(RANK) - {"", "__main__"}:
        (root / PACKAGE / layer).mkdir(parents=True)
    (root / PACKAGE / file).write_text(source)


def test_imports_run_downwards() -> None:
    assert not violations(ROOT)


def test_every_part_of_the_package_has_its_layer() -> None:
    parts = {
        path.stem
        for path in (ROOT / PACKAGE).iterdir()
        if path.suffix == ".py" or any(path.glob("*.py"))
    }
    assert parts - {"__init__"} <= set(RANK)


def test_contributors_are_told_of_every_layer() -> None:
    told = (ROOT / "CONTRIBUTING.md").read_text()
    for layer in set(RANK) - {"", "__main__"}:
        assert f"{layer}/`" in told or f"{layer}.py`" in told, f"CONTRIBUTING.md misses {layer}"


@pytest.mark.parametrize(
    ("file", "statement", "reason"),
    [
        ("core/equation.py", "from uk_dynamics.model import RobotModel", "not below"),
        ("core/equation.py", "import uk_dynamics", "not below"),
        ("core/equation.py", "import jsonschema", "takes arrays"),
        ("control/servo.py", "from uk_dynamics.simulation.stepper import step", "not below"),
        ("model/tree.py", "def late():\n    from uk_dynamics import cli", "not below"),
        ("__init__.py", "from uk_dynamics.ros.simulator import Simulator", "not below"),
        ("mechanism/assembly.py", "import pinocchio as pin", "uk_dynamics/model only"),
        ("mechanism/assembly.py", "from rclpy.node import Node", "uk_dynamics/ros only"),
        ("cli/main.py", "from sensor_msgs.msg import JointState", "uk_dynamics/ros only"),
        ("cli/main.py", "import launch.actions", "uk_dynamics/ros only"),
        ("resources.py", "import numpy", "needs no numpy"),
    ],
)
def test_forbidden_import_is_found(file: str, statement: str, reason: str, tmp_path: Path) -> None:
    write(tmp_path, file, f"import math\n{statement}\n")
    (found,) = violations(tmp_path)
    assert reason in found
    assert file in found


@pytest.mark.parametrize(
    ("file", "statement"),
    [
        ("ros/simulator.py", "import rclpy\nimport uk_dynamics\nfrom uk_dynamics.cli import main"),
        ("__init__.py", "from uk_dynamics.mechanism.mechanism import Mechanism"),
        ("papers/falco.py", "import uk_dynamics as ukd\nfrom uk_dynamics import simulate"),
        ("model/tree.py", "import pinocchio\nimport numpy\nfrom uk_dynamics import exceptions"),
        ("core/equation.py", "import scipy.linalg\nfrom uk_dynamics.core.mass import Mass"),
    ],
)
def test_usual_imports_are_allowed(file: str, statement: str, tmp_path: Path) -> None:
    write(tmp_path, file, f"{statement}\n")
    assert not violations(tmp_path)
