# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Closed loops in Gepetto's YAML beside a URDF, with joints that the YAML turns into others."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import arm, joint, link, mechanism

from uk_dynamics.conversion.importing import import_file
from uk_dynamics.exceptions import InputError

# Two arms from one base whose ends are marked; at zero they meet.
ARMS = arm([1.0, 1.0]).replace('"0 1 0"', '"0 0 1"')
ARMS += link("r1", com="-0.5 0 0") + joint("rj1", "base", "r1", axis="0 0 1", xyz="4 0 0")
ARMS += link("r2", com="-0.5 0 0") + joint("rj2", "r1", "r2", axis="0 0 1", xyz="-1 0 0")
ARMS += link("end_A", 0.0) + joint("mount_A", "l2", "end_A", kind="fixed", xyz="1 0 0")
ARMS += link("end_B", 0.0) + joint("mount_B", "r2", "end_B", kind="fixed", xyz="-1 0 0")


def write(tmp_path, text, parts=ARMS, urdf="robot.urdf"):
    (tmp_path / urdf).write_text(f'<robot name="onshape">{parts}</robot>')
    path = tmp_path / "robot.yaml"
    path.write_text(text)
    return path


def test_pairs_of_frames_close_loops(tmp_path):
    """The mechanism is the one that its constraints, written by hand, make."""
    text = "closed_loop: [['end_A', 'end_B'], ['mount_A', 'mount_B']]\n"
    text += "type: ['3d', '6D']\nname_mot: ['j1', 'rj1']\n"
    machine = import_file(write(tmp_path, text)).load()
    assert [c.kind for c in machine.constraints.constraints] == ["point", "weld"]
    assert machine.actuators.names == ("j1", "rj1")
    hand = """
constraints:
  one: {type: point, parent: {link: end_A}, child: {link: end_B}}
  two: {type: weld, parent: {link: end_A}, child: {link: end_B}}
"""
    other = mechanism(ARMS, hand)
    states = machine.state(), other.state()
    expected = other.dynamics().evaluate(states[1]).qdd
    np.testing.assert_allclose(
        machine.dynamics().evaluate(states[0]).qdd, expected, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize(
    ("kind", "joints", "gone"),
    [
        ("SPHERICAL", ["j2_X", "j2_Y", "j2_Z"], "j2"),
        ("UJOINT_ZY", ["j2_Z", "j2_Y"], "j2"),
        ("FIXED", [], "j2"),
    ],
)
def test_joints_are_turned_into_others(kind, joints, gone, tmp_path):
    text = f"closed_loop: []\ntype: []\njoint_name: [j2]\njoint_type: ['{kind}']\n"
    found = import_file(write(tmp_path, text))
    machine = found.load()
    assert [name for name in machine.joint_names if name.startswith("j2")] == joints
    assert gone not in machine.joint_names
    jacobian = machine.model.workspace()
    jacobian.update_positions(machine.initial_guess)
    for name in joints:
        axis = jacobian.jacobian[3:, machine.model.velocity_index(name)]
        np.testing.assert_allclose(axis, np.eye(3)["XYZ".index(name[-1])], rtol=0, atol=1e-15)
    assert machine.model.total_mass == pytest.approx(4.0, abs=1e-12)
    mentioned = [remark for remark in found.remarks if "j2" in remark.subject]
    assert bool(mentioned) == (kind != "FIXED")


def test_limits_left_out_are_none(tmp_path):
    parts = arm([1.0], [(0.0, 0.0)]) + link("slider")
    parts += joint("slide", "base", "slider", kind="prismatic", limits=(0.0, 0.0))
    found = import_file(write(tmp_path, "closed_loop: []\ntype: []\n", parts))
    assert (found.load().model.upper > 1e6).all()
    assert "j1, slide" in found.remarks[0].subject


def test_unknown_words_are_named(tmp_path):
    text = "closed_loop: [[end_A, end_B]]\ntype: ['4d']\njoint_name: [j2]\njoint_type: [HELIX]\n"
    found = import_file(write(tmp_path, text + "gains: [1]\n"))
    reasons = {remark.subject: remark.reason for remark in found.remarks}
    assert "HELIX" in reasons["joint_type of j2"]
    assert "4d" in reasons["closed_loop end_A"]
    assert "key gains" in reasons


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("closed_loop: [[end_A, end_C]]\ntype: ['6d']\n", 'did you mean "end_'),
        ("closed_loop: [[end_A]]\ntype: ['6d']\n", "a pair"),
        ("closed_loop: [[end_A, end_B]]\ntype: []\n", "1 in closed_loop and 0 in type"),
        ("closed_loop: []\ntype: []\nname_mot: [j9]\n", 'no joint "j9"'),
        ("closed_loop: end_A\n", "a list"),
        ("schema: 1\n", "closed_loop"),
    ],
)
def test_mistakes_are_one_line(text, words, tmp_path):
    with pytest.raises(InputError, match=r"robot\.yaml") as error:
        import_file(write(tmp_path, text))
    assert words in str(error.value)


def test_the_urdf_beside_it(tmp_path):
    text = "closed_loop: []\ntype: []\n"
    path = write(tmp_path, text, urdf="other.urdf")
    assert len(import_file(path).load().joint_names) == 4
    (tmp_path / "third.urdf").write_text("<robot name='x'/>")
    with pytest.raises(InputError, match="--urdf"):
        import_file(path)
    assert import_file(path, urdf=tmp_path / "other.urdf").load().model.nv == 4


def test_hinges_of_cad_exporters_are_given_at_zero(tmp_path):
    # a parallelogram drawn closed at zero, its tree turned against the root
    half = "0 0 1.5707963267948966"
    (tmp_path / "robot.urdf").write_text(
        '<robot name="linkage">'
        + "".join(
            f'<link name="{name}"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"'
            ' ixy="0" ixz="0" iyz="0"/></inertial></link>'
            for name in ("base", "left", "right", "top")
        )
        + "".join(
            f'<joint name="{name}" type="continuous"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/></joint>'
            for name, parent, child, xyz, rpy in (
                ("a", "base", "left", "0 0 0", half),
                ("b", "left", "top", "1 0 0", "0 0 0"),
                ("c", "base", "right", "2 0 0", half),
            )
        )
        + "</robot>"
    )
    text = "closures:\n- {link_a: top, link_b: right, point: [2, 1, 0], axis: [0, 0, -3]}\n"
    file = tmp_path / "loop_closures.yaml"
    file.write_text(text + "independent: [a]\ndependent: [b, c]\n")
    found = import_file(file)
    machine = found.load()
    q = machine.assemble(a=0.3)
    np.testing.assert_allclose(q, [0.3, -0.3, 0.3], rtol=0, atol=1e-9)  # tolerance of assemble
    assert machine.report(q).mobility == 1
    assert machine.actuators.names == ("a",)
    for old, new, said in (
        ("link_b: right", "link_b: rigth", r'closures\[0\]\.link_b: no link "rigth"'),
        ("[2, 1, 0]", "[2, one, 0]", r"closures\[0\]\.point: expected three numbers"),
        ("-3", "0", r"closures\[0\]\.axis: the axis is zero"),
    ):
        file.write_text(text.replace(old, new))
        with pytest.raises(InputError, match=said):
            import_file(file)
