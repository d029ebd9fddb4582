# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""MJCF imported: the tree moves as MuJoCo's does, its equalities close as MuJoCo's do."""

from __future__ import annotations

import numpy as np
import pytest

from uk_dynamics.conversion.export.exporting import export_mechanism
from uk_dynamics.conversion.importing import import_file
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism_class import Mechanism

mujoco = pytest.importorskip("mujoco", reason="MuJoCo reads MJCF")

# Anchors, several joints in one body, drawn positions that are not zero, turned frames and bodies.
TREE = """
  <body name="arm" pos="0.1 0.2 1" euler="0.3 0.2 -0.4">
    <joint name="yaw" axis="0 0 1" pos="0.1 0 0.2" ref="0.4" damping="0.3" armature="0.02"/>
    <joint name="pitch" axis="0 1 0.2" pos="0 0.1 0" stiffness="3" springref="0.5"/>
    <geom type="capsule" fromto="0 0 0 0.6 0 0.1" size="0.05" mass="1.5"/>
    <body name="hand" pos="0.6 0 0.1" quat="0.9 0.1 0.3 -0.2">
      <joint name="slide" type="slide" axis="1 1 0" ref="0.1" range="-0.5 0.5" limited="true"/>
      <geom type="box" size="0.1 0.05 0.2" mass="0.7" pos="0.1 0 0.05"/>
      <site name="grip" pos="0.2 0 0" euler="0.1 0 0"/>
    </body>
  </body>
  <body name="wheel" pos="1 0 0.5">
    <joint name="spin" axis="0 1 0"/>
    <joint name="tilt" axis="1 0 0"/>
    <joint name="lift" type="slide" axis="0 0 1"/>
    <geom type="cylinder" size="0.3 0.05" mass="2"/>
  </body>
"""


def model(tree=TREE, more=""):
    return (
        '<mujoco model="machine"><compiler angle="radian"/><option gravity="0.5 0 -9.7">'
        f'<flag contact="disable"/></option><worldbody>{tree}</worldbody>{more}</mujoco>'
    )


def imported(tmp_path, text):
    path = tmp_path / "machine.xml"
    path.write_text(text)
    found = import_file(path)
    return found, found.load(), mujoco.MjModel.from_xml_string(text)


def remarks(found, lost=True):
    return {remark.subject: remark.reason for remark in found.remarks if remark.lost == lost}


def test_mass_matrix_and_bias_forces_are_those_of_mujoco(tmp_path):
    _, machine, peer = imported(tmp_path, model())
    names = [mujoco.mj_id2name(peer, mujoco.mjtObj.mjOBJ_JOINT, i) for i in range(peer.njnt)]
    assert list(machine.joint_names) == names
    data = mujoco.MjData(peer)
    chance = np.random.default_rng(2)
    workspace = machine.model.workspace()
    full = np.zeros((peer.nv, peer.nv))
    for _ in range(10):
        data.qpos[:], data.qvel[:] = chance.normal(size=peer.nq), chance.normal(size=peer.nv)
        mujoco.mj_forward(peer, data)
        mujoco.mj_fullM(peer, data, full)
        workspace.update(np.array(data.qpos), np.array(data.qvel))
        # rounding of forces of some ten N
        np.testing.assert_allclose(workspace.mass, full, rtol=0, atol=1e-12)
        np.testing.assert_allclose(workspace.bias, data.qfrc_bias, rtol=0, atol=1e-11)
        passive = machine.passive.force(np.array(data.qpos), np.array(data.qvel))
        np.testing.assert_allclose(passive, data.qfrc_passive, rtol=0, atol=1e-12)
    assert machine.model.limit_violations(machine.model.to_positions({"slide": 0.6}))
    assert machine.model.limit_violations(machine.initial_guess) == []
    assert dict(machine.spec.initial_guess) == {"yaw": 0.4, "slide": 0.1}


EQUALITIES = {
    "connect": '<connect name="tie" body1="hand" body2="wheel" anchor="0.1 0.2 0.1"/>',
    "connect to the world": '<connect name="tie" body1="hand" anchor="0.1 0 0"/>',
    "connect sites": '<connect name="tie" site1="grip" site2="mark"/>',
    "weld": '<weld name="tie" body1="arm" body2="wheel"/>',
    "weld with pose": '<weld name="tie" body1="wheel" body2="hand" anchor="0.1 0 0.2"'
    ' relpose="0.2 0.1 0.3 0.96 0.1 0.2 -0.1"/>',
    "weld sites": '<weld name="tie" site1="mark" site2="grip"/>',
    "joint": '<joint name="tie" joint1="spin" joint2="yaw" polycoef="0.1 0.7 0 0 0"/>',
    "joint alone": '<joint name="tie" joint1="slide" polycoef="0.05 0 0 0 0"/>',
    "joint polynomial": '<joint name="tie" joint1="spin" joint2="yaw"'
    ' polycoef="0.1 0.7 -0.4 0.2 0.05"/>',
}


@pytest.mark.parametrize("kind", EQUALITIES)
def test_equalities_close_where_those_of_mujoco_do(kind, tmp_path):
    tree = TREE + '<site name="mark" pos="0.9 0.1 1.2"/>'
    text = model(tree, f"<equality>{EQUALITIES[kind]}</equality>")
    _, machine, peer = imported(tmp_path, text)
    assert len(machine.constraints) == {"c": 3, "w": 6, "j": 1}[kind[0]]
    data = mujoco.MjData(peer)
    chance = np.random.default_rng(3)
    closed = 0
    for _ in range(6):
        q = machine.initial_guess + 0.1 * chance.normal(size=peer.nq)
        data.qpos[:] = q
        mujoco.mj_forward(peer, data)
        gaps = machine.dynamics().residual(machine.state(q)).position
        # open: both see the same gap
        same = np.linalg.norm(gaps[:3]), np.linalg.norm(data.efc_pos[:3])
        assert same[0] == pytest.approx(same[1], abs=1e-12)
        assembly = machine.assembly(q)
        if assembly.closed:
            closed += 1
            data.qpos[:] = assembly.q
            mujoco.mj_forward(peer, data)
            assert np.abs(data.efc_pos[: len(gaps)]).max() < 1e-9
    assert closed or kind.startswith("weld")  # six rows may be more than these joints can close


def test_what_cannot_be_carried_over_is_named(tmp_path):
    more = """
      <tendon>
        <fixed name="cable"><joint joint="yaw" coef="1"/><joint joint="spin" coef="-2"/></fixed>
        <spatial name="rope" stiffness="5"><site site="grip"/><site site="mark"/>
        <pulley divisor="2"/><site site="mark"/><site site="grip"/></spatial></tendon>
      <equality><tendon name="length" tendon1="rope"/>
        <weld name="Off-Now" body1="arm" body2="wheel" active="false"/></equality>
      <actuator><motor name="push" joint="yaw" gear="3" ctrlrange="-2 1.5" ctrllimited="true"/>
        <motor name="pull" tendon="cable"/><position name="servo" joint="pitch" kp="10"/>
        <motor name="string" tendon="rope"/></actuator>
      <sensor><jointpos name="encoder" joint="yaw"/></sensor>
      <keyframe><key name="home" qpos="0 0 0 0 0 0"/></keyframe>"""
    tree = TREE + (
        '<site name="mark" pos="0.9 0.1 1.2"/><light name="lamp" pos="0 0 3"/>'
        '<body name="ball" pos="0 0 2"><joint name="ball" type="ball"/>'
        '<geom name="egg" type="ellipsoid" size="0.1 0.2 0.3" mass="1"/></body>'
    )
    text = model(tree, more).replace('<flag contact="disable"/>', "")
    found, machine, _ = imported(tmp_path, text)
    lost, changed = remarks(found), remarks(found, lost=False)
    expected = ("sensors encoder", "keys home", "lights lamp", "equality length", "tendon rope")
    for subject in (*expected, "geom egg", "actuator servo", "actuator string", "contacts"):
        assert subject in lost
        assert lost[subject]
        assert subject in found.mechanism  # and at the top of the file
    assert "stiffness" in lost["tendon rope"]
    assert "Off_Now" in changed["constraint Off-Now"]
    assert "ball_x, ball_y, ball_z" in changed["joint ball"]
    motors = machine.actuators
    assert motors.names == ("push", "pull", "servo")
    limits = dict(zip(motors.names, motors.effort_limits, strict=True))
    assert limits["push"] == 1.5
    columns = dict(zip(motors.names, motors.matrix.T, strict=True))
    at = machine.model.velocity_index
    assert (columns["push"][at("yaw")], columns["pull"][at("spin")]) == (3.0, -2.0)
    assert machine.hierarchy.switchable["Off_Now"].active is False


def test_a_free_body_alone_is_a_floating_root(tmp_path):
    tree = """<body name="hull" pos="1 2 3" quat="0 1 0 0"><freejoint/>
      <geom size="0.2" mass="2"/><body name="fin" pos="0.3 0 0"><joint name="flap" axis="0 1 0"/>
      <geom size="0.1" mass="0.5"/></body></body>"""
    _, machine, peer = imported(tmp_path, model(tree))
    data = mujoco.MjData(peer)
    mujoco.mj_forward(peer, data)
    workspace = machine.model.workspace()
    workspace.update_positions(machine.initial_guess)
    for link in ("hull", "fin"):
        place = workspace.translation[machine.model.frame_index(link)]
        np.testing.assert_allclose(place, data.body(link).xpos, rtol=0, atol=1e-15)
    assert machine.model.nv == peer.nv


def test_free_bodies_beside_others_hang_on_floating_joints(tmp_path):
    tree = TREE + '<body name="ball" pos="0 0 2"><freejoint name="fly"/><geom size="0.2"/></body>'
    tie = '<equality><connect body1="ball" body2="hand" anchor="0 0 0"/></equality>'
    _, machine, peer = imported(tmp_path, model(tree, tie))
    assert machine.model.nv == peer.nv
    workspace = machine.model.workspace()
    workspace.update_positions(machine.initial_guess)
    ball = workspace.translation[machine.model.frame_index("ball")]
    np.testing.assert_allclose(ball, [0.0, 0.0, 2.0], rtol=0, atol=1e-15)
    assert machine.assembly().closed


def test_shapes_come_along(tmp_path):
    found, machine, _ = imported(tmp_path, model())
    for shape in ("<cylinder", "<sphere", "<box"):
        assert shape in found.urdf
    assert machine.model.total_mass == pytest.approx(4.2, abs=1e-12)


def test_missing_meshes_stop_nothing_that_dynamics_does_not_need(tmp_path):
    drawn = TREE.replace(
        '<geom type="box"', '<geom type="mesh" mesh="shell" mass="0"/><geom type="box"'
    )
    text = model(drawn, '<asset><mesh name="shell" file="gone.stl"/></asset>')
    path = tmp_path / "machine.xml"
    path.write_text(text)
    found = import_file(path)
    assert "are not there" in remarks(found)["files gone.stl"]
    peer = mujoco.MjModel.from_xml_string(model())
    machine = found.load()
    state = machine.state(v=np.linspace(-1.0, 1.0, machine.model.nv))
    terms = machine.terms(state)
    data, mass = mujoco.MjData(peer), np.zeros((peer.nv, peer.nv))
    data.qpos[:], data.qvel[:] = state.q, state.v
    mujoco.mj_forward(peer, data)
    mujoco.mj_fullM(peer, data, mass)
    np.testing.assert_allclose(terms.M, mass, rtol=0, atol=1e-12)  # rounding, of some kg m²


def test_warnings_of_mujoco_are_remarks_and_no_file(tmp_path, monkeypatch, recwarn):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "machine.xml"
    path.write_text(model().replace('angle="radian"', 'angle="radian" settotalmass="2"'))
    assert "settotalmass" in remarks(import_file(path))["MuJoCo's compiler"]
    assert [file.name for file in tmp_path.iterdir()] == ["machine.xml"]
    assert len(recwarn) == 0


def test_a_missing_height_field_stops_nothing(tmp_path):
    asset = '<asset><hfield name="hills" file="/gone/hills.png" size="9 9 1 1"/></asset>'
    path = tmp_path / "machine.xml"
    path.write_text(model(TREE + '<geom type="hfield" hfield="hills"/>', asset))
    found = import_file(path)
    assert "are not there" in remarks(found)["files /gone/hills.png"]


def test_the_mass_of_a_moving_body_cannot_be_missing(tmp_path):
    body = '<body name="b"><joint/><geom type="mesh" mesh="shell"/></body>'
    path = tmp_path / "machine.xml"
    path.write_text(model(body, '<asset><mesh name="shell" file="gone.stl"/></asset>'))
    with pytest.raises(InputError, match=r"body b: its mass comes from the mesh gone\.stl"):
        import_file(path)


@pytest.mark.filterwarnings("error")
def test_numbers_whose_products_are_none_are_refused(tmp_path):
    path = tmp_path / "machine.xml"
    path.write_text(model('<body name="b" pos="0 1e308 0"><joint/><geom size="1"/></body>'))
    with pytest.raises(InputError, match=r"body b: pos: expected numbers up to 1e\+12"):
        import_file(path)
    path.write_text(model('<body name="b" quat="1 0 1e308 0"><joint/><geom size="1"/></body>'))
    with pytest.raises(InputError, match="body b: quat: is no rotation"):
        import_file(path)


def test_a_weld_without_torque_is_a_ball(tmp_path):
    more = '<equality><weld name="tie" body1="hand" body2="wheel" torquescale="0"/></equality>'
    _, machine, _ = imported(tmp_path, model(more=more))
    assert [c.kind for c in machine.constraints.constraints] == ["point"]


def test_equalities_of_fixed_tendons_are_those_of_mujoco(tmp_path):
    more = (
        '<tendon><fixed name="one"><joint joint="yaw" coef="2"/><joint joint="spin" coef="-1"/>'
        '</fixed><fixed name="two"><joint joint="tilt" coef="0.5"/></fixed></tendon>'
        '<equality><tendon name="line" tendon1="one" tendon2="two" polycoef="0.1 0.7 0 0 0"/>'
        '<tendon name="curve" tendon1="two" tendon2="one" polycoef="0 0.3 -0.2 0 0.1"/></equality>'
    )
    _, machine, peer = imported(tmp_path, model(more=more))
    data = mujoco.MjData(peer)
    workspace, chance = machine.model.workspace(), np.random.default_rng(4)
    for _ in range(5):
        data.qpos[:] = chance.normal(size=peer.nq)
        mujoco.mj_forward(peer, data)
        workspace.update(data.qpos, np.zeros(peer.nv))
        rows = machine.constraints.evaluate(workspace, 0.0, data.qpos, np.zeros(peer.nv), None)
        np.testing.assert_allclose(rows.residual, data.efc_pos[:2], rtol=0, atol=1e-12)
        jacobian = data.efc_J.reshape(-1, peer.nv)[:2]
        np.testing.assert_allclose(rows.A, jacobian, rtol=0, atol=1e-12)  # rounding


def test_what_the_compiler_of_mujoco_decides(tmp_path):
    """Defaults by class and childclass, degrees, eulerseq, masses bounded and scaled, replicas."""
    included = (
        '<mujoco><default><default class="thin"><geom size="0.02"/></default></default></mujoco>'
    )
    (tmp_path / "more.xml").write_text(included)
    text = """<mujoco model="machine">
      <compiler angle="degree" eulerseq="zyx" autolimits="true" inertiafromgeom="true"
        balanceinertia="true" boundmass="0.05" boundinertia="0.001" settotalmass="7"/>
      <include file="more.xml"/>
      <default><joint damping="0.2" armature="0.01"/>
        <default class="leg"><joint axis="0 1 0" range="-50 60"/><geom type="capsule"/></default>
      </default>
      <worldbody><body name="hull" childclass="leg" pos="0 0 1" euler="20 30 40">
        <joint name="swing"/><geom fromto="0 0 0 0.5 0 0" size="0.1"/>
        <inertial pos="0 0 0" mass="99" diaginertia="1 1 1"/>
        <replicate count="3" euler="0 0 120"><body name="leg" pos="0.3 0 0">
          <joint name="knee"/><geom class="thin" fromto="0 0 0 0 0 -0.4" type="capsule"/></body>
        </replicate>
        <frame pos="0 0 0.2" euler="0 0 30"><body name="head"><joint name="nod" axis="1 0 0"/>
          <geom type="box" size="0.1 0.05 0.02"/></body></frame></body></worldbody>
      <equality><joint joint1="knee0" joint2="knee1" polycoef="0 1 0 0 0"/></equality></mujoco>"""
    path = tmp_path / "machine.xml"
    path.write_text(text)
    machine = import_file(path).load()
    peer = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(peer)
    workspace, mass = machine.model.workspace(), np.zeros((peer.nv, peer.nv))
    chance = np.random.default_rng(5)
    for _ in range(3):
        data.qpos[:], data.qvel[:] = chance.normal(size=peer.nq), chance.normal(size=peer.nv)
        mujoco.mj_forward(peer, data)
        mujoco.mj_fullM(peer, data, mass)
        workspace.update(np.array(data.qpos), np.array(data.qvel))
        # rounding of some kg m² and N m
        np.testing.assert_allclose(workspace.mass, mass, rtol=0, atol=1e-12)
        np.testing.assert_allclose(workspace.bias, data.qfrc_bias, rtol=0, atol=1e-11)
    assert machine.model.total_mass == pytest.approx(7.0)
    assert machine.model.upper[0] == pytest.approx(np.radians(60.0))
    assert [c.kind for c in machine.constraints.constraints] == ["joint_coupling"]


def test_a_tendon_of_which_one_part_moves_is_the_spring_of_mujoco(tmp_path):
    text = """<mujoco model="finger"><worldbody><body name="palm">
      <site name="anchor" pos="0 0 0.2"/><site name="guide" pos="0.1 0 0.2"/></body>
      <body name="tip" pos="0.1 0 0"><joint name="bend" axis="0 1 0"/>
        <inertial pos="0.05 0 0" mass="0.2" diaginertia="1e-4 1e-4 1e-4"/>
        <site name="hook" pos="0.08 0 0.02"/>
        <body name="nail" pos="0.1 0 0"><inertial pos="0 0 0" mass="0.01"
          diaginertia="1e-6 1e-6 1e-6"/><site name="end" pos="0 0 0.01"/></body></body>
      </worldbody><tendon><spatial name="rope" stiffness="300" damping="2" springlength="0.3">
      <site site="anchor"/><site site="guide"/><site site="hook"/><site site="end"/>
      </spatial></tendon></mujoco>"""
    found, machine, model = imported(tmp_path, text)
    data, dynamics = mujoco.MjData(model), machine.dynamics("interpreted")
    for angle, rate in ((0.0, 0.0), (0.7, 1.5), (-0.4, -3.0)):
        data.qpos[0], data.qvel[0] = angle, rate
        mujoco.mj_forward(model, data)
        ours = dynamics.evaluate(State(0.0, np.array([angle]), np.array([rate]))).qdd
        np.testing.assert_allclose(ours, data.qacc, atol=1e-8, rtol=0)  # of up to 1e4 rad/s²
    assert not any("rope" in remark.subject for remark in found.remarks)


def test_a_tendon_over_several_moving_bodies_is_the_spring_of_mujoco(tmp_path):
    body = """<body name="{0}" pos="0.1 0 0"><joint name="bend_{0}" axis="0 1 0"/>
        <inertial pos="0.05 0 0" mass="0.2" diaginertia="1e-4 1e-4 1e-4"/>
        <site name="in_{0}" pos="0.02 0 0.02"/><site name="out_{0}" pos="0.08 0.01 0.02"/>"""
    text = f"""<mujoco model="finger"><worldbody>
      <site name="anchor" pos="0 0 0.1"/><site name="guide" pos="0.05 0 0.04"/>
      {body.format("one")}{body.format("two")}</body></body></worldbody>
      <tendon><spatial name="rope" stiffness="300" damping="2" springlength="0.15">
      <site site="anchor"/><site site="guide"/><site site="in_one"/><site site="out_one"/>
      <site site="in_two"/><site site="out_two"/></spatial></tendon></mujoco>"""
    found, machine, model = imported(tmp_path, text)
    data, random = mujoco.MjData(model), np.random.default_rng(2)
    evaluators = [machine.dynamics(backend) for backend in ("interpreted", "compiled")]
    for _ in range(3):
        data.qpos[:], data.qvel[:] = random.uniform(-0.7, 0.7, 2), random.uniform(-2.0, 2.0, 2)
        mujoco.mj_forward(model, data)
        state = State(0.0, data.qpos.copy(), data.qvel.copy())
        for dynamics in evaluators:  # of up to 1e5 rad/s²
            np.testing.assert_allclose(dynamics.evaluate(state).qdd, data.qacc, atol=1e-7, rtol=0)
    (rope,) = machine.spec.forces
    assert len(rope.frames) == 4  # from the last point of the ground to the first of the last body
    assert not any("rope" in remark.subject for remark in found.remarks)
    (tmp_path / f"{found.name}.urdf").write_text(found.urdf)
    (tmp_path / f"{found.name}.yaml").write_text(found.mechanism)
    own = Mechanism.from_file(tmp_path / f"{found.name}.yaml")
    (text,) = export_mechanism(own, "mjcf").texts.values()
    again = mujoco.MjModel.from_xml_string(text)
    second = mujoco.MjData(again)
    second.qpos[:], second.qvel[:] = data.qpos, data.qvel
    mujoco.mj_forward(again, second)
    np.testing.assert_allclose(second.qacc, data.qacc, atol=1e-7, rtol=0)


def test_a_rotation_that_is_none_is_refused_in_a_line(tmp_path, recwarn):
    file = tmp_path / "m.xml"
    file.write_text(model(TREE.replace('size="0.3 0.05"', 'size="0.3 0.05" quat="1 0 1e308 0"')))
    with pytest.raises(InputError, match=r"^m\.xml: .*quaternion has to be finite and not zero"):
        import_file(file)
    assert not recwarn
