# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Panels of a plot: curves over one axis."""

from dataclasses import dataclass

import numpy as np

from uk_dynamics.arrays import Array, Indices

NOISE = 1e-9  # m, rad, W, J and rates: smaller is rounding, and a line of text
NAMED = 6  # coordinates at rest that are named; more are counted


@dataclass(frozen=True)
class Curve:
    """One quantity over time."""

    name: str  # in the legend
    values: Array  # (K,)
    reference: Array | None = None  # what it follows, (K,); None: nothing
    # lower and upper one, infinite where there are none
    limits: tuple[float, float] = (-np.inf, np.inf)
    band: tuple[Array, Array] | None = None  # between which it should be, (K,) each; None: nothing


@dataclass(frozen=True)
class Panel:
    """Curves over one axis."""

    title: str  # what they are
    unit: str  # theirs
    curves: tuple[Curve, ...]  # at least one
    from_zero: bool = True  # whether 0 belongs to the picture
    floor: float = 0.0  # of a logarithmic axis; 0 for a linear one
    # to draw as points, where values come more rarely than samples; None: lines
    samples: Indices | None = None
    # whether each curve is a bar of its own instead: wide where it is 2, thin where it is 1
    bars: bool = False


def span(curve: Curve) -> float:
    """How far a curve reaches from its lowest value to its highest."""
    finite = curve.values[np.isfinite(curve.values)]
    return float(np.ptp(finite)) if len(finite) else 0.0


def largest(*values: Array) -> float:
    """Largest size of finite numbers; 0 if there are none."""
    return max((float(np.abs(x[np.isfinite(x)]).max(initial=0.0)) for x in values), default=0.0)
