# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Type checkers and editors find the package in the project's own environment.

They read files and run nothing: a finder that is installed to answer imports is none for them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from support import typed_program
from support.repository import ROOT


def test_a_user_of_this_environment_has_types(tmp_path: Path) -> None:
    typed_program.check(sys.executable, tmp_path, ROOT / ".mypy_cache" / "users")
