# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Machines with redundant rows whose lengths and axes were measured, and are off a little."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics.checks.checklist import check
from uk_dynamics.exceptions import AssemblyError
from uk_dynamics.simulation import simulate

ERROR = 1e-4  # m and rad, of machines of half a metre


def numbers(values):
    return " ".join(repr(float(value)) for value in values)


def hinge_loop(error, ways="", seed=0):
    """A four-bar of spatial hinges; each axis and each length is off by up to ``error``."""
    rng = np.random.default_rng(seed)

    def off(*ideal):
        return numbers(np.array(ideal) + rng.uniform(-error, error, 3))

    parts = link("base")
    for name, length in (("crank", 0.1), ("rod", 0.35), ("rocker", 0.25)):
        parts += link(name, 0.5, 1e-3, f"{length / 2} 0 0")
    parts += joint("a", "base", "crank", axis=off(0, -1, 0))
    parts += joint("b", "crank", "rod", axis=off(0, -1, 0), xyz=off(0.1, 0, 0))
    parts += joint("c", "base", "rocker", axis=off(0, -1, 0), xyz=off(0.4, 0, 0))
    pin = "parent: {link: rocker, xyz: [0.25, 0, 0]}, child: {link: rod, xyz: [0.35, 0, 0]}"
    guess = "initial_guess: {a: 1.2, b: -0.751, c: 1.766}\n"
    kind = "" if "type" in ways else "type: hinge, axis: [0, 1, 0]"
    return parts, f"{guess}constraints: {{pin: {{{', '.join(filter(None, (kind, ways, pin)))}}}}}\n"


def delta(error, seed=0):
    """A delta robot of hinges alone: each rod of six has two at each end, crossed."""
    rng = np.random.default_rng(seed)

    def off(place):
        return numbers(np.array(place) + rng.uniform(-error, error, 3))

    parts, guess, loops = link("base") + link("plate", 0.3, 1e-4), "", ""
    for axis, before, after in zip(
        "xyz", ("base", "p_x", "p_y"), ("p_x", "p_y", "plate"), strict=True
    ):
        parts += joint(
            f"slide_{axis}",
            before,
            after,
            kind="prismatic",
            limits=(-9.0, 9.0),
            axis=numbers(np.eye(3)["xyz".index(axis)]),
        )
    parts += link("p_x", 0.0) + link("p_y", 0.0)
    for arm in range(3):
        angle = 2.0 * np.pi * arm / 3.0
        out, along = (np.cos(angle), np.sin(angle), 0.0), (-np.sin(angle), np.cos(angle), 0.0)
        out, along = np.array(out), np.array(along)
        parts += link(f"arm_{arm}", 0.2, 1e-4, numbers(0.1 * out))
        parts += joint(f"m_{arm}", "base", f"arm_{arm}", axis=numbers(-along), xyz=off(0.1 * out))
        for side in (-1, 1):
            name = f"{'lr'[side > 0]}_{arm}"
            parts += link(f"fork_{name}", 0.01, 1e-6) + link(f"rod_{name}", 0.1, 1e-3, "0 0 -0.2")
            place = off(0.2 * out + 0.05 * side * along)
            parts += joint(f"u_{name}", f"arm_{arm}", f"fork_{name}", axis=off(-along), xyz=place)
            parts += joint(f"v_{name}", f"fork_{name}", f"rod_{name}", axis=off(out))
            plate = off(0.05 * out + 0.05 * side * along)
            tip = off((0.0, 0.0, -0.4))
            first, last = numbers(-along).split(), numbers(out).split()
            loops += (
                f"  {name}: {{type: universal, parent: {{link: plate,"
                f" xyz: [{', '.join(plate.split())}]}}, parent_axis: [{', '.join(first)}],"
                f" child: {{link: rod_{name}, xyz: [{', '.join(tip.split())}]}},"
                f" child_axis: [{', '.join(last)}]}}\n"
            )
            guess += f"u_{name}: -0.675, "
    return parts, f"initial_guess: {{{guess}slide_z: -0.312}}\nconstraints:\n{loops}"


MACHINES = {"four_bar": (hinge_loop, 1), "delta": (delta, 3)}


def tolerance_that_is_advised(parts, text):
    with pytest.raises(AssemblyError) as caught:
        mechanism(parts, text).assemble()
    message = str(caught.value)
    assert "redundant rows" in message
    assert "compliance" in message
    return re.search(r"\(([0-9.e-]+) as closure_tolerance", message)[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_advised_tolerance_gives_back_the_mobility(name, seed):
    make, mobility = MACHINES[name]
    ideal = mechanism(*make(0.0))
    assert ideal.report().mobility == mobility
    parts, text = make(ERROR, seed=seed)
    advised = tolerance_that_is_advised(parts, text)
    assume(float(advised) > ERROR)  # a loop that closes by chance says less of its errors
    machine = mechanism(parts, f"solver: {{closure_tolerance: {advised}}}\n{text}")
    assert machine.report().mobility == mobility
    assert not [f for f in check(machine) if f.severity == "error"]


@pytest.mark.parametrize(
    "backend", ["interpreted", pytest.param("compiled", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", MACHINES)
def test_a_measured_machine_moves_as_the_ideal_one(name, backend):
    make, _ = MACHINES[name]
    ideal = mechanism(*make(0.0))
    parts, text = make(ERROR)
    advised = tolerance_that_is_advised(parts, text)
    machine = mechanism(parts, f"solver: {{closure_tolerance: {advised}}}\n{text}")
    first = machine.joint_names[0] if name == "four_bar" else "m_0"
    ends = []
    for each in (ideal, machine):
        motion = simulate(each, each.start({}, {first: 1.0}), 0.2, rtol=1e-8, backend=backend)
        assert abs(motion.residual).max() <= each.closure_tolerance
        energy = motion.energy  # J; some tenths of a J become kinetic
        # Where other rows hold than before, bodies of half a kg move by up to ERROR: 5e-4 J.
        assert abs(energy - energy[0]).max() <= 5e-4
        ends.append(motion.q[-1])
    # Lengths of 0.1 m that are off by 1e-4 turn joints by 1e-3, and gravity does the rest.
    assert abs(ends[1] - ends[0]).max() <= 5e-3


def test_the_rows_that_are_named_suffice():
    parts, text = hinge_loop(ERROR)
    with pytest.raises(AssemblyError, match=r"\(pin\.x, pin\.z: type frame"):
        mechanism(parts, text).assemble()
    machine = mechanism(*hinge_loop(ERROR, "type: frame, axes: [x, z]"))
    assert machine.assembly({"a": 1.0}).closed
    assert machine.report().mobility == 1


def test_a_compliant_loop_need_not_close():
    soft = "compliance: 1.0e-7, stabilization: {frequency: 30.0, damping_ratio: 1.0}"
    machine = mechanism(*hinge_loop(ERROR, soft))
    motion = simulate(machine, machine.start({"a": 1.2}, {"a": 5.0}), 0.05)
    assert abs(motion.residual).max() < 20.0 * ERROR
