# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The servo law on whole mechanisms: against an independent formula, and what it says it cannot."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import (
    arm,
    closed_states,
    joint,
    link,
    mechanism,
    near,
    pinned_arm,
    shipped,
)

from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.exceptions import InputError, StateError, UnknownNameError
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.resources import shipped_files
from uk_dynamics.simulation.simulate import simulate

TASK_FILES = sorted(shipped_files("tasks"))
# The papers' examples of tasks that leave freedom, or that motors cannot serve: they have tests of
# their own.
PARTIAL = {
    "two_mass_spring_stretch",
    "flexible_joint_arm_links",
    "flexible_joint_arm_with_rotors_links",
}
COMPLETE = [name for name in TASK_FILES if name not in PARTIAL]
NAMES = sorted(shipped_files("mechanism"))


def owner(task_file: str) -> str:
    return max((name for name in NAMES if task_file.startswith(name)), key=len)


def shipped_controller(task_file: str) -> ServoController:
    machine = shipped(owner(task_file))
    return ServoController(machine, Tasks.from_file(task_file, machine))


def controller(machine: Mechanism, tasks: str) -> ServoController:
    return ServoController(
        machine, Tasks(TasksSpec.from_text(f"schema: 1\ntasks:{tasks}"), machine)
    )


def task_rows(servo: ServoController, state: State):
    workspace = servo.tasks.model.workspace()
    workspace.update(state.q, state.v)
    rows = servo.tasks.evaluate(workspace, state.q, state.v, state.t)
    constraints = servo.tasks.constraints
    return rows.A, rows.right_hand_side(constraints.damping, constraints.stiffness)


def acceleration(servo: ServoController, state: State, efforts) -> np.ndarray:
    machine = servo.mechanism
    return machine.dynamics().evaluate(state, machine.inputs(efforts=efforts)).qdd


# --- the law -------------------------------------------------------------------------------------


# In the air the leg is free to fall, and the carts are free to go anywhere together.
FREE = {"landing_leg_knee", "two_mass_spring_breathe"}


@pytest.mark.parametrize("task_file", [name for name in COMPLETE if name not in FREE])
def test_efforts_are_those_of_inverse_dynamics(task_file):
    """u = pinv(ZᵀS) Zᵀ(M q̈ + h) in the metric of W, with q̈ from loops and tasks alone."""
    servo = shipped_controller(task_file)
    machine = servo.mechanism
    S, root = machine.actuators.matrix, np.sqrt(servo.weights)
    rng = np.random.default_rng(2)
    for here in closed_states(machine, rng, 10, excursion=1):  # at home, where tasks are regular
        state = State(rng.uniform(0.0, 3.0), here.q, here.v)
        M, F, A, b = machine.terms(state)
        A_t, b_t = task_rows(servo, state)
        rank = np.linalg.matrix_rank(A, tol=1e-8)
        Z = np.linalg.svd(A)[2][rank:].T
        assert Z.shape[1] == len(A_t)  # the tasks say all of the motion
        qdd = np.linalg.lstsq(np.vstack((A, A_t)), np.concatenate((b, b_t)), rcond=1e-9)[0]
        expected = np.linalg.pinv(Z.T @ (S / root)) @ (Z.T @ (M @ qdd - F)) / root
        command = servo.command(state)
        near(command.requested, expected)
        assert command.unreachable == ()
        assert command.servo.rank == command.servo.task_rank == len(A_t)
        near(acceleration(servo, state, command.requested), qdd)


# Momentum carries the crank through its dead centres: from rest it does not get there.
CARRIED = {"slider_crank_turn"}


@pytest.mark.slow
@pytest.mark.parametrize("task_file", [name for name in COMPLETE if name not in CARRIED])
def test_tasks_are_followed_and_loops_stay_closed(task_file):
    servo = shipped_controller(task_file)
    machine = servo.mechanism
    start = machine.start()
    trajectory = simulate(machine, start, 0.4, controller=servo, rtol=1e-5, sample_period=0.1)
    error = np.max(np.abs(trajectory.tracking_error), axis=1)
    # The files round the start to a millimetre; critically damped at 5 Hz, 0.4 s are 13 time
    # constants: (1 + 13) e^-13 of it is left, and then the error of the integration.
    assert error[0] < 1e-3
    assert error[-1] < 1e-6
    assert np.max(np.abs(trajectory.residual), initial=0.0) < 1e-12
    assert set(trajectory.status) == {"OK"}


def test_compute_gives_efforts_by_motor_name():
    servo = shipped_controller("five_bar_sweep")
    state = servo.mechanism.state(servo.mechanism.assemble())
    (effort,) = servo.command(state).efforts
    assert servo.compute(state) == {"crank_motor": effort}
    # Weight of three legs at their middles and of the coupler, and the start of the sinusoid. The
    # file's phase has seven digits.
    weight = 9.81 * np.cos(0.6) * (3 * 0.5 + 2.0)
    inertia = 3 * (0.1 + 0.25) + 2.0
    assert effort == pytest.approx(weight + inertia * 0.3 * np.pi**2, abs=1e-4)
    near(servo.tracking_error(state), servo.command(state).tracking_error)


def test_the_law_holds_where_the_mass_matrix_is_singular():
    """A pendulum whose massless pointer slides in a slot; the task is on the pointer."""
    parts = link("base") + link("l1", com="0.5 0 0") + link("pointer", mass=0.0)
    parts += joint("j1", "base", "l1") + joint("j2", "l1", "pointer", xyz="1 0 0")
    machine = mechanism(
        parts,
        """
actuators: {motor: {joint: j1, effort_limit: 1000}}
constraints:
  slot: {type: frame, axes: [z], parent: {link: base}, child: {link: pointer, xyz: [0.6, 0, 0]}}
""",
    )
    servo = controller(machine, " {point: {type: joint, joint: j2}}")
    q = machine.assemble({"j1": 0.4, "j2": -1.0}, hold=["j1"])
    state = machine.dynamics().project(machine.state(q, {"j1": 0.3}))
    command = servo.command(state)
    assert command.unreachable == ()
    A_t, b_t = task_rows(servo, state)
    near(A_t @ acceleration(servo, state, command.efforts), b_t)


def test_frames_of_tasks_may_stand_anywhere():
    """The point of a task is where its frames are, turned and offset; here in closed form."""
    machine = mechanism(
        arm([1.0, 1.0]),
        "actuators: {m1: {joint: j1}, m2: {joint: j2}}",
    )
    servo = controller(
        machine,
        """
  tip:
    type: frame
    axes: [x]
    parent: {link: base, xyz: [0.2, 0, 0], rpy: [0, 0.3, 0]}
    child: {link: l2, xyz: [0.7, 0, 0.1]}
    reference: {type: constant, value: 0.25}
    stabilization: {frequency: 0.0}
  side: {type: joint, joint: j1, stabilization: {frequency: 0.0}}
""",
    )
    q = np.array([0.4, 0.9])

    def row(angles):
        elbow = np.array([np.cos(angles[0]), -np.sin(angles[0])])
        c, s = np.cos(angles.sum()), np.sin(angles.sum())
        tip = elbow + np.array([0.7 * c + 0.1 * s, -0.7 * s + 0.1 * c])
        return (tip - [0.2, 0.0]) @ [np.cos(0.3), -np.sin(0.3)] - 0.25

    state = machine.state(q)
    error = servo.tracking_error(state)
    assert error == pytest.approx([row(q), 0.4], abs=1e-12)
    h = 1e-5
    slopes = [(row(q + h * e) - row(q - h * e)) / (2 * h) for e in np.eye(2)]
    A_t, _ = task_rows(servo, state)
    np.testing.assert_allclose(A_t, [slopes, [1.0, 0.0]], rtol=0, atol=1e-9)


# --- redundant actuation -------------------------------------------------------------------------


def redundant():
    servo = shipped_controller("dual_panda_load")
    machine = servo.mechanism
    return servo, machine.state(machine.assemble(), t=0.3)


def map_from_motors_to_tasks(servo: ServoController, state: State) -> np.ndarray:
    """A_t N S, column by column: the acceleration that a unit effort adds."""
    rest = acceleration(servo, state, np.zeros(14))
    A_t, _ = task_rows(servo, state)
    return np.array([A_t @ (acceleration(servo, state, e) - rest) for e in np.eye(14)]).T


def test_fourteen_motors_share_eight_freedoms_by_their_limits():
    servo, state = redundant()
    limits = servo.mechanism.actuators.effort_limits
    np.testing.assert_allclose(servo.weights, limits**-2.0, rtol=1e-15)
    assert set(limits) == {87.0, 12.0}
    command = servo.command(state)
    A_t, b_t = task_rows(servo, state)
    near(A_t @ acceleration(servo, state, command.requested), b_t)
    kernel = np.linalg.svd(map_from_motors_to_tasks(servo, state))[2][8:].T
    assert kernel.shape == (14, 6)
    # Least uᵀWu: the gradient W u has no part along efforts that change nothing.
    near(kernel.T @ (servo.weights * command.requested), np.zeros(6), 1.0)


def test_a_preload_changes_efforts_but_not_the_motion():
    servo, state = redundant()
    names = servo.mechanism.actuators.names
    rng = np.random.default_rng(7)
    preload = rng.uniform(-5.0, 5.0, 14)
    plain, loaded = servo.command(state), servo.command(state, preload=preload)
    by_name = servo.command(state, preload=dict(zip(names, preload, strict=True)))
    np.testing.assert_array_equal(loaded.requested, by_name.requested)
    assert np.linalg.norm(loaded.requested - plain.requested) > 1.0
    near(
        acceleration(servo, state, loaded.requested),
        acceleration(servo, state, plain.requested),
    )
    # As near to the preload as the tasks allow, in the metric of W.
    kernel = np.linalg.svd(map_from_motors_to_tasks(servo, state))[2][8:].T
    near(kernel.T @ (servo.weights * (loaded.requested - preload)), np.zeros(6), 1.0)


def test_a_motor_may_drive_several_joints():
    """Differential drive: sum and difference of two wheels; the servo paper's matrix B."""
    parts = link("base")
    for name in ("left", "right"):
        parts += link(name) + joint(f"{name}_wheel", "base", name)
    machine = mechanism(
        parts,
        """
actuators:
  both: {joints: {left_wheel: 1, right_wheel: 1}, effort_limit: 10}
  apart: {joints: {left_wheel: 1, right_wheel: -1}, effort_limit: 10}
""",
    )
    task = """
  {0}: {{type: joint, joint: {0}_wheel, stabilization: {{frequency: 1.0}}}}"""
    servo = controller(machine, task.format("left") + task.format("right"))
    omega = 2 * np.pi
    state = machine.state({"left_wheel": 0.3, "right_wheel": -0.1}, {"left_wheel": 0.2})
    wanted = np.array([-2 * omega * 0.2 - omega**2 * 0.3, omega**2 * 0.1])
    efforts = servo.compute(state)
    assert efforts["both"] == pytest.approx(0.1 * wanted.sum() / 2, abs=1e-12)
    assert efforts["apart"] == pytest.approx(0.1 * (wanted[0] - wanted[1]) / 2, abs=1e-12)


# --- what motors cannot do -----------------------------------------------------------------------

CART = """
actuators: {drive: {joint: j1, effort_limit: 1000}}
"""


def cart_pole() -> Mechanism:
    parts = link("base") + link("cart", 2.0) + link("pole", com="0 0 0.5")
    parts += joint("j1", "base", "cart", kind="prismatic", axis="1 0 0")
    parts += joint("j2", "cart", "pole")
    return mechanism(parts, CART)


def test_an_underactuated_machine_cannot_serve_two_tasks():
    servo = controller(
        cart_pole(),
        """
  cart: {type: joint, joint: j1}
  pole: {type: joint, joint: j2}""",
    )
    command = servo.command(servo.mechanism.state({"j1": 0.1, "j2": 0.2}))
    assert command.servo.task_rank == 2
    assert command.servo.rank == 1
    assert command.unreachable == ("cart", "pole")  # each alone would be, both together are not
    assert np.max(np.abs(command.servo.residual)) > 1.0
    assert not command.servo.fully_reachable


def test_one_of_two_motions_can_be_served():
    servo = controller(cart_pole(), " {pole: {type: joint, joint: j2}}")
    state = servo.mechanism.state({"j2": 0.2})
    command = servo.command(state)
    assert command.unreachable == ()
    A_t, b_t = task_rows(servo, state)
    near(A_t @ acceleration(servo, state, command.efforts), b_t)


def test_a_task_out_of_every_motors_reach():
    """Two pendulums, a motor on one of them: the other's task is missed, its own is served."""
    parts = link("base")
    for name in ("near", "far"):
        parts += link(name, com="0.5 0 0") + joint(f"{name}_joint", "base", name)
    machine = mechanism(parts, "actuators: {motor: {joint: near_joint, effort_limit: 1000}}")
    servo = controller(
        machine,
        """
  far: {type: joint, joint: far_joint}
  near: {type: joint, joint: near_joint}""",
    )
    state = machine.state({"near_joint": 0.5, "far_joint": 0.5})
    command = servo.command(state)
    assert command.unreachable == ("far",)
    A_t, b_t = task_rows(servo, state)
    missing = b_t - A_t @ acceleration(servo, state, command.efforts)
    near(missing, command.servo.residual)
    near(missing[1], 0.0, np.max(np.abs(b_t)))


def test_conflicting_tasks_are_reported():
    servo = controller(
        shipped("four_bar"),
        """
  up: {type: joint, joint: crank, reference: {type: constant, value: 1.3}}
  down: {type: joint, joint: crank, reference: {type: constant, value: 1.1}}""",
    )
    command = servo.command(servo.mechanism.state(servo.mechanism.assemble()))
    assert command.servo.rank == command.servo.task_rank == 1
    assert command.unreachable == ("up", "down")
    # The middle way: both are missed by the same amount, in opposite directions.
    up, down = command.servo.residual
    near(up, -down)
    assert abs(up) == pytest.approx(0.1 * (2 * np.pi * 5.0) ** 2, rel=1e-9)


def test_a_task_that_the_structure_forbids():
    """The loop holds the pin; a task that wants it elsewhere asks for what nothing can give."""
    machine = pinned_arm(
        """
  tip: {type: frame, axes: [x, z], parent: {link: base, xyz: [1.2, 0, 0]},
        child: {link: l3, xyz: [1, 0, 0]}}
""",
        (1.0, 1.0, 1.0),
        "actuators: {m1: {joint: j1, effort_limit: 1000}}\n",
    )
    servo = controller(
        machine,
        """
  away: {type: frame, axes: [x], parent: {link: base, xyz: [1.5, 0, 0]},
         child: {link: l3, xyz: [1, 0, 0]}}
  turn: {type: joint, joint: j1}""",
    )
    command = servo.command(machine.state(machine.assemble({"j1": -0.8, "j2": 1.0, "j3": 0.8})))
    assert command.servo.task_rank == 1
    assert command.unreachable == ("away.x",)
    assert command.servo.residual[0] == pytest.approx(0.3 * (2 * np.pi * 5.0) ** 2, rel=1e-6)


# --- limits --------------------------------------------------------------------------------------


def test_saturation_is_reported():
    servo = shipped_controller("slider_crank_sweep")
    machine = servo.mechanism
    limit = machine.actuators.effort_limits[0]
    state = machine.state(machine.assemble(crank=0.2))  # 0.4 rad off at 5 Hz: far beyond the motor
    command = servo.command(state)
    assert command.saturated == ("crank_motor",)
    assert np.abs(command.efforts) == pytest.approx([limit], abs=0.0)
    assert abs(command.requested[0]) > limit
    assert command.unreachable == ()  # the motor could do it, were it stronger
    calm = servo.command(machine.state(machine.assemble()))
    assert calm.saturated == ()
    np.testing.assert_array_equal(calm.efforts, calm.requested)


def test_without_any_limit_all_motors_count_alike():
    parts = link("base") + link("l1", com="0.5 0 0")
    parts += joint("j1", "base", "l1")
    text = "actuators: {a: {joint: j1}, b: {joints: {j1: 2.0}}}"
    servo = controller(mechanism(parts, text), " {hold: {type: joint, joint: j1}}")
    np.testing.assert_array_equal(servo.weights, [1.0, 1.0])
    efforts = servo.compute(servo.mechanism.state())
    # Least a² + b² with a + 2 b = τ: one part to four.
    assert efforts["b"] == pytest.approx(2.0 * efforts["a"], abs=1e-12)


# --- references from elsewhere, and mistakes -----------------------------------------------------


def test_a_live_reference_replaces_that_of_the_file():
    servo = shipped_controller("four_bar_turn")
    state = servo.mechanism.state(servo.mechanism.assemble())
    crank = state.q[servo.mechanism.model.position_index("crank")]
    sample = ReferenceSample(np.array([crank - 0.05]), np.array([0.1]), np.array([2.0]))
    command = servo.command(state, {"turn": sample})
    assert command.tracking_error == pytest.approx([0.05], abs=1e-12)
    assert command.tracking_rate == pytest.approx([-0.1], abs=1e-12)
    omega = 2 * np.pi * 5.0
    qdd = acceleration(servo, state, command.requested)
    wanted = 2.0 + 2 * omega * 0.1 - omega**2 * 0.05
    assert qdd[0] == pytest.approx(wanted, abs=1e-9)


def test_live_references_are_checked():
    servo = shipped_controller("four_bar_turn")
    state = servo.mechanism.state(servo.mechanism.assemble())
    one, two = (ReferenceSample(*np.zeros((3, n))) for n in (1, 2))
    with pytest.raises(UnknownNameError, match='no task "trun"; did you mean "turn"'):
        servo.command(state, {"trun": one})
    with pytest.raises(StateError, match="turn: expected value"):
        servo.command(state, {"turn": two})
    with pytest.raises(StateError, match="q: expected an array of shape"):
        servo.command(State(0.0, state.q[1:], state.v))


@pytest.mark.parametrize("preload", [{"crnk_motor": 1.0}, [1.0, 2.0], [np.nan]])
def test_a_preload_is_checked(preload):
    servo = shipped_controller("four_bar_turn")
    state = servo.mechanism.state(servo.mechanism.assemble())
    with pytest.raises(InputError, match="crank_motor"):
        servo.command(state, preload=preload)


def test_a_controller_needs_motors_and_its_own_tasks():
    machine = mechanism(arm([1.0]))
    tasks = Tasks(TasksSpec.from_text("schema: 1\ntasks: {a: {type: joint, joint: j1}}"), machine)
    with pytest.raises(InputError, match="no motors; add actuators"):
        ServoController(machine, tasks)
    with pytest.raises(InputError, match="made for another mechanism"):
        ServoController(shipped("four_bar"), tasks)
