# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How the two equations of constrained motion change, at a given acceleration and multipliers.

By the state and time, or by the parameters that a mechanism varies; as symbols and as numbers.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from uk_dynamics.compilation.derivatives.block_derivatives import BlockRow, block_derivatives
from uk_dynamics.compilation.derivatives.forward_mode import SymbolDerivatives
from uk_dynamics.compilation.trace.sparse_vectors import Scalar, Sparse, add_multiple, sparse
from uk_dynamics.compilation.trace.symbol_values import SymbolValues
from uk_dynamics.compilation.trace.terms import trace
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.mechanism.dynamics import EquationDerivatives
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism, State


class TracedDerivatives(NamedTuple):
    """Derivatives as symbols, one sparse vector per row.

    Columns are the velocity coordinates of q, v and t, at 0 … nv−1, nv … 2nv−1, 2nv; or the varied
    parameters in the order of their names. Symbols are ``t``, ``q``, ``v``, ``p``, ``followed``,
    ``stabilize``, the acceleration ``qdd`` and the ``multipliers``.
    """

    motion: list[Sparse]  # of −(M x − F − Aᵀλ), nv rows
    rows: list[Sparse]  # of −(A x − b), m rows
    rates: list[Sparse]  # of ψ̇, m rows
    directions: int  # number of columns


@lru_cache(maxsize=1)  # for sources of several libraries, and for their trials
def equation_derivatives(mechanism: ResolvedMechanism) -> TracedDerivatives:
    """Trace by the parameters that a mechanism varies, or by q, v and t where it varies none.

    Rows that can be switched off act.
    """
    if mechanism.varied is not None:
        return _by_parameters(mechanism, len(mechanism.varied.names))
    found = block_derivatives(mechanism, 1)
    motion, rows, rates = ([_sparse(row) for row in part] for part in found)
    return TracedDerivatives(motion, rows, rates, 2 * mechanism.model.nv + 1)


def _sparse(row: BlockRow) -> Sparse:
    entries = sparse(np.concatenate([row.by_position, row.by_velocity]))
    add_multiple(entries, 1.0, row.others)
    return entries


def _by_parameters(mechanism: ResolvedMechanism, count: int) -> TracedDerivatives:
    terms, constraints = trace(mechanism), mechanism.constraints
    graph, nv = terms.graph, len(terms.F)
    qdd = graph.variables("qdd", nv)
    multipliers = graph.variables("multipliers", len(constraints))
    derivatives = SymbolDerivatives({graph.variable(f"p[{k}]"): {k: 1.0} for k in range(count)})
    lower = np.tril_indices(nv, -1)
    M = terms.M.copy()
    M.T[lower] = M[lower]  # only the lower triangle is written
    stabilization = terms.rate * constraints.damping + terms.residual * constraints.stiffness
    rows = terms.A @ qdd + terms.bias + stabilization * graph.variable("stabilize")
    motion = M @ qdd - terms.F - terms.A.T @ multipliers

    def opposite(values: Sequence[Scalar]) -> list[Sparse]:
        return [{k: -y for k, y in derivatives(x).items()} for x in values]

    rates = [derivatives(x) for x in terms.rate]
    return TracedDerivatives(opposite(motion), opposite(rows), rates, count)


class EquationValues:
    """Evaluates derivatives of the equations in Python; some thousand times slower than C."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        """Trace the equations of a mechanism."""
        varied = mechanism.varied
        traced = equation_derivatives(mechanism)
        self._parameters = np.zeros(0) if varied is None else varied.values
        self._values = MatrixValues((traced.motion, traced.rows, traced.rates), traced.directions)

    def at(
        self,
        state: State,
        qdd: Array,
        multipliers: Array,
        reference: ReferenceSample | None,
        *,
        stabilize: bool,
    ) -> EquationDerivatives:
        """Evaluate at a state, with acceleration and multipliers held; fresh arrays."""
        followed = np.zeros(3 * len(multipliers)) if reference is None else reference
        arrays = {"q": state.q, "v": state.v, "qdd": qdd, "multipliers": multipliers}
        arrays |= {"p": self._parameters, "followed": np.ravel(followed)}
        found = self._values({"t": state.t, "stabilize": float(stabilize)}, arrays)
        return EquationDerivatives(*found)


class MatrixValues:
    """Evaluates sparse rows of symbols as dense matrices."""

    def __init__(self, parts: Sequence[Sequence[Sparse]], columns: int) -> None:
        """Order the operations that all parts need."""
        self._shapes = [(len(part), columns) for part in parts]
        self._places = [[(i, j) for i, row in enumerate(part) for j in row] for part in parts]
        self._values = SymbolValues([x for part in parts for row in part for x in row.values()])

    def __call__(self, scalars: Mapping[str, float], arrays: Mapping[str, Array]) -> list[Array]:
        """Evaluate at inputs by name."""
        inputs = dict(scalars)
        for name, array in arrays.items():
            inputs |= {f"{name}[{i}]": float(x) for i, x in enumerate(array)}
        values = iter(self._values(inputs))
        found = [np.zeros(shape) for shape in self._shapes]
        for whole, places in zip(found, self._places, strict=True):
            for place in places:
                whole[place] = next(values)
        return found
