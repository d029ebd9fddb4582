# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Programs of ``examples/`` as modules."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from support.repository import ROOT


def example(name: str) -> ModuleType:
    """Import ``examples/NAME.py``, which may use what is in its folder."""
    path = ROOT / "examples" / f"{name}.py"
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
