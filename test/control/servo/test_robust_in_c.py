# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The robust term in C, for one state and in lanes, is that of the interpreted law."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from uk_dynamics import Mechanism, ServoController, State, Tasks, simulate, simulate_many
from uk_dynamics.mechanism.resolution import Array

PERIOD = 0.001
JOINT = {"type": "joint", "reference": {"type": "constant", "value": 0.9}}
PLATFORM = {"x": "-sin(pi*t/2)", "z": "sin(pi*t/4)", "angle": "(pi/6)*sin(pi*t/4)**4"}
CASES = {
    "one row": ("five_bar", {}, ["crank"]),
    "surface": ("five_bar", {"form": "surface"}, ["crank"]),
    "all motions": ("rrr3", {"motors": {"motor_a": 0.03}}, [*PLATFORM]),
    "some motions": ("rrr3", {"motors": {"motor_b": 0.02}}, ["x", "z"]),
    "by the metric": ("rrr3", {"motors": {"motor_b": 0.02}}, ["x", "z"]),
    "a row that repeats another": ("five_bar", {}, ["crank", "right"]),
    "a learned size": ("five_bar", {"leakage": 2.0}, ["crank"]),
}


def made(case: str) -> tuple[Mechanism, Tasks]:
    name, more, rows = CASES[case]
    machine = Mechanism.from_file(name)
    if name == "five_bar":
        along = {"type": "sinusoid", "offset": 0.9, "amplitude": 0.3, "frequency": 0.5}
        tasks = {row: {"type": "joint", "joint": row, "reference": along} for row in rows}
        robust: dict[str, Any] = {
            "parameters": {
                "links.coupler_link.mass": [1.0, 3.0],
                "links.coupler_link.inertia.iyy": [0.0, 1.0],
                "joints.crank.friction": [0.0, 1.0],
                "joints.crank.armature": [0.0, 0.3],
            },
            "forces": {"pull": {"link": "coupler_link", "force": 5.0, "torque": 1.0}},
        }
    else:
        tasks = {
            row: {
                "type": "joint",
                "joint": f"platform_{row}",
                "reference": {"type": "expression", "value": PLATFORM[row]},
            }
            for row in rows
        }
        robust = {"parameters": {"links.platform.mass": [0.5, 1.5]}}
    inertia = machine.parameters.get("links.coupler_link.inertia.iyy")
    if inertia is not None:
        robust["parameters"]["links.coupler_link.inertia.iyy"] = [0.0, 2.0 * inertia.value + 0.1]
    data = {"robust": robust | {"delay": 0.001} | more, "tasks": tasks}
    if case == "by the metric":
        data["distribution"] = "gauss"
    return machine, Tasks.from_data(data, machine)


def states(machine: Mechanism, tasks: Tasks, number: int) -> list[State]:
    start, rng = machine.start(tasks=tasks), np.random.default_rng(7)
    dynamics = machine.dynamics("interpreted")
    return [
        dynamics.project(
            State(
                k * PERIOD,
                start.q + 1e-3 * rng.normal(size=machine.model.nq),
                start.v + 0.3 * rng.normal(size=machine.model.nv),
            )
        )
        for k in range(number)
    ]


QUICK = ("all motions",)


@pytest.mark.parametrize(
    "case", [pytest.param(x, marks=() if x in QUICK else pytest.mark.slow) for x in CASES]
)
def test_periods_in_c_are_those_in_python(case: str) -> None:
    machine, tasks = made(case)
    python, c = (
        ServoController(machine, tasks, control_period=PERIOD, backend=backend)
        for backend in ("interpreted", "compiled")
    )
    assert not isinstance(c.compiled(), str)
    for state in states(machine, tasks, 4):
        one, other = python.command(state), c.command(state)
        # efforts of 100 N m, divided by pivots of 1e-2
        np.testing.assert_allclose(other.efforts, one.efforts, rtol=0, atol=1e-8)
        assert one.robust is not None
        assert other.robust is not None
        np.testing.assert_allclose(other.robust, one.robust, rtol=1e-7, atol=1e-12)
        assert other.beyond_bound == one.beyond_bound
        np.testing.assert_array_equal(other.error_bound, one.error_bound)
        np.testing.assert_allclose(other.residual, one.residual, rtol=0, atol=1e-7)
    scale, other_scale = (x.memory.fields["robust_scale"].item() for x in (python, c))
    assert other_scale == pytest.approx(scale, abs=1e-7 * scale)
    assert (scale != 1.0) is tasks.learns_size


@pytest.mark.slow
def test_the_term_is_switched_while_running() -> None:
    machine, tasks = made("all motions")
    plain = Tasks.from_data({"tasks": {"x": JOINT | {"joint": "platform_x"}}}, machine)
    python, c = (
        ServoController(machine, tasks, control_period=PERIOD, backend=backend)
        for backend in ("interpreted", "compiled")
    )
    acts = [True, False, False, True]
    efforts: list[Array] = []
    for state, on in zip(states(machine, tasks, 4), acts, strict=True):
        python.robust = c.robust = on
        one, other = python.command(state), c.command(state)
        np.testing.assert_allclose(other.efforts, one.efforts, rtol=0, atol=1e-8)
        assert (other.robust is not None) is on
        efforts.append(other.efforts)
    with pytest.raises(Exception, match="nothing that is uncertain"):
        ServoController(machine, plain, control_period=PERIOD).robust = True


@pytest.mark.slow
def test_lanes_have_the_term(caplog: pytest.LogCaptureFixture) -> None:
    """Nine machines at once, more than a vector has lanes, against one after the other."""
    machine, tasks = made("all motions")
    start = machine.start(tasks=tasks)
    rng = np.random.default_rng(3)
    begins = [
        machine.dynamics("interpreted").project(
            State(0.0, start.q, start.v + 0.2 * rng.normal(size=machine.model.nv))
        )
        for _ in range(9)
    ]
    controllers = [
        ServoController(machine, tasks, control_period=PERIOD, backend="compiled") for _ in begins
    ]
    options: dict[str, Any] = {
        "control_period": PERIOD,
        "sample_period": 0.01,
        "backend": "compiled",
    }
    caplog.set_level("INFO")
    many = simulate_many([machine] * 9, begins, 0.05, controllers=controllers, **options)
    assert "one after the other" not in caplog.text
    for begin, together in zip(begins, many, strict=True):
        controller = ServoController(machine, tasks, control_period=PERIOD)
        alone = simulate(machine, begin, 0.05, controller=controller, **options)
        # rounding of other orders of summation over 50 periods
        np.testing.assert_allclose(together.q, alone.q, rtol=0, atol=1e-8)


def test_without_robust_the_c_is_that_of_today() -> None:
    """Nothing of it is in the memory, and libraries of tasks with and without are two."""
    from uk_dynamics.compilation.build.library import part_of
    from uk_dynamics.compilation.emit.layout import ServoLayout

    machine, tasks = made("one row")
    data = {"type": "joint", "joint": "crank", "reference": {"type": "constant", "value": 0.9}}
    plain = Tasks.from_data({"tasks": {"crank": data}}, machine)
    fields = set(ServoLayout(tasks).fields) - set(ServoLayout(plain).fields)
    assert {"surface", "robust", "robust_gain", "uncertain"} <= fields
    assert part_of(tasks) != part_of(plain)


def test_what_changes_the_memory_of_the_law_has_a_library_of_its_own() -> None:
    """An observer of disturbances, of velocities, and both; what encoders resolve is Python's."""
    from uk_dynamics.compilation.build.library import part_of
    from uk_dynamics.compilation.emit.layout import ServoLayout

    machine = Mechanism.from_file("five_bar")
    crank = {"type": "joint", "joint": "crank", "reference": {"type": "constant", "value": 0.9}}
    robust = {"parameters": {"links.coupler_link.mass": [1.0, 3.0]}, "delay": 0.001}

    def tasks(robust: dict[str, Any] = robust, **more: float) -> Tasks:
        return Tasks.from_data({"robust": robust, "tasks": {"crank": crank}, **more}, machine)

    several = [
        tasks(),
        *(tasks(**{key: 20.0}) for key in ("observer", "velocity_observer")),
        tasks(observer=2.0, velocity_observer=20.0),
    ]
    memories = {(part_of(one), tuple(ServoLayout(one).fields)) for one in several}
    assert len({fields for _, fields in memories}) > 2
    assert len(memories) == len({part for part, _ in memories})
    coarse = tasks(robust | {"encoders": {"resolution": 1e-4}})
    assert part_of(coarse) == part_of(several[0])
