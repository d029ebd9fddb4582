# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The one definition of the package: pip and colcon both build from here."""

import os
from glob import glob
from pathlib import Path

from setuptools import find_packages, setup

NAME = "uk_dynamics"
HERE = Path(__file__).resolve().parent


def requirements(name):
    """Requirements of one file in requirements/, without comments."""
    lines = (HERE / "requirements" / f"{name}.txt").read_text().splitlines()
    return [entry for line in lines if (entry := line.split("#")[0].strip())]


def studies():
    """The distribution in studies/, which only a clone has, and the libraries it uses."""
    sources = HERE / "studies"
    own = [f"uk_dynamics_studies @ {sources.as_uri()}"] if sources.is_dir() else []
    return [*own, "matplotlib>=3.6", "mujoco>=3.2"]


def data_files():
    """What a ROS user starts and opens, under share/, directory by directory as it stands here."""
    files = {
        "share/ament_index/resource_index/packages": [f"resource/{NAME}"],
        f"share/{NAME}": ["package.xml"],
    }
    for top in ("launch", "config", "urdf", "rviz", "layouts"):
        for path in sorted(glob(f"{top}/**/*", recursive=True)):
            if os.path.isfile(path) and "__pycache__" not in path:
                files.setdefault(f"share/{NAME}/{os.path.dirname(path)}", []).append(path)
    return list(files.items())


NODES = (
    "simulator",
    "forward_dynamics",
    "wrench_observer",
    "servo_controller",
    "command_watchdog",
    "joint_state_completer",
    "viewer",
    "markers",
    "recorder",
)

setup(
    name=NAME,
    version="0.1.0",
    description="Constrained dynamics and servo control of closed-loop mechanisms by the"
    " Udwadia-Kalaba equation",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="uk_dynamics maintainers",
    maintainer="uk_dynamics maintainers",
    maintainer_email="maintainers@uk-dynamics.example",
    license="Apache-2.0",
    classifiers=[
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering :: Physics",
        "Typing :: Typed",
    ],
    keywords=["ROS", "robotics", "dynamics", "closed-loop mechanisms", "Udwadia-Kalaba"],
    python_requires=">=3.10",
    # The same as the default; but said, so that what `pip install --editable` leaves is a path,
    # which type checkers and editors can follow, and no finder, which they cannot.
    package_dir={"": "."},
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={
        NAME: ["py.typed"],
        f"{NAME}.mechanism.files": ["schema/*.json"],
        f"{NAME}.compilation": ["c/*.c", "c/*.h", "c/*.cu"],
        f"{NAME}.conversion": ["c_examples/*.in"],
        f"{NAME}.conversion.controller_package": ["templates/*.in"],
        f"{NAME}.viewing": ["*.json"],
        f"{NAME}.cli": ["*/*.txt"],
        f"{NAME}.ros": ["parameters/*.yaml", "*/*.txt"],
    },
    data_files=data_files(),
    zip_safe=False,
    install_requires=[
        "jsonschema>=4.10",
        "numpy>=1.24",
        "pin>=3.7",
        "PyYAML>=6.0",
        "scipy>=1.10",
        "tqdm>=4.60",
        "urdf-parser-py>=0.0.4",
        "xacro>=2.0",
    ],
    extras_require={
        "plot": ["matplotlib>=3.6"],
        "studies": studies(),
        "mjcf": ["mujoco>=3.2"],
        "usd": ["usd-core>=24.5"],
        "plan": ["casadi>=3.6"],
        "cones": ["clarabel>=0.9"],
        "crocoddyl": [
            "crocoddyl>=3.2"
        ],  # its own, since it decides the versions of Pinocchio and of robots
        "gpu": ["cupy-cuda12x>=14", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-runtime-cu12"],
        "sweep": ["dask[distributed]>=2024.1", "pyarrow>=14"],
        "robots": ["example-robot-data>=4.4"],
        "record": ["mcap-ros2-support>=0.5"],
        "ros": requirements("jazzy"),
        "view": ["pycollada>=0.8", "viser>=1.1,<2"],
        "test": requirements("test"),
        "completion": ["argcomplete>=2"],
        "docs": requirements("docs"),
        "dev": requirements("test") + requirements("dev") + requirements("docs"),
    },
    entry_points={
        "console_scripts": [
            f"{NAME} = {NAME}.__main__:run",
            *(f"{node} = {NAME}.ros.nodes.entry_points:{node}" for node in NODES),
        ],
        # commands that need running nodes; the command line finds them by name
        f"{NAME}.commands": [
            f"demo = {NAME}.ros.demo.demo:register",
            f"lifecycle = {NAME}.ros.introspection.commands:register_lifecycle",
            f"replay = {NAME}.ros.demo.replay:register",
            f"topic = {NAME}.ros.introspection.commands:register_topic",
        ],
    },
)
