# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How the two equations of constrained motion change with parameters, at a given solution."""

from __future__ import annotations

from typing import Any

import numpy as np

from uk_dynamics.compilation.tangents.equation_tangents import EquationTangents, equation_tangents
from uk_dynamics.compilation.tangents.forward_mode import Tangents
from uk_dynamics.compilation.trace.sparse_vectors import Sparse
from uk_dynamics.compilation.trace.terms import trace
from uk_dynamics.mechanism.resolution import ResolvedMechanism


def tangents_of(mechanism: ResolvedMechanism) -> EquationTangents:
    """By the parameters that a mechanism varies, or by q, v and t where it varies none."""
    varied = mechanism.varied
    return parameter_tangents(mechanism) if varied else equation_tangents(mechanism)


def parameter_tangents(mechanism: ResolvedMechanism) -> EquationTangents:
    """Trace −∂(M x − F − Aᵀλ), −∂(A x − b) and ∂ψ̇ by the parameters that a mechanism varies.

    Returns:
        One column per parameter, in the order of their names; symbols in the parameters ``p`` too.
    """
    names = () if mechanism.varied is None else mechanism.varied.names
    terms, constraints = trace(mechanism), mechanism.constraints
    graph, nv = terms.graph, len(terms.F)
    qdd = graph.variables("qdd", nv)
    multipliers = graph.variables("multipliers", len(constraints))
    tangents = Tangents({graph.variable(f"p[{k}]"): {k: 1.0} for k in range(len(names))})
    lower = np.tril_indices(nv, -1)
    M = terms.M.copy()
    M.T[lower] = M[lower]  # only the lower triangle is written
    stabilization = terms.rate * constraints.damping + terms.residual * constraints.stiffness
    rows = terms.A @ qdd + terms.bias + stabilization * graph.variable("stabilize")
    motion = M @ qdd - terms.F - terms.A.T @ multipliers

    def opposite(value: Any) -> Sparse:
        return {k: -slope for k, slope in tangents(value).items()}

    return EquationTangents(
        [opposite(x) for x in motion],
        [opposite(x) for x in rows],
        [tangents(x) for x in terms.rate],
        len(names),
    )
