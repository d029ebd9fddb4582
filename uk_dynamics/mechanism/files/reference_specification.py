"""References as a file declares them: the wanted value of each row over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from uk_dynamics.constraints.references.expression_reference import ExpressionReference
from uk_dynamics.constraints.references.spline_reference import Boundary, Spline
from uk_dynamics.exceptions import InputError, MechanismFileError
from uk_dynamics.mechanism.files.wording import located

Values = tuple[float, ...]
_KEYS = {
    "constant": ("value",),
    "live": ("value",),
    "sinusoid": ("offset", "amplitude", "frequency", "phase"),
}


@dataclass(frozen=True)
class ReferenceSpec:
    """Wanted value over time, one number per row.

    Attributes:
        type: constant (value); sinusoid: offset + amplitude · sin(2π · frequency · t + phase);
            polynomial (coefficients); spline (times, waypoints, degree, boundary); expression
            (of t); or live: fed while running, value until then.
        value: Of a constant, and of a live reference before it is fed, (rows,), in rad or m.
        offset: Of a sinusoid, (rows,), in rad or m.
        amplitude: (rows,), in rad or m.
        frequency: (rows,), in Hz, not negative.
        phase: (rows,), in rad.
        coefficients: Of a polynomial: of each row, lowest power first, in rad or m per power of s.
        times: Of a spline: of its waypoints, increasing, in s.
        waypoints: Of a spline: the rows' values at each time, in rad or m.
        degree: Of a spline: 3 or 5.
        boundary: Of a spline: clamped, natural or periodic.
        expression: Of type expression: functions of t, one per row.
    """

    type: str
    value: Values = ()
    offset: Values = ()
    amplitude: Values = ()
    frequency: Values = ()
    phase: Values = ()
    coefficients: tuple[Values, ...] = ()
    times: Values = ()
    waypoints: tuple[Values, ...] = ()
    degree: int = 3
    boundary: Boundary = "clamped"
    expression: ExpressionReference | None = None

    @classmethod
    def from_data(
        cls, data: Mapping[str, Any], rows: int, *, file: str, place: str
    ) -> ReferenceSpec:
        """Build the reference from checked data; a single number holds for every row.

        Raises:
            MechanismFileError: A list has another length than there are rows, or waypoints that no
                spline goes through.
            ExpressionError: A text is no expression of t.
        """
        kind = data["type"]
        if kind == "polynomial":
            given = f"{place}.coefficients"
            return cls(kind, coefficients=_coefficients(data["coefficients"], rows, file, given))
        if kind == "expression":
            return cls(kind, expression=_expression(data, rows, file, f"{place}.value"))
        if kind == "spline":
            return cls._spline(data, rows, file, place)
        values: dict[str, Any] = {
            key: _per_row(data.get(key, 0.0), rows, file, f"{place}.{key}") for key in _KEYS[kind]
        }
        return cls(kind, **values)

    @classmethod
    def _spline(cls, data: Mapping[str, Any], rows: int, file: str, place: str) -> ReferenceSpec:
        spec = cls(
            "spline",
            times=tuple(float(t) for t in data["times"]),
            waypoints=tuple(
                _per_row(point, rows, file, f"{place}.values[{index}]")
                for index, point in enumerate(data["values"])
            ),
            degree=int(data.get("degree", cls.degree)),
            boundary=data.get("boundary", cls.boundary),
        )
        try:
            Spline.through(spec.times, spec.waypoints, degree=spec.degree, boundary=spec.boundary)
        except InputError as error:
            raise MechanismFileError(
                error.problem, file=file, place=f"{place}.{error.place}"
            ) from None
        return spec


def _per_row(given: Any, rows: int, file: str, place: str) -> Values:
    if isinstance(given, list) and len(given) != rows:
        raise MechanismFileError(_wrong_count(len(given), "numbers", rows), file=file, place=place)
    listed = given if isinstance(given, list) else [given] * rows
    return tuple(float(number) for number in listed)


def _coefficients(given: list[Any], rows: int, file: str, place: str) -> tuple[Values, ...]:
    """Coefficients of each row; a plain list of numbers holds for every row."""
    if not any(isinstance(entry, list) for entry in given):
        return (tuple(float(number) for number in given),) * rows
    if len(given) != rows:
        raise MechanismFileError(_wrong_count(len(given), "lists", rows), file=file, place=place)
    return tuple(
        tuple(float(number) for number in (entry if isinstance(entry, list) else [entry]))
        for entry in given
    )


def _expression(data: Mapping[str, Any], rows: int, file: str, place: str) -> ExpressionReference:
    given = data["value"]
    texts = given if isinstance(given, list) else [given] * rows
    if len(texts) != rows:
        problem = _wrong_count(len(texts), "expressions", rows)
        raise MechanismFileError(problem, file=file, place=place)
    parameters = {name: float(value) for name, value in data.get("parameters", {}).items()}
    with located(file, place):
        return ExpressionReference(texts, parameters, owner=place)


def _wrong_count(found: int, what: str, rows: int) -> str:
    wanted = f"{rows} {'row' if rows == 1 else 'rows'}"
    return f"found {found} {what} for {wanted}; give {rows}, or one for all"
