# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""From a user's text to a tree, by the whitelist over Python's grammar in :mod:`.whitelist`.

Nothing of the text is ever run: every node of its syntax tree that is not read here is refused
with its column.
"""

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from uk_dynamics.constraints.expressions import nodes
from uk_dynamics.constraints.expressions.indexing import Indexing
from uk_dynamics.constraints.expressions.nodes import Expression, Number, Power, Product
from uk_dynamics.constraints.expressions.scope import Scope
from uk_dynamics.constraints.expressions.syntax import nested_too_deep, syntax
from uk_dynamics.constraints.expressions.whitelist import (
    DEEPEST_NESTING,
    FUNCTIONS,
    LARGEST_EXPONENT,
    MOST_OPERATIONS,
    OPERATORS,
    RATES,
)
from uk_dynamics.did_you_mean import closest, did_you_mean
from uk_dynamics.exceptions import ExpressionError


def parse(text: str, scope: Scope) -> Expression:
    """Read an expression."""
    tree, start = syntax(text)
    return _Reader(start).read(tree, scope)


class _Reader:
    """Turns the syntax tree of one text into an expression, counting operations."""

    def __init__(self, start: int) -> None:
        self._start = start
        self._operations = self._depth = 0

    def read(self, node: ast.expr, scope: Scope) -> Expression:
        with self._located(node), self._deeper():
            match node:
                case ast.BinOp():
                    return self._chain(node, scope)
                case ast.Constant():
                    return nodes.number(_literal(node.value))
                case ast.UnaryOp(op=ast.USub()):
                    return -self.read(node.operand, scope)
                case ast.UnaryOp(op=ast.UAdd()):
                    return self.read(node.operand, scope)
                case ast.Call():
                    return self._call(node, scope)
                case ast.Name():
                    return scope.value(node.id)
                case ast.Subscript():
                    return scope.value(Indexing(scope).subscripted(node))
            raise self._not_allowed(node)

    def _chain(self, node: ast.BinOp, scope: Scope) -> Expression:
        """Operators grouped to the left, without going deeper for each of them."""
        steps = [node]
        while isinstance(steps[-1].left, ast.BinOp):
            steps.append(steps[-1].left)
        value = self.read(steps[-1].left, scope)
        for step in reversed(steps):
            with self._located(step.right):
                operation = OPERATORS.get(type(step.op))
                if operation is None:
                    raise ExpressionError("only + - * / ** connect values; ** is the power")
                self._count()
                value = operation(value, self.read(step.right, scope))
                _check_exponents(value)
        return value

    def _call(self, node: ast.Call, scope: Scope) -> Expression:
        if not isinstance(node.func, ast.Name):
            raise ExpressionError("only functions can be called; write * between factors")
        name = node.func.id
        if node.keywords:
            raise ExpressionError(f"{name} takes no named arguments")
        if name in RATES:
            return self._rate(name, node, scope)
        if name == "sum":
            return self._sum(node, scope)
        function = FUNCTIONS.get(name)
        if function is None:
            raise ExpressionError(_unknown_function(name, scope))
        if scope.smooth and not function.smooth:
            remedy = "; sqrt(x**2 + 1e-6) is a smooth abs(x)" if name == "abs" else ""
            raise ExpressionError(f"{name} has a kink, and this is differentiated twice{remedy}")
        wanted = function.arguments
        if len(node.args) != wanted if wanted else len(node.args) < 2:
            needed = wanted or "two or more"
            raise ExpressionError(
                f"{name} takes {needed} argument{'' if wanted == 1 else 's'}, "
                f"found {len(node.args)}"
            )
        return nodes.call(name, *(self.read(argument, scope) for argument in node.args))

    def _rate(self, name: str, node: ast.Call, scope: Scope) -> Expression:
        order = RATES[name]
        if order > scope.highest_order:
            raise ExpressionError(f"{name}(...) cannot stand here: {_ORDERS[scope.highest_order]}")
        match node.args:
            case [ast.Name(id=joint)]:
                pass
            case [ast.Subscript() as subscript]:
                joint = Indexing(scope).subscripted(subscript)
            case _:
                raise ExpressionError(f"{name} takes the name of a joint, such as {name}(x)")
        return nodes.variable(scope.joint(joint), order)

    def _sum(self, node: ast.Call, scope: Scope) -> Expression:
        match node.args:
            case [ast.GeneratorExp() as generator]:
                pass
            case _:
                raise ExpressionError("sum is written sum(... for i in INDEX_SET)")
        terms = [
            self.read(generator.elt, inner)
            for inner in Indexing(scope).loops(generator.generators, self._count)
        ]
        return nodes.add(*terms)

    def _not_allowed(self, node: ast.expr) -> ExpressionError:
        match node:
            case ast.Attribute(value=owner):
                return ExpressionError(
                    "a dot behind a name cannot stand here; only one-dof joints can be named, "
                    "with names: {x: NAME} where their names hold dots",
                    column=self._start + (owner.end_col_offset or 0) + 1,
                )
            case ast.GeneratorExp() | ast.ListComp():
                problem = "a loop can only stand in sum(...)"
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp():
                problem = "a condition can only stand behind if in sum(...)"
            case ast.IfExp():
                problem = "there are no cases in an expression: it is differentiated"
            case ast.Tuple() | ast.List():
                problem = "found a list of values; give one value per expression"
            case _:
                problem = "only numbers, names, functions and + - * / ** can stand here"
        return ExpressionError(problem)

    def _count(self) -> None:
        self._operations += 1
        if self._operations > MOST_OPERATIONS:
            raise ExpressionError(
                f"with its sums written out it takes more than {MOST_OPERATIONS} operations"
            )

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._count()
        self._depth += 1
        if self._depth > 2 * DEEPEST_NESTING:
            raise nested_too_deep()
        yield
        self._depth -= 1

    @contextmanager
    def _located(self, node: ast.expr) -> Iterator[None]:
        try:
            yield
        except ExpressionError as error:
            raise error.at_column(self._start + node.col_offset + 1) from None


_ORDERS = ("no rates are known here", "only positions and rates are known here")


def _literal(value: object) -> float:
    if type(value) not in (int, float):
        raise ExpressionError("only real numbers can be written here")
    assert isinstance(value, int | float)
    try:
        return float(value)
    except OverflowError:
        raise ExpressionError("a number here is too large") from None


def _check_exponents(value: Expression) -> None:
    for factor in value.factors if isinstance(value, Product) else (value,):
        if isinstance(factor, Power) and isinstance(factor.exponent, Number):
            exponent = factor.exponent.value
            if abs(exponent) > LARGEST_EXPONENT:
                raise ExpressionError(
                    f"the power {exponent:g} is too large; at most {LARGEST_EXPONENT:g}"
                )


def _unknown_function(name: str, scope: Scope) -> str:
    if name in scope.joints or name in scope.aliases or name in scope.parameters:
        return f'"{name}" is no function; write * between factors'
    words = [*RATES, "sum", *FUNCTIONS]
    remedy = did_you_mean(closest(name, words), f"there are: {', '.join(words)}")
    return f'no function "{name}"; {remedy}'
