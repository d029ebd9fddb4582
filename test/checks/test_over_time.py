# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""References that agree at the start and contradict each other, or the machine, later."""

from __future__ import annotations

import pytest
from support.mechanism_builder import arm, joint, link, mechanism

from uk_dynamics.checks.checklist import check
from uk_dynamics.cli.main import main
from uk_dynamics.exceptions import SimulationError
from uk_dynamics.simulation import simulate

PARTICLE = link("base") + link("a", mass=0.0) + link("b", mass=0.0) + link("c")
for name, parent, child, axis in (
    ("x", "base", "a", "1 0 0"),
    ("y", "a", "b", "0 1 0"),
    ("z", "b", "c", "0 0 1"),
):
    PARTICLE += joint(name, parent, child, kind="prismatic", axis=axis)
CONE = "constraints: {cone: {type: expression, expression: 'd(x)**2 + d(y)**2 - d(z)**2'}}\n"


def following(**laws):
    """An arm whose first joint follows several laws at once."""
    text = "constraints:\n"
    for name, law in laws.items():
        reference = f"{{type: expression, value: {law!r}}}"
        text += f"  {name}: {{type: joint, joint: j1, reference: {reference}}}\n"
    return mechanism(arm([1.0, 1.0]), text)


def test_contradicting_references_are_no_duplicates():
    machine = following(one="t**2", two="t**2 + 0.1*t**3")
    (found,) = [finding for finding in check(machine) if finding.check == "redundancy"]
    assert found.severity == "error"
    assert set(found.subject) == {"one", "two"}
    assert "contradict" in found.problem
    assert "t = " in found.problem


def test_the_same_reference_twice_is_a_duplicate():
    found = check(following(one="t**2", two="t*t"))
    assert ["duplicates" in f.problem for f in found if f.check == "redundancy"] == [True]


def test_the_simulation_names_the_rows_that_contradict_each_other():
    machine = following(one="t**2", two="t**2 + 0.1*t**3")
    with pytest.raises(SimulationError, match=r"one.*two.*contradict|two.*one.*contradict"):
        simulate(machine, machine.start(), 1.0)


def test_a_row_that_vanishes_is_not_redundant(capsys, tmp_path):
    """At rest the quadratic row is zero; with a velocity it is an ordinary row."""
    machine = mechanism(PARTICLE, CONE)
    (found,) = [finding for finding in check(machine) if finding.check == "redundancy"]
    assert found.severity == "warning"
    assert "vanish" in found.problem
    assert "redundant" not in found.problem
    moving = mechanism(PARTICLE, CONE + "initial_velocity: {x: 1.0, z: -1.0}\n")
    assert not [finding for finding in check(moving) if finding.check == "redundancy"]
    (tmp_path / "robot.urdf").write_text(f'<robot name="r">{PARTICLE}</robot>')
    file = tmp_path / "cone.yaml"
    file.write_text(f"schema: 1\nmodel: {{urdf: robot.urdf}}\n{CONE}")
    assert main(["describe", str(file)]) == 0
    assert "1, rank 0, 1 vanishes here: cone" in capsys.readouterr().out


def test_a_motion_that_a_vanished_row_does_not_determine_is_refused():
    """Gravity would leave the tip of the cone, and no direction along it is the right one."""
    machine = mechanism(PARTICLE, CONE)
    with pytest.raises(SimulationError, match="cone vanishes"):
        simulate(machine, machine.start(), 0.2)
    along = simulate(machine, machine.start(velocities={"x": 1e-3, "z": -1e-3}), 0.2)
    assert along.statistics.evaluations < 200
    assert along.velocity("z")[-1] == pytest.approx(-1e-3 - 9.81 * 0.2 / 2.0, abs=1e-7)
    weightless = mechanism(PARTICLE, "model: {gravity: [0, 0, 0]}\n" + CONE)
    assert simulate(weightless, weightless.start(), 0.2).v[-1] == pytest.approx(0.0, abs=1e-12)
