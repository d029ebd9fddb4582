# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""One tolerance for closed loops: in the file, on the command line, and scaled with the machine."""

from __future__ import annotations

import re

import pytest
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics.checks.checklist import check
from uk_dynamics.cli.main import main
from uk_dynamics.exceptions import AssemblyError
from uk_dynamics.simulation import simulate

MISSING = 1e-6  # m, across the plane of the loop, for a machine of 2 m


def four_bar(scale=1.0, text="", limits=None):
    """A parallelogram with a spatial pin, whose ends miss each other across the plane."""
    parts = link("base") + link("crank") + link("rod") + link("rocker", com="0 0 0.1")
    parts += joint("a", "base", "crank", limits=limits)
    parts += joint("b", "crank", "rod", xyz=f"0 0 {scale}")
    parts += joint("c", "base", "rocker", xyz=f"{2 * scale} 0 0")
    pin = f"parent: {{link: rod, xyz: [{2 * scale}, {MISSING * scale!r}, 0]}}"
    pin += f", child: {{link: rocker, xyz: [0, 0, {scale}]}}"
    return parts, f"{text}constraints: {{pin: {{type: point, {pin}}}}}\n"


def test_default_refuses_and_says_why():
    machine = mechanism(*four_bar())
    with pytest.raises(AssemblyError, match=r"1e-06.*tolerance"):
        machine.assemble()
    (found,) = [f for f in check(machine) if f.severity == "error"]
    assert found.check == "loop"
    assert "tolerance" in found.remedy


def test_limits_are_not_blamed_for_a_tolerance():
    """A joint that stands at its limit, where the loop misses by more than the tolerance."""
    machine = mechanism(*four_bar(limits=(0.0, 1.0)))
    found = [f for f in check(machine) if f.severity == "error"]
    assert [f.check for f in found] == ["loop"]


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_tolerance_in_the_file_is_meant_in_parts_of_the_machine(scale):
    parts, text = four_bar(scale, "solver: {closure_tolerance: 1.0e-6}\n")
    machine = mechanism(parts, text)
    assert machine.closure_tolerance == pytest.approx(2e-6 * scale, abs=0.5e-6 * scale)
    assert not [f for f in check(machine) if f.severity == "error"]
    start = machine.start({"a": 0.2}, {"a": 1.0})
    moved = simulate(machine, start, 0.05)
    assert abs(moved.residual[-1]).max() == pytest.approx(MISSING * scale, rel=1e-3)
    tight = mechanism(*four_bar(scale, "solver: {closure_tolerance: 1.0e-7}\n"))
    with pytest.raises(AssemblyError):
        tight.assemble()


@pytest.mark.parametrize("command", ["describe", "check", "simulate"])
def test_the_option_serves_every_command(command, tmp_path, capsys):
    parts, text = four_bar()
    (tmp_path / "robot.urdf").write_text(f'<robot name="r">{parts}</robot>')
    file = tmp_path / "bar.yaml"
    file.write_text(f"schema: 1\nmodel: {{urdf: robot.urdf}}\n{text}")
    more = ["--duration", "0.02"] if command == "simulate" else []
    assert main([command, str(file), *more]) in (1, 2)
    assert re.search("tolerance", "".join(capsys.readouterr()))
    assert main([command, str(file), *more, "--tolerance", "1e-6"]) == 0


def test_check_reports_velocities_that_everything_else_refuses():
    parts, text = four_bar(text="solver: {closure_tolerance: 1.0e-6}\n")
    machine = mechanism(parts, text + "initial_velocity: {a: 1.0, c: -1.0}\n")
    found = [f for f in check(machine) if f.severity == "error"]
    assert ["initial velocities contradict" in f.problem for f in found] == [True]
