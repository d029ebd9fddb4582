# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which parameters, and which combinations of them, a motion tells."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from uk_dynamics.control.estimation import allowed_motions
from uk_dynamics.identification.regressor import (
    UNSTABILIZED,
    Motions,
    Regressor,
    bound_acceleration,
    driving_efforts,
)
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, State

_ZERO = 1e-8  # of the largest singular value of columns with norm 1
_LEAST = 1e-6  # of a coefficient that is shown
_SAMPLES = 60
_SPREAD = 0.3  # rad or m, of random configurations


@dataclass(frozen=True)
class BaseParameter:
    """A combination of parameters that the equations of motion contain."""

    terms: dict[str, float]  # coefficient by name; the first is 1

    def __str__(self) -> str:
        (first, _), *others = self.terms.items()
        signed = ((" - " if x < 0 else " + ", f"{abs(x):.4g} ", name) for name, x in others)
        return first + "".join(
            sign + ("" if size == "1 " else size) + name for sign, size, name in signed
        )


@dataclass(frozen=True)
class Identifiability:
    """What any motion of a mechanism can tell at most."""

    rank: int  # number of combinations
    base: tuple[BaseParameter, ...]  # the combinations; one of a single parameter is that parameter
    without_effect: tuple[str, ...]  # parameters that no motion tells anything about


def identifiability(
    matrix: Array,  # equations as rows, (n, p)
    names: Sequence[str],  # parameters, of its columns
    sizes: Array,  # what counts as large of each, (p,); 0: unknown
    tolerance: float = _ZERO,  # part of the largest that counts as zero
) -> Identifiability:
    """Base parameters of a regressor: Gautier's, by QR with pivoting of its columns.

    Source: Gautier: Numerical calculation of the base inertial parameters of robots (1991).
    """
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    norms = np.linalg.norm(matrix, axis=0)
    # without effect on any equation, beside parameters of the same size
    felt = norms * sizes > tolerance * (norms * sizes).max(initial=0.0)
    seen = np.flatnonzero(felt)
    if not len(seen):
        return Identifiability(0, (), tuple(names))
    R, order = scipy.linalg.qr(matrix[:, seen] / norms[seen], mode="r", pivoting=True)
    diagonal = np.abs(R.diagonal())
    rank = int((diagonal > tolerance * diagonal[0]).sum())
    others = scipy.linalg.solve_triangular(R[:rank, :rank], R[:rank, rank:])
    base = []
    for row, first in enumerate(order[:rank]):
        own = norms[seen[first]]
        terms = {names[seen[first]]: 1.0}
        for column, other in enumerate(order[rank:]):
            if abs(others[row, column]) > max(_LEAST, tolerance):
                terms[names[seen[other]]] = float(others[row, column] * norms[seen[other]] / own)
        base.append((seen[first], BaseParameter(terms)))
    found = tuple(x for _, x in sorted(base, key=lambda pair: pair[0]))
    return Identifiability(rank, found, tuple(np.array(names)[~felt].tolist()))


def random_motions(regressor: Regressor, around: Array) -> Motions:
    """Motions that agree with the loops, near a closed configuration, (nq,), on its branch."""
    mechanism, random = regressor.mechanism, np.random.default_rng(0)
    dynamics = InterpretedDynamics(mechanism)
    nv = mechanism.model.nv
    samples: list[tuple[Array, Array, Array, Array]] = []
    for _ in range(_SAMPLES):
        Z = allowed_motions(dynamics.terms(State(0.0, around, np.zeros(nv))).A, mechanism)
        step = Z @ random.uniform(-_SPREAD, _SPREAD, Z.shape[1])
        found = mechanism.assembly(mechanism.model.integrate(around, step))
        if not found.closed:
            continue
        Z = allowed_motions(dynamics.terms(State(0.0, found.q, np.zeros(nv))).A, mechanism)
        v = Z @ random.standard_normal(Z.shape[1])
        terms = dynamics.terms(State(0.0, found.q, v), UNSTABILIZED)
        qdd = bound_acceleration(terms) + Z @ random.standard_normal(Z.shape[1])
        efforts = driving_efforts(terms, Z, mechanism.actuators.matrix, qdd)
        samples.append((found.q, v, qdd, efforts))
    q, v, qdd, torques = (np.array(x) for x in zip(*samples, strict=True))
    return Motions(np.zeros(len(samples)), q, v, qdd, torques)
