# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""References as a table of numbers that C reads; see ``references.c``."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.compilation.emit.layout import (
    BEYOND_TIMES,
    EXPRESSION_OPERATIONS,
    OPERATION_NAMES,
    REFERENCE_HEAD,
    REFERENCE_KINDS,
)
from uk_dynamics.constraints.references import (
    Constant,
    ExpressionReference,
    Followed,
    Live,
    Polynomial,
    References,
    ReferenceSample,
    ReferenceSet,
    Sinusoid,
    Spline,
    Trajectory,
)
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, ResolvedMechanism


class ForeignReferenceError(TypeError):
    """A reference is a Python object of the user's own, which C cannot ask."""

    def __init__(self, name: str) -> None:
        self.name = name  # of what follows it
        super().__init__(f"{name} follows an object of Python")


def reference_table(
    references: ReferenceSet,  # what rows follow over time
    live: References | None = None,  # what replaces some of them, by name
    # entries of those that nothing replaces, from the last time; it is filled
    declared: dict[str, Array] | None = None,
) -> Array | None:
    """All references of a set; None: there are none. ForeignReferenceError: C does not know one."""
    live, declared = live or {}, {} if declared is None else declared
    entries: list[Array] = []
    first = 0
    for name, rows in references.rows.items():
        if name in live:
            entries.append(_entry(name, live[name], rows, first))
        elif name in references.references:
            if name not in declared:
                declared[name] = _entry(name, references.references[name], rows, first)
            entries.append(declared[name])
        first += rows
    return np.concatenate(([float(len(entries))], *entries)) if entries else None


def structural_table(
    mechanism: ResolvedMechanism,
    given: Mapping[str, ReferenceSample] | None,
    active: ActiveConstraints | None,
) -> Array | None:
    """References of structural rows, with those given and captured poses in their place."""
    if not mechanism.follows_references:
        return None
    live = {**(given or {}), **mechanism.hierarchy.captured(active)}
    return reference_table(mechanism.references, live)


def sample_table(sample: ReferenceSample) -> Array:
    """One sample of all rows."""
    data = _flat(*sample)
    return np.concatenate(
        ([1.0, REFERENCE_KINDS["SAMPLE"], len(sample.value), 0.0, REFERENCE_HEAD + len(data)], data)
    )


def _entry(name: str, followed: Followed, rows: int, first: int) -> Array:
    kind, data = _kind(name, followed, rows)
    return np.concatenate(([REFERENCE_KINDS[kind], rows, first, REFERENCE_HEAD + len(data)], data))


def _kind(name: str, followed: Followed, rows: int) -> tuple[str, Array]:
    match followed:
        case ReferenceSample():
            return "SAMPLE", _flat(*followed)
        case Constant() | Live():
            return "SAMPLE", _flat(*followed.sample(0.0))
        case Sinusoid(offset, amplitude, frequency, phase):
            parts = (offset, amplitude, 2.0 * np.pi * frequency, phase)
            return "SINUSOID", _flat(*(np.broadcast_to(part, (rows,)) for part in parts))
        case Polynomial(coefficients):
            none = np.zeros(rows)
            return "POLYNOMIALS", _polynomials("GOES_ON", [0.0, 1.0], coefficients, none, none)
        case Spline():
            inside = (followed.value.t >= followed.start) & (followed.value.t <= followed.end)
            knots = np.unique(followed.value.t[inside])  # those at the ends are several
            derivatives = [followed.value.derivative(k) for k in range(followed.value.k + 1)]
            factors = [math.factorial(k) for k in range(len(derivatives))]
            taylor = [f(knots[:-1]) / n for f, n in zip(derivatives, factors, strict=True)]
            coefficients = np.stack(taylor, axis=1)
            ends = (followed.value(t) for t in (followed.start, followed.end))
            beyond = "REPEATS" if followed.periodic else "HOLDS"
            return "POLYNOMIALS", _polynomials(beyond, knots, coefficients, *ends)
        case Trajectory(knots, pieces, end) if pieces:
            shape = (max(map(len, pieces)), rows)
            filled = [np.concatenate((x, np.zeros((shape[0] - len(x), rows)))) for x in pieces]
            return "POLYNOMIALS", _polynomials("RESTS", knots, filled, pieces[0][0], end)
        case Trajectory():
            return "SAMPLE", _flat(*ReferenceSample.at_rest(followed.end))
        case ExpressionReference():
            return "EXPRESSIONS", _expressions(followed, rows)
    raise ForeignReferenceError(name)


def _flat(*parts: ArrayLike) -> Array:
    return np.concatenate([np.ravel(np.asarray(part, dtype=float)) for part in parts])


def _polynomials(
    beyond: str, knots: ArrayLike, coefficients: ArrayLike, first: Array, last: Array
) -> Array:
    """Coefficients lowest power first: (pieces, terms, rows), or (terms, rows) of a single one."""
    found = np.asarray(coefficients, dtype=float)
    pieces, terms = (1, len(found)) if found.ndim == 2 else found.shape[:2]
    return _flat([BEYOND_TIMES[beyond], pieces, terms], knots, first, last, found)


def _expressions(reference: ExpressionReference, rows: int) -> Array:
    """Instructions for a machine whose values are t, constants, and results in order."""
    from uk_dynamics.compilation.trace.symbols import (
        Graph,
        Symbol,
        as_objects,
        in_order,  # here, since few have expressions
    )

    t = Graph().variable("t")
    nothing: Any = as_objects([])
    wanted = reference.function(t, nothing, nothing)  # type: ignore[arg-type]  # a symbol for t
    nodes = in_order(wanted)
    operands = [x for node in nodes for x in node.operands]
    constants = sorted({float(x) for x in (*operands, *wanted) if not isinstance(x, Symbol)})
    places: dict[Any, int] = {t: 0}
    places |= {x: 1 + k for k, x in enumerate(constants)}
    places |= {x: 1 + len(constants) + k for k, x in enumerate(nodes)}

    def place(x: Any) -> int:
        return places[x if isinstance(x, Symbol) else float(x)]

    code = [
        [EXPRESSION_OPERATIONS[OPERATION_NAMES[node.operation]], *map(place, node.operands), 0, 0][
            :4
        ]
        for node in nodes
    ]
    values = [0.0, *constants, *np.zeros(len(nodes))]
    return _flat([len(constants), len(nodes)], list(map(place, wanted)), code, values)
