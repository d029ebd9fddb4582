# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Estimates of parameters, and the nearest values that a machine can have: bodies that exist.

A pseudo-inertia is P = U Uᵀ with U upper triangular and a positive diagonal, whose logarithms are
the free numbers: every value of them is a possible body, and every possible body has one.
Source: Rucker, Wensing: Smooth parameterization of rigid-body inertia (RA-L 2022).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.optimize

from uk_dynamics.exceptions import InputError
from uk_dynamics.identification.identifiability import Identifiability
from uk_dynamics.identification.linear_parameters import LinearParameter
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.model import PARAMETERS_OF_A_LINK, parameters_of, pseudo_inertia

_ROWS, _COLUMNS = np.triu_indices(4)
_DIAGONAL = _ROWS == _COLUMNS
_LEAST = 1e-6  # of the largest moment of a body of that mass and size


def possible(pseudo: Array, mass: float, length: float) -> Array:
    """The nearest pseudo-inertia of some extent in every direction, (4, 4), at such sizes."""
    units = _units(length, mass)
    values, vectors = np.linalg.eigh(pseudo / units)
    found: Array = (vectors * np.maximum(values, _LEAST)) @ vectors.T * units
    return found


def _units(length: float, mass: float = 1.0) -> Array:
    """Units of the entries of a pseudo-inertia, (4, 4)."""
    unit = np.array([length, length, length, 1.0])
    return mass * np.outer(unit, unit)


def free_numbers(pseudo: Array, length: float) -> Array:
    """The ten free numbers of a possible pseudo-inertia, (10,), without dimension."""
    flipped = np.linalg.cholesky((pseudo / _units(length))[::-1, ::-1])
    upper = flipped[::-1, ::-1]
    diagonal = upper.diagonal()
    ratios = (upper / diagonal[None, :])[_ROWS, _COLUMNS]
    return np.where(_DIAGONAL, np.log(diagonal[_ROWS]), ratios)


def from_free_numbers(numbers: Array, length: float) -> Array:
    """The pseudo-inertia of ten free numbers, (4, 4)."""
    upper = np.zeros((4, 4))
    upper[_ROWS, _COLUMNS] = np.where(_DIAGONAL, 1.0, numbers)
    upper *= np.exp(numbers[_DIAGONAL])[None, :]
    return upper @ upper.T * _units(length)


_ROUNDING = 1e-9  # of a body's own size
_FARTHEST = 50.0  # of a free number from that of the files: e to that is the part of a mass
_NEAR_FILES = 1e-2  # weight of what the data do not tell, per unit of logarithm


def possible_values(
    parameters: Sequence[LinearParameter],
    values: Array,
    sizes: Array,
    along: Array,
    information: Array,
) -> Array:
    """The values that explain the data best among those that a machine can have, (p,)."""
    bodies = whole_links(parameters)
    rest = np.setdiff1d(np.arange(len(parameters)), [p for body in bodies for p in body])
    positive = np.array([not parameters[p].signed for p in rest], dtype=bool)
    lengths = [float(sizes[body[1]] / sizes[body[0]]) for body in bodies]
    exists = all(
        np.linalg.eigvalsh(pseudo_inertia(values[body]) / _units(length, sizes[body[0]]))[0] > 0.0
        for body, length in zip(bodies, lengths, strict=True)
    )
    if exists and (values[rest][positive] >= 0.0).all():
        return values
    files = np.array([parameter.value for parameter in parameters])
    starts = [
        free_numbers(
            possible(
                pseudo_inertia(files[body] if files[body[0]] > 0.0 else values[body]),
                float(sizes[body[0]]),
                length,
            ),
            length,
        )
        for body, length in zip(bodies, lengths, strict=True)
    ]
    scale = np.where(sizes[rest] > 0.0, sizes[rest], 1.0)
    begin = np.concatenate(
        [*starts, np.where(positive, np.maximum(values[rest], 0.0), values[rest]) / scale]
    )
    roots = np.sqrt(information)

    def made(x: Array) -> Array:
        found = values.copy()
        for n, (body, length) in enumerate(zip(bodies, lengths, strict=True)):
            found[body] = parameters_of(from_free_numbers(x[10 * n : 10 * n + 10], length))
        found[rest] = x[10 * len(bodies) :] * scale
        return found

    def misfit(x: Array) -> Array:
        off = roots * (along.T @ ((made(x) - values) / sizes))
        return np.concatenate([off, _NEAR_FILES * (x - begin)])

    room = np.full(len(begin), np.inf)
    room[: 10 * len(bodies)] = _FARTHEST
    lower, upper = begin - room, begin + room
    lower[10 * len(bodies) :][positive] = 0.0
    begin[10 * len(bodies) :][positive] = np.maximum(begin[10 * len(bodies) :][positive], 1e-6)
    found = scipy.optimize.least_squares(
        misfit, begin, bounds=(lower, upper), x_scale="jac", max_nfev=200
    )
    return made(found.x)


def whole_body(link: str, before: Array, estimated: Mapping[str, float]) -> Array:
    """The ten parameters of a link, some of them estimated, (10,); InputError: no body has them."""
    found = np.array(
        [estimated.get(x, b) for x, b in zip(PARAMETERS_OF_A_LINK, before, strict=True)]
    )
    units = np.sqrt(np.abs(pseudo_inertia(found).diagonal()))
    units[units == 0.0] = units.max() or 1.0
    least = np.linalg.eigvalsh(pseudo_inertia(found) / np.outer(units, units))[0]
    left = [x for x in PARAMETERS_OF_A_LINK if x not in estimated]
    if left and least < -_ROUNDING and not np.array_equal(found, before):
        groups = dict.fromkeys("mass" if x == "mass" else f"{x.partition('.')[0]}.*" for x in left)
        wanted = ", ".join(f"links.{link}.{x}" for x in groups)
        raise InputError(
            f"no body has the estimated {', '.join(estimated)} and the rest of the file's"
            f" parameters; estimate {wanted} as well",
            place=f"links.{link}",
        )
    return found


def whole_links(parameters: Sequence[LinearParameter]) -> list[list[int]]:
    """Places of the ten parameters of each link that is estimated as a whole."""
    groups: dict[str, list[int]] = {}
    for p, parameter in enumerate(parameters):
        if parameter.kind == "link":
            groups.setdefault(parameter.name[: -len(parameter.part)], []).append(p)
    return [places for places in groups.values() if len(places) == len(PARAMETERS_OF_A_LINK)]


_TOLD_ALONE = 0.1  # of its size, or of itself: standard deviation of a parameter that is told
_IDENTIFIED = 0.1  # of its body, or of itself: that of an identified one
_NEGLIGIBLE = 0.01  # of all efforts: what the deviation of a parameter may do unnoticed
GENEROUS = 3.0  # times all efforts: largest effect that is expected of a parameter


@dataclass(frozen=True)
class Estimate:
    """A parameter after identification."""

    parameter: LinearParameter  # with the value of the files
    value: float  # estimated
    # standard deviation; what the data do not tell counts with the parameter's size
    deviation: float
    # ``identified``: to a tenth of itself or of its body, or to a hundredth of the efforts;
    # ``uncertain``: told less well, or held-out efforts are not predicted; ``combined``: only in
    # sums with others; ``undetermined``: these recordings tell little; ``no effect``: no motion
    # would tell
    status: str


def estimates(
    parameters: Sequence[LinearParameter],
    values: Array,
    deviations: Array,
    sizes: Array,
    limits: Identifiability,
    *,
    trusted: bool,
) -> tuple[Estimate, ...]:
    """Values with their standard deviations, (p,) each, and in a word how well they are known."""
    expected = np.maximum(sizes, np.abs(values))
    alone = {next(iter(x.terms)) for x in limits.base if len(x.terms) == 1}
    given = np.array([parameter.size > 0.0 for parameter in parameters])
    # other sizes are those at which a parameter alone would make GENEROUS times all efforts
    unnoticed = np.where(given, 0.0, _NEGLIGIBLE / GENEROUS * sizes)
    own = np.abs(values)
    for body in whole_links(parameters):
        mass = abs(values[body[0]])
        extent = abs(float(np.trace(pseudo_inertia(values[body])[:3, :3])))  # second moment
        own[body] = np.maximum(own[body], [mass, *[np.sqrt(mass * extent)] * 3, *[extent] * 6])

    def status(p: int, name: str) -> str:
        if name in limits.without_effect:
            return "no effect"
        if deviations[p] > _TOLD_ALONE * expected[p]:
            return "undetermined" if name in alone else "combined"
        known = deviations[p] <= max(_IDENTIFIED * own[p], unnoticed[p])
        return "identified" if known and trusted else "uncertain"

    return tuple(
        Estimate(parameter, float(values[p]), float(deviations[p]), status(p, parameter.name))
        for p, parameter in enumerate(parameters)
    )
