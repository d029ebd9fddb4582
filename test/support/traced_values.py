# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Numbers of traced symbols."""

from __future__ import annotations

import numpy as np

from uk_dynamics.compilation.trace.symbol_values import SymbolValues


def value(x, inputs):
    """What a symbol is for given inputs."""
    return float(SymbolValues([x])(inputs)[0])


def values(array, **inputs):
    named = {
        f"{name}[{i}]": float(x) for name, xs in inputs.items() for i, x in enumerate(np.ravel(xs))
    }
    return np.array(SymbolValues(list(np.ravel(array)))(named), dtype=float).reshape(
        np.shape(array)
    )
