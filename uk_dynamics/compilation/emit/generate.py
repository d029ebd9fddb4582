# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The whole C source of a mechanism: sizes, tables, its terms, and what solves them."""

from collections.abc import Sequence
from functools import cache, partial
from itertools import starmap

import numpy as np

from uk_dynamics.compilation.emit.c_source import SCALAR, number
from uk_dynamics.compilation.emit.c_text import defines, header, hull, joined, lists, part, table
from uk_dynamics.compilation.emit.constants import STATUSES, config
from uk_dynamics.compilation.emit.functions import Shapes, rule
from uk_dynamics.compilation.emit.layout import Layout, integrates, rolls
from uk_dynamics.compilation.emit.mechanism_functions import regular_function, terms_function
from uk_dynamics.compilation.emit.motor_source import joint_space, motors, transfers
from uk_dynamics.compilation.trace.blocks import blocks_of, lasting_rows
from uk_dynamics.compilation.trace.sparse_vectors import is_zero
from uk_dynamics.compilation.trace.symbols import Objects
from uk_dynamics.compilation.trace.terms import SymbolicTerms, trace
from uk_dynamics.constraints.rows import HeightRows, HullRows
from uk_dynamics.core.contact import (
    alternating_directions,
    conditions,
    cone_problem,
    project_on_cones,
    steps,
)
from uk_dynamics.core.equation import projection
from uk_dynamics.core.integration import GAUSS_TABLES
from uk_dynamics.core.linalg import rank_rule
from uk_dynamics.mechanism.contact import BALANCE, LOOP_LOADS, ClosedContacts
from uk_dynamics.mechanism.dynamics import jump_constants
from uk_dynamics.mechanism.resolution import ResolvedMechanism
from uk_dynamics.model.kinematics import floating_motion, floating_place, floating_rate

#: A state is a lane, and its memory that of programs.
ONE_STATE = "".join(
    ["#define UK_ONE_STATE\n#define UK_WIDTH 1\n", part("one_lane.c"), part("lane_functions.c")]
)


def declarations(mechanism: ResolvedMechanism, layout: Layout | None = None) -> str:
    """What a C program needs to know: sizes, and the memory."""
    layout = layout or Layout(mechanism)
    model = mechanism.model
    varied = mechanism.varied
    sizes = {"NQ": model.nq, "NV": model.nv, "M": len(mechanism.constraints)}
    sizes["NP"] = len(varied.names) if varied else 0
    if mechanism.one_sided:
        sizes |= _contact_sizes(mechanism)
    lines = defines(sizes | STATUSES)
    lines.append(f"#define UK_P {', m->p' if sizes['NP'] else ''} /* after what is followed */")
    if mechanism.local is not None:  # behind loops over clusters, whose sizes are fields
        lines = [part("cluster_evaluate.c"), "#define UK_OF_CLUSTERS 1", *lines]
    return header("uk_mechanism.h", *lines, "", layout.c_struct())


def source(mechanism: ResolvedMechanism) -> str:
    """C source for one state at a time, also as functions of Python where its headers are."""
    return joined(
        declarations(mechanism),
        part("batch.h"),
        definitions(mechanism),
        following(mechanism),
        part("references.c"),
        part("batch.c"),
        *(motion(mechanism) if integrates(mechanism) else ()),
        part("python.c"),
    )


def joint_space_source(mechanism: ResolvedMechanism) -> str:
    """C source of ``uk_joint_space_control``: gravity compensation and hold."""
    return joined(
        declarations(mechanism),
        definitions(mechanism, pivoted=True),
        motors(mechanism),
        following(mechanism),
        *joint_space(mechanism),
    )


_OVER_CONTACTS = "rollout.h", "contact_rollout.c"


def motion(mechanism: ResolvedMechanism) -> list[str]:
    """One motion at fixed steps or with error control, with a law of control."""
    return [
        motors(mechanism),
        *closing(mechanism),
        jumps(mechanism),
        effort_limits(mechanism),
        header("uk_gauss.h", *starmap(partial(table, "double"), GAUSS_TABLES.items())),
        *map(part, ("motion.c", "adaptive.c", "delay_compensation.c")),
        *_over_contacts(mechanism),
        *transfers(mechanism),
    ]


def _contact_sizes(mechanism: ResolvedMechanism) -> dict[str, int]:
    """Directions of one-sided constraints, and their number where loop joints are among them."""
    tables = ClosedContacts(mechanism).tables
    count, directions = tables.row.shape
    return {"D": directions, "LOOP_FRICTION": count * int(tables.in_loop.any())}


def _over_contacts(mechanism: ResolvedMechanism) -> list[str]:
    if not mechanism.one_sided:
        return []
    return [*contacts(_contact_sizes(mechanism)["D"]), *map(part, _OVER_CONTACTS)]


@cache
def contacts(d: int) -> list[str]:
    """Steps over one-sided constraints of d directions, whose conditions are traced."""
    names = ["REACHED", "ADMITTED", "STALLED", "WORTH", "SHORTEST", "RANK", "SURE"]
    names += ["FLOOR", "NEAR", "KEPT", "NEWTON_STEPS", "FULL_STEPS"]
    constants = {f"CONE_{name}": getattr(cone_problem, name) for name in names}
    alternating = "FIRST", "LATER", "MOST", "PENALTY", "LIGHTEST"
    constants |= {f"CONE_{name}": getattr(alternating_directions, name) for name in alternating}
    constants["CONE_RELAXATION"] = cone_problem.RELAXATIONS[0]
    constants |= {f"BALANCE_{name}": x for name, x in BALANCE.items()}
    constants |= {f"LOOP_{name}": x for name, x in LOOP_LOADS.items()}
    tables = {"factors": cone_problem.FACTORS, "iterations": cone_problem.ITERATIONS}
    constants |= {f"CONE_{name.upper()}": len(x) for name, x in tables.items()}
    sequences = (table("double", f"uk_cone_{name}", x) for name, x in tables.items())
    given: Shapes = {"r": (d, 1), "u": (d, 1), "step": (d, 1), "friction": 1}
    written = (
        rule("uk_conditions", given, ("left", "slopes"), conditions, SCALAR),
        rule("uk_cone_steps", {"response": (d, 1), "floor": 1}, "step", steps, SCALAR),
        rule("uk_nearest_in_cone", {"x": (d, 1), "friction": 1}, "found", project_on_cones, SCALAR),
    )
    includes = "#include <math.h>\n#include <string.h>\n", part("attributes.h")
    text = header("uk_conditions.h", *includes, *defines(constants), *sequences, *written)
    return [text, part("moreau_step.c")]


def contact_declarations(mechanism: ResolvedMechanism) -> list[str]:
    """What programs that step over one-sided constraints know of them; empty: there are none."""
    if not mechanism.one_sided:
        return []
    count, poisson = len(mechanism.one_sided), ClosedContacts(mechanism).tables.poisson
    sizes = header("uk_contact_sizes.h", *defines({"CONTACTS": count, "POISSON": int(poisson)}))
    return [sizes, part("contact.h"), part("contact_step.h")]


def contact_step(mechanism: ResolvedMechanism) -> list[str]:
    """Single steps over one-sided constraints, for programs; empty: there are none."""
    if not mechanism.one_sided:
        return []
    tables = ClosedContacts(mechanism).tables
    active = mechanism.hierarchy.acting().astype(float)
    names = ["row", "part", "friction", "static_friction", "restitution", "gap", "pitch", "load"]
    names += ["in_loop", "load_map"] * bool(tables.in_loop.any())
    arrays = {"active": active} | {name: getattr(tables, name) for name in names}
    kinds = {name: "double" if x.dtype == float else "long long" for name, x in arrays.items()}
    text = header(
        "uk_contact_tables.h",
        *defines({"CONTACT_CLOSE": tables.close, "CONTACT_RESTING": tables.resting}),
        *(table(kinds[name], f"uk_contact_{name}", np.ravel(x)) for name, x in arrays.items()),
    )
    steps = contacts(tables.row.shape[1])
    return [following(mechanism), *closing(mechanism), *steps, text, part("contact_step.c")]


def jumps(mechanism: ResolvedMechanism) -> str:
    """What tells a jump from an error of integration."""
    return header("uk_jumps.h", *defines(jump_constants(mechanism)))


def effort_limits(mechanism: ResolvedMechanism) -> str:
    """What motors can."""
    limits = table("double", "uk_effort_limit", mechanism.actuators.effort_limits)
    return header("uk_effort_limit.h", limits)


def configuration(mechanism: ResolvedMechanism) -> str:
    """Which joints have several coordinates."""
    bodies, widths = mechanism.model.bodies, {"floating": 6, "planar": 3}
    free = [body for body in bodies if body.kind in widths]
    single = np.full(mechanism.model.nv, -1)
    for body in bodies:
        if body.kind not in widths:
            single[body.velocity] = body.position
    places = [x for b in free for x in (widths[b.kind], b.position, b.velocity)]
    tables = table("int", "uk_free", places), table("int", "uk_single", single)
    count = f"#define UK_FREE_JOINTS {len(free)}"
    text = header("uk_configuration.h", count, *(tables if free else ()))
    return text + (free_joint() if free else header("uk_free_joint.h"))


@cache
def free_joint() -> str:
    """The motions of floating joints, which are traced from those in Python."""
    written = (
        rule("uk_float_along", {"place": 7, "motion": 6}, "reached", floating_place, SCALAR),
        rule("uk_float_way", {"place": 7, "other": 7}, "way", floating_motion, SCALAR),
        rule("uk_float_rate", {"motion": 6, "v": 6}, "rate", floating_rate, SCALAR),
    )
    includes = "#include <math.h>\n", part("attributes.h"), '#include "uk_lanes.h"'
    return header("uk_free_joint.h", *includes, *written)


def closing(mechanism: ResolvedMechanism) -> list[str]:
    """The projection of states onto the loops."""
    return [_projection(mechanism), header("uk_closing.h", part("projection.c"))]


def following(mechanism: ResolvedMechanism) -> str:
    """Whether rows follow something over time, and whether some act in one direction."""
    flags = {"FOLLOWS": mechanism.follows_references, "ONE_SIDED": bool(mechanism.one_sided)}
    flags["BALANCES"] = mechanism.balances
    flags["ALONG"] = mechanism.of_places and bool(mechanism.hierarchy.rigid.all())
    return header("uk_following.h", *defines({name: int(on) for name, on in flags.items()}))


def batch_source(mechanism: ResolvedMechanism) -> str:
    """C source for many states at once; needs vectors as GCC and Clang have them."""
    declared = declarations(mechanism), batch_declarations(mechanism)
    return "\n".join([*declared, batch_definitions(mechanism)])


def batch_declarations(mechanism: ResolvedMechanism) -> str:
    """Further declarations for many states: arrays of them."""
    return part("batch.h") + ("\n" + part("rollout.h") if rolls(mechanism) else "")


def batch_definitions(mechanism: ResolvedMechanism) -> str:
    """Everything behind the declarations, for many states and their trajectories."""
    terms = trace(mechanism)
    return joined(
        tables(mechanism, terms),
        terms_function(mechanism, terms),
        regular_function(mechanism, terms),
        header("uk_evaluation.h", part("evaluate.c")),
        following(mechanism),
        part("batch.c"),
        *(
            (configuration(mechanism), *closing(mechanism), jumps(mechanism), part("rollout.c"))
            if rolls(mechanism)
            else ()
        ),
    )


def _projection(mechanism: ResolvedMechanism) -> str:
    """Which rows hold positions and motions, and how near they have to be."""
    constants = {"REACHED": max(projection.REACHED, mechanism.closure_tolerance)}
    constraints = mechanism.constraints
    constants["LENGTH"] = mechanism.spec.model.length
    if not len(constraints):
        return header("uk_projection.h", *defines(constants))
    holds = constraints.position_rows & constraints.motion_rows
    return header(
        "uk_projection.h",
        *defines(constants | {"ALL_ROWS_HOLD": int(holds.all())}),
        table("double", "uk_position_row", constraints.position_rows),
        table("double", "uk_motion_row", constraints.motion_rows),
    )


def definitions(
    mechanism: ResolvedMechanism, terms: SymbolicTerms | None = None, *, pivoted: bool = False
) -> str:
    """Everything behind the declarations, for one state, with no need but <math.h>."""
    terms = terms or trace(mechanism)
    return joined(
        tables(mechanism, terms, ONE_STATE),
        terms_function(mechanism, terms),
        configuration(mechanism),
        regular_function(mechanism, terms, pivoted=pivoted),
        header("uk_evaluation.h", part("evaluate.c")),
    )


def tables(mechanism: ResolvedMechanism, terms: SymbolicTerms, lanes: str = part("lanes.c")) -> str:
    """Constants of the mechanism, apart from its terms, and what a lane is."""
    solver = mechanism.spec.solver
    constraints = mechanism.constraints
    parents = mechanism.model.velocity_parents
    support = [_support(row, parents) for row in terms.A]
    tree = [_support(row, parents) for row in np.eye(len(parents), dtype=object)]
    parts = [
        f"#define UK_SWITCHED {int(mechanism.hierarchy.switches)} /* rows, on and off */",
        f"#define UK_VECTORS {int(bool(mechanism.one_sided))} /* loops of one state become such */",
        f"#define UK_FOLLOWED {'m->followed' if mechanism.follows_references else '0'}",
        f"#define UK_RANK_TOLERANCE {number(solver.rank_tolerance)}",
        f"#define UK_CONSISTENCY_TOLERANCE {number(solver.consistency_tolerance)}",
        table("int", "uk_parent", parents),
        f"#define UK_TREE_ENTRIES {sum(map(len, tree))} /* of M, below the diagonal, too */",
        *_blocks(mechanism, support),
    ]
    if len(constraints):
        parts += [
            table("int", "uk_support_start", np.cumsum([0, *map(len, support)])),
            table("int", "uk_support", [i for row in support for i in row]),
            table("double", "uk_natural_scale", mechanism.natural_scale),
            table("double", "uk_handicap", rank_rule.tie_handicap(len(constraints))),
            table("double", "uk_damping", constraints.damping),
            table("double", "uk_stiffness", constraints.stiffness),
        ]
    sizes = ""
    for family, _ in constraints.layout.families:
        if isinstance(family, HeightRows):
            parts.append(table("double", family.table.name, family.table.values))
        elif isinstance(family, HullRows):
            hulls = {body.name: body for pair, _ in family.pairs for body in pair.hulls}.values()
            most = {"HULL_CORNERS": max(len(body.corners) for body in hulls)}
            most["HULL_FACES"] = max(len(body.normals) for body in hulls)
            sizes = header("uk_hull_sizes.h", *defines(most))
            parts += [part("convex_hulls.c"), *(text for body in hulls for text in hull(body))]
    # derivatives at many states need few of them
    parts = [x.replace("static const", "UK_OPTIONAL static const") for x in parts]
    own = header("uk_tables.h", part("attributes.h"), *parts)
    memory = "typedef uk_memory uk_lanes_memory; /* a program's: the same fields, all doubles */"
    if lanes is not ONE_STATE:
        memory = Layout(mechanism).lanes_struct()
    state = header(
        "uk_lanes_memory.h", '#include "uk_lanes.h"', '#include "uk_mechanism.h"', memory
    )
    return "\n".join([config(), header("uk_lanes.h", lanes), sizes, own, state])


def _blocks(mechanism: ResolvedMechanism, support: Sequence[Sequence[int]]) -> list[str]:
    """What steps over contacts eliminate block by block, where that is worth it."""
    found = blocks_of(lasting_rows(mechanism, support), mechanism.model.nv)
    if found is None or mechanism.contact_friction.pins:  # loads are of multipliers of all rows
        return ["#define UK_BLOCKS 0"]
    others = sorted(set(range(len(support))).difference(*found.rows))
    return [
        *defines(found.sizes() | {"OTHER_ROWS": len(others)}),
        table("int", "uk_shared", found.shared),
        table("int", "uk_other_row", others),
        *lists("uk_block_column", found.columns),
        *lists("uk_block_row", found.rows),
    ]


def _support(row: Objects, parents: tuple[int, ...]) -> list[int]:
    """Velocities that a row touches and all before them towards the root, last first."""
    found = set()
    for i, x in enumerate(row):
        j = i if not is_zero(x) else -1
        while j >= 0 and j not in found:
            found.add(j)
            j = parents[j]
    return sorted(found, reverse=True)
