# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A machine that floats, with two loops, and states of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from uk_dynamics.mechanism.resolution import State
from uk_dynamics.mechanism_class import Mechanism

# The five-bar with two loops, and nothing that holds its ground.
FIVE_BAR = """schema: 1
model:
  urdf: package://uk_dynamics/urdf/five_bar.urdf.xacro
  root: floating
actuators:
  crank_motor: {joint: crank, effort_limit: 300.0}
initial_guess: {crank: 0.6, coupler: -0.6, middle: 0.6, right: 0.6}
constraints:
  middle_pin:
    type: frame
    axes: [x, z]
    parent: {link: coupler_link, xyz: [1.0, 0.0, 0.0]}
    child: {link: middle_leg, xyz: [1.0, 0.0, 0.0]}
  right_pin:
    type: frame
    axes: [x, z]
    parent: {link: coupler_link, xyz: [2.0, 0.0, 0.0]}
    child: {link: right_leg, xyz: [1.0, 0.0, 0.0]}
"""
_GROUND = '<link name="ground">'
_MASS = """<inertial><origin xyz="0.5 0 0.1"/><mass value="20"/>
    <inertia ixx="1" iyy="2" izz="2.5" ixy="0.1" ixz="0" iyz="0"/></inertial>"""


def floating_five_bar(directory: Path, **model: Any) -> Path:
    """A mechanism file of it, whose ground has a mass; ``model`` are further keys of the model."""
    text = Mechanism.from_file("five_bar").model.description.text
    assert _GROUND in text
    (directory / "floating_five_bar.urdf").write_text(text.replace(_GROUND, _GROUND + _MASS))
    file = directory / "floating_five_bar.yaml"
    lines = FIVE_BAR.replace(
        "package://uk_dynamics/urdf/five_bar.urdf.xacro", "floating_five_bar.urdf"
    )
    for key, value in model.items():
        lines = lines.replace("  root: floating\n", f"  root: floating\n  {key}: {value}\n")
    file.write_text(lines)
    return file


SWEEP = """schema: 1
tasks:
  sweep:
    type: joint
    joint: crank
    reference: {type: sinusoid, offset: 0.6, amplitude: 0.3, frequency: 1.0}
"""


def sweep(directory: Path) -> Path:
    """A tasks file: the crank swings."""
    file = directory / "sweep.yaml"
    file.write_text(SWEEP)
    return file


def random_state(mechanism: Mechanism, rng: np.random.Generator) -> State:
    """Anywhere, turned by anything that is a rotation, moving with its loops closed."""
    q = mechanism.assemble(crank=rng.uniform(0.3, 1.2))
    for base in mechanism.model.bases:
        turn = Rotation.random(random_state=rng).as_quat()
        q[base.position] = np.append(rng.uniform(-5.0, 5.0, 3), turn)
    state = State(0.0, q, rng.standard_normal(mechanism.model.nv))
    return mechanism.dynamics().project(state)
