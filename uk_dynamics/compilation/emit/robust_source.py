# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""C of the robust term of a servo law: what is uncertain at a state, and how large the term is."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from uk_dynamics.compilation.emit.c_source import LANES, number
from uk_dynamics.compilation.emit.c_text import header, part, table
from uk_dynamics.compilation.emit.pieces import function, places
from uk_dynamics.compilation.trace.sparse_vectors import is_zero
from uk_dynamics.compilation.trace.symbols import Graph, Objects, Symbol, as_objects
from uk_dynamics.compilation.trace.terms import StateInputs
from uk_dynamics.core.linalg import square_root
from uk_dynamics.core.servo import (
    Known,
    highest_gain,
    metric_square,
    robust_term,
    surface,
    surface_rates,
)
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import Array


def uncertain_rows(tasks: Tasks) -> Objects:
    """The rows U, (rows, nv), as symbols of the state; none where nothing is uncertain."""
    if tasks.uncertainty is None:
        return as_objects([]).reshape(0, tasks.model.nv)
    x = StateInputs(tasks.model, 0)
    return cast(Objects, tasks.uncertainty.rows(tasks.model, x.kinematics, x.t, x.q, x.v))


def as_rows(rows: Objects) -> Objects:
    """The same as inputs ``uncertain[i]``, row by row; constants stay what they are."""
    graph = Graph()
    found = [
        graph.variable(f"uncertain[{i}]") if isinstance(x, Symbol) else x
        for i, x in enumerate(rows.reshape(-1))
    ]
    return as_objects(found).reshape(rows.shape)


def robust_definitions(tasks: Tasks) -> str:
    """What ``robust.c`` needs; a flag alone where nothing is uncertain."""
    if tasks.uncertainty is None:
        none = ("#define UK_UNCERTAIN_ROWS", "#define UK_UNCERTAIN_PART")
        return header("uk_robust.h", "#define UK_ROBUST 0", *none)
    losses = tasks.uncertainty.motor_losses()
    U, motors = uncertain_rows(tasks), range(len(tasks.mechanism.actuators))
    constants = [place for place in places(uncertain=U) if not is_zero(place[1])]
    return header(
        "uk_robust.h",
        '#include "uk_lanes.h"',
        part("attributes.h"),
        "#define UK_ROBUST 1",
        "#define UK_UNCERTAIN_ROWS , w->uncertain",
        "#define UK_UNCERTAIN_PART , w->uncertain_part",
        f"#define UK_UNCERTAIN {len(U)} /* rows of what is uncertain */",
        table("double", "uk_motor_loss", (losses.get(m, 0.0) for m in motors)),
        function("uk_lanes_uncertain_rows", ("q", "v"), ("uncertain",), constants, LANES),
        _surface(),
        _highest_gain(),
        _term(tasks),
    )


def _surface() -> str:
    """The surface of one row."""
    given = ("error", "rate", "damping", "stiffness")
    graph = Graph()
    s = surface(*(graph.variables(name, 1) for name in given))
    return function("uk_lanes_surface", given, ("s",), places(s=s), LANES, ())


def _highest_gain() -> str:
    """The bandwidth that a delay allows."""
    graph, given = Graph(), ("delay", "rate")
    gain = highest_gain(*(graph.variables(name, 1) for name in given))
    return function("uk_lanes_highest_gain", given, ("gain",), places(gain=gain), LANES, ())


def robust_start(tasks: Tasks, known: Known | None) -> str:
    """Statements that set what is known of the uncertainty, for programs without ours."""
    uncertainty, constraints = tasks.uncertainty, tasks.constraints
    if uncertainty is None or known is None:
        return ""
    spec, b = uncertainty.spec, surface_rates(constraints.damping, constraints.stiffness)[1]
    lines = ["robust = 1.0", f"robust_turn = {number(float(known.turn[0]))}"]
    lines.append(f"robust_cubic = {number(float(known.surface[0]))}")
    if spec.bandwidth is not None:
        lines.append(f"robust_gain = {number(math.tau * spec.bandwidth)}")
    text = "".join(f"  m->{line};\n" for line in lines)
    if spec.bandwidth is None:
        text += f"  const double delay = {number(spec.delay)} + 0.5 * period;\n"
        text += f"  const double rate = {number(float(b.max()))};\n"
        text += "  uk_lanes_highest_gain(&delay, &rate, &m->robust_gain);\n"
    return text


def _term(tasks: Tasks) -> str:
    """The rule of :func:`robust_term` with the shares of what is uncertain."""
    assert tasks.uncertainty is not None
    uncertainty, x = tasks.uncertainty, StateInputs(tasks.model, 0)
    graph, rows, count = x.graph, len(tasks.constraints), uncertainty.row_count

    def of(name: str, size: int) -> Any:
        return graph.variables(name, size)

    efforts, sums = of("efforts", len(tasks.mechanism.actuators)), of("sums", 2)
    shares = uncertainty.shares(tasks.model, x.kinematics, x.v, of("motion", count), efforts)
    products = of("products", count * count).reshape(count, count)
    squares = np.stack([_square(share, products) for share in shares])
    gain, turn, cubic, size = of("known", 4)[:, None]
    own = metric_square(of("gram", rows * rows).reshape(rows, rows), of("unit", rows))
    sizes = np.stack((own * size * size, sums[:1] * size * size, sums[1:] * size))
    term = robust_term(squares, uncertainty.groups, cast(Array, sizes), Known(gain, turn, cubic))
    told = np.concatenate((*term, square_root(own) * size))
    given = ("q", "v", "motion", "efforts", "products", "gram", "unit", "sums", "known")
    return function("uk_lanes_robust_term", given, ("told",), places(told=told), LANES, ())


def _square(share: Any, products: Any) -> Any:
    """Size of one direction, β G βᵀ."""
    held = [k for k, x in enumerate(share) if not is_zero(x)]
    total: Any = 0.0
    for k in held:
        for other in held:
            total = total + share[k] * share[other] * products[min(k, other), max(k, other)]
    return total
