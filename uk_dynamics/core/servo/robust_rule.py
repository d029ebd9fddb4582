# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Robust constraint following: how large a feedback has to be, once for NumPy, C and lanes.

Let y be coordinates of the admissible motions in which the model's inertia is one, T the task rows
there, and s = ė + k e what the tasks are off by. The real inertia is I + B there, and with the
model's efforts and accelerations the real forces differ by W θ, |θ| ≤ 1. Then

    ṡ = −b s + T (I + B)⁻¹ (Y r − W θ),    T Y = I,                                             (1)

with r the acceleration that the robust term asks of the tasks and Y r what motors make of it. Let
Λ = (T (I + B)⁻¹Tᵀ)⁻¹ be the real inertia of the tasks, V = sᵀΛ s/2, and |s|² = sᵀ(T Tᵀ)⁻¹ s. With
−η₋ ≤ B ≤ η₊ and r = −ρ s/|s|

    V̇ ≤ −2 b V + sᵀΛ̇ s/2 − |s| (α ρ − c |W θ|),                                               (2)
    α = 1 − √(c² − 1) |Y s − T⁺s|/|s| − c |Y δ s|/|s|,    c² = (1 + η₊)/(1 − η₋),              (3)

where Y δ s is what motors with deviating constants make of s. Where tasks determine the whole
motion, c is 1 in (2) and (3). So V falls for ρ > c |W θ|/α while the metric changes slower than
2 b. α plays the part of 1 + ρ_E of Chen and Zhang, who assume that it is positive. Within the
boundary layer |s| ≤ ρ/g the term is proportional, r = −g s, and continuous.

Where nobody knows how large all of it is, W says how it is distributed, and σ ρ takes the place of
ρ in (2), with a size σ that grows while the tasks are off and leaks,

    σ̇ = κ ρ |s| − λ σ,    κ = λ (b + g)/ρ_max²,                                                 (4)

so that a disturbance of σ ρ_max, which leaves |s| = σ ρ_max/(b + g) within the layer, keeps σ where
it is. Errors then stay bounded, but by something that depends on what is not known.

Sources: Chen, Zhang: Adaptive robust approximate constraint-following control for mechanical
systems, J. Franklin Inst. 347, 2010 (the term against β = s, of size ρ, with a boundary layer; the
adaptation of leakage type of (4) for an unknown bound);
Udwadia, Wanichanon: Control of uncertain nonlinear multibody mechanical systems, J. Appl. Mech. 81,
2014 (odd functions of s/ε, here a cubic one, in the place of the sign).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from uk_dynamics.arrays import Reals
from uk_dynamics.core.linalg import above, at_least, square_root, where
from uk_dynamics.core.servo.motor_limits_rule import smaller

MARGIN = 1.25  # part by which ρ is larger than it has to be, for what delay turns away from s
LEAST_AUTHORITY = 0.1  # α below which ρ grows no further: the proof's assumption fails
ROUNDED = 1.0 + 1e-9  # of |Y s|² = |s|² where motors move nothing but the tasks
LEAST_SIZE = 1e-12  # m/s in the metric of the tasks: no direction to push against
STEEPEST = 3.0  # slope of the cubic function at the edge of the layer, in units of ρ/ε


class Known(NamedTuple):
    """What is known beforehand, (1,) each."""

    gain: Reals  # g, of s within the boundary layer, in 1/s
    turn: Reals  # √(c² − 1), by which uncertain inertia turns motions; 0: tasks determine them all
    surface: Reals  # flag: the cubic function of a sliding surface, not the saturated line
    learning: Reals  # c, with which s drives estimates, in s²/(kg m²)
    least: Reals  # of ρ, in √kg m/s²: the layer holds all errors that are promised
    size_learning: Reals  # κ, in s/(kg m²); 0: all sizes are those of the file
    scale: Reals  # σ, by which ρ is larger than the file says

    @classmethod
    def of(cls, gain: float, turn: float, *, surface: bool) -> "Known":
        """The same of plain numbers."""
        numbers = (gain, turn, surface, 0.0, 0.0, 0.0, 1.0)
        return cls(*(np.array([float(x)]) for x in numbers))


class RobustTerm(NamedTuple):
    """What the robust term is, (1,) each."""

    factor: Reals  # r = −factor · s, in 1/s
    bound: Reals  # ρ, in √kg m/s²: size of r in the metric of the tasks
    authority: Reals  # α; at most 0: no ρ is enough
    growth: Reals  # κ ρ |s| of (4), with ρ of the file, in 1/s


def surface_rates(damping: Reals, stiffness: Reals) -> tuple[Reals, Reals]:
    """Rates k and b of s = ė + k e and ṡ = −b s, (rows,), for the gains of ė and e in feedback.

    Rows of velocities have k = 0; damping ratios from 1 up have real k and b.
    """
    half = 0.5 * damping
    root = half + square_root(at_least(half * half - stiffness, 0.0))
    k = where(above(stiffness, 0.0), root, 0.0 * root)
    return k, damping - k


def surface(error: Reals, rate: Reals, damping: Reals, stiffness: Reals) -> Reals:
    """S = ė + k e of rows, (rows,), from errors and rates in them."""
    found: Reals = rate + surface_rates(damping, stiffness)[0] * error
    return found


def robust_term(
    squares: Reals, groups: Sequence[Sequence[int]], sizes: Reals, known: Known
) -> RobustTerm:
    """The robust term at a state, by |w|² of the columns of W, (directions,).

    sup |W θ| is taken as the sum over groups, each of one ball |θ| ≤ 1, of the norms of their
    columns. Sizes are |s|² in the metric of the tasks, |Y s|², and the largest |Y δ s|, (3, 1).
    """
    own, moved, lost = sizes
    effect = 0.0 * own
    for group in groups:
        effect = effect + square_root(np.add.reduce([squares[p : p + 1] for p in group]))
    size = at_least(square_root(own), LEAST_SIZE)
    beside = square_root(at_least(moved - ROUNDED * own, 0.0))
    stretch = square_root(1.0 + known.turn * known.turn)
    authority = 1.0 - (known.turn * beside + stretch * lost) / size
    declared = MARGIN * stretch * effect / at_least(authority, LEAST_AUTHORITY)
    bound = known.scale * declared
    bound = where(above(known.least, bound), known.least, bound)
    layer = smaller(known.gain, bound / size)
    # of x = |s|/ε, ε = 3 ρ/g: x³ up to 1, and its tangent from there on
    x = known.gain * size / at_least(STEEPEST * bound, LEAST_SIZE)
    cubic = where(above(x, 1.0), STEEPEST * x - 2.0, x * x * x)
    factor = where(above(known.surface, 0.5), bound * cubic / size, layer)
    return RobustTerm(factor, bound, authority, known.size_learning * declared * size)


def next_scale(scale: Reals, growth: Reals, leakage: Reals, elapsed: Reals) -> Reals:
    """Σ of (4) after ``elapsed`` s, (1,), by the growth of the last term and λ in 1/s."""
    found: Reals = (scale + elapsed * growth) / (1.0 + elapsed * leakage)
    return found


class Loop(NamedTuple):
    """What delays a feedback, and how fast the errors of a row decay, (rows,) or one each."""

    gain: Reals  # g, in 1/s
    delay: float  # τ, in s
    rate: Reals  # b, in 1/s; 0 where it helps less than the metric of the tasks may change


def ultimate_size(bound: Reals, loop: Loop, less: float, more: float, *, surface: bool) -> Reals:
    """|s| that is not exceeded once it has been reached, in the metric of the tasks.

    Outside the layer r has its full size. What it is against is s of a time τ ago, from which s has
    moved by at most d = τ (b |s| + ρ (1 + 1/MARGIN)/(1 − η₋)); it still pushes enough while the
    angle φ between both has cos φ ≥ 1/MARGIN, sin φ = d/|s|. Where V stays below what it is at the
    edge, |s| may be larger by c.

    Args:
        bound: ρ along a motion, its largest.
        loop: See there.
        less: η₋.
        more: η₊.
        surface: Whether the layer is that of the cubic function.
    """
    width = bound / loop.gain * (STEEPEST if surface else 1.0)
    pushed = bound * (1.0 + 1.0 / MARGIN) / (1.0 - less)
    moved = loop.delay * (loop.rate * width + pushed) / (1.0 - loop.delay * loop.rate)
    edge = np.maximum(width + moved, moved / np.sqrt(1.0 - 1.0 / MARGIN**2))
    found: Reals = edge * np.sqrt((1.0 + more) / (1.0 - less))
    return found


def highest_gain(delay: Reals, rate: Reals) -> Reals:
    """The g in 1/s that keeps half of the bound by the small-gain theorem: (b + g) τ ≤ 1/2.

    As of a row of velocities in :mod:`delay_margin`: within the layer s follows ṡ = −(b + g) s.
    """
    return at_least(0.5 / delay - rate, 0.0)
