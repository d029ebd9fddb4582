# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a mechanism is said to be: mobility, redundancy, actuation, tasks within reach."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import arm, joint, link, mechanism, pinned_arm, shipped

from uk_dynamics.exceptions import AssemblyError
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.tasks import Tasks

PIN = """
  {0}: {{type: frame, axes: [{1}], parent: {{link: base, xyz: [1.2, 0, 0]}},
        child: {{link: l3, xyz: [1, 0, 0]}}}}"""
HINGE = """
  {0}: {{type: hinge, axis: [0, 1, 0], parent: {{link: base, xyz: [1.2, 0, 0]}},
        child: {{link: l3, xyz: [1, 0, 0]}}}}"""
BENT = {"j1": -0.8, "j2": 1.0, "j3": 0.8}


def closed_arm(constraints: str, actuators: str = "{}"):
    return pinned_arm(constraints, (1.0, 1.0, 1.0), f"\nactuators: {actuators}\n")


def tasks(machine, text):
    return Tasks(TasksSpec.from_text(f"schema: 1\ntasks: {text}"), machine)


@pytest.mark.parametrize(
    ("constraints", "rank", "redundant"),
    [
        (PIN.format("pin", "x, z"), 2, ()),
        (PIN.format("pin", "x, z") + PIN.format("again", "z"), 2, ("again.z",)),
        (HINGE.format("pin"), 2, ("pin.y", "pin.tilt_1", "pin.tilt_2")),  # a planar machine
    ],
)
def test_redundant_rows_are_named(constraints, rank, redundant):
    report = closed_arm(constraints).report(BENT)
    assert (report.rank, report.mobility) == (rank, 3 - rank)
    assert report.redundant_rows == redundant
    assert report.rows == rank + len(redundant)


@pytest.mark.parametrize(
    ("actuators", "freedoms", "actuation"),
    [
        ("{}", 0, "not actuated"),
        ("{a: {joint: j1}}", 1, "fully actuated"),
        ("{a: {joint: j1}, b: {joint: j2}}", 1, "redundantly actuated"),
    ],
)
def test_motors_are_counted_by_what_the_loop_lets_them_move(actuators, freedoms, actuation):
    machine = closed_arm(PIN.format("pin", "x, z"), actuators)
    report = machine.report(machine.assemble(BENT))
    assert (report.actuated_freedoms, report.actuation) == (freedoms, actuation)


def test_a_motor_that_only_strains_the_structure_moves_nothing():
    text = PIN.format("pin", "x, z") + "\n  lock: {type: joint_coupling, joints: {j1: 1.0}}"
    machine = closed_arm(text, "{a: {joint: j1}, b: {joint: j2}}")
    report = machine.report(machine.assemble({"j1": 0.0, "j2": 2.0, "j3": 1.5}))
    assert report.mobility == 0
    assert report.actuation == "not actuated"


def test_units_do_not_hide_a_motor():
    """A motor on a millionth of a kilogram beside one on a ton; both drive a freedom."""
    parts = link("base") + link("ton", 1000.0) + link("dust", 1e-6, inertia=1e-9)
    parts += joint("slide", "base", "ton", kind="prismatic") + joint("spin", "base", "dust")
    machine = mechanism(parts, "actuators: {a: {joint: slide}, b: {joint: spin}}")
    assert machine.report().actuation == "fully actuated"


def test_tasks_that_the_motors_cannot_serve_are_named():
    machine = mechanism(arm([1.0, 1.0]), "actuators: {a: {joint: j1}}")
    both = tasks(machine, "{one: {type: joint, joint: j1}, two: {type: joint, joint: j2}}")
    found = machine.report(tasks=both).tasks
    assert (found.rows, found.independent_rows, found.reachable_rows) == (2, 2, 1)
    assert found.unreachable == ("one", "two")
    one = machine.report(tasks=tasks(machine, "{one: {type: joint, joint: j1}}")).tasks
    assert one.unreachable == ()


def test_a_machine_whose_motion_is_not_determined_can_be_described():
    parts = link("base") + link("l1", com="0.5 0 0") + link("tip", mass=0.0)
    parts += joint("j1", "base", "l1") + joint("j2", "l1", "tip")
    report = mechanism(parts, "actuators: {a: {joint: j1}}").report()
    assert (report.mobility, report.actuated_freedoms) == (2, 1)


def test_a_singular_configuration_has_its_own_numbers():
    machine = shipped("five_bar")
    flat = machine.report(np.zeros(4))
    assert (flat.rank, flat.mobility) == (2, 2)
    assert machine.report().mobility == 1


def test_limits_and_gaps_are_told():
    machine = mechanism(
        arm([1.0, 1.0], [(-0.5, 0.5), None]),
        "constraints:" + PIN.format("p", "z").replace("l3", "l2"),
    )
    report = machine.report([0.6, 0.0])
    assert report.limit_violations == ("j1 = 0.6 is outside [-0.5, 0.5]",)
    assert report.largest_residual == pytest.approx(2.0 * np.sin(0.6), abs=1e-12)
    plain = report.to_dict()
    assert plain["configuration"] == {"j1": 0.6, "j2": 0.0}


def test_without_a_configuration_the_loops_are_closed_first():
    open_loop = PIN.format("far", "x, z").replace("1.2", "9.0")
    with pytest.raises(AssemblyError, match="far by"):
        closed_arm(open_loop).report()


def test_what_a_task_lacks_is_told_by_its_name():
    """A load that nothing holds falls; a task that holds another joint lacks nothing."""
    parts = link("base")
    for name in ("held", "loose"):
        parts += link(name) + joint(f"{name}_slide", "base", name, kind="prismatic", axis="0 0 1")
    machine = mechanism(parts, "actuators: {a: {joint: held_slide}, b: {joint: held_slide}}\n")
    both = tasks(
        machine,
        "{held: {type: joint, joint: held_slide}, loose: {type: joint, joint: loose_slide}}",
    )
    facts = machine.report(tasks=both).tasks
    assert facts.actuation == "underactuated and redundantly actuated"
    assert facts.unreachable == ("loose",)
    assert facts.missing == {"loose": pytest.approx(9.81, rel=1e-12)}
    assert machine.report(tasks=tasks(machine, "{a: {type: joint, joint: held_slide}}")).tasks
