"""Makes the moving image of the view that opens the README, from pictures of a real browser.

Two Franka Emika Panda arms carry one load round a closed path, so that the image repeats without a
step: one period, a picture for each step of time. Needs the extras "robots" and "view", Playwright
and a Chromium (see view.md).

Run it:  python docs/moving_view.py
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from uk_dynamics import Mechanism, ServoController, Tasks
from uk_dynamics.mechanism.file_location import shipped_files
from uk_dynamics.viewing.live_simulation import LiveSimulation
from uk_dynamics.viewing.mechanism_view import MechanismView
from uk_dynamics.viewing.server import address, close_server, open_server

TARGET = Path(__file__).resolve().parent / "images" / "view.webp"
MECHANISM, TASKS = "dual_panda", "dual_panda_load"
PERIOD = 4.0  # s, of the motion
# The reference of the load: from rest at the start of the shipped one, wider, with one period.
SHIPPED = {
    "offset": "[0.357, 0.03, 0.537, 0.0, 0.0, 0.0]",
    "amplitude": "[0.05, 0.03, 0.05, 0.0, 0.0, 0.0]",
    "frequency": "[0.2, 0.3, 0.5, 0.0, 0.0, 0.0]",
}
SHOWN_MOTION = {
    "offset": "[0.357, 0.10, 0.587, 0.0, 0.0, 0.0]",
    "amplitude": "[0.05, 0.10, 0.10, 0.0, 0.0, 0.0]",
    "frequency": f"[{1 / PERIOD}, {1 / PERIOD}, {2 / PERIOD}, 0.0, 0.0, 0.0]",
}
PICTURES = 40
SETTLED = 1.0  # s before the first picture
SIZE = (1080, 540)  # of the page
SHOWN = (800, 400)
QUALITY = 60
OPTIONS = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox")
PATIENCE = 120_000.0  # ms; graphics in software on a busy computer


def pictures(page: Any, view: MechanismView) -> list[Image.Image]:
    """Let time go on in equal steps and take a picture after each."""
    taken = []
    for _ in range(PICTURES):
        view.update(PERIOD / PICTURES)
        view.update(0.0)
        _painted(page)
        shot = Image.open(io.BytesIO(page.screenshot(timeout=PATIENCE)))
        taken.append(shot.convert("RGB").resize(SHOWN, Image.Resampling.LANCZOS))
    return taken


def _periodic() -> Path:
    """The shipped tasks file with a reference of one period."""
    text = shipped_files("tasks")[TASKS].read_text()
    for key, shipped in SHIPPED.items():
        assert f"{key}: {shipped}" in text
        text = text.replace(f"{key}: {shipped}", f"{key}: {SHOWN_MOTION[key]}")
    file = Path(tempfile.mkdtemp()) / f"{TASKS}.yaml"
    file.write_text(text)
    return file


def _painted(page: Any) -> None:
    """Wait until what was sent has arrived and been drawn."""
    page.wait_for_timeout(150)
    page.evaluate("() => new Promise(done => requestAnimationFrame(done))")


def main() -> int:
    """Serve the view, look at it and write the image."""
    mechanism = Mechanism.from_file(MECHANISM)
    tasks = Tasks.from_file(_periodic(), mechanism)
    source = LiveSimulation(
        mechanism,
        mechanism.start(),
        controller=lambda: ServoController(mechanism, tasks),
        most_work=float("inf"),
        playing=True,
    )
    server = open_server(port=0, title=MECHANISM.replace("_", " "))
    try:
        view = MechanismView(server, mechanism, source, tasks=tasks)
        view.update(SETTLED)
        with sync_playwright() as play:
            named = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell")
            browser = play.chromium.launch(executable_path=named, args=list(OPTIONS))
            width, height = SIZE
            page = browser.new_page(viewport={"width": width, "height": height})
            page.set_default_timeout(PATIENCE)
            page.goto(address(server))
            view.update(0.0)
            page.get_by_text("residual rate").wait_for()
            for notice in page.locator(".mantine-Notification-closeButton").all():
                notice.click()  # that graphics are in software
            shown = pictures(page, view)
            browser.close()
    finally:
        close_server(server)
    first, *others = shown
    first.save(
        TARGET,
        save_all=True,
        append_images=others,
        duration=round(1e3 * PERIOD / PICTURES),
        loop=0,
        quality=QUALITY,
        method=6,
    )
    sys.stdout.write(f"{TARGET}: {TARGET.stat().st_size / 1e3:.0f} kB\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
