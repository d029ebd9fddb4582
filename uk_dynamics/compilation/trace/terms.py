"""What a mechanism is made of at a state, traced: M, F, A, bias, residual and rate as symbols."""

from __future__ import annotations

from typing import NamedTuple, cast

from uk_dynamics.compilation.trace.symbolic_tree import SymbolicTree
from uk_dynamics.compilation.trace.symbols import Graph, Objects, Symbol, as_objects
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.constraints.rows.constraint_terms import ConstraintTerms
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array


class SymbolicTerms(NamedTuple):
    """Symbols in the inputs ``t``, ``q[i]``, ``v[i]`` and ``followed[i]``.

    Attributes:
        M: Mass matrix, (nv, nv).
        F: All forces but motors, (nv,).
        A: Constraint matrix, (m, nv).
        bias: ψ̈ at zero joint acceleration, (m,).
        residual: ψ, (m,).
        rate: ψ̇, (m,).
        graph: Where all of them are nodes.
    """

    M: Objects
    F: Objects
    A: Objects
    bias: Objects
    residual: Objects
    rate: Objects
    graph: Graph


def trace(mechanism: ResolvedMechanism) -> SymbolicTerms:
    """Run the interpreted code once on symbols.

    Args:
        mechanism: One without :func:`~uk_dynamics.compilation.build.limits.obstacles`.
    """
    model = mechanism.model
    graph = Graph()
    t = cast(float, graph.variable("t"))
    q, v = graph.variables("q", model.nq), graph.variables("v", model.nv)
    tree = SymbolicTree(model.bodies, model.body_frames, q, v, model.gravity, model.armature)
    # Rows and forces are written over plain arrays: they do not see what the arrays hold.
    kinematics = cast(FrameKinematics, tree)
    q_array, v_array = cast(Array, q), cast(Array, v)
    reference = None
    if mechanism.follows_references:
        m = len(mechanism.constraints)
        parts = cast(Array, graph.variables("followed", 3 * m).reshape(3, m))
        reference = ReferenceSample(*parts)
    rows = mechanism.constraints.evaluate(kinematics, t, q_array, v_array, reference)
    force = mechanism.passive.force(q_array, v_array) - cast(Array, tree.bias)
    mechanism.forces.add_to(force, kinematics, t, q_array, v_array)
    A, bias, residual, rate = cast(tuple[Objects, ...], _parts(rows))
    return SymbolicTerms(tree.mass, cast(Objects, force), A, bias, residual, rate, graph)


def _parts(rows: ConstraintTerms) -> tuple[Array, Array, Array, Array]:
    return rows.A, rows.bias, rows.residual, rows.rate


def as_inputs(terms: SymbolicTerms) -> SymbolicTerms:
    """The same terms as inputs ``M[i]``, ``F[i]`` …, row by row; constants stay what they are."""
    graph = Graph()

    def read(name: str, array: Objects) -> Objects:
        values = [
            graph.variable(f"{name}[{i}]") if isinstance(x, Symbol) else x
            for i, x in enumerate(array.reshape(-1))
        ]
        return as_objects(values).reshape(array.shape)

    n = len(terms.F)
    M = read("M", terms.M)
    for i in range(n):  # only the lower triangle is written
        for j in range(i):
            M[j, i] = M[i, j]
    names = ("F", "A", "bias", "residual", "rate")
    F, A, bias, residual, rate = (read(name, getattr(terms, name)) for name in names)
    return SymbolicTerms(M, F, A, bias, residual, rate, graph)
