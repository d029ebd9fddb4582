# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The shipped ladder with any number of cells.

xacro takes time that grows with the square of what it writes: minutes for 500 cells. One cell is
therefore expanded, and the others are copies of it with the next numbers.
"""

from __future__ import annotations

import copy
import functools
import xml.etree.ElementTree as ET
from collections.abc import Sequence

import numpy as np

from uk_dynamics import resources
from uk_dynamics.mechanism.files import MechanismSpec
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.urdf import read_source

_SHIPPED = "package://uk_dynamics/config/loop_ladder.yaml"


def loop_ladder(cells: int, **replaced: str) -> Mechanism:
    """A ladder of at least one cell; ``replaced`` substitutes text of the mechanism file."""
    text = resources.resolve(_SHIPPED).read_text(encoding="utf-8")
    text = text.replace("{cells: 5}", f"{{cells: {cells}}}")
    for old, new in replaced.items():
        text = text.replace(old, new)
    spec = MechanismSpec.from_text(text, file="loop_ladder.yaml")
    return Mechanism.from_spec(spec, robot_description=urdf(cells))


def swinging(mechanism: Mechanism, seed: int = 0) -> State:
    """A state of a ladder in which every cell has an angle and a speed of its own, loops closed."""
    generator = np.random.default_rng(seed)
    cells = len(mechanism.joint_names) // 3
    angle, speed = generator.uniform(-0.8, 0.8, cells), generator.uniform(-1.0, 1.0, cells)
    return mechanism.state(_by_joint(angle), _by_joint(speed))


def _by_joint(values: Sequence[float] | np.ndarray) -> dict[str, float]:
    found = {}
    for cell, value in enumerate(values, start=1):
        found[f"right_{cell}"] = found[f"left_{cell}"] = float(value)
        found[f"level_{cell}"] = -float(value)
    return found


def urdf(cells: int) -> str:
    """URDF text of a ladder."""
    root = ET.fromstring(_one_cell())
    parts = [part for part in root if part.get("name", "").endswith("_1")]
    for cell in range(2, cells + 1):
        for part in parts:
            root.append(_renumbered(part, cell))
    return ET.tostring(root, encoding="unicode")


@functools.cache
def _one_cell() -> bytes:
    source = read_source(
        "package://uk_dynamics/urdf/loop_ladder.urdf.xacro", arguments={"cells": "1"}
    )
    return source.text


def _renumbered(part: ET.Element, cell: int) -> ET.Element:
    numbers = {"_1": f"_{cell}", "_0": f"_{cell - 1}"}
    part = copy.deepcopy(part)
    for element in (part, part.find("parent"), part.find("child")):
        for key in ("name", "link"):
            if element is not None and (name := element.get(key)):
                element.set(key, name[:-2] + numbers.get(name[-2:], name[-2:]))
    return part
