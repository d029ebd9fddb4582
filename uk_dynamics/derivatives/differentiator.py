# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What all derivatives have in common: backends, batches, and the linear system behind them.

Differentiating M q̈ = F + τ + Aᵀλ and A q̈ = b at a solution gives the same equations again,

    M dq̈ − Aᵀdλ = r,    A dq̈ = s:    dq̈ = N r + C s,

where r and s are what the equations change by while q̈ and λ are held, N is what the constraints let
forces do, and A C = 1 on independent rows with least change in the metric of M. So does a
projection, and so do the two conditions on the efforts of a servo law. One factorisation solves for
the motion and for all its derivatives, whatever the rank.
"""

from collections.abc import Callable, Mapping
from typing import Literal, get_args

import numpy as np

from uk_dynamics.compilation import LEFT_TO_PYTHON, Library, States, Subject, is_cached
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.core.equation import Factorization
from uk_dynamics.exceptions import InputError, UndeterminedMotionError, expect, expect_names
from uk_dynamics.mechanism.dynamics import (
    Derivative,
    Derivatives,
    DerivativeStatus,
    Groups,
    StructuralRows,
    column_count,
)
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism, State

DerivativeBackend = Literal["cached", "compiled", "interpreted"]


_NOTHING = Inputs()


class Differentiator:
    """Differentiates one mechanism at one state or many; threads may share it."""

    #: What it means where a state of a batch is refused.
    _refused = DerivativeStatus.NOT_FINITE

    def __init__(self, mechanism: ResolvedMechanism, backend: DerivativeBackend) -> None:
        """Begin with a differentiable mechanism."""
        expect_names("backend", [backend], get_args(DerivativeBackend), place="backend")
        self._mechanism, self._backend = mechanism, backend
        self._rows = StructuralRows(mechanism)

    @property
    def mechanism(self) -> ResolvedMechanism:
        """Mechanism that is differentiated, with its parameters as constants."""
        return self._mechanism

    def reference(self, t: float) -> ReferenceSample | None:
        """Samples that the rows follow at a time, in s; None where they follow nothing."""
        return self._rows.reference(t, _NOTHING)

    def _wanted(self, library: Library, subject: Subject | None = None) -> bool:
        """Tell whether to load a library: one that is to be made, or is there already."""
        if self._backend == "cached":
            return is_cached(subject or self._mechanism, library)
        return self._backend == "compiled"

    def _states(self, q: Array, v: Array, tau: Array | None, t: Array | float) -> States:
        """Check and lay out the states of a batch; forces are zero where they are None."""
        count, nv = len(v), self._mechanism.model.nv
        times = np.full(1, t, dtype=float) if np.ndim(t) == 0 else np.asarray(t, dtype=float)
        given = (q, v, np.zeros((count, nv)) if tau is None else tau, times)
        q, v, tau, times = (np.ascontiguousarray(x, dtype=float) for x in given)
        expected = ((count, self._mechanism.model.nq), (count, nv), (count, nv))
        if (q.shape, v.shape, tau.shape) != expected or times.shape not in ((1,), (count,)):
            raise InputError(
                f"states of a batch need q, v, tau of {expected} and t of ({count},) or a number;"
                f" found {q.shape}, {v.shape}, {tau.shape} and {times.shape}",
                place=self._mechanism.name,
            )
        samples = (self._rows.reference(float(x), _NOTHING) for x in times)
        followed = [np.concatenate(sample) for sample in samples if sample is not None]
        return States(times, q, v, tau, np.array(followed) if followed else None)

    def _fill(
        self, states: States, found: Derivatives, alone: Callable[[State, Array], Derivatives]
    ) -> Derivatives:
        """Fill in the states of a batch that are left to Python; where there are none, NaN."""
        assert states.tau is not None
        for k in np.flatnonzero(found.status == LEFT_TO_PYTHON):
            state = State(float(states.t[k % len(states.t)]), states.q[k], states.v[k])
            status, one = self._one(state, states.tau[k], alone)
            found.status[k] = status
            for name, own in found.quantities.items():
                other = None if one is None else one.quantities[name]
                own.whole[k] = np.nan if other is None else other.whole
                if own.value is not None:
                    own.value[k] = np.nan if other is None else other.value
            if one is not None and found.limited.size:
                found.limited[k] = one.limited
            if found.exist.ndim == 2:
                found.exist[k] = False if one is None else one.exist
        if found.exist.ndim < 2:
            found.exist = found.status == DerivativeStatus.EXIST
        return found

    def _one(
        self, state: State, tau: Array, alone: Callable[[State, Array], Derivatives]
    ) -> tuple[DerivativeStatus, Derivatives | None]:
        """Differentiate a state of a batch, or say why there are no numbers."""
        if not all(np.isfinite(x).all() for x in (state.t, state.q, state.v, tau)):
            return DerivativeStatus.NOT_FINITE, None
        try:
            found = alone(state, tau)
        except UndeterminedMotionError:
            return DerivativeStatus.UNDETERMINED, None
        except InputError:
            return self._refused, None
        return found.status, found


def empty(
    count: int, rows: Mapping[str, int], groups: Groups, values: Mapping[str, int]
) -> Derivatives:
    """Make room for derivatives of ``count`` states, all of which are left to Python.

    Of rows by quantity and groups of columns, and entries of what is wanted itself.
    """
    columns = column_count(groups)
    found = {name: Derivative(np.empty((count, k, columns)), groups) for name, k in rows.items()}
    for name, size in values.items():
        found[name].value = np.empty((count, size))
    return Derivatives(found, np.full(count, LEFT_TO_PYTHON, np.int8))


def answer(factors: Factorization, forces: Array, changes: Array) -> Array:
    """Solve M x − Aᵀμ = forces, A x = changes for x = N forces + C changes, (nv, k)."""
    found = factors.admissible(forces)
    for k, change in enumerate(changes.T):
        if change.any():
            found[:, k] += factors.correction(change)
    return found


def independent_multipliers(factors: Factorization, force: Array) -> Array:
    """Find the multipliers of a constraint force that vanish on dependent rows, (m,)."""
    rows = factors.independent
    found = np.zeros(len(factors.A))
    if len(rows):
        found[rows] = np.linalg.lstsq(factors.A[rows].T, force, rcond=None)[0]
    return found


def differentiable(mechanism: ResolvedMechanism) -> ResolvedMechanism:
    """The mechanism with its parameters as constants, where its motion has derivatives.

    InputError: its forces depend on constraint forces, or it is a large one with local loops.
    """
    expect("mechanism", mechanism, ResolvedMechanism, 'Mechanism.from_file("five_bar")')
    if mechanism.friction.resists or mechanism.nonideal is not None:
        raise InputError(
            "derivatives need forces that do not depend on constraint forces; found friction in"
            " loop joints, or a non-ideal force",
            place=mechanism.name,
        )
    if mechanism.local is not None:
        raise InputError(
            f"derivatives are not available for large mechanisms with local loops; found"
            f" {mechanism.model.nv} velocities",
            place=mechanism.name,
        )
    if mechanism.varied is not None:  # its parameters are constants here
        mechanism = mechanism.settled()
    return mechanism
