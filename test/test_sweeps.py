"""Sweeps: every point is simulated once, failures are rows, and interruptions lose nothing."""

from __future__ import annotations

import re

import pytest

from uk_dynamics import resources
from uk_dynamics.cli.main import main
from uk_dynamics.exceptions import InputError, MechanismFileError
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.simulation.simulate import simulate
from uk_dynamics.sweeps.run import sweep
from uk_dynamics.sweeps.specification import SweepSpec
from uk_dynamics.sweeps.store import Store

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
        ("vary: {positions.crank: {from: 1}}\n", "write a list"),
        ("vary: {positions.crank: {uniform: [0, 1]}}\n", "combine: random"),
        ("vary: {positions.crank: [1]}\ncombine: random\n", "needs samples"),
        ("vary: {tasks.sweep.joint: [crank]}\n", "no tasks file"),
        ("vary: {mechanism.schema.x: [1]}\n", "in no mapping"),
        (
            "vary: {positions.crank: [1], velocities.crank: [1, 2]}\ncombine: together\n",
            "one length",
        ),
    ],
)
def test_a_sweep_that_is_none_is_told(tmp_path, text, said):
    with pytest.raises(MechanismFileError) as caught:
        SweepSpec.from_file(declared(tmp_path, HEAD + text)).points()
    assert said in str(caught.value)


@pytest.fixture(scope="module")
def scheduler():
    """A Dask scheduler with one worker process, as a cluster would have it."""
    distributed = pytest.importorskip("distributed")
    pytest.importorskip("pyarrow")
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    yield cluster.scheduler_address
    cluster.close()


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


def test_trajectories_are_kept_where_wanted(tmp_path, scheduler):
    parquet = pytest.importorskip("pyarrow.parquet")
    text = HEAD + "trajectories: true\nvary: {positions.crank: [0.3, 0.6]}\n"
    spec, store = SweepSpec.from_file(declared(tmp_path, text)), Store(tmp_path / "out")
    sweep(spec, store, scheduler=scheduler)
    table = parquet.read_table(store.directory / "trajectories").to_pydict()
    assert set(table["point"]) == {point.key for point in spec.points()}
    assert table["t"][0] == 0.0
    assert {"q.crank", "v.crank", "qdd.crank", "effort.crank_motor"} <= table.keys()


def test_a_scheduler_that_is_not_there_is_told(tmp_path):
    pytest.importorskip("distributed")
    pytest.importorskip("pyarrow")
    spec, store = SweepSpec.from_file(declared(tmp_path, HEAD + GRID)), Store(tmp_path / "out")
    with pytest.raises(InputError, match="cannot be reached"):
        sweep(spec, store, scheduler="nothing://here")


def test_the_command_starts_workers_of_its_own(tmp_path, capsys):
    pytest.importorskip("distributed")
    pytest.importorskip("pyarrow")
    file = declared(tmp_path, HEAD + "vary: {positions.crank: [0.3, 2.0e9]}\n")
    out = tmp_path / "out"
    assert main(["sweep", str(file), "--out", str(out), "--workers", "1"]) in (0, 1)
    printed = capsys.readouterr().out
    assert "2 points: 0 were there" in printed
    assert (out / "results.parquet").is_file()
