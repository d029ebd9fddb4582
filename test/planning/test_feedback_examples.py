# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Predictive and linear-quadratic control of the examples, simulated by the library."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from support.examples import example
from support.mechanism_builder import shipped

from uk_dynamics import Mechanism, simulate


@pytest.mark.slow
def test_the_predictive_controller_sees_the_limits_coming() -> None:
    pytest.importorskip("casadi")
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    mpc, machine = example("planning/five_bar_mpc"), shipped("five_bar")
    controller = mpc.Predictive(machine)
    run = simulate(machine, machine.start(), 2.0, controller=controller, control_period=mpc.PERIOD)
    assert np.abs(run.efforts).max() < mpc.EFFORT + 1e-6
    # the plan has the exact motion, and a limit at instants 50 ms apart
    assert 1.4 < np.abs(run.velocity("crank")).max() < mpc.SPEED
    assert run.position("crank")[-1] == pytest.approx(mpc.HIGH, abs=0.02)
    assert np.median(controller.times) < mpc.PERIOD


def test_the_table_falls_as_in_closed_form_and_gains_put_all_modes_into_the_unit_circle() -> None:
    """Table and legs: the table never turns, so the legs carry a point mass at their ends."""
    balance = example("planning/balance")
    machine = Mechanism.from_file(balance.FILE)
    controller = balance.Balance(machine)
    cart, table, leg, about_middle, length, gravity = 1.5, 2.0, 0.3, 0.0063, 0.5, 9.81
    inertia = table * length**2 + 2.0 * (about_middle + leg * (0.5 * length) ** 2)
    coupling = (table + leg) * length
    mass = cart + table + 2.0 * leg
    # the cart moves freely: det(s² M − K) = 0
    rate = np.sqrt(mass * coupling * gravity / (mass * inertia - coupling**2))
    assert max(controller.system.eigenvalues.real) == pytest.approx(rate, abs=1e-9)
    A, B = controller.system.discrete(balance.PERIOD)
    assert np.abs(np.linalg.eigvals(A)).max() > 1.03
    assert np.abs(np.linalg.eigvals(A - B @ controller.gains)).max() < 0.999
