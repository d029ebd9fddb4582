# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The servo law with standing contacts in C, beside the interpreted one."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
import yaml
from support.repository import ROOT

from uk_dynamics import Mechanism, ServoController, Tasks
from uk_dynamics.compilation import Selection
from uk_dynamics.compilation.build import with_contact_rows
from uk_dynamics.compilation.runtime import CompiledStanding
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.constraints.rows import Round
from uk_dynamics.mechanism.resolution import State

FOLDER = ROOT / "examples" / "biped"


@pytest.fixture(scope="module")
def biped() -> Mechanism:
    return Mechanism.from_file(FOLDER / "biped.yaml")


@pytest.mark.slow
def test_it_has_the_efforts_and_forces_of_the_interpreted_law(biped: Mechanism) -> None:
    """Both feet, one, and between them; within limits, at the edge of the cones and beyond."""
    tasks = Tasks.from_file(FOLDER / "step.yaml", biped)
    start = biped.start(tasks=Tasks.from_file(FOLDER / "stand.yaml", biped))
    compiled, interpreted = (
        ServoController(biped, tasks, control_period=1e-3, backend=backend)
        for backend in ("compiled", "interpreted")
    )
    assert isinstance(compiled._evaluator, CompiledStanding)
    assert not isinstance(compiled.compiled(), str)  # whole periods
    rng = np.random.default_rng(7)
    dynamics = biped.dynamics("interpreted")
    searched = 0
    for t in np.repeat([0.5, 1.53, 1.7, 2.43, 5.1], 6).tolist():
        v = 0.005 * rng.normal(size=biped.model.nv)
        state = dynamics.project(State(t, start.q, v))
        asked = rng.uniform(-1.0, 1.0, 3) * rng.choice([0.1, 3.0])
        follow = {"balance": ReferenceSample(np.array([0.035, 0.0, 0.7]), np.zeros(3), asked)}
        found = []
        for law in (compiled, interpreted):
            law.reset()
            found.append(law.command(state, follow))
        one, other = found
        searched += bool(one.limited_by)
        # N m of 150, N of 400 and rad/s² of 10, by two factorisations
        np.testing.assert_allclose(one.efforts, other.efforts, rtol=0, atol=1e-9)
        assert list(one.contact_forces) == list(other.contact_forces)
        for name, force in one.contact_forces.items():
            expected = other.contact_forces[name]
            np.testing.assert_allclose(force, expected, rtol=0, atol=1e-8)
        np.testing.assert_allclose(one.qdd, other.qdd, rtol=0, atol=1e-9)
        assert one.missing.keys() == other.missing.keys()
        assert one.settled
        assert other.settled
        assert one.limited_by == other.limited_by
        assert one.free.rank == other.free.rank
        pulled = replace(state, q=biped.model.integrate(state.q, 1e-3 * rng.normal(size=len(v))))
        one_error, other_error = (law.loop_closure_error(pulled) for law in (compiled, interpreted))
        assert one_error > 1e-4
        assert abs(one_error - other_error) < 1e-12  # rounding of some 1 m
    assert 5 < searched < 29  # the closed form serves some


@pytest.mark.slow
def test_a_reset_forgets_which_limits_were_in_the_way(biped: Mechanism) -> None:
    """To the last bit: a search that began with limits of another state would end otherwise."""
    tasks = Tasks.from_file(FOLDER / "step.yaml", biped)
    start = biped.start(tasks=Tasks.from_file(FOLDER / "stand.yaml", biped))
    law = ServoController(biped, tasks, backend="compiled")
    rng = np.random.default_rng(3)
    states = [
        State(0.5, biped.model.integrate(start.q, off), off)
        for off in 0.1 * rng.uniform(-1.0, 1.0, (6, biped.model.nv))
    ]
    rounds = []
    for order in (states, states[::-1]):
        found = []
        for state in order:
            law.reset()
            command = law.command(state)
            assert command.limited_by
            found.append(command.efforts)
        rounds.append(np.array(found))
    np.testing.assert_array_equal(rounds[0], rounds[1][::-1])


@pytest.mark.parametrize(
    "backend", [pytest.param("compiled", marks=pytest.mark.slow), "interpreted"]
)
def test_forces_stay_in_their_cones_where_efforts_are_held(
    biped: Mechanism, backend: Literal["compiled", "interpreted"]
) -> None:
    """A search at wide limits, then a singular state whose closed form asks for too much."""
    start = biped.start(tasks=Tasks.from_file(FOLDER / "stand.yaml", biped))
    data = yaml.safe_load((FOLDER / "stand.yaml").read_text())
    data["contacts"]["right_sole"] = {"stands": [[0.0, 0.53]], "ramp": 0.1, "force_limit": 40.0}
    tasks = Tasks.from_data(data, biped)
    law = ServoController(biped, tasks, control_period=1e-3, backend=backend)
    asked = {"balance": ReferenceSample(np.array([0.035, 0.0, 0.7]), np.zeros(3), np.ones(3) * 5.0)}
    first = law.command(State(0.4, start.q, start.v), asked)
    assert first.limited_by
    assert not first.held
    # the rank of the structure is told to have been another one in the period before
    law.memory.fields["regular_rank"][:] = 15.0
    command = law.command(State(0.401, start.q, start.v), asked)
    assert command.held
    for name, (normal, x, y) in command.contact_forces.items():
        most = 40.0 if name.startswith("right") else np.inf  # N
        assert 0.0 <= normal <= most, name
        assert abs(x) + abs(y) <= 0.7 * normal, name  # by the mechanism file
    forces = [force[0] for force in command.contact_forces.values()]
    assert min(forces) == 0.0 or max(forces) == 40.0  # some were outside


@pytest.mark.slow
def test_motions_are_told_of_detected_contacts_by_python(biped: Mechanism) -> None:
    data = yaml.safe_load((FOLDER / "stand.yaml").read_text())
    data["contacts"] = {name: {"stands": "detected"} for name in data["contacts"]}
    tasks = Tasks.from_data(data, biped)
    law = ServoController(biped, tasks, control_period=1e-3, backend="compiled")
    assert "detected" in str(law.compiled())


def test_what_c_does_not_know_is_interpreted(biped: Mechanism) -> None:
    varied = biped.with_parameters({"links.trunk.mass": 20.0})
    tasks = Tasks.from_file(FOLDER / "stand.yaml", varied)
    law = ServoController(varied, tasks, backend=Selection("auto", "wait"))
    assert not isinstance(law._evaluator, CompiledStanding)
    command = law.command(varied.start(tasks=tasks))
    total = sum(force[0] for force in command.contact_forces.values())
    assert total == pytest.approx(varied.model.total_mass * 9.81, abs=1e-6)  # N


def test_feet_on_boxes_are_interpreted(biped: Mechanism) -> None:
    """C has rows of planes."""
    contacts = tuple(
        replace(one, surface=Round(0.0), box=(5.0, 5.0, 0.1)) for one in biped.spec.contacts
    )
    on_steps = Mechanism.from_spec(replace(biped.spec, contacts=contacts))
    assert with_contact_rows(Tasks.from_file(FOLDER / "stand.yaml", biped)) is not None
    assert with_contact_rows(Tasks.from_file(FOLDER / "stand.yaml", on_steps)) is None
