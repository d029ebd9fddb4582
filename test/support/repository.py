# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Where the repository is, whatever folder a test lives in."""

from __future__ import annotations

from pathlib import Path

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").is_file())
DOCS = ROOT / "docs"
