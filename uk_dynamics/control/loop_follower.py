"""Newton steps along the loops, from a closed configuration to the one that was measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.control.loop_rows import LoopRows
from uk_dynamics.core.completion import LoopFactors, Split
from uk_dynamics.mechanism.state import Array
from uk_dynamics.model.robot_model import RobotModel

_MOST_STEPS = 12
_SMALL = 1e-11  # rad or m: the step after such a one is rounding
_STALLED = 1e-8  # rad or m: rounding near a singularity
_OPEN = 1e-4  # m or rad: noise that reaches beyond a dead centre; wider open, loops do not close
_CONTRACTION = 0.25  # of successive steps; below, only one solution is near (Deuflhard)
_LARGEST_CORRECTION = 0.3  # rad or m, after the tangent step
_LONGEST_LEG = 0.1  # rad or m, of a measured joint
_LONGEST_MOVE = 1.0  # rad or m, of any joint in one leg
_SURE_LEG = 0.01  # rad or m: near a singularity legs are shortened to this
_SHORTEST_LEG = 1.0 / 1024.0
MOST_LEGS, FEW_LEGS = 200, 24  # they bound the time that a hopeless measurement takes
_NEAR = 0.5  # regularity is about the distance to a singularity, in units of the scaled steps


class LoopFollower:
    """Keeps the branch: a step counts only where successive corrections shrink by four.

    Attributes:
        residual: Largest violation before the last correction, in m or rad.
        iterations: Corrections since it was set to zero.
        passed_singularity: Whether a search since it was set to false met a singular configuration,
            or may have passed one: it was nearer than the step was long.
        factors: At the end of the last search.
    """

    factors: LoopFactors

    def __init__(
        self,
        rows: LoopRows,
        model: RobotModel,
        places: NDArray[np.intp],
        split: Split,
        tolerance: float,
    ) -> None:
        """Prepare.

        Args:
            rows: What closes the loops.
            model: The tree.
            places: Of the measured joints in q, (d,).
            split: Measured and other coordinates.
            tolerance: Regularity below which the loops are singular.
        """
        self._rows = rows
        self._model = model
        self._places = places
        self._split = split
        self._tolerance = tolerance
        self._still = np.zeros(len(rows.names))
        self._last_regular: LoopFactors | None = None
        self.residual = 0.0
        self.iterations = 0
        self.passed_singularity = False

    def factor(self, A: Array) -> LoopFactors:
        """Factorisation of rows (m, nv)."""
        return LoopFactors(A, self._split, self._tolerance)

    def forget(self) -> None:
        """The next search starts somewhere else."""
        self._last_regular = None

    def step(self, q: Array, t: float, wanted: Array) -> Array | None:
        """Follow the loops to measurements close by.

        Args:
            q: The last configuration, (nq,).
            t: Time, in s.
            wanted: Measured positions, (d,).

        Returns:
            The configuration, (nq,); None where the steps do not shrink as they should.
        """
        guess, before = q, 1.0
        if self._last_regular is not None:
            before = self._last_regular.regularity
            move = self._last_regular.move(self._still, wanted - q[self._places])
            guess = self._model.integrate(q, move)
        found = self.correct(guess, t, wanted)
        if found is not None:
            self.passed_singularity |= self._near(before, q, found)
        return found

    def correct(self, q: Array, t: float, wanted: Array) -> Array | None:
        """Newton steps to the loops and the measurements; see :meth:`step`."""
        before = np.inf
        for count in range(_MOST_STEPS):
            A, psi = self._rows.linearize(q, t)
            factors = self.factors = self.factor(A)
            move = factors.move(-psi, wanted - q[self._places])
            size = _largest(move)
            if not size <= _LARGEST_CORRECTION:
                return None
            q = self._model.integrate(q, move)
            self.iterations += 1
            self.residual = _largest(psi / self._rows.scale)
            stalled = count > 0 and size > _CONTRACTION * before
            if size <= (_STALLED if stalled else _SMALL):
                if self.residual > _OPEN:  # in a direction that a singularity has closed
                    return None
                if not factors.singular:
                    self._last_regular = factors
                return q
            if stalled:
                return None
            before = size
        return None

    def velocity(self, q: Array, t: float, drift: Array, rates: Array) -> Array:
        """Velocities at the end of the last search, (nv,); what is open there goes straight on.

        Args:
            q: Configuration there, (nq,).
            t: Time there, in s.
            drift: Rate of the rows while the machine stands still, (m,).
            rates: Measured velocities, (d,).
        """
        if not self.factors.singular or self._last_regular is None:
            return self.factors.move(-drift, rates)
        straight = self._last_regular.move(self._still, rates)
        A, _ = self._rows.linearize(q, t)
        missing = rates - straight[self._split.measured]
        return straight + self.factors.move(-drift - A @ straight, missing)

    def lead(
        self, q: Array, times: tuple[float, float], wanted: Array, legs: int = MOST_LEGS
    ) -> Array | None:
        """Follow the loops along the straight line of the measured positions.

        Args:
            q: A closed configuration, (nq,).
            times: There, and at the end, in s.
            wanted: Measured positions at the end, (d,).
            legs: How many are tried.

        Returns:
            The configuration at the end, (nq,); None where it got lost on the way.
        """
        start = q[self._places]
        way = wanted - start
        longest = _LONGEST_LEG / max(_largest(way), _LONGEST_LEG)
        done, leg = 0.0, longest
        for _ in range(legs):
            ahead = min(1.0, done + leg)
            t = times[0] + ahead * (times[1] - times[0])
            target = start + ahead * way
            A, psi = self._rows.linearize(q, t)
            here = self.factor(A)
            move = here.move(-psi, target - q[self._places])
            reached = None
            if _largest(move) <= _LONGEST_MOVE:
                reached = self.correct(self._model.integrate(q, move), t, target)
            if reached is not None:
                if self._near(here.regularity, q, reached):
                    if (ahead - done) * _largest(way) > _SURE_LEG:
                        leg = 0.5 * (ahead - done)
                        continue
                    self.passed_singularity = True
                q, done = reached, ahead
                if done >= 1.0:
                    return q
                leg = min(longest, 2.0 * leg)
            elif leg < _SHORTEST_LEG:
                return None
            else:
                leg *= 0.5
                longest = 2.0 * leg  # what failed would only fail again
        return None

    def _near(self, regularity: float, before: Array, after: Array) -> bool:
        """Whether a singularity is so near that it may lie between two configurations."""
        others = self._split.others
        way = self._model.difference(before, after)[others] / self._split.scale
        nearest = min(regularity, self.factors.regularity)
        return nearest < max(self._tolerance, _NEAR * _largest(way))


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))
