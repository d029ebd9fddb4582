# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts of MJCF: gaps as MuJoCo measures them, and the pairs that it would let collide."""

from __future__ import annotations

import numpy as np
import pytest

from uk_dynamics import simulate
from uk_dynamics.cli.main import main
from uk_dynamics.conversion.importing import import_file
from uk_dynamics.conversion.mjcf.compiled import Compiled
from uk_dynamics.conversion.mjcf.contacts import _candidates
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.contact import ContactDynamics

mujoco = pytest.importorskip("mujoco", reason="MuJoCo reads MJCF")

WALKER = """
<mujoco model="walker"><compiler angle="radian"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1" pos="0 0 -1" euler="0.1 0.2 0" friction="0.4"/>
    <geom name="rock" type="sphere" size="0.2" pos="0.3 0.1 -0.6" friction="0.9"/>
    <geom name="rail" type="capsule" size="0.05" fromto="-1 0.5 -0.6 1 0.4 -0.5"/>
    <geom name="step" type="box" size="0.4 0.3 0.1" pos="0.8 0.2 -0.7" euler="0 0 0.3"/>
    <geom name="ghost" type="sphere" size="0.3" contype="0" conaffinity="0"/>
    <body name="trunk" pos="0 0 0.1"><freejoint/>
      <geom name="chest" type="capsule" size="0.1 0.3" euler="0.4 0.3 0" mass="2"/>
      <geom name="head" type="sphere" size="0.12" pos="0 0 0.4" mass="1" priority="1"
        friction="0.3"/>
      <body name="leg" pos="0.1 0 -0.3">
        <joint name="hip" axis="0 1 0" range="-1 1" limited="true" frictionloss="0.2"/>
        <geom name="foot" type="box" size="0.1 0.05 0.02" pos="0 0 -0.2" mass="0.5" condim="1"/>
        <body name="toe" pos="0.1 0 -0.2"><joint name="tip" axis="0 1 0"/>
          <geom name="nail" type="cylinder" size="0.03 0.05" pos="0.05 0 0" mass="0.2"/></body>
      </body>
    </body>
    <body name="other" pos="1 1 0"><freejoint/>
      <geom name="ball" type="sphere" size="0.1" mass="1"/></body>
  </worldbody>
  <contact><exclude body1="leg" body2="other"/>
    <pair geom1="ball" geom2="head" friction="0.7 0.7 0.01 0.001 0.001"/></contact>
</mujoco>
"""


@pytest.fixture
def walker(tmp_path):
    path = tmp_path / "walker.xml"
    path.write_text(WALKER)
    found = import_file(path, contacts=True)
    return found, found.load(), mujoco.MjModel.from_xml_string(WALKER)


def test_pairs_are_those_that_mujoco_lets_collide(walker):
    _, _, peer = walker
    for margin in (peer.geom_margin, peer.body_margin, peer.pair_margin):
        margin[:] = 100.0  # then all that may collide are contacts
    data = mujoco.MjData(peer)
    mujoco.mj_forward(peer, data)
    expected = {tuple(sorted(data.contact.geom[k].tolist())) for k in range(data.ncon)}
    found = {tuple(sorted(pair)) for pair in _candidates(Compiled(mujoco, peer))}

    def pair(*names):
        return {tuple(sorted(peer.geom(name).id for name in names))}

    # the explicit one; of two boxes MuJoCo has no contacts, however wide the margin is
    assert found | pair("ball", "head") == expected | pair("step", "foot")


def test_gaps_and_friction_are_those_of_mujoco(walker):
    found, machine, peer = walker
    names = {one.name.partition(".")[0] for one in machine.one_sided}
    assert names >= {"head_ball", "floor_chest", "floor_foot", "floor_nail", "rock_chest"}
    assert names >= {"rail_chest", "rail_ball", "step_head", "step_ball"}
    assert "rock_rail" not in names  # both stand still
    friction = {one.name: one.friction for one in machine.one_sided}
    assert friction["head_ball"] == 0.7
    assert friction["floor_head"] == 0.3  # of the higher priority
    assert friction["rock_ball"] == 1.0  # the larger one, MuJoCo's default
    assert friction["floor_foot.1"] == 1.0
    data = mujoco.MjData(peer)
    rng = np.random.default_rng(2)
    contacts = ContactDynamics(machine)
    for _ in range(8):
        q = machine.model.integrate(
            machine.initial_guess, 0.5 * rng.uniform(-1.0, 1.0, machine.model.nv)
        )
        data.qpos[:] = _positions(machine, peer, q)
        mujoco.mj_forward(peer, data)
        gaps = contacts.places(machine.state(q)).gap
        for pair in names & {
            "head_ball",
            "rock_chest",
            "rail_chest",
            "rail_ball",
            "rock_head",
            "step_head",
        }:
            first, second = pair.split("_")
            distance = mujoco.mj_geomDistance(
                peer, data, peer.geom(first).id, peer.geom(second).id, 10.0, np.zeros(6)
            )
            # MuJoCo's search ends within 1e-6
            assert gaps[contacts.names.index(pair)] == pytest.approx(distance, abs=1e-5)
        normal = data.geom("floor").xmat.reshape(3, 3)[:, 2]
        height = (data.geom("foot").xpos - data.geom("floor").xpos) @ normal
        reach = np.abs(normal @ data.geom("foot").xmat.reshape(3, 3)) @ peer.geom("foot").size
        lowest = min(g for g, n in zip(gaps, contacts.names, strict=True) if "floor_foot" in n)
        assert lowest == pytest.approx(height - reach, abs=1e-12)
    lost = {remark.subject: remark.reason for remark in found.remarks if remark.lost}
    assert any("further pairs" in subject for subject in lost)
    assert any("sphere and box" in reason or "box" in reason for reason in lost.values())


def _positions(machine, peer, q):
    """MuJoCo's positions of ours: the same order, but quaternions are w x y z there."""
    found, at = q.copy(), 0
    for joint in range(peer.njnt):
        free = peer.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE
        if free:
            found[at + 3 : at + 7] = np.roll(q[at + 3 : at + 7], 1)
        at += 7 if free else 1
    return found


STAIRS = """
<mujoco model="stairs"><worldbody>
  <geom name="low" type="box" size="0.5 0.6 0.1" pos="0 0 0.1" euler="0 0 20" friction="0.6"/>
  <geom name="high" type="box" size="0.5 0.6 0.2" pos="1 0.3 0.2" euler="0 0 20"/>
  <body name="crate" pos="0.1 0 0.5"><freejoint/>
    <geom name="side" type="box" size="0.1 0.08 0.06" pos="0.02 0 0" euler="0 30 0" mass="1"/>
    <geom name="wheel" type="cylinder" size="0.05 0.02" pos="0 0.2 0" mass="0.1"/></body>
  <geom name="crate_shape" type="sphere" size="0.05" pos="3 0 0"/>
</worldbody></mujoco>
"""


def test_boxes_touch_boxes_of_the_world_as_in_mujoco(tmp_path):
    path = tmp_path / "stairs.xml"
    path.write_text(STAIRS)
    machine = import_file(path, contacts=True).load()
    contacts = ContactDynamics(machine)
    names = {name.rpartition(".")[0] for name in contacts.names}
    assert names >= {"low_side", "high_side", "low_wheel", "high_wheel"}
    assert {one.friction for one in machine.one_sided if one.name.startswith("low_side")} == {1.0}
    peer = mujoco.MjModel.from_xml_string(STAIRS)
    data, rng = mujoco.MjData(peer), np.random.default_rng(5)
    tried = 0
    while tried < 20:
        stair = ["low", "high"][tried % 2]
        # above a tread, or across the edge between the steps
        q = np.r_[rng.uniform(-0.3, 1.3), rng.uniform(-0.2, 0.3), rng.uniform(0.2, 0.7), 0, 0, 0, 0]
        q[3:] = rng.standard_normal(4)
        q[3:] /= np.linalg.norm(q[3:])
        data.qpos[:] = _positions(machine, peer, q)
        mujoco.mj_forward(peer, data)
        ends = np.zeros(6)
        pair = peer.geom(stair).id, peer.geom("side").id
        distance = mujoco.mj_geomDistance(peer, data, *pair, 10.0, ends)
        # that of planes between them is that of nearest points where these are on a face
        axis = data.geom(stair).xmat.reshape(3, 3).T @ (ends[3:] - ends[:3]) / max(distance, 1e-9)
        if distance <= 1e-3 or abs(axis[2]) < 1.0 - 1e-6:
            continue
        gaps = contacts.places(machine.state(q)).gap
        own = [k for k, name in enumerate(contacts.names) if name.startswith(f"{stair}_side.")]
        assert gaps[own].min() == pytest.approx(distance, abs=1e-6)
        tried += 1


def test_a_crate_comes_to_rest_on_a_box_of_the_world(tmp_path):
    path = tmp_path / "crate.xml"
    path.write_text(
        '<mujoco><worldbody><geom type="box" size="0.5 0.5 0.1" euler="0 0 20"/><body'
        ' pos="0 0 0.17"><freejoint/><geom type="box" size="0.1 0.1 0.06" mass="1"/></body>'
        "</worldbody></mujoco>"
    )
    machine = import_file(path, contacts=True).load()
    found = simulate(machine, machine.start(), 0.1, step=5e-3, backend="interpreted")
    assert found.q[-1, 2] == pytest.approx(0.1 + 0.06, abs=1e-9)


def test_limits_are_hard_and_friction_sticks(walker):
    _, machine, _ = walker
    names = {one.name for one in machine.one_sided}
    assert {"hip.lower_stop", "hip.upper_stop", "hip.sticking"} <= names


@pytest.mark.slow
def test_what_is_imported_lands_and_rests(tmp_path, capsys):
    path = tmp_path / "box.xml"
    path.write_text(
        '<mujoco model="crate"><worldbody><geom name="floor" type="plane" size="1 1 1"/>'
        '<body name="crate" pos="0 0 0.3"><freejoint/><geom name="side" type="box"'
        ' size="0.1 0.1 0.1" mass="1"/></body></worldbody></mujoco>'
    )
    assert main(["import", str(path), "--contacts", "--out", str(tmp_path)]) == 0
    machine = import_file(path, contacts=True).load()
    found = simulate(machine, machine.start(), 1.0, method="moreau")
    assert found.q[-1, 2] == pytest.approx(0.1, abs=1e-9)
    assert "contacts" in capsys.readouterr().out
    with pytest.raises(InputError, match="leave out --contacts"):
        import_file(tmp_path / "crate.yaml", contacts=True)


@pytest.mark.parametrize(("half", "imported"), [(0.4, True), (17.0, False)])
def test_a_capsule_lies_on_a_height_field_unless_its_grid_is_too_fine(tmp_path, half, imported):
    """Along a slope, which the field is exactly, all spheres along its axis touch."""
    path, slope, radius = tmp_path / "terrain.xml", 0.3 / 4.0, 0.05
    turned = f"0 {90.0 - np.degrees(np.arctan(slope))} 0"
    place = f"0.2 0.1 {2.2 * slope + radius * np.sqrt(1.0 + slope**2)}"
    path.write_text(
        '<mujoco model="terrain"><asset><hfield name="h" nrow="4" ncol="5" size="2 1.5 0.3 0.1"'
        f' elevation="{"0 1 2 3 4 " * 4}"/></asset><worldbody><geom name="g" type="hfield"'
        f' hfield="h"/><body name="b" pos="{place}" euler="{turned}">'
        f'<freejoint/><geom name="c" type="capsule" size="{radius} {half}" mass="1"/></body>'
        "</worldbody></mujoco>"
    )
    found = import_file(path, contacts=True)
    lost = [remark.reason for remark in found.remarks if remark.subject == "contact g with c"]
    if not imported:
        assert "a capsule of 34 m would be more than 64 spheres" in lost[0]
        return
    assert not lost
    machine = found.load()
    gaps = ContactDynamics(machine).places(machine.start()).gap
    # two spheres for each metre; MuJoCo's heights are single precision
    np.testing.assert_allclose(gaps, np.zeros(3), rtol=0, atol=1e-6)


def test_a_height_field_is_that_of_mujoco(tmp_path):
    """Where a field is as MuJoCo's: in the middle of four points it has their mean height."""
    path = tmp_path / "terrain.xml"
    heights = " ".join(map(str, np.random.default_rng(0).uniform(0, 1, 20).round(2)))
    path.write_text(
        f'<mujoco model="terrain"><asset><hfield name="h" nrow="4" ncol="5" size="2 1.5 0.3 0.1"'
        f' elevation="{heights}"/></asset><worldbody><geom name="g" type="hfield" hfield="h"'
        ' pos="0.2 0.1 0.5"/><body name="b" pos="0 0 2"><freejoint/><geom name="s" type="sphere"'
        ' size="0.02" mass="1"/></body></worldbody></mujoco>'
    )
    found = import_file(path, contacts=True)
    assert [one.reason for one in found.remarks if one.subject == "heights of g_s"] == [
        "a smooth surface, which goes on straight beyond its border"
    ]
    machine = found.load()
    peer = mujoco.MjModel.from_xml_path(str(path))
    grid = 0.3 * peer.hfield_data.reshape(4, 5)
    contacts = ContactDynamics(machine)
    for row, column in [(0, 0), (1, 2), (2, 3)]:
        q = machine.start().q
        corners = grid[row : row + 2, column : column + 2]
        slope = np.hypot(*(0.5 * np.diff(corners, axis=k).sum() for k in (0, 1)))
        height = 0.5 + corners.mean() + 0.02 * np.sqrt(1.0 + slope**2)
        q[:3] = 0.2 - 2 + column + 0.5, 0.1 - 1.5 + row + 0.5, height
        # m: what a sphere rolls over is known four times in a metre, where it bends by 0.5/m
        assert contacts.places(machine.state(q)).gap[0] == pytest.approx(0.0, abs=2e-4)
