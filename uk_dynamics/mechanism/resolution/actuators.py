# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motors: which generalized forces they make, and how they share their work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from uk_dynamics.arrays import Array, Values
from uk_dynamics.core.servo import LIMITS
from uk_dynamics.exceptions import InputError, MechanismFileError, expect_names, located
from uk_dynamics.mechanism.files.specification import ActuatorSpec
from uk_dynamics.mechanism.files.tasks_specification import AllocationSpec
from uk_dynamics.model import RobotModel, named_numbers


def resolve_actuators(specs: Sequence[ActuatorSpec], model: RobotModel, file: str) -> "Actuators":
    """Look up the joints of motors; a limit not declared is that of a single joint's URDF."""
    matrix = np.zeros((model.nv, len(specs)))
    limits = np.array([[getattr(spec, key) or np.inf for spec in specs] for key in LIMITS])
    for column, spec in enumerate(specs):
        key = "joint" if len(spec.joints) == 1 else "joints"
        for joint, coefficient in spec.joints:
            with located(file, f"actuators.{spec.name}.{key}"):
                index = model.velocity_index(joint)
            matrix[index, column] += coefficient
            if spec.effort_limit is None and len(spec.joints) == 1:
                limits[0, column] = model.effort_limit[index] / abs(coefficient)
    return Actuators(tuple(spec.name for spec in specs), matrix, limits)


@dataclass(frozen=True)
class Actuators:
    """The motors of a mechanism (the servo paper's B, (17))."""

    names: tuple[str, ...]  # motor names in declared order
    matrix: Array  # S, (nv, motors): generalized force τ = S u
    # in the order of ``LIMITS`` of core/servo, (limits, motors), infinite where none is declared
    limits: Array

    @property
    def effort_limits(self) -> Array:
        """Limits of the efforts, (motors,), in N or N·m, infinite where none is declared."""
        efforts: Array = self.limits[0]
        return efforts

    def stepwise(self, period: float) -> Array:
        """The limits, those of derivatives of efforts as steps of a period in s."""
        return self.limits * period ** np.array(list(LIMITS.values()))[:, None]

    @property
    def limits_of_derivatives(self) -> dict[str, str]:
        """Keys of such limits by the motors that have them; they need a control period."""
        return {
            name: key
            for row, (key, order) in zip(self.limits, LIMITS.items(), strict=True)
            for name, limit in zip(self.names, row.tolist(), strict=True)
            if order and np.isfinite(limit)
        }

    def __len__(self) -> int:
        """Number of motors."""
        return len(self.names)

    def efforts(self, values: Values) -> Array:
        """Efforts as a checked, fresh array, (motors,), in N or N·m.

        Given are all of them in declared order, or some by motor name; missing ones are zero.
        """
        return named_numbers(values, self.names, "actuator", "effort", np.zeros(len(self.names)))

    def generalized_force(self, values: Values) -> Array:
        """τ = S u, (nv,), in N or N·m; see :meth:`efforts` for the argument and errors."""
        return self.matrix @ self.efforts(values)

    def by_name(self, efforts: Array) -> dict[str, float]:
        """Efforts (motors,) as a mapping motor → N or N·m."""
        return dict(zip(self.names, efforts.tolist(), strict=True))


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
    ) -> "Allocation":
        """Look up the motors, and the rows that loops have; all motors have a weight, or none."""
        preload = None
        if spec.preload:
            given, place = dict(spec.preload), "allocation.preload"
            expect_names("actuator", given, actuators.names, file=file, place=place)
            preload = actuators.efforts(given)
        internal, place = dict(spec.internal_forces), "allocation.internal_forces"
        expect_names("constraint row", internal, rows, file=file, place=place)
        return cls(_weights(spec, actuators, file), preload, internal)

    @classmethod
    def given(
        cls,
        actuators: Actuators,  # the motors
        # ``limits`` 1/limit², ``equal`` one each, or all of them by motor name
        weights: Weights = "limits",
        preload: Mapping[str, float] | None = None,  # s by motor name, in N or N·m; others zero
    ) -> "Allocation":
        """Make it from what a program gives, checked."""
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
        return 1.0 / np.where(np.isfinite(limits), limits, usual) ** 2
    given, place = dict(spec.weights), "allocation.weights"
    expect_names("actuator", given, actuators.names, file=file, place=place)
    missing = [name for name in actuators.names if name not in given]
    if missing:
        raise MechanismFileError(
            f"no weight for {', '.join(missing)}; give every motor one", file=file, place=place
        )
    return np.array([given[name] for name in actuators.names])
