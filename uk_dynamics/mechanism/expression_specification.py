"""Expressions as a file declares them: one text, several, or a family over indices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from uk_dynamics.constraints.expressions.bounds import LARGEST_INDEX_SET, MOST_ROWS
from uk_dynamics.constraints.expressions.indexing import Indexing
from uk_dynamics.constraints.expressions.scope import IndexValue, Scope
from uk_dynamics.constraints.expressions.syntax import syntax
from uk_dynamics.constraints.row_types import Order
from uk_dynamics.exceptions import ExpressionError, MechanismFileError
from uk_dynamics.mechanism.wording import located

FAMILY_KEYS = ("indices", "for_each", "where")
_MOST_PASSES = 10 * MOST_ROWS  # of which ``where`` may leave MOST_ROWS


@dataclass(frozen=True)
class ExpressionText:
    """One row of an expression constraint.

    Attributes:
        label: Name of the row in its constraint; empty where it is the only one.
        text: What the user wrote.
        indices: Values of the indices of ``for_each`` for this row.
        place: Key of the text in the constraint.
    """

    label: str
    text: str
    indices: Mapping[str, IndexValue]
    place: str


@dataclass(frozen=True)
class ExpressionSpec:
    """What a constraint of type expression says.

    Attributes:
        rows: Its rows, families written out.
        order: Declared order; None: what the rates that occur say.
        parameters: Constants by name.
        names: Names in the texts for joints whose own name cannot be written there.
        index_sets: Values by name of the index set.
    """

    rows: tuple[ExpressionText, ...]
    order: Order | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    index_sets: Mapping[str, tuple[IndexValue, ...]] = field(default_factory=dict)

    @classmethod
    def from_data(cls, data: Mapping[str, Any], *, file: str, place: str) -> ExpressionSpec:
        """Build it from checked data; the texts themselves are read when the joints are known.

        Raises:
            MechanismFileError: An index set, loop or condition that is none.
        """
        with located(file, place):
            scope = index_scope(data.get("indices", {}))
            bindings = list(passes(data.get("for_each", {}), data.get("where"), scope))
            texts = _texts(data)
            rows = tuple(
                ExpressionText(label_of(label, indices), text, indices, key)
                for indices in bindings
                for label, (text, key) in texts.items()
            )
        if not 0 < len(rows) <= MOST_ROWS:
            problem = f"for_each and where make {len(rows)} rows; 1 to {MOST_ROWS} can be used"
            raise MechanismFileError(problem, file=file, place=place)
        return cls(
            rows,
            data.get("order"),
            {name: float(value) for name, value in data.get("parameters", {}).items()},
            dict(data.get("names", {})),
            scope.indices,
        )


def _texts(data: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Text and key of each row by label."""
    if "expression" in data:
        return {"": (data["expression"], "expression")}
    several = data["expressions"]
    if isinstance(several, list):
        return {
            str(number): (text, f"expressions[{number - 1}]")
            for number, text in enumerate(several, start=1)
        }
    return {label: (text, f"expressions.{label}") for label, text in several.items()}


def _index_set(values: int | list[int | str]) -> tuple[IndexValue, ...]:
    found = range(1, values + 1) if isinstance(values, int) else values
    if len(found) > LARGEST_INDEX_SET:
        raise ExpressionError(
            f"an index set has {len(found)} values; at most {LARGEST_INDEX_SET} can be used"
        )
    return tuple(found)


def index_scope(declared: Mapping[str, Any]) -> Scope:
    """A scope with index sets, each declared by a number or by a list of values.

    Raises:
        ExpressionError: A name that cannot be used, or too many values.
    """
    sets = {name: _index_set(values) for name, values in declared.items()}
    scope = Scope()
    for name in sets:
        scope.check_new(name, "index set")
    return Scope(indices=sets)


def passes(
    for_each: Mapping[str, str], where: str | None, scope: Scope
) -> Iterator[dict[str, IndexValue]]:
    """Values of the indices for each pass through ``for_each``, in declared order.

    Raises:
        ExpressionError: A loop over no index set, a condition that is none, or too many passes.
    """
    condition = None if where is None else syntax(where)[0]
    for index, name in for_each.items():
        scope.check_new(index, "index")
        if name not in scope.indices:
            known = ", ".join(scope.indices) or "none; declare it under indices"
            raise ExpressionError(f'for_each.{index}: no index set "{name}"; there are: {known}')
    count = math.prod(len(scope.indices[name]) for name in for_each.values())
    if count > _MOST_PASSES:
        raise ExpressionError(f"for_each makes {count} passes; at most {_MOST_PASSES} can be used")
    for values in itertools.product(*(scope.indices[name] for name in for_each.values())):
        bindings = dict(zip(for_each, values, strict=True))
        here = Scope(indices=scope.indices, bindings=bindings)
        if condition is None or Indexing(here).holds(condition):
            yield bindings


def label_of(label: str, indices: Mapping[str, IndexValue]) -> str:
    """Name of one member of a family."""
    return "_".join([*([label] if label else []), *(str(value) for value in indices.values())])
