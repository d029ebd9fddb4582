# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Whatever tree it is: a draft of it loads, and written again it is the same machine."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support import foreign_formats, random_urdf

from uk_dynamics.conversion.drafting.draft import draft
from uk_dynamics.conversion.importing import import_file
from uk_dynamics.conversion.robot.imported_robot import ImportedRobot
from uk_dynamics.conversion.robot.urdf_text import urdf_text
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.robot_model import RobotModel

SINGLE = ("revolute", "prismatic", "continuous", "fixed")
FEW = settings(max_examples=15, deadline=None)
ROUNDING = 1e-11  # of masses of some kg and lengths of some m, through rotations and their angles


def same_dynamics(one, other, seed):
    """Compare mass matrix and bias forces at states by chance."""
    chance = np.random.default_rng(seed)
    workspaces = one.workspace(), other.workspace()
    for _ in range(3):
        q = one.integrate(one.neutral(), chance.normal(size=one.nv))
        v = chance.normal(size=one.nv)
        for workspace in workspaces:
            workspace.update(q, v)
        first, second = workspaces
        scale = max(1.0, float(np.abs(first.mass).max(initial=0.0)))
        np.testing.assert_allclose(second.mass, first.mass, rtol=0, atol=ROUNDING * scale)
        scale = max(1.0, float(np.abs(first.bias).max(initial=0.0)))
        np.testing.assert_allclose(second.bias, first.bias, rtol=0, atol=ROUNDING * scale)


@FEW
@given(random_urdf.trees())
def test_a_draft_loads_as_it_is(tree):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "own.urdf")
        path.write_text(tree.text)
        found = draft(str(path), path.parent)
        file = path.with_suffix(".yaml")
        file.write_text(found.text)
        mechanism = Mechanism.from_file(file)
        assert mechanism.report().mobility == found.report.mobility


@FEW
@given(random_urdf.trees())
def test_a_urdf_written_again_is_the_same(tree):
    model = RobotModel.from_urdf(tree.text)
    description = model.description
    robot = ImportedRobot("again", list(description.links), list(description.joints))
    again = RobotModel.from_urdf(urdf_text(robot))
    assert again.link_names == model.link_names
    assert again.velocity_names == model.velocity_names
    np.testing.assert_array_equal(again.lower, model.lower)
    np.testing.assert_array_equal(again.upper, model.upper)
    same_dynamics(model, again, tree.seed)


@FEW
@given(random_urdf.trees(types=SINGLE), st.booleans())
def test_sdf_of_a_tree_is_the_same(tree, drawn_elsewhere):
    """Links drawn in the model, joints where they are: also when it is not drawn at zero."""
    machine = Mechanism.from_spec(
        MechanismSpec.from_text("schema: 1\n"), robot_description=tree.text
    )
    if not machine.model.nv:
        return
    drawn = machine.model.neutral()
    if drawn_elsewhere:
        drawn = np.random.default_rng(tree.seed).normal(size=machine.model.nq)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "own.sdf")
        path.write_text(foreign_formats.sdf(machine, drawn))
        imported = import_file(path).load().model
    names = [machine.model.velocity_names.index(name) for name in imported.velocity_names]
    chance = np.random.default_rng(tree.seed)
    ours, theirs = machine.model.workspace(), imported.workspace()
    q, v = chance.normal(size=(2, machine.model.nv))
    ours.update(q, v)
    theirs.update((q - drawn)[names], v[names])
    scale = max(1.0, float(np.abs(ours.bias).max()))
    np.testing.assert_allclose(theirs.bias, ours.bias[names], rtol=0, atol=ROUNDING * scale)
    scale = max(1.0, float(np.abs(ours.mass).max()))
    expected = ours.mass[np.ix_(names, names)]
    np.testing.assert_allclose(theirs.mass, expected, rtol=0, atol=ROUNDING * scale)


def test_a_draft_has_contacts_of_collision_shapes_as_a_comment(tmp_path):
    body = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    path = tmp_path / "leg.urdf"
    path.write_text(
        f'<robot name="leg"><link name="world"/><link name="foot">{body}</inertial>'
        '<collision><origin xyz="0 0 -1"/><geometry><sphere radius="0.1"/></geometry></collision>'
        '</link><joint name="slide" type="prismatic"><parent link="world"/><child link="foot"/>'
        '<axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint></robot>'
    )
    text = draft(str(path), tmp_path).text
    _, _, contacts = text.partition("# contacts:")
    active = "\n".join(line.replace("# ", "", 1) for line in contacts.splitlines())
    file = path.with_suffix(".yaml")
    file.write_text(f"{text}\ncontacts:{active}\n")
    machine = Mechanism.from_file(file)
    (one,) = machine.one_sided
    assert (one.name, one.friction) == ("foot_on_ground", 0.5)
    assert not Mechanism.from_spec(MechanismSpec.from_text(text, directory=tmp_path)).one_sided
