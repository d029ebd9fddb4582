# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Force elements of a mechanism file: energy, equilibria, closed forms, and mistakes in files."""

import re

import numpy as np
import pytest
from support.mechanism_builder import arm, joint, link, mechanism, near
from support.repository import DOCS

from uk_dynamics.exceptions import ExpressionValueError, InputError, MechanismFileError
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.simulation.simulate import simulate

SLIDES = (
    link("base")
    + link("m1", 1.0)
    + link("m2", 2.0)
    + joint("x1", "base", "m1", kind="prismatic", axis="1 0 0")
    + joint("x2", "base", "m2", kind="prismatic", axis="1 0 0", xyz="0 0 0")
)


def test_two_masses_on_a_spring_swing_with_their_reduced_mass():
    machine = mechanism(
        SLIDES,
        "forces:\n  spring:\n"
        "    {type: joint_spring, joints: {x2: 1, x1: -1}, stiffness: 24, rest: 0.5}\n",
    )
    reduced = 1.0 * 2.0 / 3.0
    omega = np.sqrt(24.0 / reduced)
    trajectory = simulate(machine, machine.state({"x2": 0.8}), 3.0, rtol=1e-11)
    stretch = trajectory.position("x2") - trajectory.position("x1") - 0.5
    assert stretch == pytest.approx(0.3 * np.cos(omega * trajectory.t), abs=1e-8)
    assert trajectory.energy == pytest.approx(np.full(len(trajectory.t), 1.08), abs=1e-8)


def test_a_damper_between_two_joints_takes_relative_motion_only():
    machine = mechanism(
        SLIDES, "forces:\n  damper: {type: joint_spring, joints: {x2: 1, x1: -1}, damping: 3}\n"
    )
    state = machine.state({}, {"x1": 1.0, "x2": 0.0})
    trajectory = simulate(machine, state, 2.0)
    decay = np.exp(-3.0 * 1.5 * trajectory.t)
    assert trajectory.v[:, 0] - trajectory.v[:, 1] == pytest.approx(decay, abs=1e-8)
    assert trajectory.v @ [1.0, 2.0] == pytest.approx(np.ones(len(trajectory.t)), abs=1e-9)


SPRINGS = """
forces:
  strut:
    type: line_spring
    parent: {link: base, xyz: [0.5, 0.2, 1.0]}
    child: {link: l2, xyz: [0.8, 0.0, 0.1]}
    stiffness: 40
    length: 0.7
  elastic: {type: line_spring, parent: {link: l1}, child: {link: l2, xyz: [1, 0, 0]}, stiffness: 5}
  torsion: {type: joint_spring, joints: {j1: 1, j2: 0.5}, stiffness: 8, rest: 0.3}
"""


@pytest.mark.slow
def test_energy_is_conserved_with_springs_of_every_kind():
    machine = mechanism(arm((1.0, 1.0)), SPRINGS)
    assert machine.conservative
    trajectory = simulate(machine, machine.state({"j1": 0.4, "j2": -1.0}), 5.0, rtol=1e-11)
    # Energies of about 30 J; rtol 1e-11 over some 300 steps.
    assert np.ptp(trajectory.energy) < 1e-7
    assert np.ptp(trajectory.kinetic) > 5.0


def test_the_energy_of_springs_does_not_disturb_an_evaluation():
    machine = mechanism(arm((1.0, 1.0)), SPRINGS)
    dynamics, other = machine.dynamics("interpreted"), machine.state({"j1": 1.0})
    state = machine.state({"j1": 0.4, "j2": -1.0}, {"j1": 1.0})
    prepared = dynamics.prepare(state)
    before = prepared.workspace.translation.copy()
    dynamics.energy(other)
    assert np.array_equal(prepared.workspace.translation, before)


def test_a_spring_acts_within_closed_loops():
    """Two arms pinned at their tips, held apart by a strut."""
    parts = arm((1.0, 1.0)) + link("r", com="0.5 0 0") + joint("k", "base", "r", xyz="1.2 0 0")
    text = (
        "initial_guess: {j1: -1.2, j2: 2.2, k: -1.8}\n"
        "constraints:\n  pin: {type: frame, axes: [x, z], parent: {link: r, xyz: [1, 0, 0]},"
        " child: {link: l2, xyz: [1, 0, 0]}}\n"
        "forces:\n  strut: {type: line_spring, parent: {link: base},"
        " child: {link: l2, xyz: [0.5, 0, 0.2]}, stiffness: 100, length: 1.5}\n"
    )
    machine = mechanism(parts, text)
    state = machine.state(machine.assemble())
    loose = mechanism(parts, text[: text.index("forces")])
    difference = machine.dynamics().evaluate(state).qdd - loose.dynamics().evaluate(state).qdd
    assert np.abs(difference).max() > 1.0
    trajectory = simulate(machine, state, 1.0, rtol=1e-11)
    assert np.ptp(trajectory.energy) < 1e-7
    assert np.ptp(trajectory.kinetic) > 5.0


def test_a_wrench_in_body_axes_turns_with_its_link():
    text = (
        "model: {gravity: [0, 0, 0]}\nforces:\n"
        "  thruster:\n"
        "    {type: wrench, frame: {link: l1, xyz: [1, 0, 0]}, force: [0, 0, 2], axes: AXES}\n"
    )
    pose = {"j1": 0.7}
    body = mechanism(arm((1.0,)), text.replace("AXES", "body"))
    world = mechanism(arm((1.0,)), text.replace("AXES", "world"))
    # About y: a force along the link's z at its tip turns against the axis, at any angle.
    assert pytest.approx([-2.0], abs=1e-12) == body.terms(body.state(pose)).F
    assert pytest.approx([-2.0 * np.cos(0.7)], abs=1e-12) == world.terms(world.state(pose)).F


def test_a_wrench_against_gravity_lets_a_body_float():
    machine = mechanism(
        link("body", 2.0),
        "model: {root: floating}\nforces:\n"
        "  lift: {type: wrench, frame: {link: body}, force: [0, 0, 19.62]}\n",
    )
    solution = machine.dynamics().evaluate(machine.state())
    assert solution.qdd == pytest.approx(np.zeros(6), abs=1e-12)
    assert not machine.conservative


def test_a_constant_effort_acts_on_a_sum_of_joints():
    machine = mechanism(
        SLIDES, "forces:\n  push: {type: effort, joints: {x1: 1, x2: -2}, effort: 3}\n"
    )
    assert pytest.approx([3.0, -6.0], abs=1e-12) == machine.terms(machine.state()).F


def test_tasks_frames_do_not_shift_the_frames_of_forces():
    machine = mechanism(arm((1.0, 1.0)), SPRINGS)
    from uk_dynamics.mechanism.dynamics.interpreted import InterpretedDynamics
    from uk_dynamics.model.urdf.description import AttachedFrame

    extended = InterpretedDynamics(machine, machine.extended_model([AttachedFrame("tip", "l2")]))
    state = machine.state({"j1": 0.4, "j2": -1.0}, {"j1": 1.0})
    near(extended.evaluate(state).qdd, machine.dynamics().evaluate(state).qdd)
    assert extended.energy(state).total == pytest.approx(machine.energy(state).total, abs=1e-12)


def test_an_expression_is_an_effort_on_its_joints():
    machine = mechanism(
        SLIDES,
        "forces:\n  push:\n    type: expression\n    joints: {x1: 1, x2: -1}\n"
        "    expression: k*(x2 - x1)**3 - abs(d(x1))*d(x1) + sin(2*t)\n    parameters: {k: 3.0}\n",
    )
    assert not machine.conservative
    state = machine.state([0.2, 0.9], [-1.5, 4.0], t=0.4)
    effort = 3.0 * 0.7**3 + 1.5**2 + np.sin(0.8)
    assert pytest.approx([effort, -effort], abs=1e-12) == machine.terms(state).F


def test_a_falling_mass_with_a_quadratic_drag_approaches_its_terminal_velocity():
    machine = mechanism(
        link("base")
        + link("m1", 2.0)
        + joint("z", "base", "m1", kind="prismatic", axis="0 0 1", limits=(-1000.0, 1000.0)),
        "forces: {drag: {type: expression, joints: {z: 1}, expression: -c*abs(d(z))*d(z),"
        " parameters: {c: 0.5}}}\n",
    )
    terminal = np.sqrt(2.0 * 9.81 / 0.5)
    trajectory = simulate(machine, machine.state(), 3.0)
    expected = -terminal * np.tanh(9.81 * trajectory.t / terminal)
    assert trajectory.v[:, 0] == pytest.approx(expected, abs=1e-7)


def test_an_expression_without_a_value_says_which_force_it_is():
    machine = mechanism(
        SLIDES, "forces: {pull: {type: expression, joints: {x1: 1}, expression: sqrt(x2)}}\n"
    )
    with pytest.raises(ExpressionValueError, match=r"forces\.pull: .*sqrt\(x2\)"):
        machine.terms(machine.state({"x2": -1.0}))


# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("{type: sprung}", "push.type", "valid are: joint_spring, line_spring"),
        ("{type: joint_sprin}", "push.type", 'did you mean "joint_spring"?'),
        ("{stiffness: 1}", "push", 'the key "type" is missing'),
        ("{type: joint_spring, stiffness: 1}", "push", '"joints" is missing'),
        ("{type: joint_spring, joints: {a: 1}}", "push", "neither stiffness nor damping"),
        ("{type: joint_spring, joints: {a: 0}, stiffness: 1}", "push.joints", "every factor"),
        ("{type: joint_spring, joints: {a: 1}, stiffness: -1}", "push.stiffness", "at least 0"),
        ("{type: joint_spring, joints: {a: 1}, stiffnes: 1}", "push", 'did you mean "stiffness"'),
        ("{type: joint_spring, joints: {a: 1}, stiffness: 1, length: 2}", "push", '"length"'),
        ("{type: line_spring, stiffness: 1}", "push", '"parent" is missing'),
        (
            "{type: line_spring, parent: {link: a}, child: {link: a}, stiffness: 1}",
            "push.child.link",
            "both frames",
        ),
        (
            "{type: line_spring, parent: {link: a}, child: {link: b}, stiffness: 1, length: -1}",
            "push.length",
            "at least 0 in m",
        ),
        ("{type: effort, joints: {a: 1}}", "push", '"effort" is missing'),
        ("{type: effort, joints: {a: 1}, effort: strong}", "push.effort", "number in N or N m"),
        ("{type: expression, joints: {a: 1}}", "push", '"expression" is missing'),
        ("{type: expression, joints: {a: 1}, expression: 3}", "push.expression", "give text"),
        ("{type: wrench, force: [1, 0, 0]}", "push", '"frame" is missing'),
        ("{type: wrench, frame: {link: a}}", "push", "neither force nor torque"),
        ("{type: wrench, frame: {link: a}, force: [1, 0]}", "push.force", "give 3"),
        ("{type: wrench, frame: {link: a}, force: [1, 0, 0], axes: link}", "push.axes", "world"),
    ],
)
def test_a_mistake_in_a_force_is_told_with_its_place(text, place, problem):
    with pytest.raises(MechanismFileError) as error:
        MechanismSpec.from_text(f"schema: 1\nforces:\n  push: {text}\n", file="machine.yaml")
    assert error.value.place == f"forces.{place}"
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{type: effort, joints: {j3: 1}, effort: 1}", r'forces\.push\.joints: no joint "j3"'),
        (
            "{type: expression, joints: {j1: 1}, expression: j1 + j3}",
            r"forces\.push\.expression: column 6: .*j3",
        ),
        (
            "{type: expression, joints: {j1: 1}, expression: dd(j1)}",
            r"forces\.push\.expression: column 1",
        ),
        (
            "{type: expression, joints: {j1: 1}, expression: '__import__(1)'}",
            r"forces\.push\.expression: column 1",
        ),
        ("{type: wrench, frame: {link: l3}, force: [1, 0, 0]}", r'push\.frame\.link: no link "l3"'),
        (
            "{type: line_spring, parent: {link: base}, child: {link: l}, stiffness: 1}",
            r'push\.child\.link: no link "l"',
        ),
    ],
)
def test_names_that_do_not_exist_are_told_with_their_place(text, message):
    with pytest.raises(InputError, match=message):
        mechanism(arm((1.0, 1.0)), f"forces:\n  push: {text}\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("distribution: gaus", 'distribution: unknown "gaus"; did you mean "gauss"'),
        ("tasks: {t: {type: joint, joint: a, feedback: {form: fast}}}", "baumgarte"),
        ("tasks: {t: {type: joint, joint: a, feedback: {}}}", '"form" is missing'),
    ],
)
def test_mistakes_in_how_a_task_is_served(text, message):
    rest = "" if text.startswith("tasks") else "\ntasks: {t: {type: joint, joint: a}}"
    with pytest.raises(MechanismFileError, match=re.escape(message)):
        TasksSpec.from_text(f"schema: 1\n{text}{rest}\n")


def test_joints_have_no_feedback():
    text = "schema: 1\nconstraints: {c: {type: joint, joint: a, feedback: {form: baumgarte}}}\n"
    with pytest.raises(MechanismFileError, match=r"constraints\.c\.feedback: .*joints do not"):
        MechanismSpec.from_text(text)


def test_the_files_in_the_page_on_forces_are_files():
    page = DOCS / "forces_and_friction.md"
    blocks = re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
    files = [MechanismSpec.from_text(f"schema: 1\n{block}") for block in blocks]
    forces, friction, sticking = files
    assert {force.type for force in forces.forces} == {
        "joint_spring",
        "line_spring",
        "effort",
        "wrench",
        "expression",
    }
    assert friction.constraints[0].friction.coulomb == 0.1
    assert sticking.constraints[0].friction.static == 0.4
