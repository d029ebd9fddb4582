"""From declared expressions to rows: names are looked up, derivatives taken, once."""

from __future__ import annotations

from dataclasses import replace

from uk_dynamics.constraints.expression_derivatives import differentiate
from uk_dynamics.constraints.expressions.bounds import LARGEST_FAMILY
from uk_dynamics.constraints.expressions.compiled import JointPlaces, make_scope
from uk_dynamics.constraints.expressions.parser import parse
from uk_dynamics.constraints.expressions.scope import Scope
from uk_dynamics.constraints.row_types import ExpressionRow
from uk_dynamics.exceptions import ExpressionError
from uk_dynamics.mechanism.expression_specification import ExpressionSpec
from uk_dynamics.mechanism.wording import located
from uk_dynamics.model.coordinates import Coordinates


def resolve_expressions(
    spec: ExpressionSpec, coordinates: Coordinates, *, file: str, place: str
) -> tuple[ExpressionRow, ...]:
    """Read and derive the rows of a constraint.

    Raises:
        ExpressionError: A text is no expression that can be a constraint; says place and column.
    """
    places = JointPlaces.of(coordinates)
    with located(file, place):
        scope = _scope(spec, places)
    rows = []
    operations = 0
    for row in spec.rows:
        bound = replace(scope, bindings=dict(row.indices))
        try:
            derivatives = differentiate(parse(row.text, bound), spec.order)
        except ExpressionError as error:
            where = f"{place}.{row.place}"
            if row.indices:
                fixed = ", ".join(f"{name} = {value}" for name, value in row.indices.items())
                where += f" ({fixed})"
            raise error.located(file=file, place=where) from None
        operations += derivatives.operations
        if operations > LARGEST_FAMILY:
            problem = (
                f"its rows and their derivatives take more than {LARGEST_FAMILY} operations; "
                "write fewer or shorter ones"
            )
            raise ExpressionError(problem, file=file, place=place)
        rows.append(ExpressionRow(row.label, row.text, derivatives, places))
    return tuple(rows)


def _scope(spec: ExpressionSpec, places: JointPlaces) -> Scope:
    scope = make_scope(places, spec.parameters, spec.names)
    for name in spec.index_sets:
        scope.check_new(name, "index set")
    scope = replace(scope, indices=spec.index_sets)
    for name in spec.rows[0].indices:
        scope.check_new(name, "index")
    return scope
