# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Packages with a transmission: a four-bar linkage as a plain joint, nonlinear, with its power."""

from __future__ import annotations

import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from support.mechanism_builder import shipped
from support.repository import ROOT

from uk_dynamics.control.estimation import StateCompletion
from uk_dynamics.conversion import transmission_package
from uk_dynamics.exceptions import InputError

DRIVER = ROOT / "test" / "conversion" / "transmission_driver.cpp"
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsanitize=address,undefined", "-O1")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler on this machine")
def test_a_four_bar_is_a_joint_with_the_power_of_its_motor(tmp_path: Path) -> None:
    machine = shipped("four_bar")
    for name, text in transmission_package(machine, ["rocker"]).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    parts = [f"four_bar_from_{side}" for side in ("actuators", "joints")]
    commands = [
        ("gcc", "-std=c99", *STRICT, "-Iinclude", "-c", f"src/{part}.c", "-o", f"{part}.o")
        for part in parts
    ]
    objects = [f"{part}.o" for part in parts]
    program = ("-Iinclude", str(DRIVER), *objects, "-lm", "-o", "driver")
    for command in (*commands, ("g++", "-std=c++17", *STRICT, *program)):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    rng = np.random.default_rng(2)
    phase = 0.1 * np.repeat(np.arange(60), 2)  # no dead centre of the rocker in between
    crank = 1.2 + 0.5 * np.sin(phase)
    crank[7] = np.nan  # the motor has no measurement; the next one has
    inputs = np.column_stack((crank, rng.normal(size=120), rng.normal(size=120)))
    text = "\n".join(" ".join(map(repr, row)) for row in inputs.tolist())
    done = subprocess.run(
        tmp_path / "driver", input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = np.array([list(map(float, row.split())) for row in done.stdout.splitlines()])
    completion = StateCompletion(machine, ["crank"])
    place = machine.joint_names.index("rocker")
    missing = found[7]
    assert missing[0] == 0
    assert np.isnan(missing[1]), "no old position"
    twice = found[8:, 1].reshape(-1, 2)
    assert (twice[:, 0] == twice[:, 1]).all(), "still to the last bit on both sides"
    inputs, found = np.delete(inputs, 7, axis=0), np.delete(found, 7, axis=0)
    states = [completion.complete([a], [rate]) for a, rate, _ in inputs.tolist()]
    wanted = np.array([(state.q[place], state.v[place]) for state in states])
    closed, joint, returned, motor = found[:, 0], found[:, 1:4], found[:, 4], found[:, 5:]
    assert closed.all()
    assert returned.all()
    # Newton's last step on positions of about 1 rad, which the second of two equal calls makes in
    # Python alone
    np.testing.assert_allclose(joint[:, :2], wanted, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(motor, inputs, rtol=0.0, atol=1e-11)
    power = inputs[:, 1] * inputs[:, 2]
    np.testing.assert_allclose(joint[:, 1] * joint[:, 2], power, rtol=0.0, atol=1e-12)
    ratio = joint[:, 1] / inputs[:, 1]
    assert np.ptp(ratio) > 0.1, "a ratio that changes: no linear transmission"


def test_names_are_those_of_the_urdf_and_the_plugin() -> None:
    texts = transmission_package(shipped("four_bar"), ["rocker"])
    plugin = ET.fromstring(texts["transmission_plugin.xml"]).find("class")
    assert plugin is not None
    assert f"<plugin>{plugin.attrib['name']}</plugin>" in texts["README.md"]
    assert not [name for name, text in texts.items() if "@" in text.replace("maintainer@todo", "")]


def test_motors_and_joints_have_to_determine_each_other() -> None:
    with pytest.raises(InputError, match="one to one"):
        transmission_package(shipped("parallel_2dof"), ["b1", "b2"])
