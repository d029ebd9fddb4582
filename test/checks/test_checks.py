# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Each check finds the mechanism that has exactly its defect, and says nothing of a sound one."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from support.mechanism_builder import arm, joint, link, mechanism, shipped
from support.mechanism_builder import pinned_arm as pinned
from support.repository import ROOT

from uk_dynamics import standing
from uk_dynamics.checks.checklist import check, check_file
from uk_dynamics.cli.main import main
from uk_dynamics.cli.output.contacts import standing_lines
from uk_dynamics.exceptions import AssemblyError, UndeterminedMotionError
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.resources import shipped_files
from uk_dynamics.simulation import simulate

# A four-bar: two links of an arm, a rocker beside it; the pin joins their ends.
ROCKER = link("rocker", com="0.5 0 0") + joint("j3", "base", "rocker", xyz="1 0 0")
FRAME_PIN = """
constraints:
  pin:
    type: frame
    axes: [x, z]
    parent: {link: l2, xyz: [1.0, 0.0, 0.0]}
    child: {link: rocker, xyz: [1.0, 0.0, 0.0]}
"""
GUESS = "initial_guess: {j1: -1.2, j2: 1.0, j3: -1.4}\n"
MOTOR = "actuators: {motor: {joint: j1, effort_limit: 50.0}}\n"
SOUND = FRAME_PIN + GUESS + MOTOR


def four_bar(old="", new="", text=SOUND, parts=ROCKER):
    """The sound four-bar with one part of its URDF exchanged."""
    urdf = arm([1.0, 1.0]) + parts
    assert not old or old in urdf
    return mechanism(urdf.replace(old, new, 1) if old else urdf, text)


def findings(machine, name, **more):
    return [finding for finding in check(machine, **more) if finding.check == name]


def tasks(machine, text):
    return Tasks(TasksSpec.from_text(f"schema: 1\ntasks:\n{text}"), machine)


def test_a_sound_mechanism_has_no_findings():
    assert check(four_bar()) == ()


def test_a_machine_on_feet_that_stand_lacks_no_motors():
    folder = ROOT / "examples" / "biped"
    assert check_file(folder / "biped.yaml", folder / "stand.yaml") == ()
    assert "drive 12 of 18" in check_file(folder / "biped.yaml")[0].problem


def test_a_loop_that_nearly_closes():
    # a parallelogram of three legs, one of which is 1 mm too long: over-constrained, it jams
    legs = link("base") + link("coupler") + link("rod")
    legs += joint("crank", "base", "rod") + joint("top", "rod", "coupler", xyz="1 0 0")
    text = "initial_guess: {crank: -1.0, top: 1.0, b: -1.0, c: -1.0}\nconstraints:\n"
    for name, at, length in (("b", 1.0, 1.0), ("c", 2.0, 1.001)):
        legs += link(f"leg_{name}") + joint(name, "base", f"leg_{name}", xyz=f"{at} 0 0")
        text += f"  pin_{name}:\n    type: frame\n    axes: [x, z]\n"
        text += f"    parent: {{link: coupler, xyz: [{at}, 0, 0]}}\n"
        text += f"    child: {{link: leg_{name}, xyz: [{length}, 0, 0]}}\n"
    machine = mechanism(legs, text)
    found = findings(machine, "loop")
    assert {finding.severity for finding in found} == {"error"}
    assert any("nearly closes" in finding.problem for finding in found)
    assert {name for finding in found for name in finding.subject} <= {"pin_b", "pin_c"}


def test_a_loop_that_cannot_close():
    machine = pinned(
        "  pin: {type: point, parent: {link: base, xyz: [5, 0, 0]}, child: {link: l2}}"
    )
    (found,) = findings(machine, "loop")
    assert (found.severity, found.subject) == ("error", ("pin",))
    assert "error is 4" in found.problem  # the elbow reaches 1 m


def two_loops(second):
    """A four-bar whose rocker is held to the ground by a second pin, at ``second`` along x."""
    pin = f"""
  second:
    type: frame
    axes: [x, z]
    parent: {{link: base, xyz: [{second}, 0.0, 0.0]}}
    child: {{link: rod, xyz: [1.0, 0.0, 0.0]}}
"""
    rod = link("rod", com="0.5 0 0") + joint("j4", "rocker", "rod", xyz="1 0 0")
    return four_bar(text=SOUND.replace(GUESS, pin + GUESS), parts=ROCKER + rod)


def test_only_the_loop_that_does_not_close_is_blamed():
    assert two_loops(1.0).assembly().closed
    found = findings(two_loops(9.0), "loop")
    # 9 m away: the rocker and the rod reach 3 m; the sound pin is pulled open a little by that
    assert "second" in found[0].subject + found[-1].subject
    assert not any("nearly" in finding.problem for finding in found)


def test_lengths_in_millimetres():
    (found,) = findings(two_loops(2000.0), "loop")
    assert found.subject == ("second",)
    assert "about 1 m long: give lengths in m" in found.remedy


def test_the_error_names_the_open_loops_and_what_was_held():
    machine = two_loops(1.0)
    with pytest.raises(AssemblyError) as raised:
        machine.assemble(j1=-1.2, j3=0.5)
    assert "pin by" in str(raised.value)
    assert "by 0" not in str(raised.value).replace("by 0.", "")
    assert "j1, j3 were held: the loops may not allow that" in str(raised.value)


def test_limits_that_exclude_the_assembly():
    urdf = arm([1.0, 1.0], [(-0.1, 0.1), (-0.1, 0.1)])
    pin = "constraints:\n  pin: {type: frame, axes: [x, z], parent: {link: base, xyz: [1, 0, 0]},"
    pin += " child: {link: l2, xyz: [1, 0, 0]}}\n"
    (found,) = findings(mechanism(urdf, pin + "initial_guess: {j1: 0.1, j2: -0.1}\n"), "limits")
    assert found.severity == "error"
    assert set(found.subject) <= {"j1", "j2"}
    assert found.subject
    assert "limits" in found.problem


def test_a_joint_held_outside_its_limits():
    machine = mechanism(arm([1.0], [(-0.5, 0.5)]))
    (found,) = findings(machine, "limits", positions={"j1": 0.8})
    assert (found.severity, found.subject) == ("error", ("j1",))
    assert "[-0.5, 0.5]" in found.problem


def test_an_initial_guess_outside_the_limits():
    machine = mechanism(arm([1.0], [(-0.5, 0.5)]), "initial_guess: {j1: 0.8}\n")
    found = findings(machine, "limits")
    assert [finding.severity for finding in found] == ["warning"]
    assert found[0].subject == ("j1",)


def test_limits_left_out_of_the_urdf():
    machine = mechanism(arm([1.0], [(0.0, 0.0)]))
    (found,) = findings(machine, "limits")
    assert found.severity == "warning"
    assert "cannot move" in found.problem


def test_a_start_at_a_limit():
    (found,) = findings(mechanism(arm([1.0], [(0.0, 1.0)])), "limits")
    assert (found.severity, found.subject) == ("note", ("j1",))


def test_a_massless_leaf_that_nothing_determines():
    machine = mechanism(arm([1.0]) + link("tip", 0.0) + joint("j2", "l1", "tip", xyz="1 0 0"))
    found = findings(machine, "massless")
    assert [(finding.severity, finding.subject) for finding in found] == [("error", ("j2",))]
    assert "armature" in found[0].remedy


def test_a_massless_leaf_that_the_loop_determines():
    machine = four_bar(parts=ROCKER.replace(link("rocker", com="0.5 0 0"), link("rocker", 0.0)))
    (found,) = findings(machine, "massless")
    assert (found.severity, found.subject) == ("warning", ("j3",))


def test_armature_takes_the_place_of_mass():
    text = "joints: {j2: {armature: 0.01}}\n"
    machine = mechanism(arm([1.0]) + link("tip", 0.0) + joint("j2", "l1", "tip"), text)
    assert findings(machine, "massless") == []


def test_a_mass_that_arithmetic_loses():
    tip = link("tip", 1e-12, 1e-13) + joint("j2", "l1", "tip", xyz="1 0 0")
    (found,) = findings(mechanism(arm([1.0]) + tip), "massless")
    assert (found.severity, found.subject) == ("warning", ("j2",))


@pytest.mark.parametrize(
    ("moments", "words"),
    [("0.1 0.1 0.3", "exceeds the sum"), ("1e5 1e5 1e5", "units")],
    ids=["triangle inequality", "units"],
)
def test_an_inertia_that_no_body_has(moments, words):
    xx, yy, zz = moments.split()
    sound = link("rocker", com="0.5 0 0")
    bad = sound.replace('ixx="0.1" iyy="0.1" izz="0.1"', f'ixx="{xx}" iyy="{yy}" izz="{zz}"')
    machine = four_bar(sound, bad)
    (found,) = findings(machine, "inertia")
    assert (found.severity, found.subject) == ("warning", ("rocker",))
    assert words in found.problem + found.remedy


def test_an_inertia_that_is_not_positive_is_a_file_that_cannot_be_used(tmp_path):
    urdf = arm([1.0]).replace('ixx="0.1"', 'ixx="-0.1"')
    (tmp_path / "own.urdf").write_text(f'<robot name="own">{urdf}</robot>')
    (tmp_path / "own.yaml").write_text("schema: 1\nmodel: {urdf: own.urdf}\n")
    (found,) = check_file(tmp_path / "own.yaml")
    assert (found.check, found.severity) == ("file", "error")
    assert "not positive definite" in found.problem
    assert "link base" in found.problem


def test_an_axis_that_is_not_quite_parallel():
    tilt = 1e-3
    tilted = f'<axis xyz="0 {math.cos(tilt)!r} {math.sin(tilt)!r}"/><origin xyz="1.0 0 0"/>'
    machine = four_bar('<axis xyz="0 1 0"/><origin xyz="1.0 0 0"/>', tilted)
    (found,) = findings(machine, "planarity")
    assert (found.severity, found.subject) == ("warning", ("j2", "pin"))
    assert "0.001 rad" in found.problem


def test_axes_that_differ_on_purpose_are_no_finding():
    assert findings(shipped("stewart_platform"), "planarity") == []


def test_redundant_rows_are_named():
    (found,) = findings(
        four_bar(text=SOUND.replace("type: frame\n    axes: [x, z]", "type: point")), "redundancy"
    )
    assert (found.severity, found.subject) == ("note", ("pin.y",))


def test_a_loop_that_is_there_twice():
    again = FRAME_PIN.replace("  pin:", "  again:").replace("constraints:\n", "")
    again = again.replace("parent", "other").replace("child", "parent").replace("other", "child")
    machine = four_bar(text=FRAME_PIN + again + GUESS + MOTOR)
    (found,) = findings(machine, "redundancy")
    assert (found.severity, found.subject) == ("warning", ("pin", "again"))
    assert "they close the same loop" in found.problem
    # a ball joint in a plane says what a pin says; two couplings differ by a factor
    ball = FRAME_PIN.replace("type: frame\n    axes: [x, z]", "type: point")
    (found,) = findings(four_bar(text=ball + again + GUESS + MOTOR), "redundancy")
    assert found.subject == ("pin", "again")
    couplings = "constraints:\n"
    for name, factor in (("one", 1.0), ("two", -2.0)):
        joints = f"{{j1: {factor}, j2: {0.5 * factor}}}"
        couplings += f"  {name}: {{type: joint_coupling, joints: {joints}}}\n"
    (found,) = findings(mechanism(arm([1.0, 1.0]), couplings), "redundancy")
    assert found.subject == ("one", "two")


def test_what_is_redundant_otherwise_is_not_there_twice():
    couplings = "constraints:\n  one: {type: joint_coupling, joints: {j1: 1, j2: 1}}\n"
    couplings += "  two: {type: joint_coupling, joints: {j3: 1, j4: 1}}\n"
    couplings += "  sum: {type: joint_coupling, joints: {j1: 1, j2: 1, j3: 1, j4: 1}}\n"
    (found,) = findings(mechanism(arm([1.0] * 4), couplings), "redundancy")
    assert found.severity == "note"
    assert len(found.subject) == 1


@pytest.mark.parametrize("kind", ["weld", "hinge", "line_spring"])
def test_an_entry_between_parts_of_one_body(kind):
    parts = ROCKER + link("plate") + joint("bolt", "rocker", "plate", kind="fixed", xyz="0.5 0 0")
    ends = "parent: {link: rocker, xyz: [0.5, 0, 0]}, child: {link: plate}"
    entry = {
        "weld": f"  extra: {{type: weld, {ends}}}\n",
        "hinge": f"  extra: {{type: hinge, axis: [0, 1, 0], {ends}}}\n",
        "line_spring": f"forces:\n  extra: {{type: line_spring, stiffness: 9.0, {ends}}}\n",
    }[kind]
    text = FRAME_PIN + entry + GUESS + MOTOR
    (found,) = findings(four_bar(text=text, parts=parts), "idle")
    assert (found.severity, found.subject) == ("warning", ("extra",))
    assert "rocker and plate are parts of one body" in found.problem


def test_a_machine_that_cannot_move():
    machine = mechanism(arm([1.0]), "constraints:\n  brake: {type: joint, joint: j1}\n")
    (found,) = findings(machine, "mobility")
    assert (found.severity, found.subject) == ("error", ("brake",))


def test_a_machine_that_is_moved_by_time_is_not_said_to_be_stuck():
    assert findings(shipped("spiral_particle"), "mobility") == []


def test_rows_that_contradict_each_other():
    text = "constraints:\n"
    for name, rate in (("one", 1.0), ("two", 2.0)):
        reference = f"{{type: polynomial, coefficients: [0, 0, {rate}]}}"
        text += f"  {name}: {{type: joint, joint: j1, reference: {reference}}}\n"
    (found,) = [f for f in check(mechanism(arm([1.0]), text)) if f.severity == "error"]
    assert found.check == "redundancy"
    assert set(found.subject) <= {"one", "two"}
    assert found.subject


def test_a_singular_start():
    # all bars of a parallelogram on one line: both the folded and the parallel branch begin here
    machine = four_bar(text=FRAME_PIN + "initial_guess: {j1: 0.0, j2: 0.0, j3: 0.0}\n" + MOTOR)
    (found,) = findings(machine, "singular_start")
    assert found.severity == "warning"
    assert "rank 1 at the start and 2 around it" in found.problem


def test_a_start_near_a_singularity():
    machine = four_bar(text=FRAME_PIN + MOTOR + "initial_guess: {j1: 1e-4, j2: -1e-4, j3: 1e-4}\n")
    found = findings(machine, "singular_start")
    assert [finding.severity for finding in found] == ["warning"]


def test_motors_in_a_dead_centre():
    # a slider-crank stretched out: the piston cannot turn the crank there
    parts = (
        arm([1.0, 2.0])
        + link("piston")
        + joint("slide", "base", "piston", kind="prismatic", axis="1 0 0")
    )
    text = """
actuators: {piston_motor: {joint: slide}}
initial_guess: {slide: 3.0}
constraints:
  pin: {type: frame, axes: [x, z], parent: {link: piston}, child: {link: l2, xyz: [2.0, 0, 0]}}
"""
    found = findings(mechanism(parts, text), "singular_start")
    assert [finding.subject for finding in found] == [("piston_motor",)]
    assert "dead centre" in found[0].problem


def test_a_motor_that_moves_nothing():
    text = MOTOR + "constraints:\n  brake: {type: joint, joint: j1}\n"
    found = findings(mechanism(arm([1.0, 1.0]), text), "actuation")[0]
    assert (found.severity, found.subject) == ("warning", ("motor",))


def test_freedoms_without_motors_and_motors_without_limits():
    text = "actuators: {a: {joint: j1, effort_limit: 5}, b: {joint: j2}}\n"
    unlimited, drives = findings(mechanism(arm([1.0, 1.0, 1.0]), text), "actuation")
    assert drives.severity == "note"
    assert "2 of 3 degrees of freedom" in drives.problem
    assert unlimited.subject == ("b",)


def test_a_missing_effort_limit_is_told_where_loops_do_not_close():
    text = "actuators: {a: {joint: j1, effort_limit: 5}, b: {joint: j2}}\nconstraints:\n"
    text += "  pin: {type: point, parent: {link: base, xyz: [5, 0, 0]}, child: {link: l2}}\n"
    machine = mechanism(arm([1.0, 1.0]), text)
    assert findings(machine, "loop")
    assert [finding.subject for finding in findings(machine, "actuation")] == [("b",)]


def test_a_task_out_of_reach():
    machine = mechanism(arm([1.0, 1.0]), MOTOR)
    goal = "  reach: {type: frame, axes: [x, z], parent: {link: base},"
    goal += " child: {link: l2, xyz: [1, 0, 0]}, reference: {type: constant, value: [1.0, -1.0]}}\n"
    found = findings(machine, "task", tasks=tasks(machine, goal), positions={"j1": 0.5, "j2": 0.5})
    assert [finding.severity for finding in found][:1] == ["error"]
    assert set(found[0].subject) <= {"reach.x", "reach.z"}
    assert "1 of 2 independent task rows: they drive 1 freedom, all in use" in found[0].problem


def test_a_task_that_the_structure_holds():
    machine = mechanism(
        arm([1.0, 1.0]), MOTOR + "constraints:\n  brake: {type: joint, joint: j2}\n"
    )
    found = findings(machine, "task", tasks=tasks(machine, "  keep: {type: joint, joint: j2}\n"))
    assert any("determined by the structure" in finding.problem for finding in found)


def test_a_motor_too_weak_for_the_start():
    machine = mechanism(arm([1.0]), "actuators: {motor: {joint: j1, effort_limit: 1.0}}\n")
    far = "  turn: {type: joint, joint: j1, reference: {type: constant, value: 3.0}}\n"
    (found,) = findings(machine, "task", tasks=tasks(machine, far))
    assert (found.severity, found.subject) == ("warning", ("motor",))
    assert "limit of effort" in found.problem
    assert "turn is -3 m or rad off its reference there" in found.problem


def test_a_reference_that_leaves_the_reach_of_the_machine():
    machine = mechanism(
        arm([1.0, 1.0]),
        "actuators: {m1: {joint: j1}, m2: {joint: j2}}\ninitial_guess: {j1: 0.3, j2: 0.6}\n",
    )
    line = "  tip: {type: frame, axes: [x, z], parent: {link: base},"
    line += " child: {link: l2, xyz: [1, 0, 0]},"
    for end, problems in ((1.9, []), (3.0, ["tip"])):
        spline = f"{{type: spline, times: [0, 2], values: [[1, 0], [{end}, 0]]}}}}\n"
        found = findings(machine, "task", tasks=tasks(machine, f"{line} reference: {spline}"))
        assert [name for finding in found for name in finding.subject] == problems
    # 1 + 2 (3 s² - 2 s³) passes 2 m, the length of the arm, in the middle, at t = 1 s
    assert found[0].severity == "error"
    assert "out of reach at t = 1.1 s by tip 0.1" in found[0].problem


def test_tasks_without_motors():
    machine = mechanism(arm([1.0]))
    (found,) = findings(machine, "task", tasks=tasks(machine, "  a: {type: joint, joint: j1}\n"))
    assert found.severity == "error"


def test_a_loop_that_nobody_closed():
    tip = link("tip", 0.0) + joint("tip_mount", "rocker", "tip", kind="fixed", xyz="1 0 0")
    hole = link("hole", 0.0) + joint("hole_mount", "l2", "hole", kind="fixed", xyz="1 0 0")
    q = four_bar().assemble()
    guess = dict(zip(("j1", "j2", "j3"), map(float, q), strict=True))
    text = f"initial_guess: {json.dumps(guess)}\n{MOTOR}"
    machine = four_bar(parts=ROCKER + tip + hole, text=text)
    (found,) = findings(machine, "open_loop")
    assert set(found.subject) == {"tip", "hole"}


def test_every_finding_has_a_remedy_and_errors_come_first():
    found = check(shipped("flexible_joint_arm_with_rotors"))
    order = ["error", "warning", "note"]
    parts = link("tip", 0.0) + joint("tip_joint", "l1", "tip") + link("heavy", 1.0, 1e5)
    parts += joint("heavy_joint", "l1", "heavy", limits=(0.0, 1.0))
    many = check(mechanism(arm([1.0]) + parts))
    assert {finding.severity for finding in many} == set(order)
    assert [f.severity for f in many] == sorted((f.severity for f in many), key=order.index)
    for finding in (*found, *many):
        assert finding.remedy
        assert finding.problem


EXPECTED = {
    "diagonal_spring": {"actuation"},  # benchmarks without motors
    "flyball_governor": {"actuation"},
    "n_four_bar": {"actuation"},
    "simple_pendulum": {"actuation"},
    "bricard": {"actuation", "redundancy"},  # five rows in three axes close one loop
    "differential_drive": {"redundancy"},  # two wheels on one axle slide sideways together
    "dual_panda": {"description"},  # attributes of another tool in the robot's own description
    "five_bar": {"redundancy"},  # the third leg of a parallelogram
    "five_bar_asymmetric": {"redundancy"},
    "five_bar_maximal": {"redundancy"},
    "five_bar_maximal_asymmetric": {"redundancy"},
    "flexible_joint_arm_with_rotors": {"actuation"},  # springs between motors and links
    "landing_leg": {"actuation"},  # it flies
    "landing_leg_contact": {"actuation"},
    "loop_ladder": {"actuation"},  # one motor, a freedom per cell
    "rolling_disc": {"actuation"},
    "skate": {"actuation"},
    "two_mass_spring": {"actuation"},
}


@pytest.mark.parametrize("name", sorted(shipped_files("mechanism")))
def test_shipped_mechanisms_have_the_findings_they_should_have(name):
    found = check(shipped(name))
    assert {finding.check for finding in found} == EXPECTED.get(name, set())
    assert all(finding.severity != "error" for finding in found)


def test_the_command_prints_findings_and_tells_by_its_status(capsys, tmp_path):
    assert main(["check", "four_bar"]) == 0
    assert capsys.readouterr().out == "four_bar: no findings\n"
    rotors = "flexible_joint_arm_with_rotors"
    assert main(["check", rotors, "--tasks", f"{rotors}_links"]) == 1
    text = capsys.readouterr().out
    assert "1 error" in text
    assert "[task] links: the motors reach 0 of 1" in text
    assert main(["check", rotors, "--tasks", f"{rotors}_links", "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert facts["errors"] == 1
    assert facts["findings"][0]["check"] == "task"
    missing = tmp_path / "nothing.yaml"
    assert main(["check", str(missing), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["findings"][0]["check"] == "file"


def test_positions_are_held(capsys):
    assert main(["check", "five_bar", "--set", "crank=0", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert "singular_start" in {finding["check"] for finding in facts["findings"]}


def test_of_very_many_names_some_are_listed(capsys, tmp_path):
    """Forty times the same loop: one warning of a few lines; JSON has all names."""
    pins = "".join(FRAME_PIN.partition("pin:")[2].join((f"  pin{n}:", "")) for n in range(40))
    robot = arm([1.0, 1.0]) + ROCKER
    (tmp_path / "robot.urdf").write_text(f'<robot name="r">{robot}</robot>')
    file = tmp_path / "many.yaml"
    file.write_text(f"schema: 1\nmodel: {{urdf: robot.urdf}}\nconstraints:\n{pins}{GUESS}{MOTOR}")
    assert main(["check", str(file)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "1 warning" in text
    assert "pin11 and 28 more: are duplicates" in text
    assert main(["check", str(file), "--json"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert len(finding["subject"]) == 40


def test_progress_ends_with_the_last_check():
    parts: list[float] = []
    check_file("four_bar", progress=parts.append)
    assert len(parts) > 5
    assert sum(parts) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "name", "remedy"),
    [
        ("contacts: {f: {parent: {link: base}, child: {link: ball}}}", "f", "its z axis points"),
        (
            """
constraints:
  r: {type: rope, length: 0.1, one_sided: at_most, points: [{link: base}, {link: ball}]}
""",
            "r",
            "lengthen it",
        ),
        (
            "constraints: {d: {type: joint, joint: z, one_sided: at_least}}",
            "d",
            "whether at_least or at_most is meant",
        ),
    ],
)
def test_what_begins_inside_is_told_with_what_helps(text, name, remedy):
    lift = joint("z", "base", "ball", kind="prismatic", axis="0 0 1")
    machine = mechanism(
        link("base") + link("ball", 2.0) + lift, f"initial_guess: {{z: -0.2}}\n{text}"
    )
    (found,) = (one for one in findings(machine, "limits") if "cannot begin" in one.problem)
    assert found.subject == (name,)
    assert remedy in found.remedy


def test_a_contact_that_a_loop_holds_as_well():
    """A pin keeps the elbow on a circle, and a one-sided rod between the same points."""
    rod = (
        "  rod: {type: distance, distance: 1.0, one_sided: at_most, parent: {link: base,"
        " xyz: [1, 0, 0]}, child: {link: l2, xyz: [1.0, 0.0, 0.0]}}\n"
    )
    text = SOUND.replace("constraints:\n", f"constraints:\n{rod}")
    (found,) = findings(four_bar(text=text), "redundancy")
    assert found.subject == ("rod",)
    assert "never opens or closes" in found.problem
    free = text.replace("link: base, xyz: [1, 0, 0]", "link: base, xyz: [1.2, 0, 0]")
    assert findings(four_bar(text=free), "redundancy") == []


def test_places_of_boxes_that_touch_in_fewer_points():
    """A face on a face has four of the eight points that there may be."""
    shape = '<collision><geometry><box size="{0} {0} 0.2"/></geometry></collision></link>'
    parts = link("base", 0.0).replace("/>", ">" + shape.format(1.0))
    parts += link("box").replace("</link>", shape.format(0.2))
    parts += joint("free", "base", "box", kind="floating")
    boxes = mechanism(
        parts,
        "contacts:\n  stack: {parent: {link: base}, child: {link: box}, friction: 0.5,"
        " surface: {type: collision}}\ninitial_guess: {free.z: 0.2}\n",
    )
    assert findings(boxes, "redundancy") == []
    told = dict(standing_lines(standing(boxes, boxes.start())))
    assert {name for name in told if name.startswith("stack.")} == {
        f"stack.{k}" for k in (1, 2, 3, 4)
    }


def test_a_contact_with_its_own_body():
    parts = ROCKER + joint("glue", "rocker", "shoe", kind="fixed") + link("shoe", 0.0)
    contact = "contacts: {scrape: {parent: {link: rocker}, child: {link: shoe, xyz: [0, 0, 1]}}}\n"
    (found,) = findings(four_bar(text=SOUND + contact, parts=parts), "idle")
    assert found.subject == ("scrape",)


ROLLER = link("base") + link("cart") + link("wheel", 0.0) + joint("roll", "cart", "wheel")
ROLLER += joint("x", "base", "cart", kind="prismatic", axis="1 0 0")
TOUCHING = """
contacts:
  tread: {parent: {link: world, xyz: [0, 0, -0.1]}, child: {link: wheel}, radius: 0.1,
          friction: %s}
  skid: {parent: {link: world, xyz: [0, 0, -0.2]}, child: {link: cart, xyz: [0, 0, -0.2]},
         friction: 1}
"""


def test_friction_of_what_has_no_inertia():
    """A massless wheel that rubs on the ground and on its axle."""
    axle = "joints: {roll: {friction: 0.1}, x: {friction: 0.1}}\n"
    found = findings(mechanism(ROLLER, axle + TOUCHING % 0.5), "friction")
    assert [(one.severity, one.subject) for one in found] == [
        ("error", ("roll",)),
        ("error", ("tread",)),
    ]
    assert all("along roll" in one.problem for one in found)
    with pytest.raises(UndeterminedMotionError, match="roll"):
        simulate(mechanism(ROLLER, TOUCHING % 0.5), State(0.0, np.zeros(2), np.zeros(2)), 0.1)
    assert findings(mechanism(ROLLER, TOUCHING % 0.0), "friction") == []
    heavy = axle.replace("roll: {", "roll: {armature: 0.01, ")
    assert findings(mechanism(ROLLER, heavy + TOUCHING % 0.5), "friction") == []


def test_a_mesh_whose_hollows_are_filled(tmp_path):
    """A fork of three boxes: 3 of 4 parts of its hull are there."""
    trimesh = pytest.importorskip("trimesh")
    boxes = {"left": (-0.15, 0.1), "right": (0.15, 0.1), "back": (0.0, -0.1)}
    made = []
    for name, (x, y) in boxes.items():
        box = trimesh.creation.box((0.4 if name == "back" else 0.1, 0.2, 0.1))
        made.append(box.apply_translation((x, y, 0.0)))
        made[-1].export(tmp_path / f"{name}.stl")
    trimesh.util.concatenate(made).export(tmp_path / "fork.stl")

    def fork(*meshes: str, kind="from: collision"):
        shapes = "".join(
            f'<collision><geometry><mesh filename="{tmp_path}/{mesh}.stl"/></geometry></collision>'
            for mesh in meshes
        )
        body = link("fork").replace("</link>", f"{shapes}</link>")
        ground = link("block").replace(
            "</link>",
            '<collision><geometry><box size="1 1 1"/></geometry></collision></link>',
        )
        text = f"contacts: {{tine: {{parent: {{link: block}}, child: {{link: fork}}, {kind}}}}}\n"
        slide = joint("z", "block", "fork", kind="prismatic", axis="0 0 1", xyz="0 0 2")
        return mechanism(ground + body + slide, text)

    for kind in ("from: collision", "surface: {type: collision}"):
        (found,) = findings(fork("fork", kind=kind), "mesh")
        assert (found.severity, found.subject) == ("warning", ("tine",))
        assert "hull of fork.stl, 25% of which" in found.problem
        assert findings(fork(*boxes, kind=kind), "mesh") == []  # the remedy
