# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The places that describe the package say the same: manifest, build, requirements, changelog."""

from __future__ import annotations

import ast
import re
import runpy
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import setuptools
from support.repository import ROOT

# rosdep key or ROS package by what is imported, where the two differ
KEYS = {
    "jsonschema": "python3-jsonschema",
    "matplotlib": "python3-matplotlib",
    "numpy": "python3-numpy",
    "scipy": "python3-scipy",
    "tqdm": "python3-tqdm",
    "urdf_parser_py": "urdfdom_py",
    "yaml": "python3-yaml",
}
# pip requirement by what is imported, where the two differ
REQUIREMENTS = {"pinocchio": "pin", "urdf_parser_py": "urdf-parser-py", "yaml": "PyYAML"}
# what only launch files and uk_dynamics.ros.process use; pip brings none of it
LAUNCHING = {"launch", "launch_ros"}
# used where it is installed, never required
OPTIONAL = {
    "argcomplete",
    "casadi",
    "clarabel",
    "crocoddyl",
    "placo",
    "rich",  # of viser
    "trimesh",  # of viser
    "viser",
    "control_msgs",
    "controller_manager_msgs",
    "mcap",
    "mcap_ros2",
    "simulation_interfaces",
    "tf2_msgs",
}


@pytest.fixture(scope="module")
def manifest() -> ET.Element:
    return ET.parse(ROOT / "package.xml").getroot()


@pytest.fixture(scope="module")
def build() -> dict[str, Any]:
    """The arguments that setup.py hands to setuptools."""
    arguments: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setattr(setuptools, "setup", arguments.update)
        runpy.run_path(str(ROOT / "setup.py"))
    return arguments


def pinned(distribution: str) -> dict[str, str]:
    """Version by name of the ROS wheels of a distribution."""
    lines = (ROOT / "requirements" / f"{distribution}.txt").read_text().splitlines()
    found = (re.fullmatch(r"ros-([\w-]+)(?:\[\w+\])?==([\d.]+)", line) for line in lines)
    return {match[1].replace("-", "_"): match[2] for match in found if match}


def imported(directory: str) -> dict[str, str]:
    """Libraries that the code imports beyond Python's own, and a file that does."""
    libraries: dict[str, str] = {}
    for file in sorted((ROOT / directory).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            else:
                continue
            for library in (name.split(".")[0] for name in names):
                if library not in sys.stdlib_module_names | {"uk_dynamics"} | OPTIONAL:
                    libraries[library] = str(file.relative_to(ROOT))
    return libraries


def test_manifest_and_build_describe_the_same_package(
    manifest: ET.Element, build: dict[str, Any]
) -> None:
    assert manifest.findtext("name") == build["name"]
    assert manifest.findtext("version") == build["version"]
    assert manifest.findtext("license") == build["license"]
    contact = manifest.find("maintainer")
    assert contact is not None
    assert (contact.text, contact.get("email")) == (build["maintainer"], build["maintainer_email"])


def test_the_studies_have_the_version_of_the_package(build: dict[str, Any]) -> None:
    text = (ROOT / "studies" / "pyproject.toml").read_text()
    assert f'version = "{build["version"]}"' in text


def test_changelog_knows_the_version(build: dict[str, Any]) -> None:
    log = (ROOT / "CHANGELOG.rst").read_text()
    versions = re.findall(r"^(Forthcoming|[\d.]+)(?: \([\d-]+\))?\n-+$", log, re.MULTILINE)
    assert versions[0] in ("Forthcoming", build["version"])


def test_release_tools_read_manifest_and_changelog(build: dict[str, Any]) -> None:
    """What bloom reads, once ``catkin_prepare_release`` has given the changes a version."""
    changelogs = pytest.importorskip("catkin_pkg.changelog")
    packages = pytest.importorskip("catkin_pkg.package")
    assert packages.parse_package(str(ROOT / "package.xml")).name == build["name"]
    text = (ROOT / "CHANGELOG.rst").read_text()
    today = f"{build['version']} (2026-01-01)"
    text = text.replace("Forthcoming\n-----------", f"{today}\n{'-' * len(today)}")
    log = changelogs.Changelog()
    changelogs.populate_changelog_from_rst(log, text)
    (release,) = log.foreach_version()
    version, _, (changes,) = release
    assert version == build["version"]
    assert len(changes.bullets) == text.count("\n* ")


@pytest.mark.slow
@pytest.mark.parametrize("directory", ["uk_dynamics", "launch"])
def test_every_import_is_declared_for_rosdep(directory: str, manifest: ET.Element) -> None:
    keys = {entry.text for entry in manifest.iter("exec_depend")}
    for library, file in imported(directory).items():
        assert KEYS.get(library, library) in keys, f"package.xml misses {library} of {file}"


@pytest.mark.slow
def test_every_import_is_declared_for_pip(build: dict[str, Any]) -> None:
    requirements = [*build["install_requires"], *build["extras_require"]["plot"]]
    names = {re.split(r"[<>=\[]", requirement)[0] for requirement in requirements}
    ros = pinned("jazzy").keys() & pinned("kilted").keys()
    for library, file in imported("uk_dynamics").items():
        if library in LAUNCHING:
            assert file.startswith("uk_dynamics/ros/process/launch_")
            continue
        assert library in ros or REQUIREMENTS.get(library, library) in names, (
            f"{file} imports {library}, which no requirement brings"
        )


@pytest.mark.parametrize(
    ("distribution", "messages", "interfaces"),
    [("jazzy", "5.3.", "2.0."), ("kilted", "5.5.", "2.3.")],
)
def test_pinned_family_is_of_one_distribution(
    distribution: str, messages: str, interfaces: str
) -> None:
    versions = pinned(distribution)
    for package in ("sensor_msgs", "std_msgs", "std_srvs", "trajectory_msgs", "geometry_msgs"):
        assert versions[package].startswith(messages)
    for package in ("lifecycle_msgs", "rosgraph_msgs", "rcl_interfaces", "builtin_interfaces"):
        assert versions[package].startswith(interfaces)


def test_every_shipped_file_is_installed_where_it_stands(build: dict[str, Any]) -> None:
    installed = {
        f"{target}/{Path(file).name}": file
        for target, files in build["data_files"]
        for file in files
    }
    assert len(installed) == sum(len(files) for _, files in build["data_files"])
    assert "share/ament_index/resource_index/packages/uk_dynamics" in installed
    for top in ("launch", "config", "urdf", "rviz", "layouts"):
        for file in (ROOT / top).rglob("*.*"):
            path = file.relative_to(ROOT)
            if file.is_file() and "__pycache__" not in path.parts:
                assert installed.get(f"share/uk_dynamics/{path}") == str(path)


def test_entry_points_lead_to_functions(build: dict[str, Any]) -> None:
    for group in build["entry_points"].values():
        for entry in group:
            module, function = entry.split(" = ")[1].split(":")
            file = ROOT / (module.replace(".", "/") + ".py")
            tree = ast.parse(file.read_text())
            defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            # or assigned: the nodes are partial functions
            assigned = (
                t for node in tree.body if isinstance(node, ast.Assign) for t in node.targets
            )
            assert function in defined | {t.id for t in assigned if isinstance(t, ast.Name)}


def test_every_source_file_says_whose_it_is() -> None:
    # REP-2004, 3.iv
    suffixes = {".py", ".c", ".h", ".cpp"}
    places = ("uk_dynamics", "test", "docs", "studies", "examples", "launch", ".ci", "tools")
    sources = [x for place in places for x in (ROOT / place).rglob("*") if x.suffix in suffixes]
    assert len(sources) > 900
    silent = [
        str(x.relative_to(ROOT))
        for x in sources
        if (text := x.read_text(encoding="utf-8")) and "Copyright 2026" not in text[:300]
    ]
    assert not silent
