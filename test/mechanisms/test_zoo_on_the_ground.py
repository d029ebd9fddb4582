# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Machines of the zoo with feet fall by 5 cm and collapse, in steps of ``moreau``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.zoo.models import FOLDER
from support.zoo.on_the_ground import MACHINES, dropped

from uk_dynamics import Inputs
from uk_dynamics.mechanism.contact import ContactStepping

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not FOLDER.is_dir(), reason="the zoo of public models is not next to the repository"
    ),
]
STEP, SPAN, SAMPLES = 1e-3, 1.0, 50  # s, s
# m or rad: redundant rows of ToddlerBot's file disagree by its rounded numbers; of others rounding
CLOSED = {"toddlerbot": 5e-8}


@pytest.mark.parametrize("name", MACHINES)
def test_a_machine_that_falls_keeps_loops_ground_and_energy(name: str, tmp_path: Path) -> None:
    machine = dropped(MACHINES[name](FOLDER, tmp_path))
    dynamics, contacts = machine.dynamics("compiled"), ContactStepping(machine)
    interpreted = machine.dynamics("interpreted")
    state, active = machine.start(), machine.hierarchy.initial
    least = machine.energy(state).total
    loops, gap, gained, pressed = 0.0, 0.0, 0.0, False
    for k in range(1, SAMPLES + 1):
        given = Inputs(tau=np.zeros(machine.model.nv), stabilize=False, active=active)
        steps = round(SPAN / STEP / SAMPLES)
        state, active = contacts.advance(state, k * SPAN / SAMPLES, steps, dynamics, given)
        assert np.isfinite(state.q).all()
        assert np.isfinite(state.v).all()
        off = interpreted.residual(state).position
        loops = max(loops, float(np.abs(off).max(initial=0.0)))
        gap = min(gap, float(contacts.places(state).gap.min()))
        energy = machine.energy(state).total
        gained, least = max(gained, energy - least), min(least, energy)
        pressed |= bool(active.names - machine.hierarchy.initial.names)
    assert pressed
    assert loops <= CLOSED.get(name, 1e-12)
    assert gap >= -1e-8
    assert gained <= 1e-10  # J
    assert not contacts.problem()
