# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Loops that are closed many times over compile to short code."""

from __future__ import annotations

import pytest
from support.mechanism_builder import arm, joint, link, mechanism

from uk_dynamics.checks.checklist import check
from uk_dynamics.compilation.emit import generate
from uk_dynamics.compilation.emit.layout import Layout

ROCKER = link("rocker", com="0.5 0 0") + joint("j3", "base", "rocker", xyz="1 0 0")
PIN = "{type: hinge, axis: [0, 1, 0], parent: {link: l2, xyz: [1, 0, 0]},"
PIN += " child: {link: rocker, xyz: [1, 0, 0]}}"


@pytest.mark.parametrize("count", [15, 30])
def test_identical_loops(count):
    """One warning names them all, and what compiles grows with their number, not its cube."""
    pins = "".join(f"  pin{k}: {PIN}\n" for k in range(count))
    guess = "initial_guess: {j1: -1.2, j2: 1.0, j3: -1.4}\n"
    machine = mechanism(arm([1.0, 1.0]) + ROCKER, f"{guess}constraints:\n{pins}")
    (found,) = [finding for finding in check(machine) if finding.severity == "warning"]
    assert found.subject == tuple(f"pin{k}" for k in range(count))
    assert len(generate.source(machine)) < 15_000 * count


def test_memory():
    """Solving needs memory in proportion to the rows, not to their square, for a bounded rank."""

    def doubles(count: int) -> int:
        pins = "".join(f"  pin{k}: {PIN}\n" for k in range(count))
        text = f"initial_guess: {{j1: -1.2, j2: 1.0, j3: -1.4}}\nconstraints:\n{pins}"
        return Layout(mechanism(arm([1.0, 1.0]) + ROCKER, text)).size

    assert doubles(40) - doubles(20) == 2 * (doubles(20) - doubles(10))
