# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""C source for trees of clusters: tables describe the mechanism, only types of rows are generated.

Its length does not depend on the size of a mechanism, and one library serves all mechanisms whose
rows have the same types.

Functions of spatial inertias are traced from their matrices. Vectors have their linear part first.
A rigid inertia has 10 numbers: mass, first moment, inertia about the point. An articulated one has
21: of [[A, B], [Bᵀ, C]] the symmetric A, B and the symmetric C. Symmetric matrices are xx, xy, xz,
yy, yz, zz.
"""

from functools import cache
from typing import Any

import numpy as np

from uk_dynamics.compilation.emit.c_source import SCALAR
from uk_dynamics.compilation.emit.c_text import defines, header, joined, part, table
from uk_dynamics.compilation.emit.constants import config
from uk_dynamics.compilation.emit.functions import Shapes, function, places, rule
from uk_dynamics.compilation.emit.generate import (
    ONE_STATE,
    batch_declarations,
    configuration,
    declarations,
    following,
    free_joint,
    motion,
)
from uk_dynamics.compilation.emit.layout import integrates
from uk_dynamics.compilation.emit.motor_source import allocation, motors
from uk_dynamics.compilation.emit.robust_source import correction_definitions, robust_definitions
from uk_dynamics.compilation.emit.servo_source import (
    bounded_rows,
    control_period,
    distribution,
    servo_declarations,
    task_rows,
)
from uk_dynamics.compilation.trace.row_kinds import INPUTS, families, traced_pair, traced_row, width
from uk_dynamics.compilation.trace.symbols import Graph, Objects
from uk_dynamics.constraints.rows import ConstraintSet
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import ResolvedMechanism

_UPPER = np.triu_indices(3)


@cache
def spatial() -> str:
    """Functions of rigid and articulated inertias."""
    graph = Graph()
    sizes = {"rigid": 10, "yielding": 21, "R": 9, "arm": 3, "center": 3, "own": 6, "mass": 1}
    arrays: list[Any] = [graph.variables(*one) for one in (sizes | {"x": 6, "y": 6}).items()]
    rigid, yielding, R, arm, center, own, mass, x, y = arrays
    momentum, force = _rigid(rigid) @ x, _rigid(rigid) @ y
    turning = np.concatenate(  # of the momentum that moves with the body
        [_skew(x[3:]) @ momentum[:3], _skew(x[3:]) @ momentum[3:] + _skew(x[:3]) @ momentum[:3]]
    )
    rotation = R.reshape(3, 3)
    to_center = arm + rotation @ center
    turned = _moved(_rigid(np.concatenate([mass, 0.0 * center, own])), np.zeros(3))
    turned[3:, 3:] = rotation @ _symmetric(own) @ rotation.T
    functions: dict[str, tuple[tuple[str, ...], Any]] = {
        "uk_momentum": (("rigid", "x"), momentum),
        # the force that a body needs to move at x and accelerate at y
        "uk_bias": (("rigid", "x", "y"), force + turning),
        # of a body whose origin is `arm` away from the point and whose rotation is R
        "uk_rigid": (("mass", "center", "own", "R", "arm"), _ten(_moved(turned, to_center))),
        # about a point from which that of the inertia is `arm` away
        "uk_move_rigid": (("rigid", "arm"), _ten(_moved(_rigid(rigid), arm))),
        "uk_move_articulated": (("yielding", "arm"), _many(_moved(_articulated(yielding), arm))),
        "uk_as_articulated": (("rigid",), _many(_rigid(rigid))),
        "uk_apply_articulated": (("yielding", "x"), _articulated(yielding) @ x),
        "uk_held_articulated": (("x",), _many(np.outer(x, x))),
    }
    written = (
        function(name, given, ("found",), places(found=values), scalars=())
        for name, (given, values) in functions.items()
    )
    return header("uk_spatial.h", part("attributes.h"), *written, _root())


def _root() -> str:
    """Where a floating root is: its place in that of its joint."""

    def placed(place: Any, rotation: Any, translation: Any) -> tuple[Any, Any]:
        turn = _skew(place[3:6])
        turned = np.eye(3) + 2.0 * (place[6:] * turn + turn @ turn)
        return rotation @ turned, rotation @ place[:3] + translation

    sizes: Shapes = {"place": 7, "rotation": (3, 3), "translation": 3}
    return rule("uk_root_place", sizes, ("R", "o"), placed, SCALAR)


def _skew(x: Any) -> Objects:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]], dtype=object)


def _symmetric(x: Any) -> Objects:
    return np.array([[x[0], x[1], x[2]], [x[1], x[3], x[4]], [x[2], x[4], x[5]]], dtype=object)


def _rigid(x: Any) -> Objects:
    moment = _skew(x[1:4])
    return np.block([[np.eye(3).astype(object) * x[:1], -moment], [moment, _symmetric(x[4:])]])


def _articulated(x: Any) -> Objects:
    couple = np.reshape(x[6:15], (3, 3))
    return np.block([[_symmetric(x[:6]), couple], [couple.T, _symmetric(x[15:])]])


def _moved(inertia: Objects, arm: Any) -> Objects:
    one = np.eye(3).astype(object)
    motion = np.block([[one, -_skew(arm)], [0.0 * one, one]])
    moved: Objects = motion.T @ inertia @ motion
    return moved


def _ten(x: Objects) -> Objects:
    return np.concatenate([x[:1, 0], [x[5, 1], x[3, 2], x[4, 0]], x[3:, 3:][_UPPER]])


def _many(x: Objects) -> Objects:
    return np.concatenate([x[:3, :3][_UPPER], x[:3, 3:].ravel(), x[3:, 3:][_UPPER]])


_ROW_OF = """
/* Wrench, residual and the rest of a row. */
static inline void uk_row_of(int type, const double *Rp, const double *op, const double *Rc,
                             const double *oc, const double *angular, const double *linear,
                             const double *own, double *wrench, double *more) {{
  switch (type) {{
{cases}  }}
}}
"""


def cluster_source(mechanism: ResolvedMechanism) -> str:
    """The whole source for mechanisms with rows of the same types."""
    assert mechanism.local is not None
    return "\n".join([*_kernel(mechanism.local.constraints), part("cluster_python.c")])


def cluster_motion_source(mechanism: ResolvedMechanism) -> str:
    """What moves states of a mechanism in clusters, one or a batch, and takes samples of them."""
    return joined(
        *_between(mechanism, declarations(mechanism)),
        batch_declarations(mechanism),
        following(mechanism),
        part("references.c"),
        part("batch.c"),
        *((*motion(mechanism), part("rollout.c")) if integrates(mechanism) else ()),
    )


def cluster_servo_source(tasks: Tasks) -> str:
    """The servo law of tasks whose mechanism is in clusters; task rows alone are written out."""
    mechanism = tasks.mechanism
    unit = table("double", "uk_residual_unit", mechanism.constraints.reference_scale)
    return joined(
        *_between(mechanism, servo_declarations(tasks)),
        motors(mechanism),
        task_rows(tasks, unit),
        header("uk_lanes_law.h", '#include "uk_mechanism.h"', "typedef uk_memory uk_lanes_law;"),
        *allocation(mechanism, len(tasks.constraints), bounded=bounded_rows(tasks)),
        header("uk_admissible.h", part("cluster_admissible.c"), "#define UK_ADMISSIBLE 0"),
        distribution(tasks),
        correction_definitions(tasks),
        robust_definitions(tasks),
        part("pivoted_law.c"),
        *(control_period(tasks) if integrates(mechanism) else ()),
    )


def _between(mechanism: ResolvedMechanism, declared: str) -> list[str]:
    """What loops over clusters, and the memory of constant sizes that other parts know."""
    assert mechanism.local is not None
    return [
        *_kernel(mechanism.local.constraints),
        declared,
        header("uk_tables.h", *defines({"RANK_TOLERANCE": mechanism.spec.solver.rank_tolerance})),
        configuration(mechanism),
        header("uk_evaluation.h", part("cluster_memory.c")),
    ]


def _kernel(constraints: ConstraintSet) -> list[str]:
    return [
        config(),
        header("uk_lanes.h", ONE_STATE),
        header(
            "uk_row_kinds.h",
            part("attributes.h"),
            '#include "uk_lanes.h"',
            "#include <string.h>",
            _rows(constraints),
        ),
        free_joint(),
        spatial(),
        part("cluster_evaluate.c"),
    ]


def _rows(constraints: ConstraintSet) -> str:
    """What two frames and their rows are, as functions."""
    twist, names = traced_pair()
    results = {name: getattr(twist, name) for name in ("angular", "linear", "bias")}
    written = [
        f"#define UK_OWN {width(constraints)}",
        function("uk_relative", names, tuple(results), places(**results)),
    ]
    cases = []
    for number, family in enumerate(families(constraints)):
        row = traced_row(family)._asdict()
        written.append(function(f"uk_row_{number}", INPUTS, tuple(row), places(**row)))
        arguments = "0.0, Rp, op, Rc, oc, angular, linear, own, wrench, more"
        cases.append(f"    case {number}: uk_row_{number}({arguments}); break;\n")
    written.append(_ROW_OF.format(cases="".join(cases)))
    return "\n".join(written)
