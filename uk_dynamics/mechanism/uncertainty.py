# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""In which directions a machine may differ from its model, and what that does to its equations.

With the model's efforts u and acceleration q̈, the forces of the real machine differ by

    ΔM q̈ − ΔF − S δ u − Jᵀw,

linear in deviations θ of parameters, motor constants δ and forces w from outside. Directions are
scaled so that |θ| ≤ 1 within each of some groups: intervals are groups of one, a force that may
point anywhere is one of three, and covariances are one of all their parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.mechanism.dynamics import InterpretedDynamics, Prepared
from uk_dynamics.mechanism.files import RobustSpec
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array, Inputs, State
from uk_dynamics.model import RobotModel

#: What the equations of motion are linear in, all together, by the ends of names.
LINEAR = ("mass", "damping", "friction", "armature", "stiffness")
_STEP = 1e-3  # of the deviations: differences of equations that are linear are exact
_PLACE = "robust"


class Direction(NamedTuple):
    """One direction of θ: a change of parameters, of a motor, or an outside force."""

    values: tuple[tuple[str, float], ...] = ()  # by how much parameters change, by name
    motor: int = -1  # whose constant changes
    link: str = ""  # at whose origin a force acts
    axis: int = 0  # 0 to 2 force, 3 to 5 torque, in world axes
    size: float = 1.0  # part of the constant; N or N·m


def wrench_row(model: RobotModel, kinematics: Any, link: str, axis: int) -> NDArray[Any]:
    """Generalized forces of a unit force or torque at the origin of a link, (nv,).

    Args:
        model: The robot, or one with further frames.
        kinematics: Jacobian and places of frames at a state; of floats, or of symbols.
        link: Its name.
        axis: 0 to 2: force along a world axis; 3 to 5: torque.
    """
    index = model.frame_index(link)
    J, place = kinematics.jacobian * model.ancestor_mask[index], kinematics.translation[index]
    row: NDArray[Any] = J[axis]
    if axis < 3:
        y, z = (axis + 1) % 3, (axis + 2) % 3  # place × e, of which two entries are not zero
        row = row + place[z] * J[3 + y] - place[y] * J[3 + z]
    return row


class Uncertainty:
    """What a tasks file says is uncertain, for one mechanism.

    Attributes:
        spec: The section of the file.
        directions: All of them.
        groups: Which of them are within one ball.
        names: What each group is, for messages.
    """

    def __init__(self, spec: RobustSpec, mechanism: ResolvedMechanism, file: str) -> None:
        """Look up the names.

        Raises:
            UnknownNameError: A parameter, motor or link does not exist.
            InputError: The machine has forces that the regressor does not know, or the equations of
                motion are not linear in a parameter, or the model is outside an interval.
        """
        self.spec, self._mechanism, self._file = spec, mechanism, file
        self.motors = mechanism.actuators.matrix  # S, (nv, motors)
        self._check_machine()
        self.directions: list[Direction] = []
        self.groups: list[tuple[int, ...]] = []
        self.names: list[str] = []
        # by how much interval parameters may fall and rise, in units of their directions
        self.sides: list[tuple[float, float]] = []
        for name, group in self._read():
            first = len(self.directions)
            self.directions += group
            self.groups.append(tuple(range(first, first + len(group))))
            self.names.append(name)
            self.sides.append(self._side(name) if len(group) == 1 else (1.0, 1.0))

    def _error(self, place: str, problem: str) -> InputError:
        return InputError(problem, file=self._file, place=f"{_PLACE}{place}")

    def _check_machine(self) -> None:
        mechanism, found = self._mechanism, ""
        if mechanism.friction.active:
            found = "friction in loop joints, which depends on the forces in them"
        elif mechanism.nonideal is not None:
            found = "a non-ideal force in Python"
        elif not mechanism.hierarchy.rigid.all():
            found = "compliant constraints"
        elif mechanism.local is not None:
            found = f"loops over the clusters of {mechanism.model.nv} velocities"
        if found:
            raise self._error("", f"bounds are computed without {found}; remove one of the two")

    def _read(self) -> Iterator[tuple[str, list[Direction]]]:
        spec, mechanism = self.spec, self._mechanism
        known, motors = mechanism.parameters, mechanism.actuators.names
        for name, (low, high) in spec.parameters:
            place = f".parameters.{name}"
            if name not in known:
                raise UnknownNameError(
                    "parameter", name, known, file=self._file, place=f"{_PLACE}.parameters"
                )
            if not (name.rpartition(".")[2] in LINEAR or ".inertia." in name):
                raise self._error(
                    place,
                    "the equations of motion are not linear in it; there are masses, moments of"
                    f" inertia, {', '.join(LINEAR[1:])}",
                )
            owner = name.removesuffix(".friction")
            if name.endswith(".friction") and f"{owner}.stiction" in known:
                raise self._error(
                    place, "the joint sticks, and its friction jumps; drop its stiction"
                )
            value = known[name].value
            if not low <= value <= high:
                raise self._error(place, f"the model has {value:g}, outside of [{low:g}, {high:g}]")
            deviation = max(value - low, high - value)
            if deviation > 0.0:
                yield name, [Direction(((name, deviation),))]
        for motor, part in spec.motors:
            if motor not in motors:
                raise UnknownNameError(
                    "motor", motor, motors, file=self._file, place=f"{_PLACE}.motors"
                )
            if part > 0.0:
                yield motor, [Direction(motor=motors.index(motor), size=part)]
        for force in spec.forces:
            links = mechanism.model.frame_names
            if force.link not in links:
                place = f"{_PLACE}.forces.{force.name}.link"
                raise UnknownNameError("link", force.link, links, file=self._file, place=place)
            for what, size, first in (("force", force.force, 0), ("torque", force.torque, 3)):
                axes = range(first, first + 3)
                if size > 0.0:
                    yield (
                        f"{force.name}.{what}",
                        [Direction(link=force.link, axis=axis, size=size) for axis in axes],
                    )
        if spec.confidence:
            yield from self._identified()

    def _identified(self) -> Iterator[tuple[str, list[Direction]]]:
        """Ellipsoids of the covariances in the mechanism file, at the confidence."""
        from scipy.stats import chi2  # takes long to import

        estimates = self._mechanism.spec.identified
        if not estimates:
            problem = f"{self._mechanism.spec.file} has no section identified; run identify first"
            raise self._error(".from", problem)
        known = self._mechanism.parameters
        for number, found in enumerate(estimates):
            unknown = [name for name in found.names if name not in known]
            if unknown:
                problem = f"{unknown[0]} is no parameter of the mechanism; give it an interval"
                raise self._error(".from", problem)
            values, vectors = np.linalg.eigh(found.covariance)
            scale = np.sqrt(np.maximum(values, 0.0) * chi2.ppf(self.spec.confidence, len(values)))
            yield (
                f"identified[{number}]",
                [
                    Direction(tuple(zip(found.names, column.tolist(), strict=True)))
                    for column in (vectors * scale).T
                    if column.any()
                ],
            )

    def _side(self, name: str) -> tuple[float, float]:
        for parameter, (low, high) in self.spec.parameters:
            if parameter == name:
                value = self._mechanism.parameters[name].value
                deviation = max(value - low, high - value)
                return (value - low) / deviation, (high - value) / deviation
        return 1.0, 1.0

    @cached_property
    def _variants(self) -> list[InterpretedDynamics | None]:
        """The machine a step along each direction of parameters."""
        known = self._mechanism.parameters
        found: list[InterpretedDynamics | None] = []
        for one in self.directions:
            values = {name: known[name].value + _STEP * x for name, x in one.values}
            found.append(
                InterpretedDynamics(self._mechanism.with_parameters(values)) if values else None
            )
        return found

    def columns(
        self, prepared: Prepared, state: State, inputs: Inputs, qdd: Array, efforts: Array
    ) -> Array:
        """By how much forces differ per unit of each direction, (nv, directions).

        Args:
            prepared: The model at the state; its workspace is up to date there.
            state: Where the machine is.
            inputs: As of the model's equations.
            qdd: Acceleration of the model, (nv,).
            efforts: Of its motors, (motors,).
        """
        S, terms, model = self.motors, prepared.terms, self._mechanism.model
        found = np.zeros((len(qdd), len(self.directions)))
        for p, (one, variant) in enumerate(zip(self.directions, self._variants, strict=True)):
            if variant is not None:
                other = variant.terms(state, inputs)
                found[:, p] = ((other.M - terms.M) @ qdd - (other.F - terms.F)) / _STEP
            elif one.motor >= 0:
                found[:, p] = -one.size * S[:, one.motor] * efforts[one.motor]
            else:
                found[:, p] = -one.size * wrench_row(model, prepared.workspace, one.link, one.axis)
        return found

    def inertia(self, prepared: Prepared, state: State, inputs: Inputs) -> tuple[float, float]:
        """η₋ and η₊ at a state: by which part the admissible inertia may be smaller and larger."""
        factorization, M = prepared.factorization, prepared.terms.M
        freedoms = len(M) - factorization.rank
        smallest, largest = np.zeros((2, freedoms, freedoms))
        less = more = 0.0
        for group, (fall, rise) in zip(self.groups, self.sides, strict=True):
            squares = 0.0
            for p in group:
                variant = self._variants[p]
                if variant is None:
                    continue
                change = (variant.terms(state, inputs).M - M) / _STEP
                half, _ = factorization.admissible_coordinates(np.asfortranarray(change))
                B, _ = factorization.admissible_coordinates(np.asfortranarray(half.T))
                values = np.linalg.eigvalsh(0.5 * (B + B.T)) if freedoms else np.zeros(1)
                if len(group) == 1 and values[0] >= -1e-9 * max(values[-1], 0.0):
                    smallest += fall * B  # adds inertia: all of them may do so together
                    largest += rise * B
                else:
                    squares += float(np.abs(values).max()) ** 2
            less, more = less + squares**0.5, more + squares**0.5
        if freedoms:
            less += max(float(np.linalg.eigvalsh(smallest)[-1]), 0.0)
            more += max(float(np.linalg.eigvalsh(largest)[-1]), 0.0)
        return less, more

    def motor_losses(self) -> Mapping[int, float]:
        """Part by which the constant of a motor may differ, by its place."""
        return {one.motor: one.size for one in self.directions if one.motor >= 0}
