"""Families over indices: ``indices`` declares sets, ``for_each`` loops, ``where`` chooses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

from uk_dynamics.constraints.expressions.bounds import LARGEST_INDEX_SET, MOST_ROWS
from uk_dynamics.constraints.expressions.indexing import Indexing
from uk_dynamics.constraints.expressions.scope import IndexValue, Scope
from uk_dynamics.constraints.expressions.syntax import syntax
from uk_dynamics.exceptions import ExpressionError

FAMILY_KEYS = ("indices", "for_each", "where")
_MOST_PASSES = 10 * MOST_ROWS  # of which ``where`` may leave MOST_ROWS


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
