# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Every mechanism that the package ships: loads, closes, and is what its files say it is."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pinocchio as pin
import pytest

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.resources import package_directory, share_directory


@dataclass(frozen=True)
class Facts:
    velocities: int
    rows: int
    rank: int
    motors: tuple[str, ...]

    @property
    def mobility(self):
        return self.velocities - self.rank


CRANK = ("crank_motor",)
LEGS = tuple(f"leg_{n}_motor" for n in range(1, 7))
SIX = tuple(f"u{n}" for n in range(1, 7))
BASES = tuple(f"motor_{n}" for n in range(1, 4))
ARMS = tuple(f"{side}_motor_{n}" for side in ("left", "right") for n in range(1, 8))

VALVES = ("swing_motor", "boom_valve", "stick_valve", "bucket_valve")

# IFToMM's problems that move by themselves.
BENCHMARKS = ("simple_pendulum", "n_four_bar", "bricard", "flyball_governor", "diagonal_spring")

SHIPPED = {
    "four_bar": Facts(3, 2, 2, CRANK),
    "slider_crank": Facts(3, 2, 2, CRANK),
    "five_bar": Facts(4, 4, 3, CRANK),
    "five_bar_asymmetric": Facts(4, 4, 3, CRANK),
    "five_bar_maximal": Facts(12, 12, 11, CRANK),
    "five_bar_maximal_asymmetric": Facts(12, 12, 11, CRANK),
    "stewart_platform": Facts(24, 18, 18, LEGS),
    "dual_panda": Facts(14, 6, 6, ARMS),
    "excavator": Facts(12, 8, 8, VALVES),
    "coordinated_robots": Facts(6, 3, 3, SIX),
    "parallel_2dof": Facts(6, 4, 4, BASES),
    "rrr3": Facts(9, 6, 6, tuple(f"motor_{arm}" for arm in "abc")),
    "rrr3_modular": Facts(21, 18, 18, tuple(f"motor_{arm}" for arm in "abc")),
    "loop_ladder": Facts(15, 10, 10, ("hip",)),
    "landing_leg": Facts(3, 2, 2, ("knee_motor",)),  # with its foot on the ground
    "landing_leg_contact": Facts(3, 3, 2, ("knee_motor",)),  # where it sticks
    "spiral_particle": Facts(2, 2, 2, ()),
    "swarm": Facts(10, 10, 10, ()),
    "two_mass_spring": Facts(2, 0, 0, ("force",)),
    "flexible_joint_arm": Facts(2, 0, 0, ("u1", "u2")),
    "flexible_joint_arm_with_rotors": Facts(4, 0, 0, ("u1", "u2")),
    "skate": Facts(3, 1, 1, ()),
    "rolling_disc": Facts(6, 3, 3, ()),
    "differential_drive": Facts(7, 6, 5, ("left_motor", "right_motor")),
    "simple_pendulum": Facts(2, 1, 1, ()),
    "n_four_bar": Facts(5, 4, 4, ()),
    "andrews_squeezer": Facts(7, 6, 6, ("motor",)),
    "bricard": Facts(5, 5, 4, ()),
    "flyball_governor": Facts(4, 0, 0, ()),
    "diagonal_spring": Facts(3, 2, 2, ()),
}
MOBILITY = {  # the others: 1
    "rrr3": 3,
    "rrr3_modular": 3,
    "stewart_platform": 6,
    "dual_panda": 8,
    "excavator": 4,
    "coordinated_robots": 3,
    "loop_ladder": 5,
    "parallel_2dof": 2,
    "spiral_particle": 0,
    "swarm": 0,
    "two_mass_spring": 2,
    "flexible_joint_arm": 2,
    "flexible_joint_arm_with_rotors": 4,
    "skate": 2,
    "rolling_disc": 3,
    "differential_drive": 2,
    "flyball_governor": 4,
}
DRIVEN = {
    "loop_ladder": 1,  # the others: all freedoms
    "two_mass_spring": 1,
    "flexible_joint_arm_with_rotors": 2,
    "skate": 0,
    "rolling_disc": 0,
    **dict.fromkeys(BENCHMARKS, 0),
}

CONFIG = share_directory() / "config"
TASK_FILES = sorted(path.stem for path in (CONFIG / "tasks").glob("*.yaml"))


def owner(task_file):
    """The mechanism whose name a tasks file begins with, the longest one."""
    return max((name for name in SHIPPED if task_file.startswith(name)), key=len)


def needs(name):
    if name == "dual_panda":
        try:
            package_directory("example-robot-data")
        except InputError:
            pytest.skip("the optional package example-robot-data is not installed")


@cache
def load(name):
    needs(name)
    return Mechanism.from_file(CONFIG / f"{name}.yaml")


def jacobian(mechanism, q):
    workspace = mechanism.model.workspace()
    workspace.update_positions(q)
    return mechanism.constraints.position(workspace, 0.0, q)[0]


def rank(matrix):
    # Singular values of these machines are either above 1e-2 or rounding.
    return int(np.linalg.matrix_rank(matrix, tol=1e-8))


def free_motions(mechanism, q):
    """Orthonormal basis of the velocities that the closed machine has, (nv, mobility)."""
    A = jacobian(mechanism, q)
    return np.linalg.svd(A)[2][rank(A) :].T


def test_every_shipped_file_is_listed_here():
    assert sorted(path.stem for path in CONFIG.glob("*.yaml")) == sorted(SHIPPED)
    assert {owner(name) for name in TASK_FILES} | {
        "five_bar_asymmetric",  # moved by the tasks of five_bar
        "five_bar_maximal_asymmetric",
        "spiral_particle",  # moved by their own constraints
        "swarm",
        "skate",  # by themselves
        "rolling_disc",
        "landing_leg_contact",
        "loop_ladder",
        "andrews_squeezer",  # by a constant torque
        *BENCHMARKS,
    } == set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_it_assembles_at_its_initial_guess(name):
    mechanism = load(name)
    assembly = mechanism.assembly()
    assert assembly.closed
    assert max(assembly.violations.values(), default=0.0) <= 1e-13
    assert assembly.limit_violations == ()
    # The numbers in the file are rounded to a millimetre or milliradian.
    assert assembly.q == pytest.approx(mechanism.initial_guess, abs=2e-3)


@pytest.mark.parametrize("name", SHIPPED)
def test_rank_and_mobility_near_the_initial_guess(name):
    mechanism, facts = load(name), SHIPPED[name]
    rng = np.random.default_rng(0)
    guess = mechanism.assemble()
    for spread in (0.0, 0.02, 0.02, 0.02):
        q = mechanism.assemble(guess + rng.normal(scale=spread, size=len(guess)))
        A = jacobian(mechanism, q)
        assert A.shape == (facts.rows, facts.velocities)
        assert rank(A) == facts.rank
    assert facts.mobility == MOBILITY.get(name, 1)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_motors_move_the_freedoms_that_they_should(name):
    mechanism, facts = load(name), SHIPPED[name]
    assert mechanism.actuators.names == facts.motors
    assert np.all(np.isfinite(mechanism.actuators.effort_limits))
    motions = free_motions(mechanism, mechanism.assemble())
    driven = DRIVEN.get(name, facts.mobility)
    assert rank(motions.T @ mechanism.actuators.matrix) == driven


@pytest.mark.parametrize("name", SHIPPED)
def test_the_motion_is_determined(name):
    """Links without mass are part of some machines; a motion without inertia is not."""
    mechanism = load(name)
    workspace = mechanism.model.workspace()
    workspace.update_positions(mechanism.assemble())
    # A bar of 2 cm and 7 g has 6e-7 kg m².
    assert np.linalg.eigvalsh(workspace.mass)[0] > 1e-7


@pytest.mark.parametrize("name", SHIPPED)
def test_nothing_in_it_looks_unintended(name):
    # The arm's own URDF has attributes beyond the standard.
    usual = "unknown attribute" if name == "dual_panda" else "nothing"
    assert [warning for warning in load(name).warnings if usual not in warning] == []


@pytest.mark.parametrize("name", SHIPPED)
def test_the_expanded_description_is_a_urdf_for_everyone(name):
    mechanism = load(name)
    model = pin.buildModelFromXML(mechanism.model.description.text)
    assert set(model.names) == {"universe", *mechanism.joint_names}


@pytest.mark.parametrize("task_file", TASK_FILES)
def test_tasks_are_within_reach_of_the_motors(task_file):
    mechanism = load(owner(task_file))
    tasks = Tasks.from_file(CONFIG / "tasks" / f"{task_file}.yaml", mechanism)
    q = mechanism.assemble()
    workspace = tasks.model.workspace()
    v = np.zeros(mechanism.model.nv)
    workspace.update(q, v)
    A = tasks.evaluate(workspace, q, v, 0.0).A
    assert rank(A @ free_motions(mechanism, q)) == len(A)


# The review lets its arm start off the constraint, to show how the control brings it there;
# momentum carries the slider crank, which therefore begins in motion.
OFF_AT_FIRST = (
    *("flexible_joint_arm_links", "flexible_joint_arm_with_rotors_links"),
    "slider_crank_turn",
)


@pytest.mark.parametrize("task_file", [name for name in TASK_FILES if name not in OFF_AT_FIRST])
def test_tasks_begin_where_the_machine_starts(task_file):
    mechanism = load(owner(task_file))
    tasks = Tasks.from_file(CONFIG / "tasks" / f"{task_file}.yaml", mechanism)
    start = mechanism.start()
    workspace = tasks.model.workspace()
    workspace.update(start.q, start.v)
    rows = tasks.evaluate(workspace, start.q, start.v, 0.0)
    assert rows.residual == pytest.approx(np.zeros(len(rows.residual)), abs=1e-3)
    # Phases in the files have seven digits, times rates of a few rad/s.
    assert rows.rate == pytest.approx(np.zeros(len(rows.rate)), abs=1e-5)


@pytest.mark.parametrize("task_file", ["five_bar_sweep", "five_bar_lift"])
def test_tasks_of_the_symmetric_machine_suit_the_asymmetric_one(task_file):
    tasks = Tasks.from_file(CONFIG / "tasks" / f"{task_file}.yaml", load("five_bar_asymmetric"))
    assert len(tasks.row_names) == 1


def test_the_crank_of_the_four_bar_turns_all_the_way_round():
    mechanism = load("four_bar")
    q = mechanism.assemble()
    start = q.copy()
    rocker = []
    for crank in start[0] + np.linspace(0.0, 2 * np.pi, 61):
        guess = mechanism.model.positions_by_name(q) | {"crank": crank}
        q = mechanism.assemble(guess, hold=["crank"])
        rocker.append(q[mechanism.model.position_index("rocker")])
    assert q - start == pytest.approx([2 * np.pi, -2 * np.pi, 0.0], abs=1e-9)
    # From the lengths, by the law of cosines where crank and coupler are in line.
    assert min(rocker) == pytest.approx(np.pi - np.arccos(0.1), abs=2e-3)
    assert max(rocker) == pytest.approx(np.pi - np.arccos(0.8), abs=2e-3)


def test_the_slider_follows_the_formula_of_the_slider_crank():
    mechanism = load("slider_crank")
    for crank in (0.3, 0.6, 1.5, 2.5):
        q = mechanism.assemble(crank=crank)
        x = 0.05 * np.cos(crank) + np.sqrt(0.18**2 - (0.05 * np.sin(crank)) ** 2)
        assert q[mechanism.model.position_index("slider")] == pytest.approx(x, abs=1e-12)


LEG_MASSES = {"": (1.0, 1.0, 1.0), "_asymmetric": (1.0, 1.0, 2.5)}
LEG_MOMENTS = {"": (0.1, 0.1, 0.1), "_asymmetric": (0.1, 0.1, 0.3)}


@pytest.mark.parametrize("variant", LEG_MASSES)
@pytest.mark.parametrize("angle", [-np.pi / 3, 0.2, 0.6, 1.3])
@pytest.mark.parametrize("rate", [0.0, 2.0])
def test_the_five_bars_are_one_pendulum_in_both_coordinates(variant, angle, rate):
    masses, moments = LEG_MASSES[variant], LEG_MOMENTS[variant]
    inertia = sum(moments) + sum(masses) * 0.5**2 + 2.0 * 1.0**2
    torque = 9.81 * np.cos(angle) * (sum(masses) * 0.5 + 2.0)
    expected = -torque / inertia  # in parallel legs the velocity does no more than turn them

    tree = load(f"five_bar{variant}")
    legs = {"crank": angle, "coupler": -angle, "middle": angle, "right": angle}
    rates = {"crank": rate, "coupler": -rate, "middle": rate, "right": rate}
    solution = tree.dynamics().evaluate(tree.state(legs, rates))
    assert solution.rank == 3
    # Accelerations of up to 20 rad/s², conditions of up to 1e3 near the flat configuration.
    assert solution.qdd == pytest.approx(expected * np.array([1, -1, 1, 1]), abs=1e-10)

    maximal = load(f"five_bar_maximal{variant}")
    c, s = np.cos(angle), np.sin(angle)
    com = 1.4 if variant else 1.0
    positions = {"coupler_x": c + com, "coupler_z": s, "coupler_angle": 0.0}
    velocities = {"coupler_x": -s * rate, "coupler_z": c * rate}
    for number, leg in enumerate(("left", "middle", "right")):
        positions |= {f"{leg}_x": number + c / 2, f"{leg}_z": s / 2, f"{leg}_angle": angle}
        velocities |= {f"{leg}_x": -s * rate / 2, f"{leg}_z": c * rate / 2, f"{leg}_angle": rate}
    solution = maximal.dynamics().evaluate(maximal.state(positions, velocities))
    assert solution.rank == 11
    found = dict(zip(maximal.model.velocity_names, solution.qdd, strict=True))
    for leg in ("left", "middle", "right"):
        assert found[f"{leg}_angle"] == pytest.approx(expected, abs=1e-10)
    assert found["coupler_angle"] == pytest.approx(0.0, abs=1e-10)
    assert found["coupler_x"] == pytest.approx(-s * expected - c * rate**2, abs=1e-10)
    assert found["coupler_z"] == pytest.approx(c * expected - s * rate**2, abs=1e-10)


def test_a_level_stewart_platform_weighs_alike_on_all_legs():
    mechanism = load("stewart_platform")
    q = mechanism.assemble()
    workspace = mechanism.model.workspace()
    workspace.update(q, np.zeros(mechanism.model.nv))
    motions = free_motions(mechanism, q)
    # Statics by virtual work: the motors balance gravity in every free motion.
    efforts = np.linalg.solve(motions.T @ mechanism.actuators.matrix, motions.T @ workspace.bias)
    assert efforts == pytest.approx(np.full(6, efforts.mean()), abs=1e-9)
    assert 30.0 * 9.81 / 6 < efforts.mean() < 500.0
