# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A real headless Chromium, where there is one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.repository import ROOT

# Playwright's own, what CHROMIUM names, or one of these (Debian: chromium-headless-shell).
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Graphics in software: there is no screen and no graphics card. The sandbox wants rights that
# containers do not give.
OPTIONS = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox")
PATIENCE = 120_000.0  # ms; graphics in software on a busy computer
ARTEFACTS = ROOT / "out" / "view"


@contextmanager
def open_page(address: str, *, width: int = 720, height: int = 400) -> Iterator[Any]:
    """A page with ``errors``, the list of what its console complained about."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
    with playwright.sync_playwright() as play:
        own = Path(play.chromium.executable_path)
        named = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
        if not own.is_file() and named is None:
            pytest.skip("no Chromium: apt install chromium-headless-shell, or set CHROMIUM")
        browser = play.chromium.launch(
            executable_path=None if own.is_file() else named, args=list(OPTIONS)
        )
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(PATIENCE)
        page.errors = []
        page.on("console", lambda m: page.errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        try:
            page.goto(address)
            yield page
        finally:
            browser.close()


def keep_picture(page: Any, name: str) -> bytes:
    """Take a picture of the page and keep it under ``out/view``."""
    for notice in page.locator(".mantine-Notification-closeButton").all():
        notice.click()  # that graphics are in software
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    picture: bytes = page.screenshot(path=str(ARTEFACTS / f"{name}.png"), timeout=PATIENCE)
    return picture
