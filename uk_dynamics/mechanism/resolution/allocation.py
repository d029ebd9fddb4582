# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How the motors of a mechanism share their work: weights and preload by motor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from uk_dynamics.exceptions import InputError, MechanismFileError, UnknownNameError
from uk_dynamics.mechanism.files.specification import AllocationSpec, Numbers
from uk_dynamics.mechanism.resolution.actuators import Actuators, Array

Weights = Literal["limits", "equal"] | Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Allocation:
    """What decides where tasks leave efforts open: (u − s)ᵀ W (u − s) is least."""

    weights: Array  # diagonal of W, positive, (motors,)
    preload: Array | None  # s, (motors,), in N or N·m; None is zero
    # internal forces of rows of loops, by row name, in N or N·m
    internal_forces: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, spec: AllocationSpec, actuators: Actuators, file: str, rows: tuple[str, ...] = ()
    ) -> Allocation:
        """Look up the motors, and the rows that loops have.

        Raises:
            UnknownNameError: A motor or a row does not exist.
            MechanismFileError: Some motors have a weight and others have none.
        """
        preload = None
        if spec.preload:
            _check_names(spec.preload, actuators, file, "allocation.preload")
            preload = actuators.efforts(dict(spec.preload))
        for name, _ in spec.internal_forces:
            if name not in rows:
                place = "allocation.internal_forces"
                raise UnknownNameError("constraint row", name, rows, file=file, place=place)
        return cls(_weights(spec, actuators, file), preload, dict(spec.internal_forces))

    @classmethod
    def given(
        cls,
        actuators: Actuators,  # the motors
        # ``limits`` 1/limit², ``equal`` one each, or all of them by motor name
        weights: Weights = "limits",
        preload: Mapping[str, float] | None = None,  # s by motor name, in N or N·m; others zero
    ) -> Allocation:
        """The same from a program.

        Raises:
            UnknownNameError: A motor does not exist.
            InputError: Weights are missing or not positive, or numbers are not finite.
        """
        if isinstance(weights, str):
            if weights not in ("limits", "equal"):
                problem = f'no weights "{weights}"; there are: limits, equal, {{motor: weight}}'
                raise InputError(problem, place="weights")
            spec = AllocationSpec(weights)
        else:
            for name, value in weights.items():
                if not 0.0 < value < np.inf:
                    problem = f"expected a number above 0, found {value}"
                    raise InputError(problem, place=f"weights.{name}")
            spec = AllocationSpec(tuple(weights.items()))
        return cls.of(replace(spec, preload=tuple((preload or {}).items())), actuators, "")


def _weights(spec: AllocationSpec, actuators: Actuators, file: str) -> Array:
    if spec.weights == "equal":
        return np.ones(len(actuators))
    if spec.weights == "limits":
        limits = actuators.effort_limits
        # Without any declared limit all motors count alike; with some, the others get the largest.
        known = limits[np.isfinite(limits)]
        usual = float(known.max()) if len(known) else 1.0
        scaled: Array = 1.0 / np.where(np.isfinite(limits), limits, usual) ** 2
        return scaled
    _check_names(spec.weights, actuators, file, "allocation.weights")
    given = dict(spec.weights)
    missing = [name for name in actuators.names if name not in given]
    if missing:
        raise MechanismFileError(
            f"no weight for {', '.join(missing)}; give every motor one",
            file=file,
            place="allocation.weights",
        )
    return np.array([given[name] for name in actuators.names])


def _check_names(values: Numbers, actuators: Actuators, file: str, place: str) -> None:
    for name, _ in values:
        if name not in actuators.names:
            raise UnknownNameError("actuator", name, actuators.names, file=file, place=place)
