# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a mechanism is at a state, and its solution where that is regular, as functions of C."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from uk_dynamics.compilation.emit.c_source import LANES, SCALAR, Dialect, Writer
from uk_dynamics.compilation.emit.c_text import header, part, table
from uk_dynamics.compilation.emit.functions import Targets, function, places
from uk_dynamics.compilation.emit.pieces import in_pieces
from uk_dynamics.compilation.trace import regular_equation
from uk_dynamics.compilation.trace.elimination import Elimination
from uk_dynamics.compilation.trace.sparse_vectors import is_zero, root, sparse
from uk_dynamics.compilation.trace.symbols import Objects, Symbol, as_objects, in_order
from uk_dynamics.compilation.trace.terms import SymbolicTerms, as_inputs
from uk_dynamics.core.equation import formulas
from uk_dynamics.mechanism.resolution import ResolvedMechanism

_KEPT = """
/* What an evaluation knows of a configuration, for others there: see uk_lanes_configure. */
typedef struct {{
  int known, factored;
  uk_lanes t, q[UK_NQ];{followed}
  uk_lanes terms[UK_TERMS_SHARED], factor[UK_FACTOR_SHARED];
}} uk_lanes_kept;

static void uk_lanes_mark(const uk_lanes_memory *m, uk_lanes_kept *kept) {{
  kept->known = 1, kept->factored = 0;
  kept->t = m->t;
  memcpy(kept->q, m->q, sizeof kept->q);{copy}
}}

static int uk_lanes_is_kept(const uk_lanes_memory *m, const uk_lanes_kept *kept) {{
  return kept->known && !memcmp(&kept->t, &m->t, sizeof m->t)
         && !memcmp(kept->q, m->q, sizeof m->q){same};
}}
"""

_REGULAR = """
/* Answers of regular states from the terms in the memory, without pivoting; which are. */
UK_EVALUATION uk_mask uk_lanes_regular(uk_lanes_memory *m, uk_lanes_kept *kept) {{
  const uk_lanes *tau = m->tau, *M = m->H, *F = m->force, *A = m->A, *bias = m->bias;
  const uk_lanes *residual = m->residual, *rate = m->rate;
  const double stabilize = m->stabilize;
  uk_lanes *qdd = m->qdd, *ideal_force = m->ideal_force, *multipliers = m->multipliers;
  uk_lanes *determined = m->determined, *violation = m->violation, *shared = kept->factor;
  if (!kept->factored) {{
  {factor}  }}
  kept->factored = 1;
{motion}  const uk_lanes lost = shared[0], nearness = shared[1];
  const uk_mask regular = (nearness < 1.0) & (lost < UK_LOST_PIVOTS);
  if (!m->forces || uk_any(uk_not(regular))) return regular;
{forces}  return regular;
}}
"""

# Products that multipliers of least norm take: rows, times the square of the redundant ones.
_LONGEST_REDUNDANCY = 4_000
_TERMS_WANTED = ("M", "F", "A", "bias", "residual", "rate")
_IN_MEMORY = {"M": "H", "F": "force"}  # what others are called there
_ANSWERED = ("tau", "M", "F", "A", "bias", "residual", "rate")
_FORCES = ("ideal_force", "multipliers", "determined", "violation")


def parameters(mechanism: ResolvedMechanism) -> tuple[str, ...]:
    """What functions of a state are given behind the references that rows follow."""
    return ("p",) if mechanism.varied and mechanism.varied.names else ()


_TERMS = """
/* All of them; and in parts, each of which needs those before it and what they share. */
UK_OPTIONAL static void {name}({parameters}) {{
  {real} shared[UK_TERMS_SHARED];
{calls}}}
"""
_PART = """
UK_OPTIONAL UK_EVALUATION void {name}({parameters}, {real} *restrict shared) {{
  {unused}
{calls}}}
"""


def terms_function(mechanism: ResolvedMechanism, terms: SymbolicTerms) -> str:
    """``uk_lanes_terms``: M, F, A, bias, residual and rate at a state.

    Its parts are ``…_configuration``: M, A and residual, ``…_rates`` and ``…_forces``: F and bias.
    Of mechanisms with one-sided constraints the first begins with ``…_residuals`` and
    ``…_jacobian``, the last with ``…_inertia``: bias, and h in the place of F. After ``…_rates`` at
    other velocities it says what these are there.
    """
    name = "uk_lanes_terms"
    given = ("q", "v", "followed", *parameters(mechanism))
    types = {
        "t": LANES.real,
        **dict.fromkeys(given, f"const {LANES.real} *restrict"),
        **dict.fromkeys(_TERMS_WANTED, f"{LANES.real} *restrict"),
    }
    writer = Writer(LANES)
    mass = _mass(terms, mechanism.model.velocity_parents)
    residuals = places(residual=terms.residual)
    jacobian = [(place, x) for place, x in places(A=terms.A) if not is_zero(x)]
    if mechanism.one_sided:  # the end of a step needs them alone
        blocks = {"residuals": residuals, "jacobian": jacobian, "configuration": mass}
    else:
        blocks = {"configuration": mass + residuals + jacobian}
    blocks["rates"] = places(rate=terms.rate)
    # where rows are pivoted in the place of M and A, the configuration is not kept
    lasting: tuple[str, ...] = ("M", "A")
    balance = ""
    if mechanism.one_sided:  # but in the middle of a step
        lasting = ()
        blocks["inertia"] = places(F=terms.h, bias=terms.bias)
        blocks["forces"] = places(F=terms.F)
        at = "q", "v", *parameters(mechanism)
        for called, found in (("energies", terms.balance[:2]), ("unstored", terms.balance[2:])):
            text = function(f"uk_{called}", at, ("found",), places(found=found), LANES)
            start = f"static void uk_{called}("
            balance += text.replace(start, f"UK_OPTIONAL {start}")
    else:
        blocks["forces"] = places(F=terms.F, bias=terms.bias)
    statements = [writer.statements(x) for x in blocks.values()]
    pieces = in_pieces(name, types, statements, LANES, lasting=lasting)
    common = {
        "real": LANES.real,
        "parameters": ", ".join(f"{kind} {x}" for x, kind in types.items()),
        "unused": " ".join(f"(void){x};" for x in (*types, "shared")),
    }
    in_memory = ", ".join(f"m->{_IN_MEMORY.get(x, x)}" for x in _TERMS_WANTED)
    calls = dict(zip(blocks, pieces.calls, strict=True))
    if mechanism.one_sided:
        calls["configuration"] = calls["residuals"] + calls["jacobian"] + calls["configuration"]
        calls["forces"] = calls["inertia"] + calls["forces"]
    parts = (
        _PART.format(name=f"{name}_{block}", calls=called, **common)
        for block, called in calls.items()
    )
    return header(
        f"{name}.h",
        "".join(
            [
                '#include "uk_lanes.h"\n',
                part("attributes.h"),
                f"#define UK_TERMS_SHARED {pieces.shared}\n",
                # arguments that stand in a memory m
                f"#define UK_STATE_TERMS m->t, m->q, m->v, UK_FOLLOWED UK_P, {in_memory}\n",
                pieces.functions,
                *parts,
                _TERMS.format(name=name, calls="".join(pieces.calls), **common),
                _formulas(mechanism, terms),
                balance,
            ]
        ),
    )


def _formulas(mechanism: ResolvedMechanism, terms: SymbolicTerms) -> str:
    """What finds results that follow from state and solution; nothing where none is declared."""
    wanted = formulas()
    if not wanted:
        return "#define UK_FIND_FORMULAS(m) (void)(m)\n"
    given = ("q", "v", "followed", *parameters(mechanism), "tau", "qdd", "ideal_force")
    names = [x.memory for x in wanted]
    text = function("uk_lanes_formulas", given, names, places(**terms.formulas), LANES)
    found = ", ".join(f"{'&' * (x.size == '1')}(m)->{x.memory}" for x in wanted)
    state = "(m)->t, (m)->q, (m)->v, UK_FOLLOWED UK_P, (m)->tau, (m)->qdd, (m)->ideal_force"
    return f"{text}#define UK_FIND_FORMULAS(m) uk_lanes_formulas({state}, {found})\n"


def regular_function(
    mechanism: ResolvedMechanism, terms: SymbolicTerms, *, pivoted: bool = False
) -> str:
    """The solution at regular states; none where there are hardly any, or it is not wanted."""
    followed = copy = same = ""
    if mechanism.follows_references:
        followed = f"\n  uk_lanes followed[{3 * max(1, len(mechanism.constraints))}];"
        copy = "\n  memcpy(kept->followed, m->followed, sizeof kept->followed);"
        same = "\n         && !memcmp(kept->followed, m->followed, sizeof m->followed)"
    kept = _KEPT.format(followed=followed, copy=copy, same=same)
    text, shared = "#define UK_REGULAR 0", 1
    if not pivoted:
        text, shared = _regular(mechanism, terms)
    return header(
        "uk_lanes_regular.h",
        part("fundamental_equation.c"),
        '#include "uk_lanes_terms.h"',
        f"#define UK_FACTOR_SHARED {shared}\n{kept}{text}",
    )


def _regular(mechanism: ResolvedMechanism, terms: SymbolicTerms) -> tuple[str, int]:
    """Text, and how much its parts share."""
    independent = _independent(mechanism)
    found = (
        regular_equation.solve(mechanism, as_inputs(terms), independent) if independent else None
    )
    if found is None:
        return "#define UK_REGULAR 0", 1
    writer = Writer(LANES)
    motion = [("shared[0]", found.lost), ("shared[1]", found.nearness)]
    motion += places(qdd=found.qdd)
    forces = places(**{name: getattr(found, name) for name in _FORCES})
    given, wanted = f"const {LANES.real} *restrict", f"{LANES.real} *restrict"
    parameters = dict.fromkeys(_ANSWERED, given)
    parameters["stabilize"] = "double"
    parameters |= dict.fromkeys(("qdd", *_FORCES), wanted)
    blocks = [
        writer.definitions(_of_the_configuration([x for _, x in motion + forces])),
        writer.statements(motion),
        writer.statements(forces),
    ]
    pieces = in_pieces("uk_lanes_regular", parameters, blocks, LANES, reserved=2)
    factor, accelerate, react = pieces.calls
    text = _REGULAR.format(factor=factor, motion=accelerate, forces=react)
    written = f"#define UK_REGULAR {found.rank} /* independent rows */\n" + pieces.functions + text
    return written, pieces.shared


def _of_the_configuration(roots: Sequence[Any]) -> list[Symbol]:
    """What follows from M and A alone and other operations below the roots need."""
    nodes = in_order(roots)
    fixed = set()
    for node in nodes:
        operands = [x for x in node.operands if isinstance(x, Symbol)]
        if all(_is_of_M_or_A(x) or x in fixed for x in operands):
            fixed.add(node)
    needed = {x for x in roots if isinstance(x, Symbol)}
    needed.update(
        x for node in nodes if node not in fixed for x in node.operands if isinstance(x, Symbol)
    )
    return [node for node in nodes if node in fixed and node in needed]


def _is_of_M_or_A(x: Symbol) -> bool:
    return x.operation == "input" and x.operands[0].startswith(("M[", "A["))


class Motions(NamedTuple):
    """What answers both equations at regular states, as a function of C."""

    # ``uk_regular_motions``: the acceleration, the multipliers, K by coordinate, C (rank, nv) and
    # how sure they are
    text: str
    rows: list[int]  # the independent rows, in the order of C; none where there is no such function
    corrections: list[list[int]]  # where C is not zero by structure, for each velocity
    free: list[list[int]]  # where K is not, for each velocity


def motions_function(
    mechanism: ResolvedMechanism, terms: SymbolicTerms, dialect: Dialect = SCALAR
) -> Motions:
    """Acceleration, multipliers, and what answers both equations, at regular states."""
    found = _coordinates(mechanism, inputs := as_inputs(terms))
    if found is None:
        return Motions("#define UK_MOTIONS 0", [], [], [])
    nv, rows = len(inputs.F), found.rows.order
    # the coordinates of unit forces, (nv, nv − rank)
    whole = as_objects([found.admissible({i: 1.0}).coordinates for i in range(nv)])
    corrections = [found.correction(r) for r in rows]
    text = function(
        "uk_regular_motions",
        _ANSWERED,
        ("qdd", "multipliers", "free_motions", "corrections", "sure"),
        [
            *places(
                qdd=found.qdd,
                multipliers=found.multipliers,
                free_motions=whole.T.reshape(-1),
                sure=[found.lost, found.nearness],
            ),
            *((place, x) for place, x in places(corrections=corrections) if not is_zero(x)),
        ],
        dialect,
        scalars=("stabilize",),
    )
    others = sorted(set(range(len(mechanism.constraints))) - set(rows))
    return Motions(
        f"#define UK_MOTIONS {found.rank} /* independent rows, which come first: */\n"
        + table("int", "uk_motion_rows", [*rows, *others])
        + text,
        list(rows),
        [[c for c, x in enumerate(corrections) if not is_zero(x[i])] for i in range(nv)],
        [[f for f, x in enumerate(row) if not is_zero(x)] for row in whole],
    )


def _coordinates(
    mechanism: ResolvedMechanism, inputs: SymbolicTerms
) -> regular_equation.RegularSolution | None:
    """A solution that has coordinates of the admissible motions."""
    independent = _independent(mechanism)
    if not independent:
        return None
    return regular_equation.solve(mechanism, inputs, independent, (Elimination,))


def _independent(mechanism: ResolvedMechanism) -> dict[int, int]:
    """Rows at the start; none where the multipliers of the others compile long and gain little."""
    independent = regular_equation.independent_at_start(mechanism)
    rows = len(mechanism.constraints)
    short = rows * (rows - len(independent)) ** 2 <= _LONGEST_REDUNDANCY
    return independent if short else {}


def admissible_function(
    mechanism: ResolvedMechanism, terms: SymbolicTerms, tasks: Objects, uncertain: Objects
) -> str:
    """Acceleration, task rows and motors in the admissible motions of regular states.

    tasks: The task matrix, (mt, nv); uncertain: Rows of what is uncertain, (rows, nv), as inputs.
    """
    found = _coordinates(mechanism, inputs := as_inputs(terms))
    if found is None:
        return "#define UK_ADMISSIBLE 0"
    traced = [
        inputs.graph.variable(f"A_t[{i}]") if isinstance(x, Symbol) else x
        for i, x in enumerate(tasks.reshape(-1))
    ]
    rows = [found.admissible(sparse(row)) for row in as_objects(traced).reshape(tasks.shape)]
    efforts = [found.admissible(sparse(column)) for column in mechanism.actuators.matrix.T]
    others = [found.admissible(sparse(row)) for row in uncertain]
    targets = places(
        qdd=found.qdd,
        task=[x for row in rows for x in row.coordinates],
        motor=[x for row in efforts for x in row.coordinates],
        size=[root(row.square) for row in rows],
        sure=[found.lost, found.nearness],
        uncertain_part=[x for row in others for x in row.coordinates],
    )
    more, told = (("uncertain",), ("uncertain_part",)) if others else ((), ())
    return f"#define UK_ADMISSIBLE {len(terms.F) - found.rank} /* coordinates */\n" + function(
        "uk_lanes_admissible_terms",
        (*_ANSWERED, "A_t", *more),
        ("qdd", "task", "motor", "size", "sure", *told),
        targets,
        LANES,
        scalars=("stabilize",),
    )


def _mass(terms: SymbolicTerms, parents: tuple[int, ...]) -> Targets:
    """Places of M where the tree lets it be nonzero."""
    targets: Targets = []
    for i in range(len(parents)):
        j = i
        while j >= 0:
            targets.append((f"M[{i * len(parents) + j}]", terms.M[i, j]))
            j = parents[j]
    return targets
