# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How large the error of each task row can become under the robust term, row by row.

The norm of s in :mod:`robust_rule` gives every row the worst direction. Rows differ: a payload acts
along gravity, and hardly turns what carries it. Within the layer all is linear. With (I + B)⁻¹ of
the real machine and y = (b + g + k) ė + (b + g) k e, which is what feedback and robust term ask,

    ë = −G y(t − τ) + d,    G = T (I + B)⁻¹ Y,    d = −T (I + B)⁻¹ W θ.                         (1)

Parameters do not change: a machine has one θ, so (1) is taken for each machine at the corners and
on the middles of the intervals that change its inertia; d is linear in all others, which take their
worst values. With Ḡ the mean of G along the motion

    ë = −Ḡ y(t − τ) + p,    |p| ≤ |d| + |G − Ḡ| |y|,                                            (2)

row by row, of which e, y and s are at most N sup |p|: N_rj is the integral of what an impulse of
p_j does to row r, without its sign. So

    sup |p| ≤ (1 − C)⁻¹ sup |d|,    C = sup |G − Ḡ| N_y,                                        (3)

if C has a spectral radius below one. A velocity observer of bandwidth ω takes ė − ṽ for ė in y,

    x̃˙ = ṽ − 3ω x̃,    ṽ˙ = (ë + y(t − τ)) − 3ω² x̃ − w,    ẇ = ω³ x̃,                              (4)

since it knows −y(t − τ) of ë: what a wrong model makes of it is late. Encoders of the step q, with
noise of the deviation σ, see errors of rows by n with |n| ≤ |E| (q/2 + 3σ), E from measured joints
to rows through the loops, and rates by D n − λ E q̈ with D the difference over a period and λ how
late it is. So y is wrong by

    (b + g + k) (D n − λ E q̈) + (b + g) k n,                                                     (5)

which acts as G times as much in p. What D n does to a row is at most sup |n| times the variation of
its response to an impulse, whether the difference is filtered or not; ė in y is late by λ. Rows
that a velocity observer watches see x̃ + n instead of x̃ in (4). What has been within these
bounds for a time τ stays there, as long as it is within the layer, which the law makes wide enough
for it.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from uk_dynamics.mechanism import Uncertainty
from uk_dynamics.mechanism.resolution import Array

_MIDDLES, _CORNERS = 4, 8  # intervals of inertia up to which middles are taken, and corners
_BETWEEN = 1.1  # of d, for states between the instants that are looked at
_FINE, _SHORTEST = 40, 0.02  # steps of a delay; the shortest, in units of 1/(b + g)
_DECAYS = 10.0  # time constants after which responses have to be gone, to this part:
_GONE = 1e-3


class RowLoop(NamedTuple):
    """The feedback of the tasks."""

    gain: float  # g, in 1/s
    delay: float  # τ, in s
    k: Array  # (mt,), in 1/s
    b: Array  # (mt,)
    watched: Array  # ω of the velocity observer, (mt,), in rad/s; 0: there is none
    lag: float = 0.0  # λ of velocities that are differences, in s
    apart: float = np.inf  # |D n| is at most sup |n| times 2 over this, in s


class Effects(NamedTuple):
    """What uncertainty does at an instant, in coordinates where the model's inertia is one."""

    T: Array  # task rows, (mt, n)
    Y: Array  # what motors make of the accelerations that tasks ask for, (n, mt)
    W: Array  # forces by θ, (n, directions)
    inertia: Array  # B of each direction, (directions, n, n)
    motors: Array  # forces of the motors, (n, motors)
    asked: Array  # efforts for the accelerations of tasks, (motors, mt)
    seen: Array  # sup |n| and λ |E q̈| of each row, (2, mt)


class RowBounds(NamedTuple):
    """What is not exceeded; infinite where (3) says nothing."""

    error: Array  # of each row, (mt,)
    surface: Array  # s of each row, (mt,)
    size: float  # |s| in the metric of the tasks


def row_bounds(
    uncertainty: Uncertainty, instants: Sequence[Effects], loop: RowLoop, *, estimated: float = 0.0
) -> RowBounds:
    """Bounds of rows under the robust term within its layer, along the references.

    Estimates that are used, of all but friction, may be off by so many units of their deviations
    (0: none are used), within their intervals.
    """
    rows, machines = len(loop.k), _machines(uncertainty, instants)
    nothing = RowBounds(np.full(rows, np.inf), np.full(rows, np.inf), np.inf)
    if machines is None or not rows:
        return nothing
    found = [_rows_at(uncertainty, x, machines, estimated=estimated) for x in instants]
    d, G, lost = (np.stack(x) for x in zip(*found, strict=True))  # by instant and machine
    mean = 0.5 * (G.max(axis=0) + G.min(axis=0))
    if np.linalg.eigvals(mean).real.min() <= 0.0:
        return nothing
    error, asked, surface = _responses(mean, loop)[0]
    differs = (np.abs(G - mean) + lost).max(axis=0)
    C = differs @ asked
    if not np.isfinite(C).all() or (np.abs(np.linalg.eigvals(C)).max(axis=1) >= 1.0).any():
        return nothing
    direct, unseen, measured = _unseen(mean, np.abs(mean) + differs, instants, loop)
    p = d.max(axis=0)[..., None] + direct + differs @ unseen[1]
    p = np.linalg.solve(np.eye(rows) - C, p)
    s = (surface @ p + unseen[2])[..., 0] + measured
    metric = np.stack([np.abs(np.linalg.pinv(x.T @ x.T.T)) for x in instants])
    size = np.sqrt(np.einsum("cr,trs,cs->tc", s, metric, s).max())
    return RowBounds((error @ p + unseen[0])[..., 0].max(axis=0), s.max(axis=0), float(size))


def _unseen(
    mean: Array, most: Array, instants: Sequence[Effects], loop: RowLoop
) -> tuple[Array, Array, Array]:
    """What encoders do not see, by (5), of machines with Ḡ, (machines, rows, rows), and most |G|.

    Returns:
        What acts as a disturbance, (machines, rows, 1); besides, of errors, of y and of s,
        (3, machines, rows, 1); and by how much s is measured wrongly, (rows,).
    """
    n, late = np.max([x.seen for x in instants], axis=0)
    total, found = loop.b + loop.gain, np.zeros((3, *mean.shape[:2], 1))
    if not n.any():
        return found[0], found, n
    sees = loop.watched > 0.0
    late = np.where(sees, 0.0, late)
    direct = most @ ((total + loop.k) * late + total * loop.k * n)[:, None]
    if not sees.all():
        through = most @ np.where(sees, 0.0, (total + loop.k) * n)[:, None]
        found = found + _responses(mean, loop)[1] @ through
    if sees.any():
        found = found + _responses(mean, loop, watching=True)[0] @ np.where(sees, n, 0.0)[:, None]
    return direct, found, late + loop.k * n + np.where(sees, 0.0, 2.0 * n / loop.apart)


def _responses(gain: Array, loop: RowLoop, *, watching: bool = False) -> Array:
    """N of the error, of y and of s for each Ḡ, and their variations, (2, 3, machines, rows, rows).

    Of an impulse of p, or, watching, of n in what the velocity observer compares.

    What a delay makes of the past is known, so that the trapezoidal rule integrates (2), all steps
    of a delay at once.
    """
    total, k, omega = ((loop.b + loop.gain)[:, None], loop.k[:, None], loop.watched[:, None])
    delay = max(loop.delay, _SHORTEST / float(total.max()))
    h = delay / _FINE
    least = float(np.linalg.eigvals(gain).real.min())
    slowest = float(np.where(k > 0.0, k, total).min()) * min(least, 1.0)
    e, rate, y = np.zeros((3, _FINE + 1, *gain.shape))  # at all steps of a delay, and its end
    one = np.broadcast_to(np.eye(len(k)), gain.shape)
    x, w = np.zeros((2, *gain.shape))
    rate[-1] = 0.0 if watching else one
    unseen = np.where(omega > 0.0, rate, 0.0)
    if watching:
        unseen[-1], x, w = -3.0 * omega**2 * one, -3.0 * omega * one, omega**3 * one
    before = np.zeros((round(loop.lag / h), *gain.shape))  # rates that are not seen yet
    sums, last = np.zeros((2, 3, *gain.shape)), np.zeros((3, *gain.shape))
    now = np.zeros((3, *gain.shape))
    for _ in range(int(_DECAYS / slowest / delay) + 3):
        e[0], rate[0], unseen[0] = e[-1], rate[-1], unseen[-1]
        first = np.where(omega > 0.0, rate[0], before[0] if len(before) else rate[0])
        y[-1] = (total + k) * (first - unseen[0]) + total * k * e[0]
        acting = 0.5 * (y[:-1] + y[1:])
        moved = -gain @ acting
        rate[1:] = rate[0] + h * np.cumsum(moved, axis=0)
        e[1:] = e[0] + 0.5 * h * np.cumsum(rate[:-1] + rate[1:], axis=0)
        for step, estimated in enumerate(moved + acting if omega.any() else ()):
            x = x + h * (unseen[step] - 3.0 * omega * x)
            of_rate = estimated - 3.0 * omega**2 * x - w
            unseen[step + 1] = unseen[step] + h * np.sign(omega) * of_rate
            w = w + h * omega**3 * x
        known = np.concatenate((before, rate))
        before = known[_FINE : _FINE + len(before)]
        seen = np.where(omega > 0.0, rate, known[: _FINE + 1]) - unseen
        y[:-1] = ((total + k) * seen + total * k * e)[:-1]
        values = np.array((np.where(k > 0.0, e, rate), y, seen + k * e))[:, :-1]
        steps = np.diff(np.concatenate((now[:, None], values), axis=1), axis=1)
        sums[0] += h * np.abs(values).sum(axis=1)
        sums[1] += np.abs(steps).sum(axis=1)
        now, last = values[:, -1], np.abs(values[:, -1])
    gone = (last[0].max() * delay <= _GONE * sums[0, 0].max()) and np.isfinite(sums).all()
    return sums if gone else np.full_like(sums, np.inf)


def _machines(uncertainty: Uncertainty, instants: Sequence[Effects]) -> Array | None:
    """θ of the machines with inertia of their own, (machines, directions); None: too many."""
    heavy = np.logical_or.reduce([x.inertia.any(axis=(1, 2)) for x in instants])
    levels = []
    places = [p for p, has in enumerate(heavy) if has]
    for group, (fall, rise) in zip(uncertainty.groups, uncertainty.sides, strict=True):
        if heavy[list(group)].any():
            if len(group) > 1:
                return None
            middle = (0.0,) if len(places) <= _MIDDLES else ()
            levels.append((-fall, *middle, rise))
    if len(levels) > _CORNERS:
        return None
    theta = np.zeros((int(np.prod([len(x) for x in levels])), len(heavy)))
    theta[:, places] = list(product(*levels))
    return theta


def _rows_at(
    uncertainty: Uncertainty, x: Effects, machines: Array, *, estimated: float
) -> tuple[Array, Array, Array]:
    """Largest |d|, (machines, rows), G, and by how much it may differ, (machines, rows, rows)."""
    inertia = np.eye(len(x.Y)) + np.einsum("cp,pmn->cmn", machines, x.inertia)
    H = x.T @ np.linalg.inv(inertia)
    effect = H @ x.W  # (machines, rows, directions)
    moved = np.any(machines != 0.0, axis=0)
    up, down = np.zeros((2, *effect.shape[:2]))
    rubs = uncertainty.rubbing
    for group, (fall, rise) in zip(uncertainty.groups, uncertainty.sides, strict=True):
        p, w = group[0], effect[:, :, group[0]]
        if len(group) > 1:
            above = below = np.linalg.norm(effect[:, :, list(group)], axis=2)
        elif estimated and p in uncertainty.adaptive:
            off = fall + rise if rubs[p] else min(estimated, fall + rise)
            above = below = off * np.abs(w)
        elif rubs[p]:  # either way, where a joint turns round
            above = below = max(fall, rise) * np.abs(w)
        elif moved[p]:
            above, below = machines[:, p, None] * w, -machines[:, p, None] * w
        else:
            above, below = np.maximum(rise * w, -fall * w), np.maximum(-rise * w, fall * w)
        up, down = up + above, down + below
    lost = np.zeros((*effect.shape[:2], effect.shape[1]))
    for motor, part in uncertainty.motor_losses().items():
        lost += part * np.abs(H @ x.motors[:, motor])[..., None] * np.abs(x.asked[motor])
    return _BETWEEN * np.maximum(up, down), H @ x.Y, lost
