# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which constraints of a mechanism bind coordinates, and which bind velocities only."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from uk_dynamics.arrays import Array, Flags, Indices
from uk_dynamics.constraints.references import Live
from uk_dynamics.constraints.rows import ConstraintTerms
from uk_dynamics.core.equation import PfaffianSystem, integrability
from uk_dynamics.exceptions import SimulationError, UndeterminedMotionError
from uk_dynamics.mechanism.dynamics.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.resolution import ResolvedMechanism, State

Verdict = Literal["holonomic", "nonholonomic", "not of velocities", "not linear in velocities"]
Point = tuple[float, Array]

SAMPLES = 5
_SPREAD = 0.3  # rad, and parts of the declared length: how far samples lie from each other
_TIME = 1.0  # s: samples of constraints that change in time
_AFFINE = 1e-9  # relative change of A with v or t that is rounding


@dataclass(frozen=True)
class ConstraintNature:
    """What one constraint is."""

    # holonomic: its rows, in company of the others, are derivatives of equations between
    # coordinates; nonholonomic: some row is not; or no Pfaffian form at all
    verdict: Verdict
    rheonomic: bool  # Whether it depends on time
    # Largest |ω([z_i, z_j])| over unit motions z and unit rows ω found: zero by Lemma 1 of the
    # review where it is holonomic
    curvature: float


@dataclass(frozen=True)
class IntegrabilityReport:
    """The constraints at a number of states."""

    samples: int  # States tested
    constraints: dict[str, ConstraintNature]  # What each constraint is, by name
    bound_velocities: int  # Independent rows among those that are linear in velocities
    # How many independent combinations of them can be integrated: the others leave every
    # configuration within reach by manoeuvres
    bound_coordinates: int
    # Whether all manoeuvres were tried; if not, ``bound_coordinates`` is at most that
    complete: bool = True


def examine_integrability(
    mechanism: ResolvedMechanism,  # whose constraints
    q: Array,  # a configuration on them, (nq,)
    samples: int = SAMPLES,  # how many states
    progress: Callable[[], object] | None = None,  # called after each state
) -> IntegrabilityReport:
    """Test all constraints at sampled states around a configuration; the first sample is q."""
    rows = _Rows(mechanism)
    rheonomic = rows.rheonomic(q)
    affine = rows.affine(q)
    of_motion = mechanism.constraints.motion_rows
    tested = np.flatnonzero(affine & of_motion)
    system = rows.system(tested, with_time=bool(rheonomic[tested].any()))
    curvature = np.zeros(len(affine))
    holonomic = affine & of_motion
    velocities, coordinates = 0, mechanism.model.nv
    complete = True
    tested_at = 0
    for point in _sample(mechanism, q, samples, moving=bool(rheonomic.any())):
        found = integrability(system, point, mechanism.spec.solver.rank_tolerance)
        curvature[tested] = np.maximum(curvature[tested], found.curvature)
        holonomic[tested] &= found.holonomic
        complete = complete and found.complete
        velocities = max(velocities, found.rank)
        coordinates = min(coordinates, found.integrable_combinations)
        tested_at += 1
        if progress is not None:
            progress()
    natures = {}
    for name, part in mechanism.constraints.slices.items():
        if not of_motion[part].all():
            verdict: Verdict = "not of velocities"
        elif not affine[part].all():
            verdict = "not linear in velocities"
        else:
            verdict = "holonomic" if holonomic[part].all() else "nonholonomic"
        live = isinstance(mechanism.references.references.get(name), Live)
        largest = float(curvature[part].max(initial=0.0))
        natures[name] = ConstraintNature(verdict, live or bool(rheonomic[part].any()), largest)
    bound = min(coordinates, velocities)
    return IntegrabilityReport(tested_at, natures, velocities, bound, complete)


class _Rows:
    """The rows of a mechanism as forms A v + a_t dt."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        self._mechanism = mechanism
        self._model = mechanism.model
        self._workspace = self._model.workspace()

    def system(self, tested: Indices, *, with_time: bool) -> PfaffianSystem[Point]:
        """The forms on the configurations, with time as a last coordinate where it is needed."""
        model = self._model
        nv = model.nv
        at_rest = np.zeros(nv)

        def forms(point: Point) -> Array:
            rows = self._rows(point, at_rest)
            chosen = rows.A[tested]
            return np.column_stack((chosen, rows.rate[tested])) if with_time else chosen

        def move(point: Point, step: Array) -> Point:
            t, q = point
            return t + float(step[nv:].sum()), model.integrate(q, step[:nv])

        def bracket(x: Array, y: Array) -> Array:
            return np.concatenate((model.lie_bracket(x[:nv], y[:nv]), np.zeros(len(x) - nv)))

        return PfaffianSystem(forms, move, bracket)

    def rheonomic(self, q: Array) -> Flags:
        """Rows that change in time by themselves, or whose coordinates would, (m,).

        A v + a_t = 0 with a constant a_t integrates to something that grows with t.
        """
        v = np.random.default_rng(0).standard_normal(self._model.nv)
        first = self._all_of((0.0, q), v)
        found: Flags = self.affine(q) & (self._rows((0.0, q), 0.0 * v).rate != 0.0)
        for t in (0.31 * _TIME, 0.77 * _TIME):
            found |= _changed(first, self._all_of((t, q), v))
        return found

    def affine(self, q: Array) -> Flags:
        """Rows whose A does not change with the velocity, (m,)."""
        generator = np.random.default_rng(0)
        still = self._rows((0.0, q), np.zeros(self._model.nv)).A
        return ~_changed(still, self._rows((0.0, q), generator.standard_normal(self._model.nv)).A)

    def _all_of(self, point: Point, v: Array) -> Array:
        """A, rate and bias of each row, (m, nv + 2)."""
        rows = self._rows(point, v)
        return np.column_stack((rows.A, rows.rate, rows.bias))

    def _rows(self, point: Point, v: Array) -> ConstraintTerms:
        t, q = point
        self._workspace.update(q, v)
        reference = self._mechanism.references.sample(t)
        return self._mechanism.constraints.evaluate(self._workspace, t, q, v, reference)


def _changed(one: Array, other: Array) -> Flags:
    scale = np.abs(one).max(axis=1, initial=0.0) + np.abs(other).max(axis=1, initial=0.0)
    changed: Flags = np.abs(one - other).max(axis=1, initial=0.0) > _AFFINE * scale
    return changed


def _sample(
    mechanism: ResolvedMechanism, q: Array, samples: int, *, moving: bool
) -> Iterator[Point]:
    """Configurations on the constraints, the given one first; fewer where they are hard to find."""
    generator = np.random.default_rng(0)
    dynamics = InterpretedDynamics(mechanism)
    model = mechanism.model
    yield 0.0, q
    found = 1
    spread = _SPREAD * min(1.0, mechanism.spec.model.length)
    at_rest = np.zeros(model.nv)
    for _ in range(3 * samples):
        if found >= samples:
            break
        t = float(generator.uniform(0.0, _TIME)) if moving else 0.0
        step = spread * generator.uniform(-1.0, 1.0, model.nv)
        try:
            state = dynamics.project(State(t, model.integrate(q, step), at_rest))
        except (SimulationError, UndeterminedMotionError):
            continue
        found += 1
        yield t, state.q
