# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Recordings that other programs wrote: a slider-crank of MuJoCo, as its owner would record it."""

from __future__ import annotations

import contextlib
import csv
from pathlib import Path

import numpy as np
import pytest

from uk_dynamics import Mechanism, Trajectory
from uk_dynamics.cli.main import main
from uk_dynamics.exceptions import InputError
from uk_dynamics.identification import identify

mujoco = pytest.importorskip("mujoco", reason="MuJoCo reads MJCF")

# A crank, a rod on it, and a slider that moves up and down; the rod's end is the slider's pin.
MODEL = """\
<mujoco model="press">
  <option timestep="0.0001" integrator="implicitfast"/>
  <worldbody>
    <body name="crank"><joint name="crank" type="hinge" axis="0 1 0" damping="0.2"/>
      <inertial pos="0.1 0 0" mass="1.5" diaginertia="0.002 0.006 0.006"/>
      <body name="rod" pos="0.2 0 0"><joint name="rod" type="hinge" axis="0 1 0"/>
        <inertial pos="0.25 0 0" mass="0.8" diaginertia="0.001 0.017 0.017"/></body></body>
    <body name="slider" pos="0.7 0 0"><joint name="slider" type="slide" axis="1 0 0"/>
      <inertial pos="0 0 0" mass="MASS" diaginertia="0.01 0.01 0.01"/></body>
  </worldbody>
  <equality><connect name="pin" body1="rod" body2="slider" anchor="0.5 0 0"
    solref="0.0004 1" solimp="0.9999 0.99999 0.001"/></equality>
  <actuator><motor name="drive" joint="crank"/></actuator>
</mujoco>
"""
MASS = 2.9  # kg, of which the file says 2
STEPS, EVERY = 80_000, 20  # of 0.1 ms; samples of 2 ms


def record(path: Path) -> None:
    """What a script of MuJoCo writes: the crank follows waves; encoder and effort are noisy."""
    model = mujoco.MjModel.from_xml_string(MODEL.replace("MASS", str(MASS)))
    data, random = mujoco.MjData(model), np.random.default_rng(4)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["t", "q.crank", "v.crank", "effort.drive"])
        for k in range(STEPS):
            if k % EVERY == 0:
                t = data.time
                wanted = 0.9 * np.sin(7.0 * t) + 0.6 * np.sin(11.0 * t) * min(1.0, t)
                data.ctrl[0] = 300.0 * (wanted - data.qpos[0]) - 12.0 * data.qvel[0]
                noise = random.standard_normal(2) * (1e-5, 0.005 * abs(data.ctrl[0]))
                row = (t, data.qpos[0] + noise[0], data.qvel[0], data.ctrl[0] + noise[1])
                writer.writerow([f"{x:.9g}" for x in row])
            mujoco.mj_step(model, data)


@pytest.mark.slow
def test_the_mass_that_mujoco_moved_is_found_from_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("press.xml").write_text(MODEL.replace("MASS", "2.0"), encoding="utf-8")
    assert main(["import", "press.xml", "--out", "press"]) == 0
    record(Path("run.csv"))
    estimate = ["--estimate", "links.slider.mass", "--measured", "crank", "--delay", "0"]
    command = ["identify", "press/press.yaml", "run.csv", *estimate, "--out", "found"]
    assert main(command) == 0
    found = Mechanism.from_file("found/press.yaml").parameters["links.slider.mass"].value
    assert found == pytest.approx(MASS, abs=1e-3 * MASS)  # the promise of the page


@pytest.mark.slow
def test_times_far_beyond_the_samples_are_refused_instead_of_filled(tmp_path: Path) -> None:
    """A million times as many samples would be made between the last two."""
    path = tmp_path / "run.csv"
    waves = 0.6 + 0.3 * np.sin(0.05 * np.arange(400))
    rows = [f"{0.01 * k},{x:.9f},{x - 0.6:.4f}" for k, x in enumerate(waves)]
    path.write_text("\n".join(["t,q.crank,effort.crank_motor", *rows, "1e9,0.6,0.1"]))
    machine, run = Mechanism.from_file("four_bar"), Trajectory.load(path)
    with pytest.raises(InputError, match="far longer than 401 samples every"):
        identify(machine, [run])
    path.write_text("\n".join(["t,q.crank,effort.crank_motor", *rows]))
    told: list[float] = []
    with contextlib.suppress(InputError):  # too little moves
        identify(machine, [Trajectory.load(path)], progress=told.append)
    assert 1.0 < sum(told) < 3.99
