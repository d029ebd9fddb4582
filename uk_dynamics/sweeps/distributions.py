# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The values that a sweep varies: lists, ranges and distributions, and their combinations."""

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from uk_dynamics.exceptions import MechanismFileError
from uk_dynamics.mechanism.files import check_schema, place_text

_MOST_POINTS = 10_000_000


def check_values(data: Mapping[str, Any], file: str) -> None:
    """Check what the schema of a sweep file cannot express."""
    random = data.get("combine") == "random"
    if random and "samples" not in data:
        raise MechanismFileError("combine: random needs samples, such as 1000", file=file)
    for address, values in data["vary"].items():
        place = place_text(("vary", address))
        if isinstance(values, list):
            continue
        keys = set(values)
        if keys not in ({"from", "to", "count"}, {"uniform"}, {"normal"}):
            problem = "write a list, {from, to, count}, {uniform: [0, 1]} or {normal: [0, 1]}"
            raise MechanismFileError(problem, file=file, place=place)
        if not random and keys & {"uniform", "normal"}:
            raise MechanismFileError("distributions need combine: random", file=file, place=place)
        least, most = values.get("uniform", (0.0, 1.0))
        if least > most:
            problem = f"found [{least}, {most}]; give the smaller value first"
            raise MechanismFileError(problem, file=file, place=f"{place}.uniform")
        deviation = values.get("normal", (0.0, 1.0))[1]
        if deviation < 0.0:
            problem = f"found the deviation {deviation}; give a number of at least 0"
            raise MechanismFileError(problem, file=file, place=f"{place}.normal")
    _check_simulations(data, file)


def _check_simulations(data: Mapping[str, Any], file: str) -> None:
    """Check varied options of the simulation before all points fail with them."""
    for address, values in data["vary"].items():
        section, _, key = address.partition(".")
        if section != "simulation":
            continue
        for value in _some(values):
            varied = {**data, "simulation": {**data["simulation"], key: value}}
            try:
                check_schema(varied, "sweep", file)
            except MechanismFileError as error:
                place = place_text(("vary", address))
                raise MechanismFileError(error.problem, file=file, place=place) from None


def _some(values: Any) -> list[Any]:
    """Values of a list, or the ends of a range."""
    if isinstance(values, list):
        return values
    return [values[key] for key in ("from", "to") if key in values] or next(iter(values.values()))


def combinations(data: Mapping[str, Any], file: str) -> list[dict[str, Any]]:
    """Values by address, for each point in declared order."""
    vary, combine = data["vary"], data.get("combine", "product")
    counts = [len(x) if isinstance(x, list) else x.get("count", 1) for x in vary.values()]
    count = math.prod(counts)
    if combine == "random":
        count = data["samples"]
    elif combine == "together":
        count = counts[0]
        if len({*counts}) > 1:
            problem = "combine: together needs lists of equal length"
            raise MechanismFileError(problem, file=file, place="vary")
    if (most := max(count, *counts)) > _MOST_POINTS:
        problem = f"there are {most} points; at most {_MOST_POINTS} are possible"
        raise MechanismFileError(problem, file=file, place="vary")
    if combine == "random":
        generator = np.random.default_rng(data.get("seed", 0))
        columns = [_drawn(values, count, generator) for values in vary.values()]
    else:
        columns = [_listed(values) for values in vary.values()]
    rows = itertools.product(*columns) if combine == "product" else zip(*columns, strict=True)
    return [dict(zip(vary, row, strict=True)) for row in rows]


def _listed(values: Any) -> list[Any]:
    if isinstance(values, list):
        return values
    return [float(x) for x in np.linspace(values["from"], values["to"], values["count"])]


def _drawn(values: Any, count: int, generator: np.random.Generator) -> list[Any]:
    if isinstance(values, dict) and "uniform" in values:
        least, most = values["uniform"]
        return [float(x) for x in generator.uniform(least, most, size=count)]
    if isinstance(values, dict) and "normal" in values:
        mean, deviation = values["normal"]
        return [float(x) for x in generator.normal(mean, deviation, size=count)]
    listed = _listed(values)
    return [listed[int(k)] for k in generator.integers(0, len(listed), size=count)]
