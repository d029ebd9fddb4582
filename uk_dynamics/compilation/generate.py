"""The whole C source of a mechanism: sizes, tables, its terms, and what solves them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.compilation import regular
from uk_dynamics.compilation.c_function import function
from uk_dynamics.compilation.c_source import LANES, SCALAR, Dialect, Writer, number
from uk_dynamics.compilation.layout import Layout
from uk_dynamics.compilation.pieces import in_pieces
from uk_dynamics.compilation.symbols import Objects
from uk_dynamics.compilation.terms import SymbolicTerms, as_inputs, follows, trace
from uk_dynamics.core.row_basis import handicap
from uk_dynamics.mechanism.mechanism import Mechanism

_HERE = Path(__file__).parent

_ATTRIBUTES = """
#ifndef UK_EXPORT
#define UK_EXPORT
#endif

/* functions that are apart because together they would be too long */
#if defined(__GNUC__)
#define UK_APART __attribute__((noinline))
#else
#define UK_APART
#endif
"""

_SINE_AND_COSINE = """
static inline void uk_sincos(double x, double *sine, double *cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}
"""


def layout_of(mechanism: Mechanism) -> Layout:
    """Memory of a mechanism."""
    model = mechanism.model
    rows = len(mechanism.constraints)
    return Layout(model.nq, model.nv, rows, followed=follows(mechanism))


def declarations(mechanism: Mechanism, layout: Layout | None = None) -> str:
    """What a C program needs to know: sizes, and the memory."""
    layout = layout or layout_of(mechanism)
    model = mechanism.model
    sizes = {"UK_NQ": model.nq, "UK_NV": model.nv, "UK_M": len(mechanism.constraints)}
    statuses = {"UK_OK": 0, "UK_NEAR_SINGULAR": 1, "UK_INCONSISTENT": 2}
    lines = [f"#define {name} {value}" for name, value in (sizes | statuses).items()]
    return "\n".join(lines) + "\n\n" + layout.c_struct()


def source(mechanism: Mechanism) -> str:
    """C source for one state at a time, also as functions of Python where its headers are."""
    return "\n".join(
        ["#include <math.h>\n", declarations(mechanism), definitions(mechanism), part("python.c")]
    )


def batch_source(mechanism: Mechanism) -> str:
    """C source for many states at once; needs vectors as GCC and Clang have them."""
    terms = trace(mechanism)
    switched = int(bool(mechanism.hierarchy.switchable))
    return "\n".join(
        [
            "#include <math.h>\n",
            declarations(mechanism),
            _tables(mechanism, terms),
            f"#define UK_SWITCHED {switched} /* whether rows are switched on and off */",
            f"#define UK_LENGTH {number(mechanism.spec.model.length)}\n",
            table("double", "uk_position_row", mechanism.constraints.position_rows),
            table("double", "uk_motion_row", mechanism.constraints.motion_rows),
            part("lanes.c"),
            _terms_function(mechanism, terms, LANES),
            part("solve_lanes.c"),
            _regular_function(mechanism, terms, LANES),
            part("evaluate_lanes.c"),
            part("batch.c"),
            part("rollout.c"),
        ]
    )


def definitions(
    mechanism: Mechanism, terms: SymbolicTerms | None = None, *, pivoted: bool = False
) -> str:
    """Everything behind the declarations, for one state, with no need but <math.h>.

    Args:
        mechanism: What is evaluated.
        terms: Its terms, where they are traced already.
        pivoted: Whether rows are always taken by their remainders, which leaves their reflections
            in the memory for whoever needs the admissible motions.
    """
    terms = terms or trace(mechanism)
    regular_part = "#define UK_REGULAR 0"
    if not pivoted:
        regular_part = _regular_function(mechanism, terms, SCALAR)
    return "\n".join(
        [
            _tables(mechanism, terms),
            f"#define UK_FOLLOWED {'m->followed' if follows(mechanism) else '0'}",
            _terms_function(mechanism, terms, SCALAR),
            part("solve.c"),
            regular_part,
            part("evaluate.c"),
        ]
    )


def _tables(mechanism: Mechanism, terms: SymbolicTerms) -> str:
    """Numbers of the mechanism beside its terms."""
    solver = mechanism.spec.solver
    constraints = mechanism.constraints
    parents = mechanism.model.velocity_parents
    support = [_support(row, parents) for row in terms.A]
    parts = [
        _ATTRIBUTES,
        f"#define UK_RANK_TOLERANCE {number(solver.rank_tolerance)}",
        f"#define UK_CONSISTENCY_TOLERANCE {number(solver.consistency_tolerance)}",
        part("rank_rule.c"),
        table("int", "uk_parent", parents),
    ]
    if len(constraints):
        parts += [
            table("int", "uk_support_start", np.cumsum([0, *map(len, support)])),
            table("int", "uk_support", [i for row in support for i in row]),
            table("double", "uk_natural_scale", mechanism.natural_scale),
            table("double", "uk_handicap", handicap(len(constraints))),
            table("double", "uk_damping", constraints.damping),
            table("double", "uk_stiffness", constraints.stiffness),
        ]
    return "\n".join(parts) + "\n"


def _terms_function(mechanism: Mechanism, terms: SymbolicTerms, dialect: Dialect) -> str:
    many = dialect is LANES
    return ("" if many else _SINE_AND_COSINE) + function(
        "uk_lanes_terms" if many else "uk_terms",
        ("q", "v", "followed"),
        ("M", "F", "A", "bias", "residual", "rate"),
        _targets(terms, mechanism.model.velocity_parents),
        dialect,
    )


_REGULAR = """
/* Answers of a regular state from the terms in the memory, without pivoting; whether it is one. */
static {truth} {name}({memory} *m) {{
  const {real} *tau = m->tau, *M = m->H, *F = m->force, *A = m->A, *bias = m->bias;
  const {real} *residual = m->residual, *rate = m->rate;
  const double stabilize = m->stabilize;
  {real} *qdd = m->qdd, *ideal_force = m->ideal_force, *multipliers = m->multipliers;
  {real} *violation = m->violation, shared[{shared}];
{motion}  const {real} lost = shared[0], nearness = shared[1];
  {leave}
{forces}  {found}
}}
"""


def _regular_function(mechanism: Mechanism, terms: SymbolicTerms, dialect: Dialect) -> str:
    """The solution at regular states; nothing where the mechanism has hardly any."""
    found = regular.solve(mechanism, as_inputs(terms)) if regular.applies(mechanism) else None
    if found is None:
        return "#define UK_REGULAR 0"
    writer = Writer(dialect)
    motion = [("shared[0]", found.lost), ("shared[1]", found.nearness)]
    motion += [(f"qdd[{i}]", x) for i, x in enumerate(found.qdd)]
    forces = [
        (f"{name}[{i}]", x)
        for name in ("ideal_force", "multipliers", "violation")
        for i, x in enumerate(getattr(found, name))
    ]
    given, wanted = f"const {dialect.real} *restrict", f"{dialect.real} *restrict"
    parameters = dict.fromkeys(("tau", "M", "F", "A", "bias", "residual", "rate"), given)
    parameters["stabilize"] = "double"
    parameters |= dict.fromkeys(("qdd", "ideal_force", "multipliers", "violation"), wanted)
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
        else "if (!(nearness < 1.0 && lost < UK_LOST_PIVOTS)) return 0;",
        forces=pieces.calls[1],
        found="return regular;" if many else "return 1;",
    )
    return "#define UK_REGULAR 1\n" + pieces.functions + text


def part(name: str) -> str:
    """A file of C beside this one."""
    return (_HERE / name).read_text(encoding="utf-8")


def _targets(terms: SymbolicTerms, parents: tuple[int, ...]) -> list[tuple[str, Any]]:
    """Places of all terms; of M those that the tree lets be nonzero, of A those that are."""
    nv = len(parents)
    targets: list[tuple[str, Any]] = []
    for i in range(nv):
        j = i
        while j >= 0:
            targets.append((f"M[{i * nv + j}]", terms.M[i, j]))
            j = parents[j]
    for name in ("F", "bias", "residual", "rate"):
        values = getattr(terms, name)
        targets += [(f"{name}[{i}]", x) for i, x in enumerate(values)]
    flat = enumerate(terms.A.reshape(-1))
    targets += [(f"A[{i}]", x) for i, x in flat if not _is_zero(x)]
    return targets


def _support(row: Objects, parents: tuple[int, ...]) -> list[int]:
    """Velocities that a row touches and all before them towards the root, last first."""
    found = set()
    for i, x in enumerate(row):
        j = i if not _is_zero(x) else -1
        while j >= 0 and j not in found:
            found.add(j)
            j = parents[j]
    return sorted(found, reverse=True)


def _is_zero(x: Any) -> bool:
    return isinstance(x, float | int) and x == 0


def table(kind: str, name: str, values: Iterable[Any]) -> str:
    """Constant numbers as an array of C; a zero where there are none."""
    texts = [number(x) if kind == "double" else str(int(x)) for x in values] or ["0"]
    return f"static const {kind} {name}[] = {{{', '.join(texts)}}};"
