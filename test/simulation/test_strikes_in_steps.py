# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What strikes in steps of moreau is told, with the energy that it takes; what rests is not."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.mechanism.dynamics import Backend
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import Trajectory, simulate

G, MASS, HEIGHT, STEP = 9.81, 2.0, 1.0, 1e-3
FALLS = link("base") + link("ball", MASS)
FALLS += joint("z", "base", "ball", kind="prismatic", axis="0 0 1")
needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")
BACKENDS = ["interpreted", pytest.param("compiled", marks=needs_compiler)]


def ball(restitution: float, more: str = "") -> Mechanism:
    contact = "{parent: {link: world}, child: {link: ball}, radius: 0.1, restitution: %r}"
    return mechanism(FALLS, f"{more}contacts: {{floor: {contact % restitution}}}")


def bounced(restitution: float, span: float, backend: Backend, more: str = "") -> Trajectory:
    machine = ball(restitution, more)
    start = machine.state({"z": HEIGHT + 0.1})
    return simulate(machine, start, span, method="moreau", step=STEP, backend=backend)


@pytest.mark.parametrize("law", ["newton", "poisson"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_bounces_are_those_of_the_closed_form(backend: Backend, law: str) -> None:
    e, fall = 0.8, np.sqrt(2.0 * HEIGHT / G)
    found = bounced(e, 2.5, backend, f"solver: {{impacts: {law}}}\n").switchings
    flights = 2.0 * fall * e ** np.arange(1, len(found))
    instants = fall + np.concatenate(([0.0], np.cumsum(flights)))
    assert len(found) == 4
    # an impact is told within a step; speeds after it differ by what gravity gives in one, and so
    # do all that follow, and their flights
    slower = np.cumsum(e ** np.arange(len(found) - 1.0))
    late = STEP * (1.0 + 2.0 * np.concatenate(([0.0], np.cumsum(slower))))
    assert (np.abs([one.t for one in found] - instants) <= late).all()
    before = MASS * G * HEIGHT * e ** (2 * np.arange(len(found)))
    lost = np.array([one.energy_lost for one in found])
    # speeds differ by what gravity gives in a step
    near = 2.0 * MASS * G * STEP * np.sqrt(2.0 * G * HEIGHT)
    np.testing.assert_allclose(lost, (1.0 - e**2) * before, rtol=0, atol=near)
    assert {one.text(("floor",)) for one in found} == {"floor bounces"}


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_has_come_to_rest_is_not_told(backend: Backend) -> None:
    found = bounced(0.8, 5.0, backend)
    *_, last = found.switchings
    assert last.changes == {"floor": True}
    rest = np.sqrt(2.0 * HEIGHT / G) * 1.8 / 0.2
    assert abs(last.t - rest) < 40 * STEP  # steps take flights of less than one for rest
    assert len(found.switchings) < 50
    told = np.nansum([one.energy_lost for one in found.switchings])
    assert told == pytest.approx(MASS * G * HEIGHT, rel=1e-3)


@needs_compiler
def test_the_same_is_told_of_steps_in_c() -> None:
    """A rod falls on its two ends, which have friction, and comes to rest."""
    rod = mechanism(
        link("base")
        + link("carriage", 0.0)
        + link("lift", 0.0)
        + link("rod", 2.0, 0.06)
        + joint("x", "base", "carriage", kind="prismatic", axis="1 0 0")
        + joint("z", "carriage", "lift", kind="prismatic", axis="0 0 1")
        + joint("turn", "lift", "rod", axis="0 1 0"),
        "contacts: {end: {parent: {link: world}, child: {link: rod}, friction: 0.4,"
        " restitution: 0.5, points: {left: [-0.3, 0, 0], right: [0.3, 0, 0]}}}",
    )
    start = rod.state({"z": 0.5, "turn": 0.3}, {"x": 1.0})
    here, there = (
        simulate(rod, start, 1.5, method="moreau", step=STEP, backend=backend)
        for backend in ("interpreted", "compiled")
    )
    assert [one.changes for one in here.switchings] == [one.changes for one in there.switchings]
    assert len(here.switchings) > 5
    for one, other in zip(here.switchings, there.switchings, strict=True):
        assert one.t == pytest.approx(other.t, abs=1e-12)
        assert one.energy_lost == pytest.approx(other.energy_lost, rel=0, abs=1e-10, nan_ok=True)
    left = here.energy[0] - here.energy[-1]
    told = np.nansum([one.energy_lost for one in here.switchings])
    # it comes to rest by impacts; what touches without approaching takes some, too
    assert told == pytest.approx(left, rel=0.01)
    exact = simulate(rod, start, 1.5, method="DOP853").switchings
    first = next(one for one in exact if one.energy_lost)
    mine = next(one for one in here.switchings if one.energy_lost > 0.0)
    assert abs(mine.t - first.t) <= STEP
    assert mine.energy_lost == pytest.approx(first.energy_lost, rel=0.02)
