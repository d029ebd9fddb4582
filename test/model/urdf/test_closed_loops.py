# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Loops in a robot description: every notation closes the same four-bar, and bad ones say why."""

from __future__ import annotations

import numpy as np
import pytest

import uk_dynamics as ukd
from uk_dynamics.exceptions import InputError, UrdfError
from uk_dynamics.mechanism.files import MechanismSpec

BODY = '<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/>'
BODY += "</inertial>"
# A parallelogram of 1 m by 2 m whose coupler ends at (2, 1): closed at the angles below
CRANK, COUPLER, ROCKER = 0.7, 0.4, 1.1
CONSTRAINT = """
<constraint name="pin" type="{type}">
  <parent link="coupler"/><parent_origin xyz="2 0 0"/><parent_axis xyz="0 0 2"/>
  <child link="rocker"/><child_origin xyz="1 0 0" rpy="1.5707963267948966 0 0"/>
  <child_axis xyz="0 1 0"/>
</constraint>"""
URDF_PLUS = """
<loop name="pin" type="continuous">
  <predecessor link="coupler"><origin xyz="2 0 0"/></predecessor>
  <successor link="rocker"><origin xyz="1 0 0"/></successor><axis xyz="0 0 1"/>
</loop>"""
GAZEBO = """
<gazebo><joint name="pin" type="revolute"><parent>coupler</parent><child>rocker</child>
  <pose>1 0 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis></joint></gazebo>"""
BALL = """
<drake:ball_constraint>
  <drake:ball_constraint_body_A name="coupler"/><drake:ball_constraint_p_AP value="2 0 0"/>
  <drake:ball_constraint_body_B name="rocker"/><drake:ball_constraint_p_BQ value="1 0 0"/>
</drake:ball_constraint>"""
BUSHING = """
<frame name="a" link="coupler" xyz="2 0 0"/><frame name="c" link="rocker" xyz="1 0 0"/>
<drake:linear_bushing_rpy>
  <drake:bushing_frameA name="a"/><drake:bushing_frameC name="c"/>
  <drake:bushing_torque_stiffness value="9 9 0"/><drake:bushing_force_stiffness value="9 9 9"/>
</drake:linear_bushing_rpy>"""


def joint(name, parent, child, xyz="0 0 0", rpy="0 0 0"):
    return (
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/></joint>'
    )


def four_bar(closure, *, drawn=False):
    """Open at zero, or drawn closed there, as Gazebo wants it."""
    turned = [f"0 0 {angle if drawn else 0}" for angle in (CRANK, COUPLER - CRANK, ROCKER)]
    links = "".join(
        f'<link name="{n}">{BODY}</link>' for n in ("base", "crank", "coupler", "rocker")
    )
    end = np.array([np.cos(CRANK) + 2 * np.cos(COUPLER), np.sin(CRANK) + 2 * np.sin(COUPLER), 0])
    pivot = end - [np.cos(ROCKER), np.sin(ROCKER), 0]
    return (
        f'<robot name="linkage" xmlns:drake="http://drake.mit.edu">{links}'
        + joint("a", "base", "crank", rpy=turned[0])
        + joint("b", "crank", "coupler", "1 0 0", turned[1])
        + joint("c", "base", "rocker", " ".join(map(repr, pivot.tolist())), turned[2])
        + f"{closure}</robot>"
    )


def mechanism(tmp_path, text):
    path = tmp_path / "linkage.urdf"
    path.write_text(text)
    return ukd.Mechanism.from_file(path)


@pytest.mark.parametrize(
    ("closure", "rows", "drawn"),
    [
        pytest.param(CONSTRAINT.format(type="revolute"), 5, False, id="constraint"),
        pytest.param(CONSTRAINT.format(type="spherical"), 3, False, id="constraint of points"),
        pytest.param(CONSTRAINT.format(type="cylindrical"), 4, False, id="cylindrical"),
        pytest.param(URDF_PLUS, 5, False, id="URDF+"),
        pytest.param(GAZEBO, 5, True, id="Gazebo"),
        pytest.param(BALL, 3, False, id="Drake ball"),
        pytest.param(BUSHING, 5, False, id="Drake bushing"),
    ],
)
def test_every_notation_closes_the_four_bar(tmp_path, closure, rows, drawn):
    machine = mechanism(tmp_path, four_bar(closure, drawn=drawn))
    offset = np.array([CRANK, COUPLER - CRANK, ROCKER])
    guess = dict(zip("abc", offset * (not drawn) + 0.05, strict=True))
    q = machine.assemble(guess)
    report = machine.report(q)
    assert (report.rows, report.rank, report.mobility) == (rows, 2, 1)
    # the ends of coupler and rocker coincide, whatever the notation
    place, rotation = machine.pose("coupler", q)
    end = place + rotation @ [2, 0, 0]
    place, rotation = machine.pose("rocker", q)
    assert np.abs(end - place - rotation @ [1, 0, 0]).max() < 1e-9  # tolerance of assemble
    # the same acceleration as of a mechanism file that says the same
    file = tmp_path / "same.yaml"
    file.write_text(
        "schema: 1\nmodel: {urdf: tree.urdf}\nconstraints:\n  pin: {type: hinge, axis: [0, 0, 1],"
        " parent: {link: coupler, xyz: [2, 0, 0]}, child: {link: rocker, xyz: [1, 0, 0]}}\n"
    )
    (tmp_path / "tree.urdf").write_text(four_bar("", drawn=drawn))
    same = ukd.Mechanism.from_file(file)
    state = machine.start(machine.model.positions_by_name(q), {"a": 1.3})
    found, expected = (ukd.forward_dynamics(m, state).qdd for m in (machine, same))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_a_mechanism_file_adds_to_the_loops_of_its_urdf(tmp_path):
    (tmp_path / "linkage.urdf").write_text(four_bar(URDF_PLUS))
    file = tmp_path / "machine.yaml"
    file.write_text("schema: 1\nmodel: {urdf: linkage.urdf}\nactuators: {motor: {joint: a}}\n")
    machine = ukd.Mechanism.from_file(file)
    assert machine.constraints.names == ("pin",)
    assert ukd.Mechanism.from_spec(machine.spec).constraints.names == ("pin",)
    file.write_text(
        "schema: 1\nmodel: {urdf: linkage.urdf}\n"
        "constraints: {pin: {type: point, parent: {link: base}, child: {link: coupler}}}\n"
    )
    with pytest.raises(InputError, match=r"constraints\.pin: linkage\.urdf closes a loop of this"):
        ukd.Mechanism.from_file(file)


def test_a_coupling_relates_the_ways_from_the_common_link(tmp_path):
    text = four_bar(
        '<coupling name="gears"><predecessor link="coupler"/><successor link="rocker"/>'
        '<ratio value="3"/></coupling>'
    )
    machine = mechanism(tmp_path, text)
    q = machine.model.positions_by_name(machine.assemble({"a": 0.2, "b": 0.3, "c": 1.0}))
    assert q["c"] == pytest.approx(3 * (q["a"] + q["b"]), abs=1e-9)  # tolerance of assemble


def test_motors_are_those_of_the_description(tmp_path):
    control = (
        '<ros2_control name="s" type="system"><joint name="a"><command_interface name="effort"/>'
        "</joint></ros2_control>"
    )
    machine = mechanism(tmp_path, four_bar(URDF_PLUS + control))
    assert machine.actuators.names == ("a",)


def test_what_hangs_on_nothing_floats_where_the_world_is_named(tmp_path):
    links = "".join(f'<link name="{n}">{BODY}</link>' for n in ("floor", "walker", "leg"))
    text = (
        f"<robot name='r'>{links}<joint name='ground' type='fixed'><parent link='world'/>"
        "<child link='floor'/></joint>" + joint("hip", "walker", "leg") + "</robot>"
    )
    machine = mechanism(tmp_path, text)
    assert machine.model.nv == 6 + 1
    assert any("walker: has no parent, and floats" in warning for warning in machine.warnings)


@pytest.mark.parametrize(
    ("closure", "said"),
    [
        (URDF_PLUS.replace("continuous", "magnetic"), 'loop pin: type "magnetic" closes no loop'),
        (URDF_PLUS.replace('"rocker"', '"rokker"'), 'loop pin: no successor link "rokker"'),
        (URDF_PLUS.replace("0 0 1", "0 0 0"), "loop pin: axis xyz: the axis is zero"),
        (URDF_PLUS.replace("2 0 0", "2 0"), "loop pin: origin xyz: expected 3 finite numbers"),
        (URDF_PLUS.replace(' name="pin"', ""), "loop: has no name"),
        (CONSTRAINT.format(type="screw"), "pin: a screw needs a pitch"),
        (GAZEBO.replace("<child>rocker", "<child>link"), 'joint pin: no child link "link"'),
        (BUSHING.replace('name="c" link', 'name="d" link'), 'there is no <frame> "c"'),
        (
            '<coupling name="g"><predecessor link="coupler"/><successor link="rocker"/></coupling>',
            "coupling g: <ratio> is missing",
        ),
    ],
)
def test_bad_loops_are_named_with_their_place(tmp_path, closure, said):
    with pytest.raises(UrdfError) as error:
        mechanism(tmp_path, four_bar(closure))
    assert "linkage.urdf: " in str(error.value)
    assert said in str(error.value)


def test_a_universal_joint_of_one_axis_is_one_line():
    """``<loop>`` of URDF+ has a single axis."""
    loop = (
        '<loop name="cross" type="universal"><predecessor link="a"/><successor link="b"/>'
        '<axis xyz="0 0 1"/></loop>'
    )
    parts = "".join(f'<link name="{name}"/>' for name in ("base", "a", "b"))
    text = f"{parts}{joint('j', 'base', 'a')}{joint('k', 'base', 'b')}{loop}"
    with pytest.raises(UrdfError, match="loop cross: a universal needs two axes"):
        ukd.Mechanism.from_spec(
            MechanismSpec.from_text("schema: 1\n"),
            robot_description=f'<robot name="r">{text}</robot>',
        )
