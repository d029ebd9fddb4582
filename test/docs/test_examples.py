# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The examples beside closed forms and independent methods."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import shutil
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.examples import example
from support.repository import ROOT

import uk_dynamics as ukd
from uk_dynamics.cli.main import build_parser, main

EXAMPLES = ROOT / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_runs(path, capsys):
    example(path.stem).main()
    assert capsys.readouterr().out


def test_the_network_is_that_of_mesh_analysis():
    """Loop currents as the only unknowns: no node, no constraint, another integrator."""
    network = example("electrical_network")
    # Each loop by its branches: left-top-bottom, top-right-bottom, and the lower path with the
    # source; written down from the drawing.
    loops = np.array(
        [
            [1.0, 0.0, -1.0, 0.0, 1.0, 0.0],
            [0.0, 1.0, 0.0, -1.0, -1.0, 0.0],
            [0.0, 0.0, 1.0, 1.0, 0.0, 1.0],
        ]
    )
    inductance = (loops * network.L) @ loops.T
    resistance = (loops * network.R) @ loops.T
    elastance = (loops / network.C) @ loops.T

    def rate(t, x):
        charge, current = np.split(x, 2)
        voltage = loops @ network.source(t) - resistance @ current - elastance @ charge
        return np.concatenate((current, np.linalg.solve(inductance, voltage)))

    times, charges, currents = network.integrate(1.0, 1e-3)
    exact = solve_ivp(rate, (0.0, 1.0), np.zeros(6), t_eval=times, rtol=1e-11, atol=1e-12).y.T
    # RK4 at 1 ms, fastest mode of some hundred rad/s: errors of (0.1)⁴ per unit, 1e-6 A of 1 A.
    np.testing.assert_allclose(charges, exact[:, :3] @ loops, rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(currents, exact[:, 3:] @ loops, rtol=0.0, atol=1e-5)
    assert np.abs(currents).max() > 0.3


def test_potentials_of_the_network_obey_every_branch():
    network = example("electrical_network")
    rng = np.random.default_rng(0)
    A = network.incidence()
    free = np.linalg.svd(A)[2][3:].T
    q, i = free @ rng.standard_normal(3), free @ rng.standard_normal(3)
    solution = network.currents_change(0.3, q, i)
    potentials = solution.multipliers
    for branch, (start, end) in enumerate(network.BRANCHES):
        across = potentials[network.NODES.index(start)] - potentials[network.NODES.index(end)]
        drop = (
            network.L[branch] * solution.qdd[branch]
            + network.R[branch] * i[branch]
            + q[branch] / network.C[branch]
            - network.source(0.3)[branch]
        )
        # Voltages of a hundred volts: rounding.
        assert across == pytest.approx(drop, abs=1e-10)
    assert solution.rank == 3
    assert np.abs(A @ solution.qdd).max() < 1e-10


def test_a_network_of_first_order_its_unknowns_are_rates_of_voltages():
    """Capacitors to ground, resistors between them, two nodes tied by a source of 1 V sin t.

    M v̇ = f + Aᵀλ, with capacitances for masses; λ is the current of the source.
    """
    from uk_dynamics.core.linalg.mass_factor import mass_factor
    from uk_dynamics.core.solver_methods import factorize

    capacitance = np.array([1.0, 2.0, 0.5])
    conductance = np.array([[3.0, -1.0, -2.0], [-1.0, 4.0, -3.0], [-2.0, -3.0, 5.0]])
    v, t = np.array([0.2, -0.1, 0.2 - np.sin(0.7)]), 0.7
    A = np.array([[1.0, 0.0, -1.0]])  # v₁ − v₃ = sin t
    solution = factorize(mass_factor(np.diag(capacitance)), A).solve(
        -conductance @ v, np.array([np.cos(t)])
    )
    # By hand: charge of the two tied nodes together, the third by itself.
    flow = -conductance @ v
    first = (flow[0] + flow[2] + capacitance[2] * np.cos(t)) / (capacitance[0] + capacitance[2])
    expected = [first, flow[1] / capacitance[1], first - np.cos(t)]
    np.testing.assert_allclose(solution.qdd, expected, rtol=0.0, atol=1e-14)
    assert solution.multipliers[0] == pytest.approx(capacitance[0] * first - flow[0], abs=1e-14)


def test_the_sleigh_is_that_of_the_textbooks():
    sleigh = example("body_velocities")
    effective = sleigh.INERTIA + sleigh.MASS * sleigh.AHEAD**2
    rng = np.random.default_rng(0)
    for forward, turning in rng.standard_normal((5, 2)):
        solution = sleigh.rates(np.array([forward, 0.0, turning]))
        # Chaplygin: u̇ = a ω², ω̇ = −m a u ω / (I + m a²), and no sideways acceleration.
        expected = [
            sleigh.AHEAD * turning**2,
            0.0,
            -sleigh.MASS * sleigh.AHEAD * forward * turning / effective,
        ]
        np.testing.assert_allclose(solution.qdd, expected, rtol=0.0, atol=1e-13)
        power = sleigh.MASS * forward * solution.qdd[0] + effective * turning * solution.qdd[2]
        assert power == pytest.approx(0.0, abs=1e-12)


@dataclass(frozen=True)
class Machine:
    """What an example is, and how exactly it follows its tasks.

    Attributes:
        tasks: Name of the tasks file.
        freedoms: Mobility.
        rank: Of the structural rows, none of which is redundant.
        instant: A time in s at which everything moves.
        duration: In s, from the start of the tasks.
        period: Of control, in s.
        error: Largest tracking error in m or rad: efforts are held for a period, which costs a part
            of jerk·period³; a tenth above what was measured to twice as much.
    """

    tasks: str
    freedoms: int
    rank: int
    instant: float
    duration: float
    period: float
    error: float


MACHINES = {
    "ankle": Machine("gait", 2, 6, 0.6, 0.75, 0.002, 2e-4),
    "delta": Machine("pick", 3, 18, 0.1, 0.3, 0.002, 2e-5),
    "excavator": Machine("dig", 4, 8, 2.0, 0.6, 0.005, 5e-5),
    "gripper": Machine("grip", 1, 5, 0.72, 0.9, 0.002, 2e-5),
    "two_arms": Machine("lift", 6, 6, 1.0, 0.4, 0.004, 3e-6),
}
NAMES = tuple(MACHINES)
# test_contact_machines.py, test_slider_crank_clearance.py
TOUCHING = "block_grip", "excavator_lift", "rope_crane", "slider_crank_clearance", "stewart_drop"


@cache
def machine(name: str) -> tuple[ukd.Mechanism, ukd.Tasks]:
    mechanism = ukd.Mechanism.from_file(EXAMPLES / name / f"{name}.yaml")
    return mechanism, ukd.Tasks.from_file(
        EXAMPLES / name / f"{MACHINES[name].tasks}.yaml", mechanism
    )


@cache
def moving(name: str) -> ukd.State:
    """On the references of its tasks, in the middle of the motion."""
    mechanism, tasks = machine(name)
    return mechanism.start(tasks=tasks, t=MACHINES[name].instant)


def test_every_example_folder_is_tested():
    walks = {"plantigrade", "biped"}  # with contacts, and fewer motors than freedoms
    known = set(MACHINES) | walks | set(TOUCHING)
    assert {path.parent.name for path in EXAMPLES.glob("*/README.md")} == known


@pytest.mark.slow
def test_chebyshevs_machine_walks_by_one_motor():
    file = EXAMPLES / "plantigrade" / "plantigrade.yaml"
    mechanism = ukd.Mechanism.from_file(file)
    tasks = ukd.Tasks.from_file(file.with_name("walk.yaml"), mechanism)
    controller = ukd.ServoController(mechanism, tasks, control_period=0.002)
    run = ukd.simulate(
        mechanism,
        mechanism.start(),
        1.8,
        controller=controller,
        control_period=0.002,
        method="moreau",
    )
    turned = run.position("crank_left_front")[-1] - run.position("crank_left_front")[0]
    # the couplers draw 4 cranks of straight line in half a turn, within some mm in between
    assert run.position("x")[-1] == pytest.approx(0.16 * turned / np.pi, abs=0.005)
    assert np.ptp(run.position("z")) < 5e-4
    loops = [not name.startswith("foot") for name in run.names.constraint_rows]
    assert np.abs(run.residual[:, loops]).max() < 1e-12
    # three changes of feet; whoever stands, sticks; penetration where two pairs meet
    stands = np.array([run.contact(f"foot_{side}.rear").closed for side in ("left", "right")])
    assert stands.any(axis=0).mean() > 0.98
    assert (stands.sum(axis=0) == 1).mean() > 0.95
    assert run.contact_gaps.min() > -1e-5
    weight = sum(run.contact(name).normal for name in run.contacts)
    mass = sum(link.mass for link in mechanism.model.description.links)
    # the machine as a whole neither rises nor falls
    assert weight.mean() == pytest.approx(mass * 9.81, rel=0.02)


@pytest.mark.parametrize("name", NAMES)
def test_motors_drive_all_freedoms_and_no_row_is_redundant(name):
    mechanism, _ = machine(name)
    state = moving(name)
    solution = ukd.forward_dynamics(mechanism, state)
    assert solution.status is ukd.Status.OK
    assert solution.rank == MACHINES[name].rank == len(mechanism.row_names)
    assert mechanism.model.nv - solution.rank == MACHINES[name].freedoms
    # the motors reach every motion that the loops leave: S N has the rank of N
    A = mechanism.terms(state).A
    free = np.linalg.svd(A)[2][MACHINES[name].rank :]
    driven = mechanism.actuators.matrix.T @ free.T
    assert np.linalg.matrix_rank(driven, tol=1e-3) == MACHINES[name].freedoms


@pytest.mark.parametrize("name", NAMES)
def test_the_equation_of_motion_holds_for_arbitrary_efforts(name):
    mechanism, _ = machine(name)
    state, rng = moving(name), np.random.default_rng(0)
    assert np.abs(state.v).max() > 0.05
    limits = mechanism.actuators.effort_limits
    tau = mechanism.actuators.matrix @ (limits * rng.uniform(-1.0, 1.0, len(limits)))
    inputs = ukd.Inputs(tau=tau)
    terms = mechanism.terms(state, inputs)
    solution = mechanism.dynamics().evaluate(state, inputs)
    accelerations = 1.0 + np.abs(solution.qdd).max()
    # rounding times the conditions of M and A, below 1e4
    np.testing.assert_allclose(
        terms.A @ solution.qdd / accelerations, terms.b / accelerations, atol=1e-11
    )
    left = terms.M @ solution.qdd - terms.F - terms.A.T @ solution.multipliers
    assert np.abs(left).max() < 1e-10 * (1.0 + np.abs(terms.F).max())


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_motion_follows_within_the_limits_of_the_motors(name):
    mechanism, tasks = machine(name)
    facts = MACHINES[name]
    controller = ukd.ServoController(mechanism, tasks, control_period=facts.period)
    run = ukd.simulate(
        mechanism,
        mechanism.start(tasks=tasks),
        facts.duration,
        controller=controller,
        control_period=facts.period,
        backend="interpreted",
    )
    assert run.warnings == ()  # no joint and no motor at a limit
    assert set(run.status) == {"OK"}
    assert (np.abs(run.efforts) < 0.9 * run.effort_limits).all()
    assert np.abs(run.residual).max() < 1e-12  # projected after every step
    assert np.abs(run.residual_rate).max() < 1e-10
    assert np.abs(run.tracking_error).max() < facts.error
    assert np.ptp(run.q, axis=0).max() > 0.01  # it moved
    if name == "delta":  # each pair of rods is a parallelogram: the plate never turns
        for angle in ("plate_yaw", "plate_pitch", "plate_roll"):
            assert np.abs(run.position(angle)).max() < 1e-12
    if name == "two_arms":  # two pads carry 3 g each: friction of 0.5 wants 59 N
        squeeze = run.multipliers[:, run.names.constraint_rows.index("seam.y")]
        assert (squeeze < -75.0).all()


def still(name: str, t: float = 0.0, **held: float) -> tuple[ukd.State, dict[str, float]]:
    """The machine at rest, and the efforts that hold it there."""
    mechanism, _ = machine(name)
    start = mechanism.start(held)
    state = ukd.State(t, start.q, np.zeros_like(start.v))
    efforts = ukd.inverse_dynamics(mechanism, state, np.zeros(mechanism.model.nv)).by_motor()
    return state, efforts


def test_motors_of_the_ankle_carry_the_ground_by_equal_levers():
    """Rods vertical, levers of crank and heel equal: torques pass as they are."""
    stride, push_off = 1.1, 0.47
    at = {"ankle_pitch": 0.0, "ankle_roll": 0.0}
    _, before = still("ankle", **at)
    _, loaded = still("ankle", t=push_off * stride, **at)
    more = {motor: loaded[motor] - before[motor] for motor in loaded}
    pitch = 65.0 * (1.0 - np.exp(6.0 * (np.cos(2.0 * np.pi * push_off) - 1.0)))
    assert sum(more.values()) == pytest.approx(pitch, abs=1e-9)
    roll = 8.0 * (
        np.exp(2.0 * (np.cos(2.0 * np.pi * (push_off - 0.25)) - 1.0))
        - np.exp(2.0 * (np.cos(2.0 * np.pi * 0.25) - 1.0))
    )
    # a rod that pushes 50 mm aside rolls the foot; its crank has 55 mm
    difference = more["left_motor"] - more["right_motor"]
    assert abs(difference) == pytest.approx(roll * 0.055 / 0.05, abs=1e-9)


def test_motors_of_the_delta_robot_are_alike_in_the_middle():
    """And all together hold the weight, by virtual work on Pinocchio's potential energy."""
    mechanism, _ = machine("delta")
    step = 1e-4  # m: of central differences, 1e-8 J per m

    def held(z: float) -> tuple[ukd.State, dict[str, float]]:
        return still("delta", plate_x=0.0, plate_y=0.0, plate_z=z)

    (low, _), (high, _), (_, efforts) = (held(-0.34 + shift) for shift in (-step, step, 0.0))
    work = sum(
        efforts[f"motor_{leg}"] * float(high.q[index] - low.q[index])
        for leg in "abc"
        for index in [mechanism.model.position_index(f"arm_{leg}")]
    )
    potential = mechanism.energy(high).potential - mechanism.energy(low).potential
    assert work == pytest.approx(potential, abs=1e-8)
    assert np.ptp(list(efforts.values())) < 1e-9


def test_cylinders_of_the_excavator_do_the_work_that_the_soil_takes():
    mechanism, _ = machine("excavator")
    state = moving("excavator")
    air = ukd.Mechanism.from_spec(replace(mechanism.spec, forces={}))
    qdd = ukd.forward_dynamics(mechanism, state).qdd  # some motion that the loops allow
    more = (
        ukd.inverse_dynamics(mechanism, state, qdd).efforts
        - ukd.inverse_dynamics(air, state, qdd).efforts
    )
    power = float(more @ (mechanism.actuators.matrix.T @ state.v))
    teeth, _ = mechanism.pose("teeth", state.q)
    line = teeth - np.array([0.0, 0.0, -0.3])
    step = 1e-6  # s, of central differences: 1e-9 m/s
    ahead, behind = (
        mechanism.pose("teeth", state.q + sign * step * state.v)[0] for sign in (1.0, -1.0)
    )
    rate = float(line @ (ahead - behind)) / (2.0 * step * float(np.linalg.norm(line)))
    assert abs(rate) > 0.3
    assert power == pytest.approx(20000.0 * rate**2, rel=1e-6)


def test_the_motor_of_the_gripper_holds_both_pads_against_the_block():
    """Pressed by 6 mm, cranks straight down: 30 N with 60 mm, twice."""
    _, efforts = still("gripper", left_crank=0.0)
    assert efforts["motor"] == pytest.approx(-2.0 * 30.0 * 0.06, abs=1e-6)


def test_what_the_arms_squeeze_more_moves_nothing():
    mechanism, tasks = machine("two_arms")
    state = moving("two_arms")
    without = replace(tasks.spec, allocation=replace(tasks.spec.allocation, internal_forces={}))
    found = []
    for chosen in (tasks, ukd.Tasks(without, mechanism)):
        controller = ukd.ServoController(mechanism, chosen)
        inputs = controller.inputs(controller.command(state))
        found.append(ukd.forward_dynamics(mechanism, state, tau=inputs.tau))
    seam = list(mechanism.row_names).index("seam.y")
    np.testing.assert_allclose(found[0].qdd, found[1].qdd, rtol=0.0, atol=1e-9)
    loads = [
        solution.joint_multipliers * mechanism.constraints.reference_scale for solution in found
    ]
    expected = np.zeros(len(mechanism.row_names))
    expected[seam] = -120.0
    np.testing.assert_allclose(loads[0] - loads[1], expected, rtol=0.0, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ankle", "delta", "excavator", "gripper"])
def test_init_finds_loops_and_motors_that_the_description_marks(name, tmp_path):
    """Of the fifth both halves of the load have mass: ``init`` leaves the seam to the user."""
    draft = tmp_path / "draft.yaml"
    description = EXAMPLES / name / "description" / f"{name}.urdf.xacro"
    guess = machine(name)[0].spec.initial_guess
    closed = [f"--at={joint}={value}" for joint, value in guess]
    assert main(["init", str(description), *closed, "--out", str(draft)]) == 0
    drafted, mechanism = ukd.Mechanism.from_file(draft), machine(name)[0]
    # the same joints, in the order of the description
    assert {tuple(column) for column in drafted.actuators.matrix.T} == {
        tuple(column) for column in mechanism.actuators.matrix.T
    }
    q = mechanism.start().q
    rows = [m.terms(m.state(q)).A for m in (drafted, mechanism)]
    # the same motions are left: neither adds anything to the other
    rank = MACHINES[name].rank
    assert np.linalg.matrix_rank(rows[0], tol=1e-6) == rank
    assert np.linalg.matrix_rank(np.vstack(rows), tol=1e-6) == rank


def commands(folder: Path) -> list[list[str]]:
    """What the README of an example tells to type."""
    (block,) = re.findall(r"```sh\n(.*?)```", (folder / "README.md").read_text("utf-8"), re.DOTALL)
    return [shlex.split(line) for line in block.splitlines()]


@pytest.fixture
def folder(request, tmp_path, monkeypatch):
    """A copy of an example, far from the package, as the working directory."""
    copy = tmp_path / "mine"
    shutil.copytree(EXAMPLES / request.param, copy)
    monkeypatch.chdir(copy)
    return copy


SHORT = {
    "simulate": ["--duration", "0.02", "--backend", "interpreted"],
    "view": ["--duration", "0.1", "--port", "0"],
}


@pytest.mark.slow
@pytest.mark.parametrize("folder", NAMES, indirect=True)
def test_the_commands_of_a_readme_run_in_the_folder_alone(folder, capsys):
    typed = commands(folder)
    drawn = (folder / "gripper.yaml").is_file()  # one picture is enough
    assert [words[1] for words in typed if words[0] == "uk_dynamics"] == [
        "check",
        "describe",
        "simulate",
        "view",
        "demo",
        "ros2-control",
    ]
    for words in typed:
        program, command, *rest = words
        if "--plot" in rest and not (drawn and importlib.util.find_spec("matplotlib")):
            del rest[rest.index("--plot") :]
        if program == "ros2":
            assert (command, rest[0]) == ("launch", "./bringup.launch.py")
            assert (folder / rest[0]).is_file()
        elif command == "demo":  # nodes, which have tests of their own
            if importlib.util.find_spec("rclpy"):
                build_parser(words[1:]).parse_args(words[1:])
        elif command == "view" and not importlib.util.find_spec("viser"):
            continue
        else:
            assert main([command, *rest, *SHORT.get(command, [])]) == 0, words
    capsys.readouterr()
    assert main([*typed[0][1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == []


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["plantigrade"], indirect=True)
def test_the_commands_of_the_walking_machine_run_in_its_folder_alone(folder, capsys):
    typed = commands(folder)
    assert [words[1] for words in typed] == ["check", "describe", "simulate", "view"]
    for _, command, *rest in typed:
        if command == "view" and not importlib.util.find_spec("viser"):
            continue
        assert main([command, *rest, *SHORT.get(command, [])]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", TOUCHING)
def test_the_commands_of_machines_with_contacts_run(name, monkeypatch, tmp_path):
    shutil.copytree(EXAMPLES, tmp_path / "examples")  # two of them include their neighbours
    folder = tmp_path / "examples" / name
    monkeypatch.chdir(folder)
    typed = commands(folder)
    assert [words[1] for words in typed] == ["check", "describe", "simulate", "view"]
    for _, command, *rest in typed:
        if command != "view" or importlib.util.find_spec("viser"):
            assert main([command, *rest, *SHORT.get(command, [])]) == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_launch_file_names_what_is_there(name):
    text = (EXAMPLES / name / "bringup.launch.py").read_text("utf-8")
    simulation = (ROOT / "launch" / "simulation.launch.py").read_text("utf-8")
    known = re.findall(r'^    \("(\w+)", ', simulation, re.MULTILINE)
    assert set(re.findall(r'^        "(\w+)": ', text, re.MULTILINE)) <= set(known)
    files = re.findall(r'HERE / "(\S+)"', text)
    assert files == [f"{name}.yaml", f"{MACHINES[name].tasks}.yaml"]
    assert all((EXAMPLES / name / file).is_file() for file in files)
