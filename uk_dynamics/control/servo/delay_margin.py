# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the delay of a loop allows: the largest feedback frequency, and observed disturbances.

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

**Observed disturbances.** A row is ë = a e^(−sτ) in the loop, and feedback asks for −C(s) e,
C = c₁ s + c₀, with the robust term in its layer as part of it. The observer takes Q (s² e − D a)
from that, with Q = 1/(s/ω_o + 1) and D = 1/(T s + 1), a lag by the delay that is known:

    L = (C + Q s²) e^(−sτ) / ((1 − Q D) s²),                                                    (1)

which is C e^(−sτ)/s² without it: 1 − Q D is an integrator, and takes phase near ω_o. Rows of
velocities have c₀ = 0.

**Observed velocities.** v̂ = s e − H (s² e − D a), H = s (s + 3ω)/(s + ω)³, takes the place of s e
in C: C = c₁ s (1 − H s) + c₀ and 1 + (c₁ H − Q) D for 1 − Q D in (1). As long as the model is right
that changes nothing; a delay that is not known counts more.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.control.servo.robust_promise import known_of
from uk_dynamics.core.servo import surface_rates
from uk_dynamics.mechanism import Tasks

_MARGIN = 0.5  # of the bound by the small-gain theorem
_LOWEST, _HIGHEST = 1e-6, 1e6  # ω (T + τ) between which the solution is looked for
_SPAN, _SAMPLES = 1e4, 20001  # of frequencies around the slowest and fastest of a loop


def largest_frequency(damping_ratio: float | None, predicted: float, remaining: float) -> float:
    """Largest natural frequency of feedback in a loop with delay, in Hz; see the module.

    With ζ, None for a task of order velocity, and T and τ, which is above 0, in s.
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


class Margin(NamedTuple):
    """How much delay a loop tolerates besides that it has."""

    phase: float  # at the highest frequency where the loop's gain is one, in rad
    delay: float  # in s; at most 0: the loop is unstable


class ObserverMargin(NamedTuple):
    """The margin of one task row."""

    row: str
    bandwidth: float  # in Hz; 0: only its rate is observed
    velocity: float  # of the velocity observer, in Hz; 0: there is none
    without: Margin
    with_observer: Margin

    def __str__(self) -> str:
        of = {"": self.bandwidth, "velocity ": self.velocity}
        return ", ".join(f"{what}{x:.3g} Hz" for what, x in of.items() if x)


def observer_margins(tasks: Tasks, control_period: float | None) -> tuple[ObserverMargin, ...]:
    """Margins of the rows whose disturbances or rates are observed.

    Half of a control period is delay, in s, and so is what ``robust`` says of the loop.
    """
    spec, constraints = tasks.spec.robust, tasks.constraints
    known = 0.0 if spec is None else spec.delay
    found = known_of(tasks, control_period)
    gain = 0.0 if found is None else float(found.gain[0])
    k, _ = surface_rates(constraints.damping, constraints.stiffness)
    damping, stiffness = constraints.damping + gain, constraints.stiffness + gain * k
    total = known + 0.5 * (control_period or 0.0)
    return tuple(
        ObserverMargin(
            *(name, bandwidths[0] / math.tau, bandwidths[1] / math.tau),
            _margin(c1, c0, (0.0, 0.0), known, total),
            _margin(c1, c0, bandwidths, known, total),
        )
        for name, bandwidths, c1, c0 in zip(
            tasks.row_names,
            zip(tasks.observed.tolist(), tasks.watched.tolist(), strict=True),
            damping,
            stiffness,
            strict=True,
        )
        if max(bandwidths) > 0.0
    )


def _margin(
    c1: float, c0: float, bandwidths: tuple[float, float], known: float, total: float
) -> Margin:
    """Smallest margins of (1) over the frequencies where its gain is one."""
    bandwidth, watched = bandwidths
    scale = max(c1, bandwidth, watched)
    omega = np.geomspace(scale / _SPAN, scale * _SPAN, _SAMPLES)
    s = 1j * omega
    H: NDArray[Any] = s * (s + 3.0 * watched) / (s + watched) ** 3 if watched > 0.0 else 0.0 * s
    C, late = c1 * s * (1.0 - H * s) + c0, c1 * H  # and what is taken of D
    if bandwidth > omega[0] / _SPAN:  # else it does nothing at any of them
        Q = 1.0 / (s / bandwidth + 1.0)
        C, late = C + Q * s**2, late - Q
    loop = C / ((1.0 + late / (known * s + 1.0)) * s**2)
    size = np.abs(loop)
    crossings = np.flatnonzero((size[:-1] >= 1.0) & (size[1:] < 1.0))
    at = omega[crossings]
    margins = np.mod(np.angle(loop[crossings]), 2.0 * np.pi) - np.pi - at * total
    worst = int(np.argmin(margins / at))
    return Margin(float(margins[worst]), float(margins[worst] / at[worst]))
