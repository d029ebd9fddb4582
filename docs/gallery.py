# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Makes the pictures of the README's gallery: machines as the view shows them when it is opened.

Needs what docs/moving_view.py needs. Look at what it makes.

Run it:  python docs/gallery.py [MECHANISM ...]    (left out: all)
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from moving_view import PATIENCE, opened, painted
from PIL import Image
from playwright.sync_api import sync_playwright

from uk_dynamics import Mechanism, Tasks
from uk_dynamics.viewing.live_simulation import LiveSimulation
from uk_dynamics.viewing.mechanism_view import MechanismView
from uk_dynamics.viewing.server import address, close_server, open_server

IMAGES = Path(__file__).resolve().parent / "images"
# The tasks that the motors follow, None: it moves by itself; and for how long it has moved, in s.
SHOWN: dict[str, tuple[str | None, float]] = {
    "stewart_platform": ("stewart_platform_heave_roll", 0.5),
    "excavator": ("excavator_grade", 0.5),
    "rrr3": ("rrr3_track", 0.5),
    "coordinated_robots": ("coordinated_robots_lift", 0.5),
    "rolling_disc": (None, 0.5),
    "landing_leg": ("landing_leg_knee", 0.0),
}
PANEL = 388  # points of the page to the right of the picture
PICTURE = (720, 540)
SHRUNK = (480, 360)


def picture(name: str, tasks_name: str | None, seconds: float) -> Image.Image:
    """One machine, after it has moved."""
    mechanism = Mechanism.from_file(name)
    tasks = Tasks.from_file(tasks_name, mechanism) if tasks_name else None
    source = LiveSimulation(
        mechanism, mechanism.start(), tasks=tasks, most_work=float("inf"), playing=True
    )
    server = open_server(port=0)
    try:
        view = MechanismView(server, mechanism, source, tasks=tasks)
        view.update(seconds)
        with sync_playwright() as play:
            size = (PICTURE[0] + PANEL, PICTURE[1])
            page = opened(play, address(server), view, size)
            painted(page)
            clip = {"x": 0, "y": 0, "width": PICTURE[0], "height": PICTURE[1]}
            shot = Image.open(io.BytesIO(page.screenshot(timeout=PATIENCE, clip=clip)))
            page.context.browser.close()
    finally:
        close_server(server)
    return shot.convert("RGB").resize(SHRUNK, Image.Resampling.LANCZOS)


def main() -> int:
    """Make the pictures that are asked for."""
    for name in sys.argv[1:] or SHOWN:
        target = IMAGES / f"view_{name}.png"
        shown = picture(name, *SHOWN[name])
        shown.save(target, optimize=True)
        sys.stdout.write(f"{target.name}: {target.stat().st_size / 1e3:.0f} kB\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
