# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Numerical continuation along the loops, from a closed configuration to the measured one."""

from collections.abc import Mapping

import numpy as np

from uk_dynamics.arrays import Flags, Indices, largest
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.core.servo import LoopFactors, Split
from uk_dynamics.core.servo import continuation_rule as rule
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model import RobotModel

_VANISHING = 1e-9  # of a row's largest entry


class LoopRows:
    """Rigid, active rows of order position, without those that know where a base is."""

    def __init__(self, mechanism: Mechanism, active: ActiveConstraints | None) -> None:
        self._constraints = mechanism.constraints
        self._references = mechanism.references
        hierarchy = mechanism.hierarchy
        held = self._constraints.position_rows & hierarchy.rigid & hierarchy.acting(active)
        if mechanism.model.bases:
            held &= ~rows_of_bases(mechanism)
        self.held = np.flatnonzero(held)  # places among all rows, (m,)
        self._all_held = bool(held.all())
        self._captured = hierarchy.captured(active)
        self.live: Mapping[str, ReferenceSample] = {}
        # whether some depend on time
        self.moving = self._constraints.time_dependent or bool(self._references.references)
        self._still = np.zeros(mechanism.model.nv)
        self._workspace = mechanism.model.workspace()
        self.scale = self._constraints.reference_scale[self.held]  # residual per m or rad, (m,)
        self.names = tuple(mechanism.row_names[i] for i in self.held)  # of the rows

    def linearize(self, q: Array, t: float) -> tuple[Array, Array]:
        """A (m, nv) and ψ (m,) at a configuration (nq,) and time in s."""
        self._workspace.update_positions(q)
        reference = self._references.sample(t, {**self.live, **self._captured})
        A, residual = self._constraints.position(self._workspace, t, q, reference)
        if self._all_held:
            return A, residual
        return A[self.held], residual[self.held]

    def coordinate_scale(self, q: Array) -> Array:
        """Displacement of each coordinate per unit residual, (nv,); 1 where rows ignore it."""
        self._workspace.update_positions(q)
        rows = self._constraints.natural_scale(self._workspace, q)[self.held]
        size = np.linalg.norm(rows, axis=0)
        return np.asarray(1.0 / np.where(size > 0.0, size, 1.0))

    def drift(self, q: Array, t: float) -> Array:
        """Partial time derivative of the rows, (m,); zero for scleronomic loops."""
        if not self.moving:
            return np.zeros(len(self.held))
        self._workspace.update(q, self._still)
        reference = self._references.sample(t, {**self.live, **self._captured})
        rows = self._constraints.evaluate(self._workspace, t, q, self._still, reference)
        return rows.rate[self.held]


def rows_of_bases(mechanism: Mechanism) -> Flags:
    """Which rows know where floating and planar joints are, as those to the world do, (m,)."""
    model, workspace = mechanism.model, mechanism.model.workspace()
    found = np.zeros(len(mechanism.constraints), dtype=bool)
    columns = np.concatenate([np.arange(model.nv)[base.velocity] for base in model.bases])
    random = np.random.default_rng(1)
    for _ in range(2):  # a row may vanish in one configuration
        q = model.integrate(model.neutral(), random.uniform(-0.3, 0.3, model.nv))
        workspace.update_positions(q)
        reference = mechanism.references.sample(0.0, {})
        A, _ = mechanism.constraints.position(workspace, 0.0, q, reference)
        size = np.abs(A).max(axis=1, initial=0.0)
        found |= np.abs(A[:, columns]).max(axis=1, initial=0.0) > _VANISHING * size
    return found


class LoopContinuation:
    """Predictor–corrector continuation that stays on its assembly branch.

    A step is accepted only if successive Newton corrections shrink by a factor of four.
    """

    factors: LoopFactors  # of the last Newton correction

    def __init__(
        self, rows: LoopRows, model: RobotModel, places: Indices, split: Split, tolerance: float
    ) -> None:
        self._rows, self._model, self._places = rows, model, places
        self._split, self._tolerance = split, tolerance
        self._still = np.zeros(len(rows.names))
        self._last_regular: LoopFactors | None = None
        self.residual = 0.0  # largest residual before the last correction, in m or rad
        self.iterations = 0  # newton corrections since it was set to zero
        self.passed_singularity = False

    def factor(self, A: Array) -> LoopFactors:
        """Factorisation of rows (m, nv)."""
        return LoopFactors(A, self._split, self._tolerance)

    def forget(self) -> None:
        """Discard the tangent of the last configuration."""
        self._last_regular = None

    def step(self, q: Array, t: float, wanted: Array) -> Array | None:
        """One continuation step, to measurements close to the last configuration."""
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
        """Newton corrections onto the loops and the measurements; see :meth:`step`."""
        before = np.inf
        for count in range(rule.MOST_CORRECTIONS):
            A, psi = self._rows.linearize(q, t)
            factors = self.factors = self.factor(A)
            move = factors.move(-psi, wanted - q[self._places])
            size = largest(move)
            if not size <= rule.LARGEST_LOOP_CORRECTION:
                return None
            q = self._model.integrate(q, move)
            self.iterations += 1
            self.residual = largest(psi / self._rows.scale)
            stalled = count > 0 and size > rule.CONTRACTION * before
            if size <= (rule.STALLED_CORRECTION if stalled else rule.SMALL_CORRECTION):
                if self.residual > rule.OPEN_LOOP:  # in a direction that is singular here
                    return None
                if not factors.singular:
                    self._last_regular = factors
                return q
            if stalled:
                return None
            before = size
        return None

    def velocity(self, q: Array, t: float, drift: Array, rates: Array) -> Array:
        """Velocities at the last configuration, (nv,).

        In directions that are singular there, the tangent of the last regular one is used.
        """
        if not self.factors.singular or self._last_regular is None:
            return self.factors.move(-drift, rates)
        tangent = self._last_regular.move(self._still, rates)
        A, _ = self._rows.linearize(q, t)
        missing = rates - tangent[self._split.measured]
        return tangent + self.factors.move(-drift - A @ tangent, missing)

    def follow(
        self, q: Array, times: tuple[float, float], wanted: Array, steps: int = rule.MOST_STEPS
    ) -> Array | None:
        """Continuation with adaptive steps along a straight line in the measured positions."""
        start = q[self._places]
        way = wanted - start
        longest = rule.LONGEST_MEASURED_STEP / max(largest(way), rule.LONGEST_MEASURED_STEP)
        done, step = 0.0, longest
        for _ in range(steps):
            ahead = min(1.0, done + step)
            t = times[0] + ahead * (times[1] - times[0])
            target = start + ahead * way
            A, psi = self._rows.linearize(q, t)
            here = self.factor(A)
            move = here.move(-psi, target - q[self._places])
            reached = None
            if largest(move) <= rule.LONGEST_MOVE:
                reached = self.correct(self._model.integrate(q, move), t, target)
            if reached is not None:
                if self._near(here.regularity, q, reached):
                    if (ahead - done) * largest(way) > rule.CAUTIOUS_STEP:
                        step = 0.5 * (ahead - done)
                        continue
                    self.passed_singularity = True
                q, done = reached, ahead
                if done >= 1.0:
                    return q
                step = min(longest, 2.0 * step)
            elif step < rule.SHORTEST_STEP:
                return None
            else:
                step *= 0.5
                longest = 2.0 * step  # a longer step would fail again
        return None

    def _near(self, regularity: float, before: Array, after: Array) -> bool:
        """Whether a singularity may lie between two configurations."""
        others = self._split.others
        units = np.maximum(self._split.scale, rule.LEAST_LEVER)
        way = self._model.difference(before, after)[others] / units
        nearest = min(regularity, self.factors.regularity)
        return nearest < max(self._tolerance, rule.SINGULARITY_WITHIN * largest(way))
