# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The view in a real browser: it loads, it moves, its sliders move what they say."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support import browser
from support.waiting import wait_until

import uk_dynamics as ukd
from uk_dynamics.viewing.live_simulation import LiveSimulation
from uk_dynamics.viewing.mechanism_view import MechanismView
from uk_dynamics.viewing.server import address, close_server, open_server
from uk_dynamics.viewing.units import remembered

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


def _numbers(page: Any) -> dict[str, str]:
    """The first number of each row of the page's tables, by the row's name."""
    return page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll("td.name")].map(
            cell => [cell.innerText, cell.nextElementSibling.innerText]))"""
    )


def test_a_held_excavator_in_a_narrow_window(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    mechanism = ukd.Mechanism.from_file("excavator")
    start = mechanism.start()
    with (
        _served(mechanism, LiveSimulation(mechanism, start)) as (url, _),
        browser.open_page(url, width=420) as page,
    ):
        page.get_by_text("held at rest").wait_for()
        page.get_by_text("total energy").wait_for()
        # the pin carries what the cylinder does but for the weight of the rod
        held = ukd.Hold(mechanism).compute(start)["boom_valve"]
        numbers = _numbers(page)
        assert numbers["boom_valve"] == f"{held / 1e3:.4g} kN"
        pin, unit = numbers["boom_rod_pin"].split()
        assert unit == "kN"
        assert abs(1e3 * float(pin) - held) < 1e3
        cut = page.evaluate(
            """() => [...document.querySelectorAll("td.number, input[inputmode=decimal]")]
                .filter(cell => cell.scrollWidth > cell.clientWidth)
                .map(cell => cell.innerText || cell.value)"""
        )
        assert cut == []
        browser.keep_picture(page, "excavator_held")
        slider = page.locator("label", has_text="boom_cylinder").locator("xpath=../../..")
        shown = slider.locator("input[inputmode=decimal]").input_value()
        assert abs(float(shown) - start.q[mechanism.model.position_index("boom_cylinder")]) < 1e-3
        page.get_by_text("Show", exact=True).click()
        page.get_by_role("combobox", name="units").click()
        page.get_by_role("option", name="°, mm").click()
        page.get_by_text("Pose (°, mm)").wait_for()
        slider = page.locator("label", has_text="boom_cylinder").locator("xpath=../../..")
        wanted = 1e3 * start.q[mechanism.model.position_index("boom_cylinder")]
        wait_until(
            lambda: (
                abs(float(slider.locator("input[inputmode=decimal]").input_value()) - wanted) <= 1.0
            ),
            "mm",
            60.0,
        )
        assert remembered().name == "°, mm"
        assert not page.errors
