# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The biped of the examples walks ten steps, as an inverted pendulum would, and does not fall."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray
from support.repository import ROOT

from uk_dynamics import Mechanism, ServoController, State, Tasks, simulate
from uk_dynamics.control.command import Command
from uk_dynamics.control.estimation import LegOdometry, StateCompletion
from uk_dynamics.mechanism.resolution import ActiveConstraints
from uk_dynamics.simulation import InertialNoise, InertialUnit

FOLDER = ROOT / "examples" / "biped"
PERIOD = 2e-3  # s
EVERY = 2  # periods between two measurements of the odometry
ENCODER, FILTER = 1e-4, 0.01  # rad; s, of the encoders' differences
# m, corners of a sole from its ankle
LOWEST, HIGHEST = np.array([-0.085, -0.05]), np.array([0.165, 0.05])


@cache
def footsteps() -> ModuleType:
    spec = importlib.util.spec_from_file_location("footsteps", FOLDER / "footsteps.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["footsteps"] = module
    spec.loader.exec_module(module)
    return module


@cache
def plan() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / "footsteps.yaml").read_text())
    return found


@cache
def biped() -> tuple[Mechanism, Tasks]:
    mechanism = Mechanism.from_file(FOLDER / "biped.yaml")
    return mechanism, Tasks.from_data(footsteps().tasks(plan()), mechanism)


def test_the_planned_centre_of_mass_is_a_pendulum_over_the_feet_that_stand() -> None:
    _, tasks = biped()
    assert tasks.standing is not None
    off = []
    for t in np.arange(0.005, plan()["end"], 0.03):
        sample = tasks.sample(t)
        assert sample is not None
        by_task = dict(
            zip(tasks.row_names, zip(*(part.tolist() for part in sample), strict=True), strict=True)
        )
        c, _, bend = np.array([by_task[f"balance.{axis}"] for axis in "xy"]).T
        p = c - plan()["height"] / 9.81 * bend
        off.append(np.abs(p - footsteps().pressure(plan(), np.array([t]))[0]).max())
        stands = [tasks.standing.entries[i].spec.name[:-5] for i in tasks.standing.planned(t)]
        places = np.array([[by_task[f"{f}_swing.{axis}"][0] for axis in "xy"] for f in stands])
        low, high = places.min(axis=0), places.max(axis=0)
        # m: inside the soles by 2 cm at least, splines through points of 40 ms taken in
        assert (p > low + LOWEST + 0.02).all(), t
        assert (p < high + HIGHEST - 0.02).all(), t
    # m: of splines through points of 40 ms, which round off the corners of p
    assert np.median(off) < 5e-4
    start, end = tasks.sample(0.0), tasks.sample(plan()["end"])
    assert start is not None
    assert end is not None
    np.testing.assert_allclose(start.rate, 0.0, rtol=0, atol=1e-9)  # rounding of splines
    np.testing.assert_allclose(end.rate, 0.0, rtol=0, atol=1e-9)


class Walk:
    """A controller that keeps states, what was closed, and commands that miss something."""

    def __init__(self, law: ServoController) -> None:
        self.law, self.row_names, self.active = law, law.row_names, ActiveConstraints(frozenset())
        self.states: list[tuple[State, frozenset[str]]] = []
        self.commands: list[Command] = []

    def command(self, state: State) -> Command:
        self.law.active = self.active
        self.states.append((State(state.t, state.q.copy(), state.v.copy()), self.active.names))
        self.commands.append(self.law.command(state))
        return self.commands[-1]

    def tracking_error(self, state: State) -> NDArray[np.float64]:
        return self.law.tracking_error(state)


@cache
def walked() -> tuple[Walk, State, NDArray[np.float64]]:
    """The walk, its last state, and its tracking errors."""
    mechanism, tasks = biped()
    duration = plan()["end"]
    walk = Walk(ServoController(mechanism, tasks, control_period=PERIOD))
    begin = mechanism.start(tasks=tasks)
    run = simulate(
        mechanism, begin, duration, controller=walk, control_period=PERIOD, method="moreau"
    )
    return walk, State(duration, run.q[-1], run.v[-1]), run.tracking_error


@pytest.mark.slow
@pytest.mark.together("ten steps")
def test_ten_steps() -> None:
    walk, last, errors = walked()
    mechanism, _ = biped()
    weight = mechanism.model.total_mass * 9.81
    assert not any(command.missing for command in walk.commands)
    for command in walk.commands:
        forces = np.array(list(command.contact_forces.values()))
        assert (np.abs(forces[:, 1:]).sum(axis=1) <= 0.7 * forces[:, 0]).all()
        # the plan keeps the height; what is left is feedback
        assert forces[:, 0].sum() == pytest.approx(weight, rel=0.02)
    # m or rad: a period of 2 ms holds efforts, and feet come down within a step of the contacts
    assert np.abs(errors).max() < 1e-3
    for foot, number in (("right", -2), ("left", -1)):
        place, rotation = mechanism.pose(f"{foot}_foot", last.q)
        to = plan()["steps"][number]["to"]
        np.testing.assert_allclose(place, [*to, 0.07], rtol=0, atol=1e-3)  # m
        np.testing.assert_allclose(rotation, np.eye(3), rtol=0, atol=2e-3)  # rad
    assert np.abs(last.v).max() < 1e-3  # rad/s: it stands


@pytest.mark.slow
@pytest.mark.together("ten steps")
def test_leg_odometry_drifts_by_less_than_two_percent_of_the_way() -> None:
    """With the gyroscope's bias of 5 mrad/s left in, it would be 3 % without known ground."""
    walk, _, _ = walked()
    mechanism, _ = biped()
    rng = np.random.default_rng(1)
    noise = InertialNoise(  # densities and biases of a consumer's unit
        1.7e-4, 2.5e-3, 5e-3 * rng.standard_normal(3), 0.1 * rng.standard_normal(3), 1
    )
    base = mechanism.model.bases[0]
    unit, completion = InertialUnit(mechanism, base.link, noise), StateCompletion(mechanism)
    level, unknown = LegOdometry(mechanism, ground=0.0), LegOdometry(mechanism)
    names = [one.name for one in mechanism.one_sided]
    places, before, rate = completion.encoders.places, None, np.zeros(12)
    period = EVERY * PERIOD
    begin = base.pose(walk.states[0][0].q)[:3]
    for odometry in (level, unknown):
        odometry.reset(begin.tolist())
    for state, closed in walk.states[::EVERY]:
        at = state.q[places] + ENCODER * rng.standard_normal(len(places))
        if before is not None:
            rate = rate + (1.0 - np.exp(-period / FILTER)) * ((at - before) / period - rate)
        before = at
        sample, joints = unit.sample(state), completion.complete(at, rate, state.t)
        for odometry in (level, unknown):
            odometry.update(
                State(state.t, joints.q, joints.v),
                sample.angular_velocity,
                sample.specific_force,
                [name for name in names if name in closed],
                completion.sensitivity(),
            )
    way = float(np.linalg.norm(base.pose(state.q)[:3] - begin))
    assert way > 1.25  # m
    # the rest of the encoders' errors; without the ground's height the horizon's tilt, too
    for odometry, share in ((level, 0.01), (unknown, 0.02)):
        off = odometry.pose[:3] - base.pose(state.q)[:3]
        assert np.linalg.norm(off) < share * way
