# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics init``: the file loads as it is, closes the loops that are there, guesses aloud."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.mechanism_builder import arm, joint, link

from uk_dynamics.cli.main import main
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.resources import package_directory

GRIPPER = "package://uk_dynamics/urdf/four_bar_gripper.urdf"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, parts, name="own"):
    path.write_text(f'<robot name="{name}">{parts}</robot>')
    return str(path)


def marker(name, parent, xyz):
    return link(name, 0.0) + joint(f"{name}_mount", parent, name, kind="fixed", xyz=xyz)


def two_arms():
    """Two arms of 1 m + 1 m, stretched along x at zero, the second 1 m ahead and 0.3 m up."""
    left = arm([1.0, 1.0])
    right = arm([1.0, 1.0]).replace(link("base"), "")
    for old in ("j1", "j2", "l1", "l2"):
        right = right.replace(f'"{old}"', f'"r_{old}"')
    right = right.replace('xyz="0.0 0 0"', 'xyz="1 0 0.3"', 1)
    tips = marker("left_tip", "l2", "1 0 0") + marker("right_tip", "r_l2", "1 0 0")
    return left + right + tips


def test_the_gripper_of_the_documentation(here, capsys):
    assert main(["init", GRIPPER, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["mobility"], facts["actuation"]) == (1, "fully actuated")
    assert set(facts["constraints"]) == {"upper_finger_pin", "lower_finger_pin"}
    assert facts["constraints"]["upper_finger_pin"]["axes"] == ["x", "z"]
    assert facts["motors"] == ["upper_crank"]
    assert main(["describe", "four_bar_gripper.yaml"]) == 0
    mechanism = Mechanism.from_file(here / "four_bar_gripper.yaml")
    q = mechanism.model.positions_by_name(mechanism.assemble(upper_crank=0.3))
    # parallelograms: the fingers keep their direction
    assert q["upper_wrist"] == pytest.approx(-0.3, abs=1e-9)
    assert q["lower_rocker"] == pytest.approx(0.3, abs=1e-9)


def test_every_guess_is_marked(here):
    assert main(["init", GRIPPER]) == 0
    lines = (here / "four_bar_gripper.yaml").read_text().splitlines()
    for start in ("  upper_crank:", "  gravity:", "  root:", "# upper_crank "):
        (line,) = [line for line in lines if line.startswith(start)]
        assert "guess" in line
    for name in ("upper_finger_pin", "lower_finger_pin"):
        before = lines[: lines.index(f"  {name}:")]
        block = before[max(i for i, line in enumerate(before) if not line.startswith("  #")) + 1 :]
        assert block[0].startswith("  # guess:")


def test_limits_of_the_joints_are_listed(here):
    main(["init", GRIPPER])
    (line,) = [x for x in (here / "four_bar_gripper.yaml").open() if x.startswith("# upper_crank ")]
    assert line.split()[2:6] == ["revolute", "-0.6", "0.5", "2"]


def test_a_file_that_is_there_stays(here, capsys):
    (here / "four_bar_gripper.yaml").write_text("mine")
    assert main(["init", GRIPPER]) == 2
    assert "--force" in capsys.readouterr().err
    assert (here / "four_bar_gripper.yaml").read_text() == "mine"
    assert main(["init", GRIPPER, "--force"]) == 0
    assert "schema: 1" in (here / "four_bar_gripper.yaml").read_text()
    assert [path.name for path in here.iterdir()] == ["four_bar_gripper.yaml"]


def test_loops_are_looked_for_where_the_user_says(here, capsys):
    urdf = write(here / "own.urdf", two_arms())
    assert main(["init", urdf, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["constraints"] == {}
    third = np.pi / 3
    # 2 m at 60° from the origin end at (1, √3); so does an isosceles triangle on (1, 0.3)
    slope = float(np.arcsin((np.sqrt(3.0) - 0.3) / 2.0))
    at = [f"--at=j1={-third!r}", f"--at=r_j1={-slope!r}", f"--at=r_j2={2 * slope - np.pi!r}"]
    assert main(["init", urdf, "--json", "--force", *at]) == 0
    facts = json.loads(capsys.readouterr().out)
    (data,) = facts["constraints"].values()
    assert {data["parent"]["link"], data["child"]["link"]} == {"left_tip", "right_tip"}
    mechanism = Mechanism.from_file(here / "own.yaml")
    assert mechanism.model.positions_by_name(mechanism.initial_guess)["j1"] == -third
    assert mechanism.report().mobility == 2


def test_a_position_outside_the_limits_is_refused(here, capsys):
    assert main(["init", GRIPPER, "--at", "upper_crank=2"]) == 2
    message = capsys.readouterr().err
    assert "upper_crank = 2" in message
    assert "[-0.6, 0.5]" in message
    assert main(["init", GRIPPER, "--at", "uper_crank=0.2"]) == 2
    assert 'did you mean "upper_crank"' in capsys.readouterr().err


def test_transmissions_and_ros2_control_name_the_motors(here, capsys):
    tags = """
      <transmission name="t"><type>transmission_interface/SimpleTransmission</type>
        <joint name="j1"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
        <actuator name="Motor-A"><mechanicalReduction>50</mechanicalReduction></actuator>
      </transmission>
      <ros2_control name="x" type="system"><joint name="j2">
        <command_interface name="effort"><param name="max">7.5</param></command_interface>
      </joint><joint name="none"><command_interface name="effort"/></joint></ros2_control>"""
    urdf = write(here / "own.urdf", arm([1.0, 1.0]) + tags)
    assert main(["init", urdf]) == 0
    text = (here / "own.yaml").read_text()
    mechanism = Mechanism.from_file(here / "own.yaml")
    limits = dict(zip(mechanism.actuators.names, mechanism.actuators.effort_limits, strict=True))
    assert limits == {"j2": 7.5, "Motor_A": np.inf}
    assert "reduction of 50" in text


def test_without_tags_all_joints_are_offered_as_motors(here):
    urdf = write(here / "own.urdf", arm([1.0, 1.0]))
    assert main(["init", urdf]) == 0
    text = (here / "own.yaml").read_text()
    assert "#   # j1" not in text
    assert "  # j1: {joint: j1}" in text
    assert len(Mechanism.from_file(here / "own.yaml").actuators) == 0


def test_frames_that_stay_together_or_are_bodies_are_no_loops(here, capsys):
    # a wrist of two joints at one place, a marker at its own joint, and an elbow folded back
    parts = arm([1.0, 1.0]) + link("l3") + joint("j3", "l2", "l3", axis="0 0 1", xyz="1 0 0")
    parts += link("l4") + joint("j4", "l3", "l4", axis="1 0 0")
    parts += marker("tip", "l2", "1 0 0")
    urdf = write(here / "own.urdf", parts)
    assert main(["init", urdf, "--json", f"--at=j2={np.pi!r}"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert "l3" not in json.dumps(facts["constraints"])
    assert facts["mobility"] >= 2  # nothing but the fold at the base may have been closed


def test_near_frames_are_mentioned_and_not_closed(here, capsys):
    parts = two_arms() + link("rod") + joint("j5", "base", "rod", xyz="0 0 0.5")
    parts += marker("rod_tip", "rod", "1.005 0 0") + marker("pin", "l2", "0 0 0.5")
    urdf = write(here / "own.urdf", parts)
    assert main(["init", urdf, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["constraints"] == {}
    assert set(facts["suggestions"]) <= {"rod_tip", "pin"}
    assert len(facts["suggestions"]) == 1
    assert "5 mm apart" in " ".join((here / "own.yaml").read_text().split())


@pytest.mark.parametrize(
    ("a", "b"), [("loop_1A", "loop_1B"), ("pin_a", "pin_b"), ("closing_pin_1", "closing_pin_2")]
)
def test_markers_named_alike_are_closed_from_an_open_pose(a, b, here, capsys):
    """0.3 m apart at zero; the file begins where they meet."""
    parts = two_arms().replace("left_tip", a).replace("right_tip", b)
    assert main(["init", write(here / "own.urdf", parts), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["constraints"] == {
        b: {"type": "frame", "axes": ["x", "z"], "parent": {"link": a}, "child": {"link": b}}
    }
    mechanism = Mechanism.from_file(here / "own.yaml")
    first, second = (mechanism.pose(name)[0] for name in (a, b))
    assert np.abs(first - second).max() < 1e-3  # the file has four decimals, of 4 m
    assert np.abs(mechanism.assemble() - mechanism.initial_guess).max() < 1e-3


def test_loops_that_repeat_rows_but_for_digits_are_closed_with_a_tolerance(here, capsys):
    """All axes meet in one point: the distance from it holds anyway, but for 0.1 µm."""
    parts = link("base") + link("l1") + link("l2") + link("l3")
    parts += joint("j1", "base", "l1", axis="0 0 1") + joint("j2", "l1", "l2", axis="1 0 0")
    parts += joint("j3", "base", "l3", axis="0 1 0")
    parts += marker("pin_a", "l2", "0.6 0.3 0.8") + marker("pin_b", "l3", "0.6 0.3 0.8000001")
    assert main(["init", write(here / "own.urdf", parts), "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["constraints"]) == ["pin_a"]
    report = Mechanism.from_file(here / "own.yaml").report()
    assert (report.rank, report.mobility) == (2, 1)


def test_markers_named_alike_that_cannot_meet_are_mentioned(here, capsys):
    parts = two_arms().replace("left_tip", "loop_1A").replace("right_tip", "loop_1B")
    parts = parts.replace('xyz="1 0 0.3"', 'xyz="9 0 0.3"')
    assert main(["init", write(here / "own.urdf", parts), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["constraints"] == {}
    assert list(facts["suggestions"]) == ["loop_1B"]
    text = (here / "own.yaml").read_text()
    assert "  #   child: {link: loop_1B}" in text
    assert "the mechanism does not close" in " ".join(text.split())


def test_a_ball_joint_in_space(here, capsys):
    parts = arm([1.0, 1.0]).replace('"0 1 0"', '"0 0 1"', 1)
    parts += link("rod") + joint("j5", "base", "rod", axis="1 0 0", xyz="0 1 0")
    parts += marker("rod_tip", "rod", "2 -1 0") + marker("hand", "l2", "1 0 0")
    urdf = write(here / "own.urdf", parts)
    assert main(["init", urdf, "--json"]) == 0
    (data,) = json.loads(capsys.readouterr().out)["constraints"].values()
    assert data["type"] == "point"
    assert Mechanism.from_file(here / "own.yaml").report().rank >= 2


def test_xacro_arguments_and_relative_paths(here, capsys):
    (here / "urdf").mkdir()
    (here / "config").mkdir()
    text = '<xacro:arg name="side" default="left"/>' + arm([1.0])
    text = text.replace('"j1"', '"$(arg side)_j"')
    path = here / "urdf" / "own.urdf.xacro"
    path.write_text(f'<robot name="o" xmlns:xacro="http://www.ros.org/wiki/xacro">{text}</robot>')
    out = here / "config" / "own.yaml"
    assert main(["init", str(path), "--xacro", "side=right", "--out", str(out)]) == 0
    assert "urdf: ../urdf/own.urdf.xacro" in out.read_text()
    assert Mechanism.from_file(out).joint_names == ("right_j",)


def test_one_link_is_a_machine_that_does_not_move(here, capfd):
    assert main(["init", write(here / "own.urdf", link("body"))]) == 0
    out, err = capfd.readouterr()
    assert "DTRTRS" not in out + err  # LAPACK's own complaint of a system without unknowns
    assert "mobility         0" in out


def test_a_description_that_cannot_be_read_is_one_line(here, capsys):
    assert main(["init", "nowhere.urdf"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert list(here.iterdir()) == []


def test_mimic_joints_that_their_limits_forbid_are_one_line(here, capsys):
    limits = (0.0, 1.0)
    mimic = '<mimic joint="j1" multiplier="1" offset="5"/>'
    parts = link("base") + link("l1") + link("l2")
    parts += joint("j1", "base", "l1", limits=limits)
    parts += joint("j2", "base", "l2", limits=limits, more=mimic)
    assert main(["init", write(here / "hand.urdf", parts)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "mimic_j2" in line
    assert "j2 = 2.5 is outside [0, 1]" in line
    assert not (here / "hand.yaml").exists()


AXES = ("1 0 0", "0 1 0", "0 0 1", "1 1 0", "0 1 1", "1 0 1", "1 2 3")


def ring_in_space(driven):
    """Seven hinges in a row whose axes have nothing in common, and marks where it may close."""
    parts, last = link("base"), "base"
    for k, axis in enumerate(AXES):
        limits = {"limits": (-2.0, 2.0)} if k < driven else {}  # with an effort limit
        parts += link(f"l{k}")
        xyz = f"0.3 {0.2 if k % 2 else -0.1} {0.1 * (k % 3)}"
        parts += joint(f"j{k}", last, f"l{k}", axis=axis, xyz=xyz, **limits)
        last = f"l{k}"
    return parts + marker("hand", last, "0 0.5 0.35") + marker("hold", "base", "2.1 0.7 0.95")


@pytest.mark.parametrize(
    ("driven", "kind", "said"),
    [
        (0, "point", "no motors are known"),
        (1, "weld", "There is 1 motor: weld (guess)."),
        (2, "point", "There are 2 motors, which does not decide."),
        (4, "point", "There are 4 motors: point (guess)."),
    ],
)
def test_a_cut_in_space_has_the_type_that_the_motors_tell(here, capsys, driven, kind, said):
    urdf = write(here / "own.urdf", ring_in_space(driven))
    assert main(["init", urdf, "--json"]) == 0
    (data,) = json.loads(capsys.readouterr().out)["constraints"].values()
    assert data["type"] == kind
    comments = " ".join((here / "own.yaml").read_text().replace("#", "").split())
    # seven velocities less three, five and six rows
    hinges = "2 with hinge about x, 2 with hinge about y, 2 with hinge about z"
    assert f"left here: 4 with point, {hinges}, 1 with weld" in comments
    assert said in comments
    assert Mechanism.from_file(here / "own.yaml").report().mobility == (1 if kind == "weld" else 4)


def test_effort_limits_tell_the_motors_where_no_tag_does(here, capsys):
    parts = ring_in_space(2)
    assert main(["init", write(here / "own.urdf", parts), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["motors"] == ["j0", "j1"]
    assert "j0: {joint: j0}  # guess: it has an effort limit" in (here / "own.yaml").read_text()
    tag = '<ros2_control name="x" type="system"><joint name="j5"><command_interface name="effort"/>'
    urdf = write(here / "own.urdf", parts + tag + "</joint></ros2_control>")
    assert main(["init", urdf, "--json", "--force"]) == 0
    assert json.loads(capsys.readouterr().out)["motors"] == ["j5"]
    assert main(["init", write(here / "own.urdf", ring_in_space(7)), "--json", "--force"]) == 0
    assert json.loads(capsys.readouterr().out)["motors"] == []  # limits are there because they must


@pytest.mark.slow
def test_a_robot_with_an_impossible_antenna(here, capsys):
    """Its antennas have a negative principal moment; on a base of many kg that changes nothing."""
    try:
        package_directory("example-robot-data")
    except InputError:
        pytest.skip("the optional package example-robot-data is not installed")
    urdf = "package://example-robot-data/robots/tiago_description/robots/tiago_dual.urdf"
    assert main(["init", urdf, "--out", "tiago.yaml"]) == 0
    text = " ".join((here / "tiago.yaml").read_text().replace("#", "").split())
    assert "link base_antenna_left_link: the inertia is not positive definite" in text
    mechanism = Mechanism.from_file(here / "tiago.yaml")
    workspace = mechanism.model.workspace()
    workspace.update_positions(mechanism.model.neutral())
    assert np.linalg.eigvalsh(workspace.mass)[0] > 0.0


def test_the_branch_is_told_and_pins_of_other_tools_are_closed(here, capsys):
    parts = two_arms().replace("left_tip", "l1_cl1_1").replace("right_tip", "l1_cl1_2")
    write(here / "own.urdf", parts)
    assert main(["init", "own.urdf"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "l1_cl1" in shown.partition("loops, guessed")[2].partition("motors")[0]
    assert "branch nearest to the zero position" in shown
    assert "another one by init --at JOINT=VALUE" in shown
    assert "Branch of the loops" in " ".join((here / "own.yaml").read_text().split())


def scissor():
    """Two arms of 1 m that cross in the middle, one on a slider: drawn folded flat at zero."""
    parts = arm([1.0]) + link("roller", 0.5)
    parts += joint("ram", "base", "roller", axis="1 0 0", kind="prismatic", limits=(0.0, 1.5))
    parts += link("other", com="0.5 0 0") + joint("other_turn", "roller", "other", axis="0 1 0")
    return parts + marker("cross_a", "l1", "0.5 0 0") + marker("cross_b", "other", "0.5 0 0")


def test_markers_named_alike_meet_other_frames_by_chance(here, capsys):
    """At zero the end of one arm is at the root of the next, where it does not belong."""
    parts = two_arms().replace('"left_tip', '"pin_a').replace('"right_tip', '"pin_b')
    parts = parts.replace('xyz="1 0 0.3"', 'xyz="2 0 0"', 1)
    assert main(["init", write(here / "own.urdf", parts), "--json"]) == 0
    (pin,) = json.loads(capsys.readouterr().out)["constraints"].values()
    assert {pin["parent"]["link"], pin["child"]["link"]} == {"pin_a", "pin_b"}


@pytest.mark.parametrize("at", [["ram=0.8"], ["j1=-0.6", "other_turn=-2.5"]])
def test_given_positions_are_kept_as_far_as_the_loops_allow(here, at, capsys):
    """Folded flat, both arms turn together and the slider cannot move: another branch."""
    options = [word for text in at for word in ("--at", text)]
    assert main(["init", write(here / "own.urdf", scissor()), *options]) == 0
    machine = Mechanism.from_file(here / "own.yaml")
    q = machine.model.positions_by_name(machine.assemble())
    name, _, value = at[0].partition("=")
    assert q[name] == pytest.approx(float(value), abs=1e-3)  # the file has four digits
    assert q["ram"] > 0.5
    assert machine.report().mobility == 1
