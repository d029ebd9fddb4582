# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts of SDF: collision shapes with what stands still, and their surfaces."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from uk_dynamics import simulate
from uk_dynamics.conversion.importing import import_file
from uk_dynamics.mechanism.contact import ContactDynamics

BODY = "<inertial><mass>1</mass></inertial>"
MOVING = f"""
<model name="machine"><pose>0.1 0 1 0 0 0.3</pose>
  <link name="body"><pose>0 0.2 0 0 0 0</pose>{BODY}
    <collision name="crate"><geometry><box><size>0.2 0.2 0.1</size></box></geometry>
      <surface><friction><ode><mu>0.6</mu></ode></friction>
        <bounce><restitution_coefficient>0.5</restitution_coefficient></bounce></surface></collision>
  </link>
  <link name="arm"><pose>0.5 0 0 0 0.4 0</pose>{BODY}
    <collision name="tip"><pose>0.1 0 -0.2 0 0 0</pose>
      <geometry><sphere><radius>0.05</radius></sphere></geometry>
      <surface><contact><ode><kp>1e6</kp></ode></contact></surface></collision>
    <collision name="cone"><geometry><cone/></geometry></collision>
  </link>
  <joint name="hinge" type="revolute"><pose>-0.1 0.05 0.1 0.2 0 0</pose>
    <parent>body</parent><child>arm</child><axis><xyz>0 1 0</xyz></axis></joint>
</model>"""
FLOOR = """
<model name="floor"><static>true</static><pose>0 0 0.1 0 0 0</pose>
  <link name="link"><collision name="plane">
    <geometry><plane><normal>0 0.6 0.8</normal></plane></geometry>
    <surface><friction><ode><mu>0.4</mu></ode></friction>
      <bounce><restitution_coefficient>0.3</restitution_coefficient></bounce></surface>
  </collision></link></model>"""


def imported(tmp_path, *models: str):
    path = tmp_path / "machine.sdf"
    path.write_text(f"<sdf version='1.9'><world name='w'>{''.join(models)}</world></sdf>")
    return import_file(path, contacts=True)


def test_gaps_are_those_of_the_file(tmp_path):
    """Poses of models, links, joints and collisions, whichever frames the URDF has."""
    found = imported(tmp_path, MOVING, FLOOR)
    machine = found.load()
    contacts = ContactDynamics(machine)
    gaps = dict(zip(contacts.names, contacts.places(machine.start()).gap, strict=True))
    c, s = np.cos(0.3), np.sin(0.3)
    model = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    arm = np.array([[np.cos(0.4), 0, np.sin(0.4)], [0, 1, 0], [-np.sin(0.4), 0, np.cos(0.4)]])
    tip = [0.1, 0, 1] + model @ ([0.5, 0, 0] + arm @ [0.1, 0, -0.2])
    n = np.array([0, 0.6, 0.8])
    assert gaps["floor_plane_arm_tip"] == pytest.approx(n @ (tip - [0, 0, 0.1]) - 0.05, abs=1e-12)
    middle = [0.1, 0, 1] + model @ [0, 0.2, 0]
    reach = np.abs(n @ model) @ [0.1, 0.1, 0.05]
    lowest = min(gap for name, gap in gaps.items() if "crate" in name)
    assert lowest == pytest.approx(n @ (middle - [0, 0, 0.1]) - reach, abs=1e-12)
    lost = {remark.subject for remark in found.remarks if remark.lost}
    assert lost == {"collisions arm/tip, arm/cone"} or lost == {
        "collision arm/tip",
        "collision arm/cone",
    }


def test_surfaces_are_the_smaller_ones_of_both(tmp_path):
    machine = imported(tmp_path, MOVING, FLOOR).load()
    of = {one.name: (one.friction, one.restitution) for one in machine.one_sided}
    assert of["floor_plane_body_crate.1"] == (0.4, 0.3)
    assert of["floor_plane_arm_tip"] == (0.4, 0.0)  # SDF's defaults are 1 and 0


@pytest.mark.parametrize("held", [False, True], ids=["floating", "fixed"])
def test_boxes_touch_boxes_that_stand_still(tmp_path, held):
    """The crate over a step that is turned and tilted, and the wall beside it."""
    step = """<model name="step"><static>true</static><pose>0 0.2 0.3 0 0 0.5</pose><link name="l">
      <pose>0 0 0 0.1 0 0</pose><collision name="tread"><geometry><box><size>2 3 0.2</size></box>
      </geometry><surface><friction><ode><mu>0.4</mu></ode></friction></surface></collision>
      </link></model>"""
    path = tmp_path / "machine.sdf"
    path.write_text(f"<sdf version='1.9'><world name='w'>{MOVING}{step}</world></sdf>")
    machine = import_file(path, contacts=True, fixed=held).load()
    contacts = ContactDynamics(machine)
    own = [k for k, name in enumerate(contacts.names) if "step_tread_body_crate" in name]
    turned = Rotation.from_euler("z", 0.5) * Rotation.from_euler("x", 0.1)
    normal = turned.as_matrix()[:, 2]
    middle = np.array([0.1, 0, 1]) + Rotation.from_euler("z", 0.3).apply([0, 0.2, 0])
    reach = np.abs(normal @ Rotation.from_euler("z", 0.3).as_matrix()) @ [0.1, 0.1, 0.05]
    expected = normal @ (middle - [0, 0.2, 0.3]) - 0.1 - reach
    assert contacts.places(machine.start()).gap[own].min() == pytest.approx(expected, abs=1e-12)
    assert {machine.one_sided[k].friction for k in own} == {0.4}


def test_without_what_stands_still_the_ground_is_level(tmp_path):
    found = imported(tmp_path, MOVING)
    machine = found.load()
    assert any("level ground" in remark.reason for remark in found.remarks)
    of = {one.name: (one.friction, one.restitution) for one in machine.one_sided}
    assert of["ground_body_crate.1"] == (0.6, 0.5)
    assert of["ground_arm_tip"] == (1.0, 0.0)


def test_limits_stop_and_joints_stick(tmp_path):
    limited = "</xyz><limit><lower>-1</lower><upper>2</upper></limit>"
    rough = "<dynamics><friction>0.3</friction></dynamics></axis>"
    found = imported(tmp_path, MOVING.replace("</xyz></axis>", limited + rough))
    of = {one.name: one for one in found.load().one_sided}
    stuck = of["hinge.sticking"].dry
    assert (stuck.coulomb, stuck.static) == (0.3, 0.3)
    assert {"hinge.lower_stop", "hinge.upper_stop"} <= of.keys()
    assert not [one for one in imported(tmp_path, MOVING).load().one_sided if "hinge" in one.name]


@pytest.mark.slow
def test_it_stands_on_a_height_map(tmp_path):
    """A picture of 3 × 3 points, grey 0.5 of 0.4 m, 1 m up."""
    matplotlib = pytest.importorskip("matplotlib.image")
    matplotlib.imsave(tmp_path / "map.png", np.full((3, 3), 0.6), cmap="gray", vmin=0.0, vmax=1.0)
    ground = (
        "<model name='g'><static>true</static><link name='l'><collision name='c'><geometry>"
        "<heightmap><uri>map.png</uri><size>4 4 0.4</size><pos>0 0 0.5</pos></heightmap>"
        "</geometry></collision></link></model>"
    )
    crate = MOVING.partition('<link name="arm">')[0] + "</model>"
    machine = imported(tmp_path, crate, ground).load()
    run = simulate(machine, machine.start(), 0.6, method="moreau", step=5e-3, sample_period=0.1)
    grey = float(matplotlib.imread(tmp_path / "map.png")[0, 0, 0])
    assert run.q[-1, 2] == pytest.approx(0.5 + 0.4 * grey + 0.05, abs=1e-8)
    missing = imported(tmp_path, crate, ground.replace("map.png", "none.png"))
    assert any("heights are not there" in remark.reason for remark in missing.remarks)
