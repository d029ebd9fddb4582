# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Finding files from every kind of installation, and addresses that name them."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from uk_dynamics import resources
from uk_dynamics.exceptions import InputError

SOURCE = Path(resources.__file__)


def installed_copy(directory: Path) -> ModuleType:
    """The module under test, loaded from a copy of its file below ``directory``."""
    file = directory / "uk_dynamics" / "resources.py"
    file.parent.mkdir(parents=True)
    shutil.copy(SOURCE, file)
    spec = importlib.util.spec_from_file_location("copied_resources", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def add_package(prefix: Path, name: str) -> Path:
    """Make ``prefix`` an ament index that knows a package; return the package's share directory."""
    marker = prefix / "share" / "ament_index" / "resource_index" / "packages" / name
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.touch()
    share = prefix / "share" / name
    share.mkdir(parents=True)
    (share / "package.xml").write_text("<package/>")
    return share


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty prefix, the only one that is sourced."""
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "prefix"))
    return tmp_path / "prefix"


def test_share_of_the_source_tree() -> None:
    share = resources.share_directory()
    assert share.is_absolute()
    assert (share / "package.xml").is_file()
    assert (share / "config").is_dir()


@pytest.mark.parametrize(
    "library", ["lib/python3.12/site-packages", "local/lib/python3.12/dist-packages", "target"]
)
def test_share_beside_an_installed_copy(library: str, tmp_path: Path, prefix: Path) -> None:
    own = add_package(tmp_path / "own", "uk_dynamics")
    add_package(prefix, "uk_dynamics")
    copy = installed_copy(tmp_path / "own" / library)
    assert copy.share_directory() == own, "the files beside the code win over a sourced prefix"


def test_share_through_the_ament_index(tmp_path: Path, prefix: Path) -> None:
    share = add_package(prefix, "uk_dynamics")
    assert installed_copy(tmp_path / "elsewhere").share_directory() == share


def test_code_without_its_files_is_an_error(
    tmp_path: Path, prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with pytest.raises(InputError, match="without its share directory"):
        installed_copy(tmp_path / "elsewhere").share_directory()


def test_own_package_address() -> None:
    assert resources.resolve("package://uk_dynamics/package.xml") == (
        resources.share_directory() / "package.xml"
    )


def test_other_package_is_found_in_the_first_prefix_that_knows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay, underlay = tmp_path / "overlay", tmp_path / "underlay"
    add_package(underlay, "only_below")
    add_package(underlay, "twice")
    first = add_package(overlay, "twice")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{overlay}::{underlay}:/nowhere")
    assert resources.package_directory("twice") == first
    assert resources.package_directory("only_below") == underlay / "share" / "only_below"


def test_directory_without_index_entry_is_no_package(prefix: Path) -> None:
    (add_package(prefix, "real").parent / "stray").mkdir()
    with pytest.raises(InputError, match='no package "stray"'):
        resources.package_directory("stray")


def test_package_inside_a_wheel_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    share = add_package(tmp_path / "cmeel.prefix", "robot-data")
    monkeypatch.syspath_prepend(str(tmp_path))
    (share / "arm.urdf").write_text("<robot/>")
    assert resources.resolve("package://robot-data/arm.urdf") == share / "arm.urdf"


@pytest.mark.parametrize("scheme", ["{}", "file://{}", "file://localhost{}"])
def test_absolute_addresses(scheme: str, tmp_path: Path) -> None:
    file = tmp_path / "a file.urdf"
    file.touch()
    assert resources.resolve(scheme.format(file)) == file
    assert resources.resolve(f"file://{tmp_path}/a%20file.urdf") == file


def test_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "arm.urdf").touch()
    monkeypatch.chdir(tmp_path)
    assert resources.resolve("here/arm.urdf") == tmp_path / "here" / "arm.urdf"
    assert resources.resolve(Path("arm.urdf"), relative_to=tmp_path / "here").is_absolute()


def test_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "arm.urdf").touch()
    assert resources.resolve("~/arm.urdf") == tmp_path / "arm.urdf"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (
            "package://uk_dynamcs/urdf/arm.urdf",
            'no package "uk_dynamcs"; did you mean "uk_dynamics"',
        ),
        ("package://qqq/arm.urdf", 'no package "qqq"; source the workspace'),
        ("package://uk_dynamics", "not of the form package://<package>/<path>"),
        ("package:///arm.urdf", "not of the form package://<package>/<path>"),
        ("package://uk_dynamics/pakage.xml", 'did you mean "package.xml"'),
        ("package://uk_dynamics/config", "it is a directory"),
        ("https://example.org/arm.urdf", 'has the scheme "https"'),
        ("file://host/arm.urdf", "not of the form file:///<path>"),
        ("/nowhere/at/all.urdf", "no file /nowhere/at/all.urdf; the path exists up to /"),
        ("package.xml/arm.urdf", "the path exists up to"),
    ],
)
def test_mistaken_address_says_the_remedy(address: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        resources.resolve(address, relative_to=resources.share_directory())
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "names", "expected"),
    [
        ("nope.yaml", ["pend.yaml", "arm.yaml"], None),  # what they share is the ending
        ("cable_robot", ["coordinated_robots"], None),
        ("arn.stl", ["arm.stl"], "arm.stl"),
        ("pnd.yaml", ["pend.yaml", "arm.yaml"], "pend.yaml"),
        ("arm.yml", ["arm.urdf", "arm.yaml", "ram.yml"], "arm.urdf"),
        ("arm.yaml", ["arm.urdf", "arm2.yaml"], "arm.urdf"),
        ("stewart", ["five_bar", "stewart_platform"], "stewart_platform"),
        ("a.yaml", ["pad.yaml"], None),
        ("x.yaml", [], None),
    ],
)
def test_only_files_of_similar_names_are_suggested(name, names, expected):
    assert resources.nearest_file(name, names) == expected
