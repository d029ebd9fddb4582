# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a law learns of its machine while it works, once for NumPy, C and lanes.

A period knows with which acceleration of the tasks' errors the model answers the efforts that act;
the next one sees which it was. With the efforts u, and deviations θ of parameters,

    ë = d + C u − w θ,    w = T W,                                                              (1)

with d what the model has without efforts. So ë − d and C u, low-pass filtered as a momentum
observer does (no acceleration is measured, the change of a velocity is), tell what acts besides the
model. Efforts act late by the delay of the loop: u follows those that were sent by a lag of first
order with that time constant, and C is that of the instant at which they act. Filtered once, the
rounding of encoders in a change of velocities would pass undiminished, and count as disturbance.

*Adaptation* explains it by parameters, as the composite law of Slotine and Li does: the error of
the filtered prediction drives estimates by least squares with exponential forgetting, and s does by
V = c sᵀΛ s/2 + θ̃ᵀP θ̃/2, of which −P⁻¹ c wᵀ(T Tᵀ)⁻¹ s leaves no term with θ̃. P is the
information: one along each parameter is what its interval tells, more is of the data, divided by
the variance of what they leave unexplained. It is forgotten toward one, which is the leakage of the
estimates as well. Where data would tell less than the interval within the time of forgetting, all
of it stands still. Estimates are the nearest values within their intervals; what the data say is
kept besides, since an estimate that was cut off would spoil the others.

What w takes as the machine's acceleration is that of one with the parameters θ̂ under the efforts
that act, whether the law uses θ̂ or not: the model's differs from it by w θ itself, and by
what the robust term and limits change of the efforts that tasks ask for.

Once all parameters but friction are known, the gain g of the robust term is larger than it has to
be, and feeds back rounding. With three deviations 3 σ of the least known one, in units of its
interval, by P⁻¹, it falls to

    g − (g − g_least) min(1, 2 − 2 · 3σ/OPEN)    where 3σ ≤ OPEN,                               (2)

so that at every gain below g no parameter is off by more than OPEN, for which bounds at g_least
are found beforehand, with friction in full. P is forgotten, and g comes back.

*Observation* needs no cause: what adaptation leaves of the difference, filtered with a bandwidth of
its own, is taken out of what the tasks ask for.

Sources: Slotine, Li: Composite adaptive control of robot manipulators, Automatica 25, 1989 (both
errors, bounded gain); Applied nonlinear control, 1991, sections 8.7 and 9.2; De Luca, Mattone:
Sensorless robot collision detection, ICRA 2005 (momentum observer).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from uk_dynamics.arrays import Reals
from uk_dynamics.core.linalg import above, at_least, definite_solve, mirrored, square_root, where
from uk_dynamics.core.servo.motor_limits_rule import between
from uk_dynamics.core.servo.period_steps import Measurement

FILTER = 0.025  # s: of predictions, twice; samples closer than four times of it repeat each other
MEMORY = 5.0  # s, within which data are forgotten
RESIDUALS = 0.5  # s, over which the variance of what is not explained is a mean
OUTLIER = 9.0  # squares so many times the variance raise it at once
BELIEVED = 1e-3  # part of what an interval may do: smaller residuals are not taken as such
SETTLED = 0.997  # from which filters have forgotten their beginning: six time constants, to 2 %
FARTHEST = 4.0  # times the intervals: as far as data may lead estimates before they are cut off
SHORTEST = 1e-9  # s: where control is continuous nothing elapses, and nothing is compared
LEAST_VARIANCE = 1e-12  # m²/s⁴
LEAST_BANDWIDTH = 1e-9  # rad/s
DEVIATIONS = 3.0  # within which parameters count as known
OPEN = 0.1  # part of their intervals that may be left open where the robust gain is smaller
SLOWER = 0.25  # of the frequency that s and an integral of it would have at the edge of the layer


class Instant(NamedTuple):
    """What a period compares."""

    told: Measurement
    rate: Reals  # of the tasks' errors, (mt,)
    past_rate: Reals  # the same a period ago
    drift: Reals  # d in between, (mt,)
    driven: Reals  # C u of the efforts that acted, (mt,)

    @property
    def measured(self) -> Reals:
        """ë − d, (mt,)."""
        return (self.rate - self.past_rate) / at_least(self.told.elapsed, SHORTEST) - self.drift

    def begun(self, x: Reals) -> Reals:
        """State of a filter: nothing after a pause."""
        return where(above(self.told.differs, 0.5), 1.0, 1.0 - self.told.fresh) * x

    def followed(self, x: Reals, goal: Reals, share: Reals) -> Reals:
        """Where it is after this instant."""
        now = self.begun(x)
        found: Reals = now + self.told.differs * share * (goal - now)
        return found


def lag_share(elapsed: Reals, time: Reals | float) -> Reals:
    """Part by which a lag of a time constant follows within what elapsed, both in s, (1,)."""
    h = at_least(elapsed, SHORTEST)
    return h / (h + time)


class Learned(NamedTuple):
    """What adaptation knows; deviations are in units of what their intervals allow."""

    estimate: Reals  # θ̂, within the intervals, (p,)
    fitted: Reals  # what data alone say, of which θ̂ is the nearest, (p,)
    information: Reals  # P, (p, p)
    filtered_regressor: Reals  # w, once and twice, (2, mt, p)
    filtered: Reals  # ë − d and C u, likewise, (2, 2, mt)
    variance: Reals  # of what estimates leave unexplained, (mt,)
    settled: Reals  # part that filters have of a constant: they begin at zero, (1,)


def learned(
    now: Instant, past: Learned, regressor: Reals, push: Reals, ends: tuple[Reals, Reals]
) -> Learned:
    """Estimates after a period.

    Args:
        now: See there.
        past: From the period before.
        regressor: w of the machine at the last period, (mt, p).
        push: c wᵀ(T Tᵀ)⁻¹ s at that time, (p,); zero where estimates are not used.
        ends: Smallest and largest deviations, (p,) each.
    """
    h, moves = now.told.elapsed, now.told.differs
    share = lag_share(h, FILTER)
    first = now.followed(past.filtered_regressor[0], regressor, share)
    w = now.followed(past.filtered_regressor[1], first, share)
    once = now.followed(past.filtered[0], np.stack((now.measured, now.driven)), share)
    y, z = twice = now.followed(past.filtered[1], once, share)
    error = z - w @ past.fitted - y  # w (θ − θ̂)
    square = error * error
    floor = LEAST_VARIANCE + BELIEVED**2 * np.add.reduce(w * w, axis=1)
    variance = past.variance + moves * h / RESIDUALS * (square - past.variance)
    variance = at_least(at_least(variance, square / OUTLIER), floor)
    settled = now.followed(past.settled, 1.0 + 0.0 * past.settled, share)
    moves = where(above(settled, SETTLED), moves, 0.0 * moves)
    weight = moves * h / (4.0 * FILTER) / variance
    told = w.T @ (weight[:, None] * w)
    count = len(past.estimate)
    gained = np.add.reduce([told[p : p + 1, p] for p in range(count)])
    excited = where(above(MEMORY / at_least(h, SHORTEST) * gained, 1.0), moves, 0.0 * moves)
    lost = h / MEMORY
    P = past.information
    P = mirrored(P + excited * (told - lost * (P - np.eye(count))))
    pull = w.T @ (weight * error) - lost * past.fitted - h * push
    moved = past.fitted + excited * definite_solve(P, pull)
    moved = between(-FARTHEST + 0.0 * moved, moved, FARTHEST + 0.0 * moved)
    inside = between(ends[0], moved, ends[1])
    regressors, filtered = np.stack((first, w)), np.stack((once, twice))
    return Learned(inside, moved, P, regressors, filtered, variance, settled)


def settled_gain(
    places: Sequence[int], gains: tuple[float, float], information: Reals, adapts: Reals
) -> Reals:
    """The gain of the robust term by (2), (1,), in 1/s.

    Args:
        places: Of the parameters that have to be known, among the p.
        gains: g_least and g.
        information: P, (p, p).
        adapts: Flag: estimates are used, (1,); without, the gain is g.
    """
    least, most = gains
    largest = 0.0 * adapts
    for p in places:
        unit = np.eye(len(information))[p] + 0.0 * information[p]
        largest = at_least(largest, definite_solve(information, unit)[p : p + 1])  # σ²
    part = 2.0 - 2.0 * DEVIATIONS / OPEN * square_root(largest)
    return most - adapts * (most - least) * between(0.0 * part, part, 1.0 + 0.0 * part)


def observed(now: Instant, past: Reals, explained: Reals, bandwidth: Reals) -> Reals:
    """What was measured, less what estimates explain, (mt,), and C u, filtered, (2, mt).

    Their difference acts besides the model. Rows without a bandwidth, in rad/s, are not observed.
    """
    seen = 1.0 - where(above(bandwidth, 0.0), 0.0, 1.0)
    share = lag_share(now.told.elapsed, 1.0 / at_least(bandwidth, LEAST_BANDWIDTH))
    y = now.followed(past[0], now.measured + explained, share)
    return np.stack((seen * y, seen * now.followed(past[1], now.driven, share)))


class Adaptation(NamedTuple):
    """What adaptation has to know at a state, besides the robust term."""

    places: tuple[int, ...]  # of the parameters, among the directions of what is uncertain
    crossed: Reals  # products of task rows with those of what is uncertain, T Xᵀ, (mt, rows)
    inertias: Reals  # T B Tᵀ of each parameter, (p, mt, mt)
    added: Reals  # what corrections add to what tasks ask for, (mt,)
    lacking: Reals  # what ë lacks of what is asked without that, besides w θ̂, (mt,)
    estimate: Reals  # θ̂, (p,)
    adapts: Reals  # flag: it is used, (1,)

    def motion(self, motion: Reals, gram: Reals) -> Reals:
        """Acceleration along the uncertain rows that is asked without corrections, (rows,).

        ``motion`` is that by the model with all efforts, (rows,), ``gram`` T Tᵀ, (mt, mt).
        """
        found: Reals = motion - self.crossed.T @ definite_solve(gram, self.added)
        return found

    def regression(
        self, shares: Reals, gram: Reals, s: Reals, learning: Reals
    ) -> tuple[Reals, Reals, Reals]:
        """Effects w of the parameters on the errors, (mt, p), twice, and what s says, (p,).

        First with the acceleration that is asked for, which is what the law compensates; then with
        that of the machine if its parameters are θ̂, which data are explained by: without x of ë,

            x = l + w(x) θ̂,    w(x)ₚ = wₚ − T Bₚ Tᵀ (T Tᵀ)⁻¹ x.

        Args:
            shares: β of all directions, (directions, rows), with :meth:`motion`.
            gram: T Tᵀ, (mt, mt).
            s: (mt,).
            learning: c, (1,).
        """
        w: Reals = self.crossed @ shares[list(self.places)].T
        push: Reals = self.adapts * learning * (w.T @ definite_solve(gram, s))
        real = gram + np.add.reduce(self.inertias * self.estimate[:, None, None])
        x = definite_solve(real, self.lacking + w @ self.estimate)
        return w, w - (self.inertias @ x).T, push

    def larger(self, squares: Reals) -> Reals:
        """Squares of the directions, which also have to cover wrong estimates, (directions,)."""
        found = squares.copy()
        for p, x in zip(self.places, self.estimate, strict=True):
            part = 1.0 + self.adapts[0] * abs(x)
            found[p] = squares[p] * part * part
        return found
