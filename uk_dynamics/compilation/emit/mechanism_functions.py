"""What a mechanism is at a state, and its solution where that is regular, as functions of C."""

from __future__ import annotations

from uk_dynamics.compilation.emit.c_source import LANES, Dialect, Writer
from uk_dynamics.compilation.emit.pieces import Targets, function, in_pieces, places
from uk_dynamics.compilation.trace import regular
from uk_dynamics.compilation.trace.sparse_vectors import is_zero, root, sparse
from uk_dynamics.compilation.trace.symbols import Objects, Symbol, as_objects
from uk_dynamics.compilation.trace.terms import SymbolicTerms, as_inputs
from uk_dynamics.mechanism.resolution import ResolvedMechanism

SINE_AND_COSINE = """
static inline void uk_sincos(double x, double *sine, double *cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}
"""


_REGULAR = """
/* Answers of a regular state from the terms in the memory, without pivoting; whether it is one. */
static {truth} {name}({memory} *m{wanted}) {{
  const {real} *tau = m->tau, *M = m->H, *F = m->force, *A = m->A, *bias = m->bias;
  const {real} *residual = m->residual, *rate = m->rate;
  const double stabilize = m->stabilize;
  {real} *qdd = m->qdd, *ideal_force = m->ideal_force, *multipliers = m->multipliers;
  {real} *determined = m->determined, *violation = m->violation, shared[{shared}];
{motion}  const {real} lost = shared[0], nearness = shared[1];
  {leave}
{forces}  {found}
}}
"""

# Products that multipliers of least norm take: rows, times the square of the redundant ones.
_LONGEST_REDUNDANCY = 50_000
_FORCES = ("ideal_force", "multipliers", "determined", "violation")


def parameters(mechanism: ResolvedMechanism) -> tuple[str, ...]:
    """What functions of a state are given behind the references that rows follow."""
    return ("p",) if mechanism.varied and mechanism.varied.names else ()


def terms_function(mechanism: ResolvedMechanism, terms: SymbolicTerms, dialect: Dialect) -> str:
    """``uk_terms`` or ``uk_lanes_terms``: M, F, A, bias, residual and rate at a state."""
    many = dialect is LANES
    return ("" if many else SINE_AND_COSINE) + function(
        "uk_lanes_terms" if many else "uk_terms",
        ("q", "v", "followed", *parameters(mechanism)),
        ("M", "F", "A", "bias", "residual", "rate"),
        _targets(terms, mechanism.model.velocity_parents),
        dialect,
    )


def regular_function(mechanism: ResolvedMechanism, terms: SymbolicTerms, dialect: Dialect) -> str:
    """The solution at regular states; nothing where the mechanism has hardly any."""
    independent = regular.independent_at_start(mechanism)
    rows = len(mechanism.constraints)
    if rows * (rows - len(independent)) ** 2 > _LONGEST_REDUNDANCY:
        return "#define UK_REGULAR 0"  # written out, their multipliers would compile for minutes
    found = regular.solve(mechanism, as_inputs(terms), independent) if independent else None
    if found is None:
        return "#define UK_REGULAR 0"
    writer = Writer(dialect)
    motion = [("shared[0]", found.lost), ("shared[1]", found.nearness)]
    motion += places(qdd=found.qdd)
    forces = places(**{name: getattr(found, name) for name in _FORCES})
    given, wanted = f"const {dialect.real} *restrict", f"{dialect.real} *restrict"
    parameters = dict.fromkeys(("tau", "M", "F", "A", "bias", "residual", "rate"), given)
    parameters["stabilize"] = "double"
    parameters |= dict.fromkeys(("qdd", *_FORCES), wanted)
    many = dialect is LANES
    name = "uk_lanes_regular" if many else "uk_regular"
    blocks = [writer.statements(motion), writer.statements(forces)]
    pieces = in_pieces(name, parameters, blocks, dialect, reserved=2)
    text = _REGULAR.format(
        truth="uk_mask" if many else "int",
        name=name,
        memory="uk_lanes_memory" if many else "uk_memory",
        real=dialect.real,
        shared=pieces.shared,
        motion=pieces.calls[0],
        leave="const uk_mask regular = (nearness < 1.0) & (lost < UK_LOST_PIVOTS);\n"
        "  if (!m->forces || uk_any(~regular)) return regular;"
        if many
        else "if (!(nearness < 1.0 && lost < UK_LOST_PIVOTS)) return 0;\n  if (!forces) return 1;",
        wanted="" if many else ", int forces",
        forces=pieces.calls[1],
        found="return regular;" if many else "return 1;",
    )
    return f"#define UK_REGULAR {found.rank} /* independent rows */\n" + pieces.functions + text


def admissible_function(
    mechanism: ResolvedMechanism, terms: SymbolicTerms, tasks: Objects, dialect: Dialect
) -> str:
    """Acceleration, task rows and motors in the admissible motions of regular states.

    tasks: The task matrix, (mt, nv).
    """
    many = dialect is LANES
    independent = regular.independent_at_start(mechanism)
    inputs = as_inputs(terms)
    found = None
    if independent:
        found = regular.solve(mechanism, inputs, independent, regular.COORDINATES)
    if found is None:
        return "#define UK_ADMISSIBLE 0"
    traced = [
        inputs.graph.variable(f"A_t[{i}]") if isinstance(x, Symbol) else x
        for i, x in enumerate(tasks.reshape(-1))
    ]
    rows = [found.admissible(sparse(row)) for row in as_objects(traced).reshape(tasks.shape)]
    efforts = [found.admissible(sparse(column)) for column in mechanism.actuators.matrix.T]
    targets = places(
        qdd=found.qdd,
        task=[x for row in rows for x in row.coordinates],
        motor=[x for row in efforts for x in row.coordinates],
        size=[root(row.square) for row in rows],
        sure=[found.lost, found.nearness],
    )
    given = ("tau", "M", "F", "A", "bias", "residual", "rate", "A_t")
    return (
        f"#define UK_ADMISSIBLE {len(terms.F) - found.rank} /* coordinates of admissible motions */\n"
        + function(
            "uk_lanes_admissible_terms" if many else "uk_admissible_terms",
            given,
            ("qdd", "task", "motor", "size", "sure"),
            targets,
            dialect,
            scalars=("stabilize",),
        )
    )


def _targets(terms: SymbolicTerms, parents: tuple[int, ...]) -> Targets:
    """Places of all terms; of M those that the tree lets be nonzero, of A those that are."""
    nv = len(parents)
    targets: Targets = []
    for i in range(nv):
        j = i
        while j >= 0:
            targets.append((f"M[{i * nv + j}]", terms.M[i, j]))
            j = parents[j]
    targets += places(F=terms.F, bias=terms.bias, residual=terms.residual, rate=terms.rate)
    return targets + [(place, x) for place, x in places(A=terms.A) if not is_zero(x)]
