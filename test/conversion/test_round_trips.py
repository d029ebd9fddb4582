# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Machines of ours, as SDF and as MJCF, imported again: the same accelerations."""

from __future__ import annotations

import numpy as np
import pytest
from support import foreign_formats
from support.mechanism_builder import closed_states, near, shipped

from uk_dynamics.conversion.importing import import_file
from uk_dynamics.mechanism.resolution.state import Inputs, State

# What was written goes through decimal texts of all digits, rotations and factorisations: rounding
# only, times the condition of M and A.
SAME = 1e-9
NAMES = ("five_bar", "rrr3", "stewart_platform")


def same_accelerations(machine, imported, shift):
    """Compare at closed states, under random forces; velocities are in the same order."""
    chance = np.random.default_rng(1)
    ours, theirs = machine.dynamics(), imported.dynamics()
    for state in closed_states(machine, chance, 8):
        inputs = Inputs(tau=chance.standard_normal(machine.model.nv))
        expected = ours.evaluate(state, inputs).qdd
        there = State(state.t, state.q - shift, state.v)
        assert np.abs(theirs.residual(there).position).max(initial=0.0) < 1e-9
        near(theirs.evaluate(there, inputs).qdd, expected, relative=SAME)


@pytest.mark.parametrize("name", NAMES)
def test_mjcf(name, tmp_path):
    pytest.importorskip("mujoco", reason="MuJoCo reads MJCF")
    machine = shipped(name)
    path = tmp_path / f"{name}.xml"
    path.write_text(foreign_formats.mjcf(machine))
    imported = import_file(path).load()
    assert imported.joint_names == machine.joint_names
    assert len(imported.actuators) == len(machine.actuators)
    same_accelerations(machine, imported, 0.0)


@pytest.mark.parametrize("name", NAMES)
def test_sdf(name, tmp_path):
    machine = foreign_formats.without_armature(shipped(name))
    drawn = machine.assemble()
    path = tmp_path / f"{name}.sdf"
    path.write_text(foreign_formats.sdf(machine, drawn))
    imported = import_file(path).load()
    assert imported.joint_names == machine.joint_names
    same_accelerations(machine, imported, drawn)


@pytest.mark.parametrize("name", ["five_bar", "rrr3"])
def test_sdf_cut_elsewhere(name, tmp_path):
    """With the pins first in the file, they are in the tree and other joints are cut."""
    machine = shipped(name)
    drawn = machine.assemble()
    path = tmp_path / f"{name}.sdf"
    path.write_text(foreign_formats.sdf(machine, drawn, loops_first=True))
    imported = import_file(path).load()
    pins = {constraint.name for constraint in machine.constraints.constraints}
    assert pins <= set(imported.joint_names)
    common = [joint for joint in machine.joint_names if joint in imported.joint_names]
    state = machine.start()
    rates = dict(zip(machine.joint_names, state.v, strict=True))
    there = imported.start(velocities={joint: rates[joint] for joint in common})
    expected = machine.dynamics().evaluate(state).qdd
    found = imported.dynamics().evaluate(there).qdd
    for joint in common:
        a = expected[machine.model.velocity_index(joint)]
        b = found[imported.model.velocity_index(joint)]
        assert abs(a - b) < SAME * max(1.0, float(np.abs(expected).max()))
