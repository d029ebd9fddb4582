# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""C of what a servo law does because its model may be wrong.

That is the robust term: what is uncertain at a state, and how large the term is; and what the law
learns from period to period: its estimates, and disturbances.
"""

from functools import partial
from typing import Any, cast

import numpy as np

from uk_dynamics.compilation.emit.c_source import LANES, number
from uk_dynamics.compilation.emit.c_text import header, joined, part, table
from uk_dynamics.compilation.emit.functions import Shapes, function, ones, places, rule
from uk_dynamics.compilation.emit.layout import ROBUST_KNOWN
from uk_dynamics.compilation.trace.sparse_vectors import is_zero
from uk_dynamics.compilation.trace.symbols import Graph, Objects, Symbol, as_objects
from uk_dynamics.compilation.trace.terms import StateInputs
from uk_dynamics.core.linalg import metric_square, square_root
from uk_dynamics.core.servo import (
    Adaptation,
    Instant,
    Known,
    Learned,
    Measurement,
    Watched,
    highest_gain,
    lag_share,
    learned,
    next_scale,
    observed,
    robust_term,
    settled_gain,
    smoothed,
    surface,
    surface_rates,
    watched,
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
        rule("uk_lanes_surface", ones("error", "rate", "damping", "stiffness"), "s", surface),
        rule("uk_lanes_highest_gain", ones("delay", "rate"), "gain", highest_gain),
        _term(tasks),
    )


def robust_start(tasks: Tasks, known: Known | None) -> str:
    """Statements that set what is known of the uncertainty, for programs without ours."""
    uncertainty, constraints = tasks.uncertainty, tasks.constraints
    if uncertainty is None or known is None:
        return ""
    spec, b = uncertainty.spec, surface_rates(constraints.damping, constraints.stiffness)[1]
    pairs = [("robust", 1.0), *zip(ROBUST_KNOWN, (float(x[0]) for x in known), strict=True)]
    text = "".join(f"  m->{name} = {number(value)};\n" for name, value in pairs)
    rate, learning = float(b.max()), float(known.learning[0])
    if spec.bandwidth is None:
        text += f"  const double delay = {number(spec.delay)} + 0.5 * period;\n"
        text += f"  const double rate = {number(rate)};\n"
        text += "  uk_lanes_highest_gain(&delay, &rate, &m->robust_gain);\n"
    if spec.leakage is not None:
        text += f"  m->leakage = {number(spec.leakage)};\n"
    if tasks.adaptive:
        part = learning / (rate + float(known.gain[0]))
        text += f"  m->robust_learning = {number(part)} * ({number(rate)} + m->robust_gain);\n"
        text += (
            "  for (int p = 0; p < UK_ADAPTIVE; ++p) m->information[p * (UK_ADAPTIVE + 1)] = 1.0;\n"
        )
        text += "  m->adapts = period > 0.0;\n"
    return text


def observer_start(tasks: Tasks) -> str:
    """The same of what is observed, and of the delay that predictions know."""
    if not tasks.corrected:
        return ""
    delay = 0.0 if tasks.spec.robust is None else tasks.spec.robust.delay
    text, rates = "", {"observer_rate": tasks.observed}
    if tasks.watched.any():
        rates["watch_rate"] = tasks.watched
    for name, values in rates.items():
        text += f"  {table('double', name, values)}\n"
        text += f"  memcpy(m->{name}, {name}, sizeof {name});\n"
    text += f"  m->loop_delay = {number(delay)};\n"
    if tasks.observed.any():
        text += "  m->observes = period > 0.0;\n"
    return text


def _term(tasks: Tasks) -> str:
    """The rule of :func:`robust_term` with the shares of what is uncertain."""
    assert tasks.uncertainty is not None
    uncertainty, x = tasks.uncertainty, StateInputs(tasks.model, 0)
    graph, rows, count = x.graph, len(tasks.constraints), uncertainty.row_count

    def of(name: str, size: int) -> Any:
        return graph.variables(name, size)

    efforts, sums = of("efforts", len(tasks.mechanism.actuators)), of("sums", 2)
    *known, size = of("known", 8)[:, None]
    gram, unit = of("gram", rows * rows).reshape(rows, rows), of("unit", rows)
    products = of("products", count * count).reshape(count, count)
    given = ["q", "v", "motion", "efforts", "products", "gram", "unit", "sums", "known"]
    motion, learns = of("motion", count), _adaptation(tasks, x)
    if learns is not None:
        motion = learns.motion(motion, gram)
    shares = uncertainty.shares(tasks.model, x.kinematics, x.v, motion, efforts)
    squares, results = np.stack([_square(share, products) for share in shares]), {}
    pairs = sorted({pair for share in shares for pair in _pairs(share)})
    if learns is not None:
        squares = learns.larger(squares)
        found = learns.regression(shares, gram, unit * size, known[3])
        results = dict(zip(("regressor", "explaining", "push"), found, strict=True))
        given += ["crossed", "added", "lacking", "estimate", "adapts"]
    own = metric_square(gram, unit)
    sizes = np.stack((own * size * size, sums[:1] * size * size, sums[1:] * size))
    term = robust_term(squares, uncertainty.groups, cast(Array, sizes), Known(*known))
    told = np.concatenate((*term, square_root(own) * size))
    targets = places(told=told, **{name: value.ravel() for name, value in results.items()})
    wanted = ("told", *results)
    return joined(
        f"#define UK_PAIRS {len(pairs)}",
        table("int", "uk_pair", [x for pair in pairs for x in pair]),
        function("uk_lanes_robust_term", tuple(given), wanted, targets, LANES, ()),
    )


def _adaptation(tasks: Tasks, x: StateInputs) -> Adaptation | None:
    """What adaptation knows, as symbols; None: nothing is estimated."""
    uncertainty, rows, variables = tasks.uncertainty, len(tasks.constraints), x.graph.variables
    if uncertainty is None or not uncertainty.adaptive:
        return None
    crossed = variables("crossed", rows * uncertainty.row_count).reshape(rows, -1)
    inertias = uncertainty.inertias(tasks.model, x.kinematics, crossed)[list(uncertainty.adaptive)]
    return Adaptation(
        *(uncertainty.adaptive, crossed, inertias, variables("added", rows)),
        *(variables("lacking", rows), variables("estimate", tasks.adaptive)),
        variables("adapts", 1),
    )


def _square(share: Any, products: Any) -> Any:
    """Size of one direction, β G βᵀ."""
    total: Any = 0.0
    for k, other in _pairs(share):
        twice = 1.0 if k == other else 2.0
        total = total + twice * share[k] * share[other] * products[k, other]
    return total


def _pairs(share: Any) -> list[tuple[int, int]]:
    """Rows whose products are in the size of a direction, the earlier one first."""
    held = [k for k, x in enumerate(share) if not is_zero(x)]
    return [(k, other) for k in held for other in held if k <= other]


def correction_definitions(tasks: Tasks) -> str:
    """What ``correction.c`` needs; flags alone where nothing is corrected."""
    watches = bool(tasks.watched.any())
    numbers = {"CORRECTED": tasks.corrected, "ADAPTIVE": tasks.adaptive, "WATCHES": watches}
    falls = None if tasks.uncertainty is None else tasks.uncertainty.gain_falls
    numbers |= {"LEARNS_SIZE": tasks.learns_size, "GAIN_FALLS": falls is not None}
    flags = [f"#define UK_{name} {int(number)}" for name, number in numbers.items()]
    if not tasks.corrected:
        return header("uk_correction.h", *flags)
    scale, p = ones("scale", "growth", "leakage", "elapsed"), tasks.adaptive
    rules: list[str] = []
    if falls is not None:
        known: Shapes = {"information": (p, p), "adapts": 1}
        rules.append(rule("uk_lanes_settled_gain", known, "gain", partial(settled_gain, *falls)))
    return header(
        "uk_correction.h",
        '#include "uk_lanes.h"',
        part("attributes.h"),
        *flags,
        rule("uk_lanes_lag_share", ones("elapsed", "time"), "share", lag_share),
        _observed(len(tasks.constraints)),
        *([_learned(tasks)] if tasks.adaptive else ()),
        *rules,
        *([rule("uk_lanes_next_scale", scale, "next", next_scale)] if tasks.learns_size else ()),
        *([_watched(len(tasks.constraints))] if watches else ()),
    )


def _instant(rows: int) -> Shapes:
    """Shapes of what :func:`_compared` is given."""
    return {"told": (4, 1), **dict.fromkeys(Instant._fields[1:], rows)}


def _compared(told: Array, *others: Array) -> Instant:
    return Instant(Measurement(*told), *others)


def _observed(rows: int) -> str:
    given = _instant(rows) | {"past": (2, rows), "explained": rows, "bandwidth": rows}
    return rule("uk_lanes_observed", given, "left", lambda *x: observed(_compared(*x[:5]), *x[5:]))


def _watched(rows: int) -> str:
    past: Shapes = {"state": (3, rows), "past_followed": (3, rows)}
    given = _instant(rows) | past | {"error": rows, "followed": (3, rows)}
    given |= {"explained": rows, "bandwidth": rows}

    def left(*x: Array) -> Array:
        found = watched(_compared(*x[:5]), Watched(*x[5:7]), *x[7:])
        return np.concatenate([y.ravel() for y in found])

    joint: Shapes = {"told": (4, 1)} | ones("v", "ahead_of", "rate", "a", "ahead", "bandwidth")

    def seen(told: Array, v: Array, *x: Array) -> Array:
        return smoothed(Measurement(*told), v, np.stack(x[:3]), *x[3:])

    return "\n".join(
        (
            rule("uk_lanes_watched", given, "left", left),
            rule("uk_lanes_smoothed", joint, "seen", seen),
        )
    )


def _learned(tasks: Tasks) -> str:
    assert tasks.uncertainty is not None
    rows, p, ends = len(tasks.constraints), tasks.adaptive, tasks.uncertainty.ends()
    given = _instant(rows) | {
        "estimate": p,
        "fitted": p,
        "information": (p, p),
        "filtered_regressor": (2, rows, p),
        "filtered": (2, 2, rows),
        "variance": rows,
        "settled": 1,
        "regressor": (rows, p),
        "push": p,
    }

    def left(*x: Array) -> Array:
        *past, regressor, push = x[5:]
        found = learned(_compared(*x[:5]), Learned(*past), regressor, push, ends)
        return np.concatenate([y.ravel() for y in found])

    return rule("uk_lanes_learned", given, "left", left)
