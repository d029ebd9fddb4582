# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""References as a file declares them: functions of time, one for each row."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from uk_dynamics.constraints.references import (
    Constant,
    ExpressionReference,
    Live,
    Polynomial,
    Reference,
    Sinusoid,
    Spline,
)
from uk_dynamics.exceptions import InputError, MechanismFileError, inside

_KINDS: dict[str, tuple[Callable[..., Reference], tuple[str, ...]]] = {
    "constant": (Constant, ("value",)),
    "live": (Live, ("value",)),
    "sinusoid": (Sinusoid, ("offset", "amplitude", "frequency", "phase")),
}


def read_reference(data: Mapping[str, Any], rows: int, place: str) -> Reference:
    """The function of time that checked data declare; a single number holds for every row.

    Errors count places from ``data``; an expression without a value at some time says ``place``.
    """
    kind = data["type"]
    if kind == "polynomial":
        return Polynomial.of(_coefficients(data["coefficients"], rows))
    if kind == "expression":
        texts = _per_row(data["value"], rows, "expressions", "value")
        parameters = {name: float(value) for name, value in data.get("parameters", {}).items()}
        with inside("", "value"):
            return ExpressionReference(texts, parameters, owner=f"{place}.value")
    if kind == "spline":
        points = [
            _per_row(point, rows, "numbers", f"values[{index}]")
            for index, point in enumerate(data["values"])
        ]
        options = {key: data[key] for key in ("degree", "boundary") if key in data}
        try:
            return Spline.through(data["times"], points, **options)
        except InputError as error:
            raise MechanismFileError(error.problem, place=error.place) from None
    build, keys = _KINDS[kind]
    given = (_per_row(data.get(key, 0.0), rows, "numbers", key) for key in keys)
    return build(*(np.array(values, dtype=float) for values in given))


def _per_row(given: Any, rows: int, what: str, place: str) -> list[Any]:
    listed = given if isinstance(given, list) else [given] * rows
    if len(listed) != rows:
        raise MechanismFileError(_wrong_count(len(listed), what, rows), place=place)
    return listed


def _coefficients(given: list[Any], rows: int) -> list[list[float]]:
    """Coefficients of each row; a plain list of numbers holds for every row."""
    if not any(isinstance(entry, list) for entry in given):
        return [given] * rows
    if len(given) != rows:
        raise MechanismFileError(_wrong_count(len(given), "lists", rows), place="coefficients")
    return [entry if isinstance(entry, list) else [entry] for entry in given]


def _wrong_count(found: int, what: str, rows: int) -> str:
    wanted = f"{rows} {'row' if rows == 1 else 'rows'}"
    return f"found {found} {what} for {wanted}; give {rows}, or one for all"
