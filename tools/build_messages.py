# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

r"""Build Python messages of a package that is not on PyPI from its definitions.

For running tests without an installation of ROS: the generators come with the wheels of rclpy.
Needs gcc and g++. All messages, services and actions of a package, or those that are named:

    git clone https://github.com/ros-controls/control_msgs
    python tools/build_messages.py control_msgs/control_msgs out/messages \
        msg/JointTolerance.msg msg/JointComponentTolerance.msg action/FollowJointTrajectory.action
    git clone https://github.com/ros-simulation/simulation_interfaces
    python tools/build_messages.py simulation_interfaces out/messages
    export PYTHONPATH=out/messages LD_LIBRARY_PATH=out/messages
    python -m pytest test/ros/servo/test_follow_joint_trajectory.py \
        test/ros/simulation/test_standard_services.py
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import sysconfig
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import numpy as np

# What messages of services and actions contain, whether or not the manifest says so.
IMPLICIT = (
    "builtin_interfaces",
    "action_msgs",
    "unique_identifier_msgs",
    "service_msgs",
)
KINDS = ("msg", "srv", "action")
TYPE_SUPPORTS = ("rosidl_typesupport_fastrtps_c", "rosidl_typesupport_introspection_c")
PREFIX = Path(sys.prefix)


def main(definitions: str, out: str, *interfaces: str) -> int:
    """Generate, compile and install.

    Args:
        definitions: Directory of the package, with its manifest.
        out: Directory of the Python package and its libraries, of several packages too.
        interfaces: Files below ``definitions``; all of them where none is named.
    """
    os.environ["AMENT_PREFIX_PATH"] = str(PREFIX)  # the wheels do not set it
    source, target = Path(definitions).resolve(), Path(out).resolve()
    manifest = ET.parse(source / "package.xml").getroot()
    package = manifest.findtext("name", "")
    depends = [element.text or "" for element in manifest.findall("depend")]
    needed = sorted({p for p in (*depends, *IMPLICIT) if (PREFIX / "share" / p).is_dir()})
    found = (file for kind in KINDS for file in sorted(source.glob(f"{kind}/*.{kind}")))
    names = interfaces or [str(file.relative_to(source)) for file in found]
    work = target / "build" / package
    (target / package).mkdir(parents=True, exist_ok=True)
    generate(package, [f"{source}:{name}" for name in names], needed, work)
    compile_all(package, needed, work, target)
    return 0


def generate(package: str, files: Sequence[str], needed: Sequence[str], work: Path) -> None:
    """Write sources in C, C++ and Python."""
    from rosidl_cli.command.hash.api import generate_type_hashes
    from rosidl_cli.command.translate.api import translate

    share = PREFIX / "share"
    idl = translate(
        package_name=package,
        interface_files=files,
        include_paths=[str(share)],
        output_format="idl",
        output_path=work / "idl",
    )
    idl = [str(name) for name in idl]
    generate_type_hashes(
        package_name=package,
        interface_files=idl,
        include_paths=[str(share)],
        output_path=work / "hash",
    )
    names = [name.rpartition(":")[2] for name in idl]
    hashes = [f"{n}:{work / 'hash' / Path(n).with_suffix('.json')}" for n in names]
    known = [f"{p}:{file}" for p in needed for file in (share / p).rglob("*.idl")]

    def run(generator: str, function: str, *more: object) -> None:
        directory = work / generator / package
        directory.mkdir(parents=True, exist_ok=True)
        arguments = {
            "package_name": package,
            "idl_tuples": idl,
            "ros_interface_dependencies": known,
            "ros_interface_files": [name.replace(":", "/") for name in idl],
            "type_description_tuples": hashes,
            "output_dir": str(directory),
            "template_dir": str(share / generator / "resource"),
            "target_dependencies": [],
        }
        file = work / f"{generator}.json"
        file.write_text(json.dumps(arguments))
        getattr(importlib.import_module(generator), function)(str(file), *more)
        copy_visibility(package, generator, directory)

    run("rosidl_generator_c", "generate_c")
    run("rosidl_typesupport_fastrtps_c", "generate_typesupport_fastrtps_c")
    run("rosidl_typesupport_introspection_c", "generate_c")
    run("rosidl_typesupport_c", "generate_c", list(TYPE_SUPPORTS))
    run("rosidl_generator_py", "generate_py", ["rosidl_typesupport_c", *TYPE_SUPPORTS])


def copy_visibility(package: str, generator: str, directory: Path) -> None:
    """The header that says what a library exports: as in another package, renamed."""
    source = PREFIX / "include/geometry_msgs/geometry_msgs/msg"
    header = source / f"{generator}__visibility_control.h"
    if header.exists():
        text = header.read_text().replace("geometry_msgs", package)
        text = text.replace("GEOMETRY_MSGS", package.upper())
        (directory / "msg").mkdir(exist_ok=True)
        (directory / "msg" / header.name).write_text(text)


def compile_all(package: str, needed: Sequence[str], work: Path, target: Path) -> None:
    """Compile the libraries and the extension modules, each linked to those before it."""
    include = PREFIX / "include"
    options = ["-shared", "-fPIC", "-O1", f"-L{target}", f"-L{PREFIX / 'lib'}"]
    options += [f"-Wl,-rpath,{target}", f"-Wl,-rpath,{PREFIX / 'lib'}"]
    options += [f"-I{d}" for d in (include, *include.iterdir(), *work.iterdir()) if d.is_dir()]
    options += [f"-I{sysconfig.get_path('include')}", f"-I{np.get_include()}"]
    kinds = ("rosidl_generator_c", *TYPE_SUPPORTS, "rosidl_typesupport_c", "rosidl_generator_py")
    others = [
        f"-l{other}__{kind}"
        for other in needed
        for kind in kinds
        if (PREFIX / "lib" / f"lib{other}__{kind}.so").exists()
    ]
    common = ["rosidl_runtime_c", "rcutils", "rmw", "fastcdr", "rosidl_typesupport_c"]
    common += ["rosidl_typesupport_fastrtps_c", "rosidl_typesupport_fastrtps_cpp"]
    others += [f"-l{name}" for name in (*common, "rosidl_typesupport_introspection_c")]
    own: list[str] = []

    def link(name: Path, sources: list[Path]) -> None:
        compiler = ["g++", "-std=c++17"] if sources[0].suffix == ".cpp" else ["gcc"]
        libraries = [*reversed(own), *others]
        subprocess.run(
            [*compiler, *options, *map(str, sources), "-o", str(name), *libraries], check=True
        )

    for kind in kinds:
        pattern = "*_s.c" if kind == "rosidl_generator_py" else "*.c*"
        link(target / f"lib{package}__{kind}.so", sorted((work / kind).rglob(pattern)))
        own.append(f"-l{package}__{kind}")
    python = work / "rosidl_generator_py" / package
    for file in python.rglob("*.py"):
        place = target / package / file.relative_to(python)
        place.parent.mkdir(exist_ok=True)
        place.write_text(file.read_text())
    (target / package / "__init__.py").touch()
    for kind in ("rosidl_typesupport_c", "rosidl_typesupport_fastrtps_c"):
        source = python / f"_{package}_s.ep.{kind}.c"
        link(target / package / f"{package}_s__{kind}.so", [source])


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    raise SystemExit(main(*sys.argv[1:]))
