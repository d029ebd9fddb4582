# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Estimates of parameters, and how well each is known in a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uk_dynamics.identification.identifiability import Identifiability
from uk_dynamics.identification.linear_parameters import LinearParameter
from uk_dynamics.identification.possible_values import whole_links
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.model import pseudo_inertia

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


class Labels:
    """How well parameters are known, in a word."""

    def __init__(
        self,
        parameters: Sequence[LinearParameter],
        values: Array,
        sizes: Array,
        limits: Identifiability,
        *,
        trusted: bool,
    ) -> None:
        self._parameters, self._values, self._trusted = parameters, values, trusted
        self._expected = np.maximum(sizes, np.abs(values))
        self._without_effect = set(limits.without_effect)
        self._alone = {next(iter(x.terms)) for x in limits.base if len(x.terms) == 1}
        given = np.array([parameter.size > 0.0 for parameter in parameters])
        # other sizes are those at which a parameter alone would make GENEROUS times all efforts
        self._unnoticed = np.where(given, 0.0, _NEGLIGIBLE / GENEROUS * sizes)
        self._own = np.abs(values)
        for body in whole_links(parameters):
            mass, extent = abs(values[body[0]]), _second_moment(values[body])
            units = [mass, *[np.sqrt(mass * extent)] * 3, *[extent] * 6]
            self._own[body] = np.maximum(self._own[body], units)

    def estimates(self, deviations: Array) -> tuple[Estimate, ...]:
        """All of them, with the standard deviations (p,)."""
        return tuple(
            Estimate(parameter, float(self._values[p]), float(x), self._status(p, float(x)))
            for p, (parameter, x) in enumerate(zip(self._parameters, deviations, strict=True))
        )

    def _status(self, p: int, deviation: float) -> str:
        name = self._parameters[p].name
        if name in self._without_effect:
            return "no effect"
        if deviation > _TOLD_ALONE * self._expected[p]:
            return "undetermined" if name in self._alone else "combined"
        known = deviation <= max(_IDENTIFIED * self._own[p], self._unnoticed[p])
        return "identified" if known and self._trusted else "uncertain"


def _second_moment(ten: Array) -> float:
    """Of the mass of a body about the origin of its link, in kg m²."""
    return abs(float(np.trace(pseudo_inertia(ten)[:3, :3])))
