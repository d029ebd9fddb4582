# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Other engines are given the same machine, and the benchmark says how right they are."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil

import numpy as np
import pytest
from support.on_processor import OnProcessor
from support.repository import ROOT

from uk_dynamics.cli.main import main
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution.state import Inputs
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics_studies.benchmarks.device import on_device
from uk_dynamics_studies.benchmarks.peers.description import urdf
from uk_dynamics_studies.benchmarks.peers.drake import DrakePeer
from uk_dynamics_studies.benchmarks.peers.exudyn import ExudynPeer
from uk_dynamics_studies.benchmarks.peers.ground import (
    ground_of,
    passive_joints,
    without_contacts,
)
from uk_dynamics_studies.benchmarks.peers.mujoco import MujocoPeer
from uk_dynamics_studies.benchmarks.peers.peer import (
    CLOSURES,
    PeerError,
    check_same_machine,
    closure,
    closures,
)
from uk_dynamics_studies.benchmarks.peers.pinocchio import PinocchioPeer
from uk_dynamics_studies.benchmarks.peers.whole_body import WholeBodyPeer
from uk_dynamics_studies.benchmarks.report import duration
from uk_dynamics_studies.benchmarks.simulations import simulations
from uk_dynamics_studies.benchmarks.speed import states
from uk_dynamics_studies.benchmarks.standing import undamped
from uk_dynamics_studies.benchmarks.timing import medians
from uk_dynamics_studies.commands.benchmark import MECHANISMS, compared

MACHINES = ("five_bar", "stewart_platform", "five_bar_maximal")


def test_whole_body_engines_get_the_same_biped():
    pinocchio = pytest.importorskip("pinocchio")
    biped = Mechanism.from_file(ROOT / "examples" / "biped" / "biped.yaml")
    loops = [closure(biped, one) for one in biped.constraints.constraints if one.kind in CLOSURES]
    text = urdf(biped, biped.model.bodies, loops)
    model = pinocchio.buildModelFromXML(text, pinocchio.JointModelFreeFlyer())
    joints = [model.joints[model.getJointId(name)] for name in biped.joint_names]
    places = [*range(7), *(joint.idx_q for joint in joints)]
    velocities = [*range(6), *(joint.idx_v for joint in joints)]
    state = biped.start()
    q, v = np.zeros(model.nq), np.zeros(model.nv)
    q[places], v[velocities] = state.q, np.linspace(-1.0, 1.0, model.nv)
    data = model.createData()
    mass = pinocchio.crba(model, data, q)[np.ix_(velocities, velocities)]
    mass = np.triu(mass) + np.triu(mass, 1).T + np.diag(biped.model.armature)
    workspace = biped.model.workspace()
    workspace.update(state.q, v[velocities])
    # kg, kg m², N, N m: numbers up to 40 and 400 through text with all their digits
    assert np.abs(mass - workspace.mass).max() < 1e-12
    bias = pinocchio.nonLinearEffects(model, data, q, v)[velocities]
    assert np.abs(bias - workspace.bias).max() < 1e-10
    pinocchio.framesForwardKinematics(model, data, q)
    for number, (_, constraint) in enumerate(loops):
        for role in ("parent", "child"):
            place = data.oMf[model.getFrameId(f"{role}_{number}")].translation
            expected = workspace.translation[getattr(constraint, role)]
            assert np.abs(place - expected).max() < 1e-12  # m


def test_whole_body_engines_that_are_not_there_are_told(monkeypatch):
    biped = Mechanism.from_file(ROOT / "examples" / "biped" / "biped.yaml")
    tasks = Tasks.from_file(ROOT / "examples" / "biped" / "stand.yaml", biped)
    with pytest.raises(PeerError, match="passive forces"):
        WholeBodyPeer("TSID", biped, tasks, "trunk")
    machine = Mechanism.from_data(undamped(ROOT / "examples" / "biped" / "biped.yaml"))
    monkeypatch.delenv("UK_DYNAMICS_TSID_PYTHON", raising=False)
    with pytest.raises(PeerError, match="UK_DYNAMICS_TSID_PYTHON names no Python that has TSID"):
        WholeBodyPeer("TSID", machine, Tasks.from_spec(tasks.spec, machine), "trunk")


def ours(mechanism, state, tau):
    return mechanism.dynamics().evaluate(state, Inputs(tau=tau, stabilize=False)).qdd


def check_same_motion(peer, mechanism, share):
    """The same machine moves the same way, but for a share of the largest acceleration."""
    chosen = states(mechanism, 2)
    check_same_machine(peer, mechanism, chosen)
    tau = np.random.default_rng(0).standard_normal(mechanism.model.nv)
    for state in chosen:
        expected = ours(mechanism, state, tau)
        off = np.abs(peer.acceleration(state, tau) - expected).max()
        assert off <= share * np.abs(expected).max()


@pytest.mark.parametrize("name", MACHINES)
def test_mujoco_gets_the_same_machine(name):
    pytest.importorskip("mujoco")
    mechanism = Mechanism.from_file(name)
    # its constraints always give way a little: some 1e-4 of the acceleration
    check_same_motion(MujocoPeer(mechanism, stiff=True), mechanism, 2e-3)


@pytest.mark.parametrize("name", ["five_bar", "stewart_platform"])
def test_drake_gets_the_same_machine(name):
    pytest.importorskip("pydrake")
    mechanism = Mechanism.from_file(name)
    # SAP's constraints give way whatever the step is: by up to a tenth of the acceleration
    check_same_motion(DrakePeer(mechanism), mechanism, 0.2)


def test_what_ends_drake_is_told():
    pytest.importorskip("pydrake")
    with pytest.raises(PeerError, match="five_bar_maximal"):
        DrakePeer(Mechanism.from_file("five_bar_maximal"))


@pytest.mark.parametrize("name", MACHINES)
def test_exudyn_gets_the_same_machine(name):
    pytest.importorskip("exudyn")
    mechanism = Mechanism.from_file(name)
    # its rows are differentiated by differences: half of the digits
    check_same_motion(ExudynPeer(mechanism), mechanism, 1e-7)


def test_exudyn_keeps_energy_better_with_smaller_steps():
    pytest.importorskip("exudyn")
    mechanism = Mechanism.from_file("five_bar")
    peer, dynamics = ExudynPeer(mechanism), mechanism.dynamics()
    start = mechanism.start({"crank": -0.5})
    drifts = []
    for steps in (100, 200):
        path = peer.samples(start, 0.5, steps, parts=10)
        assert path[-1].t == pytest.approx(0.5, abs=1e-12)
        energies = [dynamics.energy(state).total for state in path]
        drifts.append(float(np.ptp(energies)))
    assert 3.0 < drifts[0] / drifts[1] < 5.0  # second order


@pytest.mark.parametrize("algorithm", ["constraintDynamics", "lcaba"])
@pytest.mark.parametrize("name", ["five_bar", "stewart_platform"])
def test_pinocchio_gets_the_same_machine(name, algorithm):
    mechanism = Mechanism.from_file(name)
    try:
        peer = PinocchioPeer(mechanism, algorithm)
    except PeerError as error:
        pytest.skip(str(error))
    (state,) = states(mechanism, 1)
    check_same_machine(peer, mechanism, [state])
    tau = np.random.default_rng(0).standard_normal(mechanism.model.nv)
    expected = ours(mechanism, state, tau)
    # lcaba is a proximal method: it ends some 1e-10 of the acceleration away.
    np.testing.assert_allclose(peer.acceleration(state, tau), expected, rtol=0.0, atol=1e-7)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler")
def test_kernels_are_measured_with_their_error():
    mechanism = Mechanism.from_file("four_bar")
    some = states(mechanism, 4)
    q, v = np.array([s.q for s in some]), np.array([s.v for s in some])
    expected = np.array([ours(mechanism, s, np.zeros(s.v.shape)) for s in some])
    found = on_device(mechanism, q, v, expected, device=OnProcessor(), count=32)
    assert found.error <= 1e-9
    assert found.device == "processor"
    assert found.seconds > 0.0
    assert found.step_seconds > 0.0
    if shutil.which("nvidia-smi") is None:
        assert on_device(mechanism, q, v, expected) is None


def test_another_machine_is_refused():
    mechanism, other = Mechanism.from_file("five_bar"), Mechanism.from_file("five_bar_asymmetric")
    with pytest.raises(PeerError, match="mass matrix of five_bar_asymmetric in PinocchioPeer"):
        check_same_machine(PinocchioPeer(mechanism), other, states(other, 1))


@pytest.mark.parametrize("name", ["swarm", "two_mass_spring", "landing_leg"])
def test_what_other_engines_cannot_express_is_told(name):
    with pytest.raises(PeerError, match=name):
        closures(Mechanism.from_file(name))


def test_every_engine_is_refined_until_it_keeps_the_energy():
    mechanism = Mechanism.from_file("five_bar")
    runs = simulations(mechanism, mechanism.start(), 0.2, 1e-4)
    assert runs[0].reached
    assert runs[0].engine.startswith("uk_dynamics")
    assert all(run.error <= 1e-4 for run in runs if run.reached)
    assert [run.reached for run in runs if run.engine.startswith("Pinocchio")] == [True]


def test_times_are_those_of_one_call():
    counts = {"one": 0, "hundred": 0}

    def count(name: str, times: int) -> None:
        for _ in range(times):
            counts[name] += 1

    found = medians(
        {"one": lambda: count("one", 1), "hundred": lambda: count("hundred", 100)}, rounds=5
    )
    assert set(found) == set(counts)
    assert 0.0 < found["one"] < found["hundred"]


@pytest.mark.parametrize(
    ("seconds", "shown"), [(None, "–"), (2.5, "2.5 s"), (1.5e-6, "1.5 µs"), (2e-10, "0.2 ns")]
)
def test_durations_have_units(seconds, shown):
    assert duration(seconds) == shown


def test_the_command_prints_times_beside_errors(tmp_path, capsys):
    page = tmp_path / "page.md"
    arguments = ["benchmark", "four_bar", "--parts", "single", "--quick", "--page", str(page)]
    assert main(arguments) == 0
    printed, text = capsys.readouterr().out, page.read_text(encoding="utf-8")
    (line,) = [line for line in printed.splitlines() if "Pinocchio constraintDynamics" in line]
    error = float(re.split(r"\s{2,}", line.strip())[-1])
    assert error <= 1e-10
    assert "| four_bar | Pinocchio constraintDynamics |" in text


@pytest.mark.slow
def test_contact_is_measured_beside_mujoco(tmp_path, monkeypatch, capsys):
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)  # without the example that a clone has
    assert main(["benchmark", "--parts", "contact", "--quick", "--json"]) == 0
    measured = {one["engine"]: one for one in json.loads(capsys.readouterr().out)["contact"]}
    assert {one["mechanism"] for one in measured.values()} == {"landing_leg_contact"}
    ours, peer = measured["uk_dynamics moreau"], measured["MuJoCo mj_step"]
    for engine, module in {"Drake": "pydrake", "Newton": "newton"}.items():
        (other,) = (one for name, one in measured.items() if name.startswith(engine))
        if importlib.util.find_spec(module) is None:
            assert other["note"] == f"{engine} is not installed"
        else:  # it lands in the same way
            assert other["seconds"] > ours["seconds"]
            assert 1e-5 < other["penetration"] < 0.01
    assert ours["penetration"] <= 1e-9  # what a step projects
    assert ours["gained"] <= 1e-6  # J, of 10: springs in steps of 1 ms
    # it lands as well, on a floor that is soft
    assert 1e-4 < peer["penetration"] < 0.05
    assert min(ours["seconds"], peer["seconds"]) > 0.0


def test_engines_get_springs_and_one_plane_of_machines_on_the_ground():
    leg = Mechanism.from_file("landing_leg_contact")
    springs = [[0.0, 0.0, 0.0], [1.0, 60.0, -np.pi / 4], [1.0, 60.0, -np.pi / 2]]
    np.testing.assert_array_equal(passive_joints(leg, "Drake"), springs)  # the URDF's damping
    ground, friction = ground_of(leg, "Drake")
    assert (ground.link, friction) == ("ground", 0.7)
    assert not list(without_contacts(leg))
    walker = Mechanism.from_file(ROOT / "examples" / "plantigrade" / "plantigrade.yaml")
    assert ground_of(walker, "Drake")[1] == 0.8  # four contacts
    assert len(list(without_contacts(walker))) == 9
    with pytest.raises(PeerError, match="every sphere touches every plane in Drake"):
        ground_of(
            Mechanism.from_file(ROOT / "examples" / "block_grip" / "block_grip.yaml"), "Drake"
        )


def test_machines_compared_by_default_are_those_whose_robots_are_installed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    left_out = {"dual_panda"}
    try:
        Mechanism.from_file("dual_panda")
        left_out = set()
    except InputError:
        pass
    assert [machine.name for machine in compared([])] == [
        name for name in MECHANISMS if name not in left_out
    ]
    assert ("left out" in capsys.readouterr().err) == bool(left_out)
    with pytest.raises(InputError, match="no_such_machine"):
        list(compared(["no_such_machine"]))
