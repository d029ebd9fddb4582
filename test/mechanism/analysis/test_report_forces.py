# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What is said of forces, of friction, and of why motors cannot serve a task."""

from __future__ import annotations

import pytest
from support.mechanism_builder import arm, joint, link, mechanism

import uk_dynamics.cli.commands.describe as cli
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.tasks import Tasks


def describe(facts):
    """The text of the command, without its line breaks."""
    return " ".join(cli.describe(facts).split())


# --- forces and friction -------------------------------------------------------------------------

SWINGING = link("base") + link("body", 2.0, 0.3, com="0.4 0 0")
SWINGING += '<joint name="free" type="planar"><parent link="base"/><child link="body"/>'
SWINGING += '<axis xyz="0 1 0"/></joint>'
PIN = (
    "{type: frame, axes: [x, z], parent: {link: base}, child: {link: body},"
    " friction: {coulomb: 0.2, radius: 0.02}}"
)


def test_forces_and_friction_are_told():
    machine = mechanism(
        SWINGING,
        f"constraints: {{pin: {PIN}}}\nforces:\n"
        "  spring: {type: line_spring, parent: {link: base, xyz: [0, 0, 1]}, child: {link: body},"
        " stiffness: 5}\n",
    )
    found = machine.report()
    assert found.forces == {"spring": "line_spring"}
    assert found.friction == ("pin",)
    assert found.warnings == ()
    assert "friction in" in describe(found)
    assert "spring (line_spring)" in describe(found)


def test_friction_with_a_load_that_nobody_knows_is_a_warning():
    found = mechanism(SWINGING, f"constraints: {{one: {PIN}, two: {PIN}}}\n").report()
    assert len(found.warnings) == 2
    assert "friction in one depends on the force in the joint" in found.warnings[0]


# --- why tasks are out of reach ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("forces", "reason"),
    [
        ("", "no force couples it"),
        ("damper: {type: joint_spring, joints: {a: 1, b: -1}, damping: 2}", "dampers only"),
        ("spring: {type: joint_spring, joints: {a: 1, b: -1}, stiffness: 2}", "springs"),
        ("push: {type: effort, joints: {a: 1, b: -1}, effort: 2}", "no force couples it"),
    ],
)
def test_a_task_out_of_reach_is_told_with_its_reason(forces, reason):
    parts = link("base") + link("one") + link("two")
    parts += joint("a", "base", "one", kind="prismatic")
    parts += joint("b", "base", "two", kind="prismatic")
    machine = mechanism(parts, f"actuators: {{motor: {{joint: a}}}}\nforces: {{{forces}}}\n")
    tasks = Tasks(TasksSpec.from_text("schema: 1\ntasks: {t: {type: joint, joint: b}}"), machine)
    found = machine.report(tasks=tasks)
    assert found.tasks.unreachable == ("t",)
    assert reason in found.tasks.reason
    assert "not servo-controllable at acceleration level, rank 0 of 1" in describe(found)


def test_a_task_within_reach_needs_no_reason():
    machine = mechanism(arm((1.0,)), "actuators: {motor: {joint: j1}}\n")
    tasks = Tasks(TasksSpec.from_text("schema: 1\ntasks: {t: {type: joint, joint: j1}}"), machine)
    found = machine.report(tasks=tasks)
    assert found.tasks.reason == ""
    assert "servo-controllable" not in describe(found)
