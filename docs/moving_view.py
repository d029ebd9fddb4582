# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Makes the moving image that opens the README, from screenshots of the view in a real browser.

Two Franka Panda arms carry their load around a figure of eight, so that the image closes on itself:
one period, one screenshot per step of time. Needs viser, Playwright, a Chromium (see view.md) and
the robot's meshes (the extra "robots").

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

import yaml
from PIL import Image
from playwright.sync_api import sync_playwright

from uk_dynamics import Mechanism, Tasks
from uk_dynamics.resources import shipped_files
from uk_dynamics.viewing.live_simulation import LiveSimulation
from uk_dynamics.viewing.mechanism_view import MechanismView
from uk_dynamics.viewing.server import address, close_server, open_server

TARGET = Path(__file__).resolve().parent / "images" / "view.webp"
MECHANISM, TASKS = "dual_panda", "dual_panda_load"
PERIOD = 4.0  # s, of the motion
PICTURES = 30
SETTLED = 4.0  # s before the first picture
SIZE = (1100, 520)  # of the page
CLIP = {"x": 60, "y": 30, "width": 640, "height": 432}  # without the panel
SHOWN = (640, 432)
CAMERA, LOOKED_AT = (1.3, -0.36, 0.88), (0.2, 0.05, 0.42)  # m
QUALITY = 60
OPTIONS = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox")
PATIENCE = 120_000.0  # ms; graphics in software on a busy computer


def opened(play: Any, url: str, view: MechanismView, size: tuple[int, int]) -> Any:
    """The page of a view in a browser, of a size in points."""
    named = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell")
    browser = play.chromium.launch(executable_path=named, args=list(OPTIONS))
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.set_default_timeout(PATIENCE)
    page.goto(url)
    view.update(0.0)
    page.get_by_text("total energy").wait_for()
    for notice in page.locator(".mantine-Notification-closeButton").all():
        notice.click()  # that graphics are in software
    return page


def pictures(page: Any, view: MechanismView) -> list[Image.Image]:
    """Let time go on in equal steps and take a picture after each."""
    taken = []
    for _ in range(PICTURES):
        view.update(PERIOD / PICTURES)
        view.update(0.0)
        painted(page)
        shot = Image.open(io.BytesIO(page.screenshot(timeout=PATIENCE, clip=CLIP)))
        taken.append(shot.convert("RGB").resize(SHOWN, Image.Resampling.LANCZOS))
    return taken


def _periodic() -> Path:
    """The shipped tasks file with one common period for all directions."""
    tasks = yaml.safe_load(shipped_files("tasks")[TASKS].read_text())
    reference = tasks["tasks"]["load"]["reference"]
    reference["frequency"] = [0.0, 1.0 / PERIOD, 2.0 / PERIOD, 0.0, 0.0, 0.0]
    reference["amplitude"] = [0.0, 0.15, 0.06, 0.0, 0.0, 0.0]
    reference["phase"] = [0.0] * 6
    file = Path(tempfile.mkdtemp()) / f"{TASKS}.yaml"
    file.write_text(yaml.safe_dump(tasks))
    return file


def painted(page: Any) -> None:
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
        tasks=tasks,
        most_work=float("inf"),
        playing=True,
    )
    server = open_server(port=0, title=MECHANISM.replace("_", " "))
    try:
        view = MechanismView(server, mechanism, source, tasks=tasks)
        view.update(SETTLED)
        with sync_playwright() as play:
            page = opened(play, address(server), view, SIZE)
            for client in server.get_clients().values():
                client.camera.position, client.camera.look_at = CAMERA, LOOKED_AT
            shown = pictures(page, view)
            page.context.browser.close()
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
