# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Sweeps: every point is simulated once, failures are rows, and interruptions lose nothing."""

from __future__ import annotations

import contextlib
import glob
import math
import os
import re
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.mechanism_builder import joint, link
from support.repository import ROOT
from support.waiting import wait_until

from uk_dynamics import resources
from uk_dynamics.cli.main import main
from uk_dynamics.exceptions import InputError, MechanismFileError, UnknownNameError
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.simulate import simulate
from uk_dynamics.sweeps.run import Store, local_workers, sweep, worth_compiling
from uk_dynamics.sweeps.sweep_specification import SweepSpec

pytestmark = pytest.mark.together("sweeps")  # they share a scheduler and its worker

HEAD = "schema: 1\nmechanism: five_bar\nsimulation: {duration: 0.05, method: rk4, step: 0.01}\n"
GRID = """vary:
  positions.crank: [0.3, 0.6, 0.9]
  mechanism.joints.crank.damping: {from: 0.0, to: 1.0, count: 2}
"""


def declared(tmp_path, text, name="sweep.yaml"):
    file = tmp_path / name
    file.write_text(text)
    return file


def test_values_combine_as_the_file_says(tmp_path):
    def values(text):
        points = SweepSpec.from_file(declared(tmp_path, HEAD + text)).points()
        assert len({point.key for point in points}) == len(points)
        return [tuple(point.values.values()) for point in points]

    assert values(GRID)[:3] == [(0.3, 0.0), (0.3, 1.0), (0.6, 0.0)]
    together = "vary: {positions.crank: [0.3, 0.6], velocities.crank: [1.0, 2.0]}\n"
    assert values(together + "combine: together\n") == [(0.3, 1.0), (0.6, 2.0)]
    drawn = "vary: {positions.crank: {uniform: [0.3, 0.6]}}\ncombine: random\nsamples: 20\n"
    assert values(drawn) == values(drawn)
    assert values(drawn) != values(drawn + "seed: 1\n")
    assert all(0.3 <= crank <= 0.6 for (crank,) in values(drawn))


def test_what_touches_is_worth_a_compiler_sooner(tmp_path):
    """Five motions of a machine with contacts, 0.5 s in all, and of one without."""
    examples = ROOT / "examples"
    for name, worth in (("plantigrade", True), ("delta", False)):
        text = HEAD.replace("five_bar", f"{examples / name / name}.yaml").replace("0.05", "0.1")
        text = text.replace("rk4", "moreau" if worth else "rk4")
        varied = "vary: {simulation.step: [0.001, 0.002, 0.003, 0.004, 0.005]}\n"
        points = SweepSpec.from_file(declared(tmp_path, text + varied)).points()
        assert worth_compiling(points) is worth


def test_values_reach_the_files_they_are_of(tmp_path):
    text = HEAD.replace("five_bar\n", "five_bar\ntasks: five_bar_sweep\n") + (
        "vary:\n  tasks.tasks.sweep.stabilization.frequency: [7.0]\n"
        "  mechanism.model.gravity: [[0, 0, -1.6]]\n  simulation.step: [0.005]\n"
    )
    (point,) = SweepSpec.from_file(declared(tmp_path, text)).points()
    assert point.tasks["tasks"]["sweep"]["stabilization"]["frequency"] == 7.0
    assert point.tasks["tasks"]["sweep"]["joint"] == "crank"
    assert point.mechanism["model"]["gravity"] == [0, 0, -1.6]
    assert point.simulation == {"duration": 0.05, "method": "rk4", "step": 0.005}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("vary: {speed.crank: [1]}\n", "vary"),
        (
            "vary: {positions.crank: {from: 0, to: 1, count: 10000000000000}}\n",
            "10000000000000 points",
        ),
        ("vary: {positions: [1]}\n", 'vary: found "positions"; an address begins with'),
        ("vary: {simulation.methd: [rk4]}\n", 'vary."simulation.methd": unknown key "methd"; did'),
        ("vary: {simulation.method: [rk4, rk5]}\n", 'vary."simulation.method": unknown "rk5"'),
        ("vary: {simulation.step: {from: 0, to: 1, count: 2}}\n", "give a number above 0"),
        ("vary: {positions.crank: {uniform: [1, 0]}}\ncombine: random\nsamples: 2\n", "first"),
        ("vary: {positions.crank: {normal: [1, -1]}}\ncombine: random\nsamples: 2\n", "least 0"),
        ("vary: {positions.crank: {from: 1}}\n", "write a list"),
        ("vary: {positions.crank: {uniform: [0, 1]}}\n", "combine: random"),
        ("vary: {positions.crank: [1]}\ncombine: random\n", "needs samples"),
        ("vary: {tasks.sweep.joint: [crank]}\n", "no tasks file"),
        ("vary: {mechanism.schema.x: [1]}\n", "not inside a mapping"),
        (
            "vary: {positions.crank: [1], velocities.crank: [1, 2]}\ncombine: together\n",
            "equal length",
        ),
    ],
)
def test_a_sweep_that_is_none_is_told(tmp_path, text, said):
    with pytest.raises(MechanismFileError) as caught:
        SweepSpec.from_file(declared(tmp_path, HEAD + text)).points()
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("contacts.fot.friction", 'no contact "fot"; did you mean "foot"?'),
        ("actuators.kne.effort_limit", 'no actuator "kne"; did you mean "knee_motor"?'),
        ("constraints.pin.friction", 'no constraint "pin"; there is no constraint at all'),
    ],
)
def test_a_name_that_the_mechanism_does_not_have_is_told_once(tmp_path, address, said):
    text = HEAD.replace("five_bar", "landing_leg_contact")
    text += f"vary: {{mechanism.{address}: [0.1, 0.2]}}\n"
    with pytest.raises(UnknownNameError) as caught:
        SweepSpec.from_file(declared(tmp_path, text)).points()
    assert str(caught.value).endswith(f'vary."mechanism.{address}": {said}')


def test_a_sweep_says_who_names_a_file_that_is_none(tmp_path):
    text = HEAD.replace("five_bar", "five_bat") + GRID
    with pytest.raises(MechanismFileError, match=r'sweep.yaml: mechanism: five_bat: .* "five_bar"'):
        SweepSpec.from_file(declared(tmp_path, text))


@pytest.fixture(scope="module")
def scheduler():
    """A Dask scheduler with one worker process, as a cluster would have it."""
    pytest.importorskip("distributed")
    pytest.importorskip("pyarrow")
    with local_workers(1) as cluster:
        yield cluster.scheduler_address


@pytest.mark.slow
def test_every_point_is_a_row(tmp_path, scheduler):
    spec = SweepSpec.from_file(declared(tmp_path, HEAD + GRID))
    store = Store(tmp_path / "out")
    outcome = sweep(spec, store, scheduler=scheduler)
    assert (outcome.total, outcome.ok, outcome.failed) == (6, 6, {})
    rows = store.rows()
    mechanism = Mechanism.from_file("five_bar")
    for point in spec.points():
        if point.values["mechanism.joints.crank.damping"]:
            continue
        expected = simulate(mechanism, mechanism.start(point.positions), **point.simulation)
        # the same code with the same numbers
        assert rows[point.key]["q.crank"] == pytest.approx(expected.q[-1, 0], abs=1e-14)


@pytest.mark.slow
def test_a_point_that_fails_is_a_row_with_its_reason(tmp_path, scheduler):
    text = HEAD + "vary: {mechanism.joints.crank.damping: [0.0, -1.0, 0.2]}\n"
    spec, store = SweepSpec.from_file(declared(tmp_path, text)), Store(tmp_path / "out")
    outcome = sweep(spec, store, scheduler=scheduler)
    assert (outcome.ok, len(outcome.failed)) == (2, 1)
    (problem,) = outcome.failed.values()
    assert "joints.crank.damping: found -1.0" in problem
    again = sweep(spec, store, scheduler=scheduler)
    assert (again.found, again.ok, len(again.failed)) == (3, 0, 1)
    retried = sweep(spec, store, scheduler=scheduler, retry_failed=True)
    assert (retried.found, len(retried.failed)) == (2, 1)


def test_an_interrupted_sweep_goes_on(tmp_path, scheduler):
    spec, store = SweepSpec.from_file(declared(tmp_path, HEAD + GRID)), Store(tmp_path / "out")

    def interrupt(done, _):
        if done >= 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(spec, store, scheduler=scheduler, progress=interrupt)
    kept = store.rows()
    assert 2 <= len(kept) < 6
    broken = store.directory / "rows" / "broken.parquet"  # as a disk that failed may leave it
    broken.write_bytes(b"PAR1 and no more")
    outcome = sweep(spec, store, scheduler=scheduler)
    assert (outcome.found, outcome.ok) == (len(kept), 6 - len(kept))
    assert store.results.is_file()


def test_points_of_a_robot_that_changed_are_simulated_anew(tmp_path, scheduler):
    urdf, file = tmp_path / "robot.urdf", tmp_path / "five_bar.yaml"
    urdf.write_text(Mechanism.from_file("five_bar").model.description.text)
    text = resources.resolve("package://uk_dynamics/config/five_bar.yaml").read_text()
    file.write_text(re.sub(r"urdf: \S+", "urdf: robot.urdf", text))
    text = HEAD.replace("mechanism: five_bar", "mechanism: five_bar.yaml")
    text += "vary: {positions.crank: [0.6]}\n"
    declaration, store = declared(tmp_path, text), Store(tmp_path / "out")
    energies = []
    for mass in (None, "9.0"):
        if mass is not None:
            heavier = re.sub('<mass value="[^"]*"', f'<mass value="{mass}"', urdf.read_text())
            urdf.write_text(heavier)
        spec = SweepSpec.from_file(declaration)
        outcome = sweep(spec, store, scheduler=scheduler)
        assert (outcome.found, outcome.ok) == (0, 1)
        energies.append(store.rows()[spec.points()[0].key]["energy"])
    # one worker has simulated both; J, and the masses were a kilogram or two
    assert abs(energies[1] - energies[0]) > 0.1
    again = sweep(SweepSpec.from_file(declaration), store, scheduler=scheduler)
    assert (again.found, again.ok) == (1, 0)


@pytest.fixture
def waiting_robot(tmp_path):
    """A sweep of four points; the robot of the second reads a pipe: whoever simulates it waits.

    Gives the sweep, the pipe, and a file that may take its place.
    """
    text = Mechanism.from_file("five_bar").model.description.text
    (tmp_path / "plain.urdf").write_text(text)
    pipe, whole = tmp_path / "part.xacro", tmp_path / "whole.xacro"
    head = '<robot name="five_bar" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    (tmp_path / "piped.urdf.xacro").write_text(f'{head}<xacro:include filename="{pipe}"/></robot>')
    whole.write_text(re.sub("<robot[^>]*>", head, text))
    pipe.write_bytes(whole.read_bytes())
    text = resources.resolve("package://uk_dynamics/config/five_bar.yaml").read_text()
    (tmp_path / "machine.yaml").write_text(re.sub(r"urdf: \S+", "urdf: plain.urdf", text))
    text = HEAD.replace("mechanism: five_bar", "mechanism: machine.yaml") + (
        "combine: together\nvary:\n  positions.crank: [0.3, 0.5, 0.7, 0.9]\n"
        "  mechanism.model.urdf: [plain.urdf, piped.urdf.xacro, plain.urdf, plain.urdf]\n"
    )
    spec = SweepSpec.from_file(declared(tmp_path, text))
    assert all(point.robot for point in spec.points())
    pipe.unlink()
    os.mkfifo(pipe)
    return spec, pipe, whole


def alive(process):
    """Whether a process is neither gone nor a zombie, which holds nothing open any more."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def killed(pipe, ended, before_that=lambda: None):
    """Kill the process that reads a pipe; True, or False when nobody did before the end."""
    psutil = pytest.importorskip("psutil")  # Dask needs it as well
    writing, readers = [], []

    def somebody_reads():
        with contextlib.suppress(OSError):  # nobody does
            writing.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        return writing or ended.is_set()

    def found():
        for process in psutil.Process().children(recursive=True):
            for entry in glob.glob(f"/proc/{process.pid}/fd/*"):
                with contextlib.suppress(OSError):
                    if os.readlink(entry) == str(pipe):
                        readers.append(process.pid)
        return readers or ended.is_set()

    wait_until(somebody_reads, "a process that reads the pipe", timeout=120.0)
    if not writing:
        return False
    # what was there may have been the last of a process that ends; then it is the next one
    wait_until(found, "the process that reads the pipe", timeout=120.0)
    if not readers:
        return False
    before_that()
    os.kill(readers[0], signal.SIGKILL)
    wait_until(lambda: not alive(readers[0]), "its end")
    os.close(writing[0])
    return True


@pytest.mark.slow
def test_a_worker_that_dies_takes_no_point_with_it(tmp_path, scheduler, waiting_robot):
    spec, pipe, whole = waiting_robot
    store, ended = Store(tmp_path / "out"), threading.Event()
    with ThreadPoolExecutor(1) as pool:
        death = pool.submit(killed, pipe, ended, lambda: whole.replace(pipe))
        outcome = sweep(spec, store, scheduler=scheduler)
        ended.set()
        assert death.result()
    assert (outcome.ok, outcome.failed) == (4, {})


@pytest.mark.slow
def test_a_point_that_kills_its_worker_each_time_fails_alone(tmp_path, scheduler, waiting_robot):
    spec, pipe, whole = waiting_robot
    store, ended, deaths = Store(tmp_path / "out"), threading.Event(), []

    def kill_all():
        while killed(pipe, ended):
            deaths.append(1)

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(kill_all)
        outcome = sweep(spec, store, scheduler=scheduler)
        ended.set()
        done.result()
    ill = spec.points()[1].key
    assert (outcome.ok, set(outcome.failed)) == (3, {ill})
    assert len(deaths) >= 3  # more where a worker that has done its point still had the pipe open
    assert "died, each time" in outcome.failed[ill]
    whole.replace(pipe)
    again = sweep(spec, store, scheduler=scheduler, retry_failed=True)
    assert (again.found, again.ok, again.failed) == (3, 1, {})


def test_trajectories_are_kept_where_wanted(tmp_path, scheduler):
    parquet = pytest.importorskip("pyarrow.parquet")
    text = HEAD + "trajectories: true\nvary: {positions.crank: [0.3, 0.6]}\n"
    spec, store = SweepSpec.from_file(declared(tmp_path, text)), Store(tmp_path / "out")
    sweep(spec, store, scheduler=scheduler)
    table = parquet.read_table(store.directory / "trajectories").to_pydict()
    assert set(table["point"]) == {point.key for point in spec.points()}
    assert table["t"][0] == 0.0
    assert {"q.crank", "v.crank", "qdd.crank", "effort.crank_motor"} <= table.keys()


@pytest.mark.slow
def test_friction_decides_whether_a_grip_lifts_its_block(tmp_path, scheduler):
    """Four points of 4.2 N carry 1.96 N with a friction of 0.3, and do not with 0.1."""
    file = ROOT / "examples" / "block_grip" / "block_grip.yaml"
    text = (
        f"schema: 1\nmechanism: {file}\ncombine: together\n"
        "simulation: {duration: 0.8, method: moreau, step: 0.002}\n"
        "vary:\n  mechanism.contacts.left_pad.friction: [0.1, 0.3]\n"
        "  mechanism.contacts.right_pad.friction: [0.1, 0.3]\n"
    )
    spec, store = SweepSpec.from_file(declared(tmp_path, text)), Store(tmp_path / "out")
    assert sweep(spec, store, scheduler=scheduler).failed == {}
    rows = store.rows()
    lies, hangs = (rows[point.key] for point in spec.points())
    assert lies["q.block_z"] == pytest.approx(0.023, abs=1e-9)
    assert hangs["q.block_z"] - 0.023 == pytest.approx(hangs["q.lift"], abs=5e-4)
    assert hangs["q.lift"] > 0.04


def test_restitution_decides_how_a_ball_leaves_the_floor(tmp_path, scheduler):
    """With e times the speed of its fall, and a bounce that lasts 2 e v/g."""
    slide = joint("z", "base", "ball", kind="prismatic", axis="0 0 1")
    robot = f'<robot name="ball">{link("base")}{link("ball")}{slide}</robot>'
    (tmp_path / "ball.urdf").write_text(robot)
    floor = "{parent: {link: world}, child: {link: ball}, radius: 0.1}"
    text = "schema: 1\nmodel: {urdf: ball.urdf}\ninitial_guess: {z: 0.3}\n"
    text += f"contacts: {{floor: {floor}}}\n"
    file = declared(tmp_path, text, "ball.yaml")
    text = (
        f"schema: 1\nmechanism: {file}\nsimulation: {{duration: 0.25}}\n"
        "vary: {mechanism.contacts.floor.restitution: [0.0, 0.5, 0.9]}\n"
    )
    spec, store = SweepSpec.from_file(declared(tmp_path, text)), Store(tmp_path / "out")
    assert sweep(spec, store, scheduler=scheduler).failed == {}
    fall = math.sqrt(2.0 * 0.2 / 9.81)
    for point in spec.points():
        speed = point.values["mechanism.contacts.floor.restitution"] * 9.81 * fall
        left = 0.25 - fall
        expected = 0.1 + speed * left - 0.5 * 9.81 * left**2 if speed else 0.1
        assert store.rows()[point.key]["q.z"] == pytest.approx(expected, abs=1e-8)


def test_a_scheduler_that_is_not_there_is_told(tmp_path):
    pytest.importorskip("distributed")
    pytest.importorskip("pyarrow")
    spec, store = SweepSpec.from_file(declared(tmp_path, HEAD + GRID)), Store(tmp_path / "out")
    with pytest.raises(InputError, match="cannot be reached"):
        sweep(spec, store, scheduler="nothing://here")


@pytest.mark.slow
def test_the_command_starts_workers_of_its_own(tmp_path, capsys):
    pytest.importorskip("distributed")
    pytest.importorskip("pyarrow")
    file = declared(tmp_path, HEAD + "vary: {positions.crank: [0.3, 2.0e9]}\n")
    out = tmp_path / "out"
    assert main(["sweep", str(file), "--out", str(out), "--workers", "1"]) in (0, 1)
    printed = capsys.readouterr().out
    assert "2 points: 0 existed" in printed
    assert (out / "results.parquet").is_file()
