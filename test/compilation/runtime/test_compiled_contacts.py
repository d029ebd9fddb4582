# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts, stops, ropes and joints that stick in C: the same steps as interpreted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from support.mechanism_builder import joint, link, mechanism
from support.repository import ROOT

import uk_dynamics as ukd
from uk_dynamics.compilation.emit import generate
from uk_dynamics.compilation.runtime.compiled_dynamics import CompiledDynamics
from uk_dynamics.compilation.trace import blocks
from uk_dynamics.mechanism.contact import ContactStepping
from uk_dynamics.mechanism.dynamics import Backend, InterpretedDynamics
from uk_dynamics.mechanism.resolution import ActiveConstraints, Inputs, State

LEG: dict[str, Any] = {
    "model": {"urdf": "package://uk_dynamics/urdf/landing_leg.urdf.xacro"},
    "joints": {
        "hip": {"spring": {"stiffness": 60.0, "rest": -0.785}, "friction": 0.3, "stiction": 0.5},
        "knee": {"spring": {"stiffness": 60.0, "rest": -1.571}},
    },
    "initial_guess": {"height": 0.72, "hip": -0.785, "knee": -1.571},
    "contacts": {
        "foot": {
            "parent": {"link": "ground"},
            "child": {"link": "shank"},
            "points": {"heel": [0.28, 0, 0.02], "toe": [0.3, 0, 0]},
            "friction": 0.7,
            "restitution": 0.2,
        }
    },
    "constraints": {
        "rope": {
            "type": "distance",
            "distance": 0.75,
            "one_sided": "at_most",
            "parent": {"link": "ground"},
            "child": {"link": "shank"},
        }
    },
}


@pytest.fixture(scope="module")
def leg() -> ukd.Mechanism:
    return ukd.Mechanism.from_data(LEG)


@pytest.fixture(scope="module")
def leg_by_poisson() -> ukd.Mechanism:
    """Its toe strikes while its heel and joints rub."""
    return ukd.Mechanism.from_data(LEG | {"solver": {"impacts": "poisson"}})


@pytest.fixture(scope="module")
def plantigrade() -> ukd.Mechanism:
    return ukd.Mechanism.from_file(ROOT / "examples/plantigrade/plantigrade.yaml")


@pytest.fixture
def plantigrade_leg_by_leg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ukd.Mechanism:
    """Its rows are eliminated as those of large machines, where that is sure, in each step."""
    monkeypatch.setattr(blocks, "_LEAST", 0)
    monkeypatch.setattr(blocks, "_LARGE", 0)
    monkeypatch.setattr(blocks, "_WORTH", np.inf)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    machine = ukd.Mechanism.from_file(ROOT / "examples/plantigrade/plantigrade.yaml")
    assert "#define UK_BLOCKS 0" not in generate.source(machine)
    return machine


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("leg", 400),
        ("leg_by_poisson", 400),
        pytest.param("plantigrade", 60, marks=pytest.mark.slow),
        pytest.param("plantigrade_leg_by_leg", 60, marks=pytest.mark.slow),
    ],
)
def test_steps_are_those_of_the_interpreted_evaluator(
    name: str, steps: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism: ukd.Mechanism = request.getfixturevalue(name)
    compiled, reference = CompiledDynamics(mechanism), InterpretedDynamics(mechanism)
    in_c, in_python = ContactStepping(mechanism), ContactStepping(mechanism)
    monkeypatch.setattr(in_c, "step", None)  # no step is left to Python
    tau = np.zeros(mechanism.model.nv)
    there = here = mechanism.start()
    active = same = mechanism.hierarchy.initial
    seen: set[str] = set()
    for k in range(steps):
        given = Inputs(tau=tau, stabilize=False, active=active)
        here, active = in_python.step(here, 1e-3, reference, given)
        given = replace(given, active=same)
        there, same = in_c.advance(there, 1e-3 * (k + 1), 1, compiled, given)
        assert active.names == same.names
        assert active.sliding.keys() == same.sliding.keys()
        for one, direction in active.sliding.items():
            # of velocities of 1e-9 m/s and more, which agree to 1e-14
            np.testing.assert_allclose(same.sliding[one], direction, rtol=0, atol=1e-4)
        seen |= active.names
    # rounding of 400 steps, multiplied by impacts
    np.testing.assert_allclose(there.q, here.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(there.v, here.v, rtol=0, atol=1e-8)
    assert any(name.startswith("foot") for name in seen)
    assert any(name.endswith("sticking") for name in seen)


def test_many_steps_in_a_call_are_those_one_by_one(leg: ukd.Mechanism) -> None:
    compiled = CompiledDynamics(leg)
    start, inputs = leg.start(), Inputs(stabilize=False)
    told: tuple[list[Any], list[Any]] = ([], [])  # changes, times, and energy lost
    together, active = ContactStepping(leg).advance(
        start, 0.4, 400, compiled, inputs, lambda *change: told[0].append(change)
    )
    one_by_one, state, same = ContactStepping(leg), start, leg.hierarchy.initial
    for k in range(400):
        given, end = replace(inputs, active=same), 1e-3 * (k + 1)
        state, same = one_by_one.advance(
            state, end, 1, compiled, given, lambda *change: told[1].append(change)
        )
    # ends of steps at 1e-3 k differ in the last bit
    np.testing.assert_allclose(together.q, state.q, rtol=0, atol=1e-10)
    assert active.names == same.names
    names, changes = set(leg.hierarchy.initial.names), told[0]
    for one, other in zip(*told, strict=True):
        assert one[0] == other[0]
        assert one[1:] == pytest.approx(other[1:], rel=0, abs=1e-10, nan_ok=True)
        names = {name for name in names | one[0].keys() if one[0].get(name, True)}
    assert names == active.names
    assert np.nanmax([lost for _, _, lost in changes]) > 0.1  # where the foot lands, in J


def test_rows_act_as_they_are_told(leg: ukd.Mechanism) -> None:
    compiled, reference = CompiledDynamics(leg), InterpretedDynamics(leg)
    state = State(0.0, leg.start().q, np.array([0.3, -0.2, 0.4]))
    for names in ((), ("foot.toe",), ("foot.toe", "foot.toe.sticking"), ("rope", "foot.heel")):
        inputs = Inputs(active=ActiveConstraints(frozenset(names)), stabilize=False)
        found, expected = compiled.evaluate(state, inputs), reference.evaluate(state, inputs)
        np.testing.assert_allclose(found.qdd, expected.qdd, rtol=0, atol=1e-10)
        np.testing.assert_allclose(
            found.joint_multipliers, expected.joint_multipliers, rtol=0, atol=1e-10
        )
    sliding = ActiveConstraints(frozenset({"foot.toe"}), sliding={"foot.toe": np.array([1.0, 0])})
    inputs = Inputs(active=sliding, stabilize=False)  # its friction is not in C
    np.testing.assert_allclose(
        compiled.evaluate(state, inputs).qdd, reference.evaluate(state, inputs).qdd, rtol=0, atol=0
    )


def test_a_problem_that_c_leaves_goes_on_in_python(
    leg: ukd.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Friction that is no number in C leaves the step to Python, and the next ones to C again."""
    compiled, contacts = CompiledDynamics(leg), ContactStepping(leg)
    steps, friction, own = [], contacts.tables.friction.copy(), contacts.step

    def mended(*given: Any) -> tuple[State, ActiveConstraints]:
        steps.append(1)
        contacts.tables.friction[:] = friction
        return own(*given)

    monkeypatch.setattr(contacts, "step", mended)
    inputs = Inputs(stabilize=False)
    state, active = contacts.advance(leg.start(), 0.3, 300, compiled, inputs)
    assert not steps
    contacts.tables.friction[:] = np.nan
    state, _ = contacts.advance(state, 0.4, 100, compiled, replace(inputs, active=active))
    assert len(steps) == 1
    expected, _ = ContactStepping(leg).advance(leg.start(), 0.4, 400, compiled, inputs)
    np.testing.assert_allclose(state.q, expected.q, rtol=0, atol=1e-10)


@pytest.mark.slow
def test_a_biped_collapses_in_c_throughout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight points of two soles, with loops in the legs, share their load in many ways."""
    biped = ukd.Mechanism.from_file(ROOT / "examples/biped/biped.yaml")
    contacts = ContactStepping(biped)
    monkeypatch.setattr(contacts, "step", None)  # no step is left to Python
    state, active = biped.start(), biped.hierarchy.initial
    inputs = Inputs(tau=np.zeros(biped.model.nv), stabilize=False)
    most = 0
    for k in range(100):
        given = replace(inputs, active=active)
        state, active = contacts.advance(
            state, 1e-2 * (k + 1), 10, biped.dynamics("compiled"), given
        )
        most = max(most, sum(one.name in active.names for one in contacts.one_sided))
        assert contacts.places(state).gap.min() > -1e-9  # m
    assert most == 8
    assert state.t == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("restitution", [0.0, 0.6])
@pytest.mark.parametrize("backend", ["compiled", "interpreted"])
def test_a_tumbling_box_is_never_inside_the_ground_nor_gains_energy(
    backend: Backend, restitution: float
) -> None:
    """Corners arrive in either half of a step, and others drive them down as they strike.

    In a plane, where steps keep the energy of a flight.
    """
    parts = link("base") + link("carriage", 0.0) + link("lift", 0.0) + link("box", 2.0, 0.03)
    parts += joint("x", "base", "carriage", kind="prismatic", axis="1 0 0")
    parts += joint("z", "carriage", "lift", kind="prismatic", axis="0 0 1")
    parts += joint("turn", "lift", "box")
    contact: dict[str, Any] = {"parent": {"link": "base"}, "child": {"link": "box"}}
    contact["points"] = [[x, 0, z] for x in (-0.2, 0.2) for z in (-0.05, 0.05)]
    contact |= {"friction": 0.5, "restitution": restitution}
    box = mechanism(parts, yaml.safe_dump({"contacts": {"corner": contact}}))
    state, active = box.state([0.0, 0.4, 0.0], [1.0, -1.0, 7.0]), box.hierarchy.initial
    contacts, energy = ContactStepping(box), box.energy(state).total
    for k in range(400):
        given = Inputs(stabilize=False, active=active)
        state, active = contacts.advance(state, 2e-3 * (k + 1), 1, box.dynamics(backend), given)
        assert contacts.places(state).gap.min() > -1e-9  # m
        before, energy = energy, box.energy(state).total
        # J, of 10; while a corner stands on the ground that of a step's error, h³, else rounding
        assert energy < before + (1e-12 if restitution else 1e-5)
    assert energy < 3.0


@pytest.mark.slow
def test_a_flight_forgets_impulses_in_both() -> None:
    """Coulomb's law may admit several motions, and the one found depends on where one looks."""
    flying = {key: LEG[key] for key in ("model", "contacts")}
    leg = ukd.Mechanism.from_data({**flying, "initial_guess": {"height": 1.5}})
    for dynamics in (CompiledDynamics(leg), InterpretedDynamics(leg)):
        contacts = ContactStepping(leg)
        contacts._last[:] = 1.0
        contacts.advance(leg.start(), 1e-3, 1, dynamics, Inputs(stabilize=False))
        assert not contacts._last.any()


@pytest.mark.slow
def test_a_box_on_four_points_is_believed(caplog):
    """Four points with friction have several motions: what C finds need not be Python's first."""
    points = [[0.2 * i, 0.1 * j, 0.0] for i in (-1, 1) for j in (-1, 1)]
    box = mechanism(
        link("box", 2.0, 0.1),
        yaml.safe_dump(
            {
                "model": {"root": "floating", "gravity": [2.0, 1.0, -9.6]},
                "contacts": {
                    "foot": {
                        "parent": {"link": "world"},
                        "child": {"link": "box", "xyz": [0.0, 0.0, -0.2]},
                        "points": points,
                        "friction": 0.5,
                    }
                },
            }
        ),
    )
    assert box.dynamics("compiled").motion() is not None
    assert "answers wrongly" not in caplog.text
