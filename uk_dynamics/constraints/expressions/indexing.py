# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Indices: subscripts, sums and their conditions; families over ``for_each`` and ``where``."""

import ast
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from uk_dynamics.constraints.expressions.scope import IndexValue, Scope
from uk_dynamics.constraints.expressions.syntax import syntax
from uk_dynamics.constraints.expressions.whitelist import LARGEST_INDEX_SET, MOST_ROWS
from uk_dynamics.exceptions import ExpressionError

_COMPARISONS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
}
_DEEPEST_CONDITION = 20
FAMILY_KEYS = ("indices", "for_each", "where")
_MOST_PASSES = 10 * MOST_ROWS  # of which ``where`` may leave MOST_ROWS


class Indexing:
    """Reads what stands in square brackets and behind ``for`` and ``if``, in a scope."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def subscripted(self, node: ast.Subscript) -> str:
        """The name ``x_<i>`` that ``x[i]`` stands for; ExpressionError: no name, or no index."""
        if not isinstance(node.value, ast.Name):
            raise ExpressionError("square brackets stand behind a name, such as x[i]")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not parts:
            raise ExpressionError("the square brackets are empty; write an index, such as x[i]")
        return "_".join([node.value.id, *(str(self._index(part, 0)) for part in parts)])

    def loops(
        self, loops: Sequence[ast.comprehension], count: Callable[[], None]
    ) -> Iterator[Scope]:
        """The scopes in which the body of ``sum(body for i in SET if ...)`` is read.

        The loops come outermost first; ``count`` is called for each pass, to bound them.
        """
        loop = loops[0]
        if not isinstance(loop.target, ast.Name) or not isinstance(loop.iter, ast.Name):
            raise ExpressionError("a loop is written for i in INDEX_SET")
        name = loop.target.id
        self._scope.check_new(name, "index")
        for value in index_set(self._scope, loop.iter.id):
            count()
            scope = self._scope.bound(name, value)
            inner = Indexing(scope)
            if not all(inner.holds(condition) for condition in loop.ifs):
                continue
            if len(loops) == 1:
                yield scope
            else:
                yield from inner.loops(loops[1:], count)

    def holds(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a condition on indices holds, such as ``i != j and i < 3``."""
        if depth > _DEEPEST_CONDITION:
            raise ExpressionError("the condition is nested too deep")
        match node:
            case ast.BoolOp(op=ast.And()):
                return all(self.holds(part, depth + 1) for part in node.values)
            case ast.BoolOp():
                return any(self.holds(part, depth + 1) for part in node.values)
            case ast.UnaryOp(op=ast.Not()):
                return not self.holds(node.operand, depth + 1)
            case ast.Compare():
                values = [self._index(part, depth) for part in (node.left, *node.comparators)]
                return all(
                    _compare(op, first, second)
                    for op, first, second in zip(node.ops, values[:-1], values[1:], strict=True)
                )
        raise ExpressionError("a condition compares indices, such as i != j or i < 3")

    def _index(self, node: ast.expr, depth: int) -> IndexValue:
        if depth > _DEEPEST_CONDITION:
            raise ExpressionError("the index is nested too deep")
        match node:
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                return value
            case ast.Name(id=name) if name in self._scope.bindings:
                return self._scope.bindings[name]
            case ast.Name(id=name) if any(name in s for s in self._scope.indices.values()):
                return name
            case ast.Name(id=name):
                known = ", ".join(self._scope.bindings) or "none here"
                raise ExpressionError(f'no index "{name}"; there are: {known}')
            case ast.UnaryOp(op=ast.USub()):
                inner = self._index(node.operand, depth + 1)
                if isinstance(inner, int):
                    return -inner
            case ast.BinOp() if type(node.op) in _ARITHMETIC:
                first = self._index(node.left, depth + 1)
                second = self._index(node.right, depth + 1)
                if isinstance(first, int) and isinstance(second, int):
                    return _ARITHMETIC[type(node.op)](first, second)
        raise ExpressionError("an index is a name, a whole number, or a sum of these such as i + 1")


def index_set(scope: Scope, name: str, place: str = "") -> tuple[IndexValue, ...]:
    """Values of an index set; ``place`` begins the error where there is none."""
    if name not in scope.indices:
        known = ", ".join(scope.indices)
        remedy = f"there are: {known}" if known else "declare it under indices: {NAME: [1, 2, 3]}"
        raise ExpressionError(f'{place}no index set "{name}"; {remedy}')
    return scope.indices[name]


def _compare(op: ast.cmpop, first: IndexValue, second: IndexValue) -> bool:
    if isinstance(first, int) and isinstance(second, int) and type(op) in _COMPARISONS:
        return _COMPARISONS[type(op)](first, second)
    if isinstance(op, ast.Eq | ast.NotEq):
        return (first == second) == isinstance(op, ast.Eq)
    raise ExpressionError("names of indices can only be compared by == and !=")


def index_scope(declared: Mapping[str, Any]) -> Scope:
    """A scope with index sets, each declared by a number or by a list of values."""
    sets: dict[str, tuple[IndexValue, ...]] = {}
    for name, values in declared.items():
        found = range(1, values + 1) if isinstance(values, int) else values
        if len(found) > LARGEST_INDEX_SET:
            raise ExpressionError(
                f"an index set has {len(found)} values; at most {LARGEST_INDEX_SET} can be used"
            )
        Scope().check_new(name, "index set")
        sets[name] = tuple(found)
    return Scope(indices=sets)


def passes(
    for_each: Mapping[str, str], where: str | None, scope: Scope
) -> Iterator[dict[str, IndexValue]]:
    """Values of the indices for each pass through ``for_each``, in declared order."""
    condition = None if where is None else syntax(where)[0]
    for index, name in for_each.items():
        scope.check_new(index, "index")
        index_set(scope, name, f"for_each.{index}: ")
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
