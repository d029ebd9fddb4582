# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The lemmas in names: which constraint is in the way, and what may still be chosen."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import arm, mechanism, near, shipped

from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.control.servo.servo_controllability import servo_controllability
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.resources import shipped_files


def controller(machine, tasks):
    return ServoController(
        machine, Tasks(TasksSpec.from_text(f"schema: 1\ntasks:{tasks}"), machine)
    )


def found(machine, tasks, **positions):
    q = machine.assemble(positions, hold=positions)
    return servo_controllability(controller(machine, tasks), machine.state(q))


def test_two_robots_with_one_load_leave_three_efforts_free():
    machine = shipped("coordinated_robots")
    tasks = Tasks.from_file("coordinated_robots_lift", machine)
    servo = ServoController(machine, tasks)
    state = machine.state(machine.assemble())
    facts = servo_controllability(servo, state)
    assert facts.served
    assert facts.controllable
    assert (facts.rank, facts.task_rank) == (3, 3)
    assert (facts.motion_freedom, facts.effort_freedom) == (0, 3)
    assert facts.sentences()[0] == "servo-controllable, rank 3 of 3"
    # The s of (35) moves the efforts and nothing else.
    plain, loaded = servo.command(state), servo.command(state, preload={"u1": 20.0})
    assert np.abs(loaded.requested - plain.requested).max() > 1.0
    evaluate = machine.dynamics().evaluate
    near(
        evaluate(state, servo.inputs(loaded)).qdd,
        evaluate(state, servo.inputs(plain)).qdd,
    )


@pytest.mark.parametrize("task_file", sorted(set(shipped_files("tasks")) - {"dual_panda_load"}))
def test_ranks_are_those_of_the_servo_law(task_file):
    names = sorted(shipped_files("mechanism"))
    machine = shipped(max((name for name in names if task_file.startswith(name)), key=len))
    servo = ServoController(machine, Tasks.from_file(task_file, machine))
    state = machine.start()
    facts, command = servo_controllability(servo, state), servo.command(state)
    assert (facts.rank, facts.task_rank) == (command.servo.rank, command.servo.task_rank)
    assert facts.unserved == command.unreachable


def test_a_joint_without_motor_is_named():
    machine = mechanism(arm([1.0, 1.0]), "actuators: {m1: {joint: j1}}")
    both = " {a: {type: joint, joint: j1}, b: {type: joint, joint: j2}}"
    facts = found(machine, both, j1=0.3, j2=0.4)
    # (34) holds, and yet one motor does not serve two tasks.
    assert facts.necessary
    assert not facts.controllable
    assert facts.contradicting_tasks == ()
    assert set(facts.unserved) == {"a", "b"}
    assert "not servo-controllable at acceleration level, rank 1 of 2" in facts.sentences()
    assert any("a, b" in sentence and "(33)" in sentence for sentence in facts.sentences())


def test_contradicting_tasks_are_told_from_bystanders():
    machine = mechanism(arm([1.0, 1.0]), "actuators: {m1: {joint: j1}, m2: {joint: j2}}")
    facts = found(
        machine,
        """
  up: {type: joint, joint: j1, reference: {type: constant, value: 1.0}}
  down: {type: joint, joint: j1, reference: {type: constant, value: -1.0}}
  other: {type: joint, joint: j2, reference: {type: constant, value: 0.5}}
""",
    )
    assert set(facts.contradicting_tasks) == {"up", "down"}
    assert (facts.rank, facts.task_rank) == (2, 2)
    assert facts.controllable
    assert not facts.served
    (sentence,) = [sentence for sentence in facts.sentences() if "(27)" in sentence]
    assert "up, down" in sentence
    assert "other" not in sentence


def test_what_the_structure_holds_by_itself_is_said():
    machine = mechanism(
        arm([1.0, 1.0]),
        """
actuators: {m1: {joint: j1}, m2: {joint: j2}}
constraints:
  locked: {type: joint, joint: j2, reference: {type: constant, value: 0.4}}
""",
    )
    bent = " {bend: {type: joint, joint: j2, reference: {type: constant, value: 0.9}}}"
    facts = found(machine, bent, j2=0.4)
    assert facts.held == facts.contradicting_tasks == ("bend",)
    assert any("structure determines bend" in sentence for sentence in facts.sentences())


STOPS = """
actuators: {m1: {joint: j1}, m2: {joint: j2}}
constraints:
  here: {type: joint, joint: j2, reference: {type: constant, value: 0.4}}
  there: {type: joint, joint: j2, reference: {type: constant, value: 0.7}%s}
"""


def test_a_structure_that_contradicts_itself_is_named():
    machine = mechanism(arm([1.0, 1.0]), STOPS % "")
    servo = controller(machine, " {a: {type: joint, joint: j1}}")
    facts = servo_controllability(servo, machine.state({"j1": 0.0, "j2": 0.5}))
    assert set(facts.contradicting_structure) == {"here", "there"}
    assert not facts.served


@pytest.mark.parametrize(
    "gives_way",
    [", compliance: 1.0e-6", ", switchable: true, active: false, on_activation: require"],
)
def test_what_yields_or_is_off_contradicts_nobody(gives_way):
    machine = mechanism(arm([1.0, 1.0]), STOPS % gives_way)
    servo = controller(machine, " {a: {type: joint, joint: j1}}")
    facts = servo_controllability(servo, machine.state({"j1": 0.0, "j2": 0.4}))
    assert facts.contradicting_structure == ()
    assert facts.served


def test_rows_out_of_the_plane_ask_nothing_of_the_motors():
    """All six rows of a pose on a planar machine, whose turned half has rounding for three."""
    machine = shipped("coordinated_robots")
    pose = """
  load:
    type: frame
    axes: [x, y, z, rx, ry, rz]
    parent: {link: ground}
    child: {link: right_load, xyz: [0.5, 0, 0], rpy: [0, 0, 3.141592653589793]}
    reference: {type: constant, value: [1.5, 0.0, 0.0, 0.0, 0.0, 0.0]}
"""
    servo = controller(machine, pose)
    state = machine.start()
    facts, command = servo_controllability(servo, state), servo.command(state)
    assert facts.served
    assert facts.rank == facts.task_rank == command.servo.rank == command.servo.task_rank == 3
    # The other half is held by the same seam: what the package's own task asks at rest.
    tasks = Tasks.from_file("coordinated_robots_lift", machine)
    lifted = ServoController(machine, tasks).command(
        state, {"load": ReferenceSample(np.array([1.5, 0, 0]), np.zeros(3), np.zeros(3))}
    )
    near(command.requested, lifted.requested)
