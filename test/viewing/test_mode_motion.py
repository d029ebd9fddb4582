# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Modes in the view: the mechanism swings along its mode, slowed down, with closed loops."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from support.mechanism_builder import shipped
from support.waiting import wait_until

from uk_dynamics import Mechanism, linearize
from uk_dynamics.viewing.mode_motion import ModeMotion


def swinging(mechanism: Mechanism, **options: bool) -> ModeMotion:
    """Motors off, about where it hangs."""
    at_rest = mechanism.equilibrium(stable=True)
    system = linearize(mechanism, at_rest.state, at_rest.inputs)
    return ModeMotion(mechanism, at_rest, system, **options)


def test_it_swings_along_its_mode_with_closed_loops() -> None:
    """A 5-bar hangs as a pendulum of 0.534 Hz: shown at 0.5 Hz, so that a period takes 2 s."""
    mechanism = shipped("five_bar")
    source = swinging(mechanism)
    (title,) = source.motors
    assert title == "1: 0.534 Hz (crank, coupler, middle)"
    assert source.factor == pytest.approx(1.068, abs=1e-3)
    rest = source.frame(0.0).state.q
    quarter = source.frame(0.5)
    away = quarter.state.q - rest
    assert np.abs(away) == pytest.approx(0.25, abs=1e-9)  # all legs stay parallel
    assert away[0] == pytest.approx(-away[1], abs=1e-9)
    assert mechanism.dynamics("interpreted").residual(quarter.state).position == pytest.approx(
        0.0, abs=1e-9
    )
    assert quarter.mode == f"{title}, shown 1.07 times slower"
    assert source.frame(0.5).state.q == pytest.approx(rest, abs=1e-9)
    assert source.frame(0.5).state.q - rest == pytest.approx(-away, abs=1e-9)


def test_it_pauses_and_returns() -> None:
    source = swinging(shipped("five_bar"), playing=False)
    rest = source.frame(0.5).state.q
    source.control("play")
    assert np.abs(source.frame(0.5).state.q - rest).max() > 0.2
    source.control("pause")
    assert source.frame(0.3).mode.endswith(", paused")
    source.control("reset")
    assert source.frame(0.3).state.q == pytest.approx(rest, abs=1e-12)


def test_another_mode_is_chosen_in_the_browser() -> None:
    pytest.importorskip("viser")
    from support.view_client import view_client

    from uk_dynamics.viewing import MechanismView, address, close_server, open_server

    source = swinging(shipped("rrr3"))
    assert len(source.motors) > 1
    server = open_server(port=0)
    stop = threading.Event()
    try:
        view = MechanismView(server, shipped("rrr3"), source)
        thread = threading.Thread(target=view.run, args=(stop.is_set,))
        thread.start()
        with view_client(address(server)) as client:
            wait_until(
                lambda: "mode" in client.shown, "controls", meanwhile=lambda: client.listen(1.0)
            )
            assert client.shown["mode"] == source.driving
            client.use("mode", source.motors[-1])
            wait_until(lambda: source.driving == source.motors[-1], "the other mode")
    finally:
        stop.set()
        thread.join()
        close_server(server)
