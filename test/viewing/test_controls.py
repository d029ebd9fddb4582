# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What users ask of a view arrives, whatever the view itself does with its controls meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import pytest
from support.waiting import wait_until

pytest.importorskip("viser")

from support.view_client import ViewClient, view_client

from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.viewing import mechanism_view, panel
from uk_dynamics.viewing.live_simulation import LiveSimulation
from uk_dynamics.viewing.mechanism_view import MechanismView
from uk_dynamics.viewing.server import address, close_server, open_server


@pytest.fixture
def view() -> Iterator[MechanismView]:
    """The four-bar, moving, in a thread of its own."""
    mechanism = Mechanism.from_file("four_bar")
    source = LiveSimulation(mechanism, mechanism.start(), motors="off")
    server = open_server(port=0)
    view = MechanismView(server, mechanism, source)
    stop = threading.Event()
    thread = threading.Thread(target=view.run, args=(stop.is_set,))
    thread.start()
    yield view
    stop.set()
    thread.join()
    close_server(server)


@pytest.fixture
def client(view: MechanismView) -> Iterator[ViewClient]:
    with view_client(address(view._server)) as client:
        wait_until(
            lambda: "crank" in client.shown, "controls", meanwhile=lambda: client.listen(1.0)
        )
        yield client


def _crank(view: MechanismView) -> float:
    return view.snapshot.state.q[0]


def _stands_at(view: MechanismView, value: float) -> bool:
    return abs(_crank(view) - value) < 1e-9


def test_no_value_of_a_slider_is_lost(view: MechanismView, client: ViewClient, monkeypatch):
    # the view moves its sliders all the time, also while one is in the user's hand
    monkeypatch.setattr(mechanism_view, "FRAME_RATE", 1e4)
    monkeypatch.setattr(mechanism_view, "_NUMBERS_PERIOD", 0.0)
    monkeypatch.setattr(panel, "_IN_HAND", 0.0)
    for k in range(30):
        asked = 0.6 + 0.01 * (k % 7 + 1)
        client.use("crank", asked)
        wait_until(
            partial(_stands_at, view, asked), f"value {k}", meanwhile=lambda: client.listen(0.005)
        )


def test_sliders_show_at_last_where_the_mechanism_is(
    view: MechanismView, client: ViewClient, monkeypatch
):
    monkeypatch.setattr(panel, "_IN_HAND", 0.2)
    client.use("motion", "Play")
    begun = _crank(view)
    wait_until(lambda: abs(_crank(view) - begun) > 0.05, "motion")
    client.use("crank", 0.75)  # while its other values are on their way
    client.shown["crank"] = -1.0  # as if one of them had come last
    wait_until(lambda: _stands_at(view, 0.75), "the pose")
    wait_until(
        lambda: abs(client.shown["crank"] - 0.75) < 1e-9,
        "the slider",
        meanwhile=lambda: client.listen(0.1),
    )
