# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives within a mode: what is closed and sticks counts as rows, by differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.repository import ROOT

from uk_dynamics import Mechanism
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.contact import ContactDynamics
from uk_dynamics.mechanism.resolution import Inputs, State

STEP = 1e-6  # rad and m; central differences then lose 1e-10 of values of some thousands


def test_a_machine_on_its_feet():
    """The walking machine stands on two feet; its loops are redundant, and so are the feet."""
    machine = Mechanism.from_file(ROOT / "examples" / "plantigrade" / "plantigrade.yaml")
    state, nv = machine.start(), machine.model.nv
    tau = machine.actuators.matrix @ [0.3]
    inputs = ContactDynamics(machine).beginning(state, Inputs(tau=tau, stabilize=False))
    assert inputs.active is not None
    stands = {"foot_left.front", "foot_left.rear"}
    assert inputs.active.names == stands | {f"{name}.sticking" for name in stands}
    dynamics = machine.dynamics("interpreted")
    found = machine.derivatives(state, inputs).acceleration

    def moved(dq: np.ndarray, dv: np.ndarray, dtau: np.ndarray) -> np.ndarray:
        q = machine.model.integrate(state.q, dq)
        given = Inputs(tau=tau + dtau, stabilize=False, active=inputs.active)
        return dynamics.evaluate(State(state.t, q, state.v + dv), given).qdd

    rng = np.random.default_rng(2)
    free = np.linalg.svd(machine.terms(state, inputs).A)[2][-1]  # the one motion that is left
    still = np.zeros(nv)
    for along, columns in (
        ((free, still, still), found.q),
        ((still, free, still), found.v),
        ((still, still, rng.standard_normal(nv)), found.tau),
    ):
        ahead, behind = (moved(*(sign * STEP * x for x in along)) for sign in (1.0, -1.0))
        expected = (ahead - behind) / (2.0 * STEP)
        step = next(x for x in along if x.any())
        np.testing.assert_allclose(
            columns @ step, expected, rtol=0, atol=1e-6 * (1.0 + np.abs(expected).max())
        )
    slides = {"foot_left.rear": np.array([1.0, 0.0])}
    active = replace(inputs.active, sliding=slides)
    with pytest.raises(InputError, match=r"foot_left\.rear: slides: its friction depends"):
        machine.derivatives(state, replace(inputs, active=active))
