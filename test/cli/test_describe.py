# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics describe``: the facts of mechanisms whose mobility is known from theory."""

import json

import pytest

from uk_dynamics.cli.main import main

PENDULUM = """<robot name="double_pendulum">
  <link name="base"/>
  {links}
  {joints}
</robot>
"""
LINK = """<link name="{0}"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}" type="{3}"><parent link="{1}"/><child link="{2}"/>
  <origin xyz="0 0 -1"/><axis xyz="0 1 0"/><limit {4}/></joint>"""


def facts(capsys, *arguments):
    assert main(["describe", *arguments, "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


@pytest.fixture
def double_pendulum(tmp_path):
    """Writes a mechanism file over a double pendulum and returns its path."""

    def write(text, limit='lower="-1" upper="1" effort="5" velocity="5"'):
        joints = [("upper", "base", "arm"), ("lower", "arm", "hand")]
        urdf = PENDULUM.format(
            links="".join(LINK.format(name) for name in ("arm", "hand")),
            joints="".join(JOINT.format(*joint, "revolute", limit) for joint in joints),
        )
        (tmp_path / "pendulum.urdf").write_text(urdf)
        file = tmp_path / "pendulum.yaml"
        file.write_text(f"schema: 1\nmodel: {{urdf: pendulum.urdf}}\n{text}")
        return str(file)

    return write


@pytest.mark.parametrize(
    ("name", "rows", "rank", "mobility", "actuation"),
    [
        ("four_bar", 2, 2, 1, "fully actuated"),
        ("slider_crank", 2, 2, 1, "fully actuated"),
        ("five_bar", 4, 3, 1, "fully actuated"),
        ("five_bar_maximal", 12, 11, 1, "fully actuated"),
        ("stewart_platform", 18, 18, 6, "fully actuated"),
    ],
)
def test_shipped_mechanisms_have_the_mobility_of_theory(
    name, rows, rank, mobility, actuation, capsys
):
    found = facts(capsys, name)
    assert (found["rows"], found["rank"], found["mobility"]) == (rows, rank, mobility)
    assert len(found["redundant_rows"]) == rows - rank
    assert found["actuation"] == actuation
    assert found["largest_residual"] <= 1e-10  # the tolerance of closing the loops


@pytest.mark.parametrize(
    ("actuators", "actuation", "freedoms"),
    [
        ("{}", "not actuated", 0),
        ("{a: {joint: upper}}", "underactuated", 1),
        ("{a: {joint: upper}, b: {joint: lower}}", "fully actuated", 2),
        (
            "{a: {joint: upper}, b: {joint: lower}, c: {joints: {upper: 1, lower: -1}}}",
            "redundantly actuated",
            2,
        ),
        (
            "{a: {joint: upper}, b: {joints: {upper: 2}}}",
            "underactuated and redundantly actuated",
            1,
        ),
    ],
)
def test_actuation_compares_what_motors_move_with_the_freedoms(
    actuators, actuation, freedoms, double_pendulum, capsys
):
    found = facts(capsys, double_pendulum(f"actuators: {actuators}\n"))
    assert (found["actuation"], found["actuated_freedoms"]) == (actuation, freedoms)
    assert found["mobility"] == 2


def test_a_constraint_said_twice_is_redundant_by_name(double_pendulum, capsys):
    row = "{type: frame, axes: [x], parent: {link: base}, child: {link: hand, xyz: [0, 0, -1]}}"
    text = (
        f"constraints: {{first: {row}, second: {row}}}\ninitial_guess: {{upper: 0.3, lower: -0.6}}"
    )
    found = facts(capsys, double_pendulum(text))
    assert (found["rows"], found["rank"], found["mobility"]) == (2, 1, 1)
    (redundant,) = found["redundant_rows"]
    assert redundant.split(".")[0] in ("first", "second")


def test_tasks_that_no_motor_moves_are_told(double_pendulum, tmp_path, capsys):
    tasks = tmp_path / "tasks.yaml"
    tasks.write_text(
        "schema: 1\ntasks: {a: {type: joint, joint: upper}, b: {type: joint, joint: lower}}\n"
    )
    file = double_pendulum("actuators: {motor: {joint: upper}}\n")
    found = facts(capsys, file, "--tasks", str(tasks))["tasks"]
    assert (found["rows"], found["independent_rows"], found["reachable_rows"]) == (2, 2, 1)

    assert main(["describe", file, "--tasks", str(tasks)]) == 0
    assert "the motors cannot reach 1 of them" in capsys.readouterr().out


def test_a_joint_is_set_and_the_loops_close_around_it(capsys):
    position = facts(capsys, "five_bar", "--set", "crank=0.9")["configuration"]
    # A parallelogram: all legs are parallel, the coupler stays level.
    assert position["crank"] == 0.9
    assert position["right"] == pytest.approx(0.9, abs=1e-9)
    assert position["middle"] == pytest.approx(0.9, abs=1e-9)
    assert position["coupler"] == pytest.approx(-0.9, abs=1e-9)


def test_what_is_probably_not_meant_is_told(double_pendulum, capsys):
    file = double_pendulum("", limit='lower="-1" upper="1" effort="5" velocity="0"')
    assert any("velocity" in warning for warning in facts(capsys, file)["warnings"])


def test_a_violated_limit_is_told(double_pendulum, capsys):
    file = double_pendulum("initial_guess: {upper: 1.5}\n")
    assert main(["describe", str(file), "--set", "upper=1.5"]) == 2
    assert "upper = 1.5 is outside" in capsys.readouterr().err


def test_the_text_says_what_the_json_says(capsys):
    found = facts(capsys, "five_bar")
    assert main(["describe", "five_bar"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("five_bar\n")
    for word in (*found["links"], *found["joints"], *found["redundant_rows"], found["actuation"]):
        assert word in text
    assert "4, rank 3, redundant 1" in text
    assert max(len(line) for line in text.splitlines()) <= 100
