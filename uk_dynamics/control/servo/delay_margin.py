# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The largest feedback frequency that the delay of a loop allows.

A task follows ë + 2ζω ė + ω² e = 0 if its commands act at once. Let them act after a delay T that
is predicted, and let the loop have a delay τ in addition that is not: half the control period for
which efforts are held, and the error of T. For a double integrator with the predictor
u = -k x̂(t + T), k = (ω², 2ζω), an uncertainty Δ(s) of what the motors do, which is e^(-sτ) - 1
here, closes a loop around

    M(s) = k e^(AT) (sI - A + bk)⁻¹ b = (ω² + (2ζω + ω²T) s) / (s² + 2ζω s + ω²),

with A = [[0, 1], [0, 0]]. By the small-gain theorem it is stable while |Δ M| < 1 at all
frequencies. Since |Δ(iν)| ≤ ντ, that is the case while τ max ν |M(iν)| < 1, and the rule keeps half
of it:

    τ max ν |M(iν)| ≤ 1/2;    the maximum is ω (2ζ + ωT) from ζ = 0.75 up.

Without prediction and with ζ = 1 that is ωτ ≤ 1/4, a phase margin of 47°. A relative error ε of
the inertia is the uncertainty Δ = ε; with prediction of ωT = 0.5, max |M| is 1.4. Rows of order
velocity follow ė + ω e = 0, and the same steps lead to ωτ ≤ 1/2.
"""

from __future__ import annotations

import math

_MARGIN = 0.5  # of the bound by the small-gain theorem
_LOWEST, _HIGHEST = 1e-6, 1e6  # ω (T + τ) between which the solution is looked for


def largest_frequency(damping_ratio: float | None, predicted: float, remaining: float) -> float:
    """Largest natural frequency of a task's feedback in a loop with delay, in Hz; see the module.

    Args:
        damping_ratio: ζ; None: the task is of order velocity.
        predicted: Delay that is predicted, T, in s.
        remaining: Delay that is not, τ, in s; above 0.
    """
    if damping_ratio is None:
        return _MARGIN / remaining / math.tau
    if damping_ratio <= _LOWEST:  # stable without any delay only
        return 0.0
    total = predicted + remaining

    def excess(frequency: float) -> float:
        """Of the rule, at an angular frequency in units of 1/total; it increases."""
        peak = _peak(damping_ratio, frequency * predicted / total)
        return frequency * remaining / total * peak - _MARGIN

    from scipy.optimize import brentq  # takes long to import

    found: float = brentq(excess, _LOWEST, _HIGHEST, xtol=1e-12)
    return found / total / math.tau


def _peak(damping_ratio: float, delay: float) -> float:
    """Maximum of ν |M(iν)| in units of ω, for a predicted delay in units of 1/ω."""
    slope = (2.0 * damping_ratio + delay) ** 2
    bend = 4.0 * damping_ratio**2 - 2.0
    turn = 1.0 - slope * bend
    if turn <= 0.0:  # it rises to its limit
        return math.sqrt(slope)
    x = (slope + math.sqrt(slope**2 + turn)) / turn  # ν², where the derivative vanishes
    return math.sqrt(x * (1.0 + slope * x) / ((1.0 - x) ** 2 + 4.0 * damping_ratio**2 * x))
