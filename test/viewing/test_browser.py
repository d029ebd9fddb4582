"""The view in a real browser: it loads, it moves, its sliders move what they say."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from support import browser
from support.waiting import wait_until

import uk_dynamics as ukd
from uk_dynamics.viewing.live_simulation import LiveSimulation
from uk_dynamics.viewing.mechanism_view import MechanismView
from uk_dynamics.viewing.server import address, close_server, open_server

pytest.importorskip("viser")
pytest.importorskip("playwright")

pytestmark = pytest.mark.slow


@contextmanager
def _served(
    mechanism: ukd.Mechanism, source: LiveSimulation
) -> Iterator[tuple[str, MechanismView]]:
    server = open_server(port=0)
    stop = threading.Event()
    view = MechanismView(server, mechanism, source)
    thread = threading.Thread(target=view.run, args=(stop.is_set,))
    thread.start()
    try:
        yield address(server), view
    finally:
        stop.set()
        thread.join()
        close_server(server)


def test_view_of_the_stewart_platform():
    mechanism = ukd.Mechanism.from_file("stewart_platform")
    start = mechanism.start()
    model = mechanism.model
    legs = [model.position_index(f"leg_{k}_slide") for k in range(1, 7)]
    source = LiveSimulation(mechanism, start, motors="off")  # it falls when it plays
    with _served(mechanism, source) as (url, view), browser.open_page(url) as page:

        def now() -> ukd.State:
            wait_until(lambda: view.snapshot is not None, "the first picture")
            return view.snapshot.state

        page.get_by_text("total energy").wait_for()
        still = browser.keep_picture(page, "stewart_at_rest")

        # the number beside the slider of leg 3
        slider = page.locator("label", has_text="leg_3_slide").locator("xpath=../../..")
        number = slider.locator("input[inputmode=decimal]")
        number.fill("0.35")
        number.press("Enter")
        wait_until(lambda: abs(now().q[legs[2]] - 0.35) < 1e-6, "leg 3", 60.0)
        posed = now().q
        for k, leg in enumerate(legs):
            if k != 2:
                assert abs(posed[leg] - start.q[leg]) < 1e-9, k
        assert abs(posed - start.q).max() > 0.01  # the platform followed
        assert browser.keep_picture(page, "stewart_leg_3_longer") != still

        page.get_by_text("Play", exact=True).click()
        wait_until(lambda: now().t > 0.05, "motion", 60.0)
        page.get_by_text("Pause", exact=True).click()
        page.get_by_text("paused").wait_for()
        moved = now()
        assert abs(moved.q - posed).max() > 1e-6
        page.get_by_text("Reset", exact=True).click()
        wait_until(lambda: abs(now().q - start.q).max() < 1e-12, "the start", 60.0)
        assert not page.errors
