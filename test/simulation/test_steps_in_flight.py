# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Steps of ``moreau`` between contacts: inertial forces are those of their mean velocity."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import yaml
from support.mechanism_builder import arm, link, mechanism
from support.repository import ROOT

from uk_dynamics import Mechanism, State, simulate

STEPS = np.array([5e-3, 2.5e-3, 1.25e-3])  # s
SPAN = 0.2  # s
BRICK = link("brick").replace('iyy="0.1"', 'iyy="0.15"').replace('izz="0.1"', 'izz="0.22"')
FLOOR = {"parent": {"link": "world", "xyz": [0.0, 0.0, -9.0]}, "friction": 0.5}
AIR = "contacts: {floor: {parent: {link: world, xyz: [0, 0, -9]}, child: {link: %s}}}"


def tumbling() -> tuple[Mechanism, State]:
    """A brick that turns about all of its axes."""
    found = mechanism(BRICK, "model: {root: floating}\n" + AIR % "brick")
    return found, found.state([0, 0, 0, 0, 0, 0, 1], [1.0, 0.0, 2.0, 5.0, 8.0, -3.0])


def swinging() -> tuple[Mechanism, State]:
    """A double pendulum."""
    found = mechanism(arm([0.4, 0.3]), AIR % "l2")
    return found, found.state([-1.2, 0.4], [2.0, -9.0])


def closed() -> tuple[Mechanism, State]:
    """A slider-crank, whose rod turns unevenly."""
    data = yaml.safe_load((ROOT / "config/slider_crank.yaml").read_text())
    data["joints"] = {name: {"damping": 0.0, "friction": 0.0} for name in data["initial_guess"]}
    data["contacts"] = {"floor": FLOOR | {"child": {"link": "piston"}}}
    found = Mechanism.from_data(data)
    start = found.start()
    start.v[found.model.velocity_index("crank")] = 9.0
    return found, found.dynamics("interpreted").project(start)


@pytest.mark.parametrize("machine", [tumbling, swinging, closed])
def test_free_motion_and_its_energy_converge_at_order_two(
    machine: Callable[[], tuple[Mechanism, State]],
) -> None:
    moved, start = machine()
    exact = simulate(moved, start, SPAN, method="DOP853")
    off, drift = [], []
    for h in STEPS.tolist():
        found = simulate(moved, start, SPAN, method="moreau", step=h, backend="interpreted")
        assert not found.switchings
        off.append(np.abs(found.q - exact.q).max())
        states = map(State, found.t, found.q, found.v)
        energy = np.array([moved.energy(state).total for state in states])
        drift.append(np.abs(energy - energy[0]).max() / moved.energy(start).kinetic)
    for errors in (off, drift):
        order = np.polyfit(np.log(STEPS), np.log(errors), 1)[0]
        # the next order adds a part of h times the rates, which are about 10 per s
        assert order == pytest.approx(2.0, abs=0.2)
    assert drift[-1] < 1e-4  # the square of 1e-2 rad, by which things turn in a step
