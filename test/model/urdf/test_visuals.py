# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Shapes of links as the URDF gives them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.urdf.reading import read_urdf_text
from uk_dynamics.model.urdf.visuals import GREY, Box, Cylinder, MeshFile, Sphere, appearance

ROBOT = """
<robot name="r">
  <material name="red"><color rgba="1 0 0 0.5"/></material>
  <link name="base">
    <visual>
      <origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>
      <geometry><box size="0.1 0.2 0.3"/></geometry>
      <material name="red"/>
    </visual>
    <visual><geometry><cylinder radius="0.1" length="2"/></geometry></visual>
    <visual>
      <geometry><sphere radius="0.5"/></geometry>
      <material name="own"><color rgba="0 1 0 1"/></material>
    </visual>
    {more}
  </link>
</robot>
"""


def _appearance(more: str = "", directory: Path | None = None):
    return appearance(read_urdf_text(ROBOT.format(more=more)), directory)


def test_shapes_places_and_colours():
    found = _appearance()
    assert not found.problems
    box, cylinder, sphere = found.visuals
    assert box.shape == Box((0.1, 0.2, 0.3))
    assert box.pose.translation.tolist() == [1.0, 2.0, 3.0]
    # a quarter turn about z takes x to y, within rounding
    assert abs(box.pose.rotation[:, 0] - [0.0, 1.0, 0.0]).max() < 1e-15
    assert box.colour == (1.0, 0.0, 0.0, 0.5)
    assert (cylinder.shape, cylinder.colour) == (Cylinder(0.1, 2.0), GREY)
    assert (sphere.shape, sphere.colour) == (Sphere(0.5), (0.0, 1.0, 0.0, 1.0))


def test_mesh_beside_the_robot(tmp_path):
    (tmp_path / "arm.stl").write_text("solid arm\nendsolid arm\n")
    mesh = '<visual><geometry><mesh filename="arm.stl" scale="1e-3 1e-3 1e-3"/></geometry></visual>'
    found = _appearance(mesh, tmp_path)
    assert not found.problems
    assert found.visuals[-1].shape == MeshFile(tmp_path / "arm.stl", (1e-3, 1e-3, 1e-3))
    assert found.visuals[-1].colour is None


def test_a_missing_mesh_is_named_and_the_rest_is_shown(tmp_path):
    mesh = '<visual><geometry><mesh filename="arn.stl"/></geometry></visual>'
    (tmp_path / "arm.stl").touch()
    found = _appearance(mesh, tmp_path)
    assert len(found.visuals) == 3
    (problem,) = found.problems
    assert "link base" in problem
    assert 'did you mean "arm.stl"' in problem


@pytest.mark.parametrize("name", ["stewart_platform", "five_bar", "slider_crank"])
def test_shipped_mechanisms_can_be_shown(name):
    look = appearance(Mechanism.from_file(name).model.description)
    assert look.visuals
    assert not look.problems
    assert all(math.isfinite(part) for v in look.visuals for part in v.pose.translation)


def test_numbers_are_checked():
    text = ROBOT.format(more="").replace('rgba="1 0 0 0.5"', 'rgba="1 0 zero 1"')
    with pytest.raises(InputError, match="zero"):
        appearance(read_urdf_text(text))
