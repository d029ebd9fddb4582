# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""In which directions a machine may differ from its model, and what that does to its equations.

With the model's efforts u and acceleration q̈, the forces of the real machine differ by

    ΔM q̈ − ΔF − S δ u − Jᵀw = Uᵀβ θ,

linear in deviations θ of parameters, motor constants δ and forces w from outside. Rows U do not
depend on accelerations: Jacobians of bodies whose masses are uncertain, and joint forces of what
else is. Shares β do, by the accelerations U q̈ along the rows. Both are written over arrays of
floats or of symbols.

Directions are scaled so that |θ| ≤ 1 within each of some groups: intervals are groups of one, a
force that may point anywhere is one of three, and covariances are one of all their parameters.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from uk_dynamics.constraints.rows import FrameKinematics
from uk_dynamics.exceptions import InputError, expect_names
from uk_dynamics.mechanism.files import RobustSpec
from uk_dynamics.mechanism.resolution.parameters import check_values
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array
from uk_dynamics.mechanism.uncertain_bodies import Direction, Symbols, UncertainBody, wrench_row
from uk_dynamics.model import RobotModel

#: What the equations of motion are linear in, all together, by the ends of names.
LINEAR = ("mass", "damping", "friction", "armature", "stiffness")
_STEP = 1e-3  # of the deviations: differences of forces that are linear are exact
_DEFINITE = 1e-9  # of the largest eigenvalue: a smaller negative one is rounding
_PLACE = "robust"


class Uncertainty:
    """What a tasks file says is uncertain, for one mechanism."""

    def __init__(
        self,
        spec: RobustSpec,
        mechanism: ResolvedMechanism,
        file: str,
        adaptive: Sequence[str] = (),
    ) -> None:
        """Look up the names; those that are estimated have an interval.

        Raises:
            UnknownNameError: A parameter, motor or link does not exist.
            InputError: The machine has forces that the regressor does not know, or the equations of
                motion are not linear in a parameter, or the model is outside an interval.
        """
        self.spec, self._mechanism, self._file = spec, mechanism, file
        self._check_machine()
        self.directions: list[Direction] = []
        self.groups: list[tuple[int, ...]] = []  # which of them are within one ball
        self.names: list[str] = []  # of the groups, for messages
        # by how much interval parameters may fall and rise, in units of their directions
        self.sides: list[tuple[float, float]] = []
        for name, group in self._read():
            first = len(self.directions)
            self.directions += group
            self.groups.append(tuple(range(first, first + len(group))))
            self.names.append(name)
            self.sides.append(self._side(name) if len(group) == 1 else (1.0, 1.0))
        # directions that are estimated, in the order of the file
        self.adaptive = tuple(self._direction_of(name) for name in adaptive)
        #: Estimates that have to be known for the robust gain to fall, to and from where, in 1/s;
        #: None: it does not. Friction is none of them: joints that turn round rub either way.
        self.gain_falls = self._falling()
        names = [name for one in self.directions for name, _ in one.values]
        links = dict.fromkeys(name.split(".")[1] for name in names if name.startswith("links."))
        self._bodies = [UncertainBody(mechanism, link, self.directions) for link in links]
        # of rows that are e_i
        moved = (name.split(".")[1] for name in names if name.endswith(".armature"))
        self._armatures = list(dict.fromkeys(map(mechanism.model.velocity_index, moved)))

    def _direction_of(self, name: str) -> int:
        """The direction of a parameter that is estimated."""
        given = [x for x, _ in self.spec.parameters]
        kind = "interval of robust: parameters for"
        expect_names(kind, [name], given, file=self._file, place="adaptive")
        if name not in self.names:
            problem = f"{name} has an interval without width; nothing of it is left to estimate"
            raise InputError(problem, file=self._file, place="adaptive")
        return self.groups[self.names.index(name)][0]

    def _falling(self) -> tuple[list[int], tuple[float, float]] | None:
        """See ``gain_falls``; refused where estimates do not tell how much is left uncertain."""
        least, most, problem = self.spec.least_bandwidth, self.spec.bandwidth or 0.0, ""
        if least is None:
            return None
        pairs = zip(self.names, self.groups, strict=True)
        left = [name for name, group in pairs if group[0] not in self.adaptive]
        if most < least:
            problem = f"found {least:g} Hz; give a larger bandwidth, from which it falls"
        elif self.spec.form != "layer" or self.spec.leakage is not None:
            problem = "it falls with form: layer and declared sizes alone; remove form and leakage"
        elif left:
            problem = f"{', '.join(left)} may mislead estimates; all that is uncertain is adaptive"
        if problem:
            raise self._error(".least_bandwidth", problem)
        needed = np.flatnonzero(np.logical_not(self.rubbing[list(self.adaptive)]))
        return needed.tolist(), (math.tau * least, math.tau * most)

    def ends(self) -> tuple[Array, Array]:
        """Smallest and largest deviations that are estimated, (p,) each, in their units."""
        sides = {group[0]: side for group, side in zip(self.groups, self.sides, strict=True)}
        fall, rise = (np.array([sides[p][k] for p in self.adaptive]) for k in (0, 1))
        return -fall, rise

    def units(self) -> Array:
        """Deviation of each parameter that is estimated, in SI units, (p,)."""
        return np.array([self.directions[p].values[0][1] for p in self.adaptive])

    def estimated(self, deviations: Array) -> dict[str, float]:
        """Values of parameters by name, for deviations in their units, (p,)."""
        names = [self.directions[p].values[0][0] for p in self.adaptive]
        values = [self._mechanism.parameters[name].value for name in names]
        return dict(zip(names, (values + self.units() * deviations).tolist(), strict=True))

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
            expect_names("parameter", [name], known, file=self._file, place=f"{_PLACE}.parameters")
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
            check_values(known, {name: low}, self._file, f"{_PLACE}.parameters.")
            value = known[name].value
            if not low <= value <= high:
                raise self._error(place, f"the model has {value:g}, outside of [{low:g}, {high:g}]")
            deviation = max(value - low, high - value)
            if deviation > 0.0:
                yield name, [Direction(((name, deviation),))]
        for motor, part in spec.motors:
            expect_names("motor", [motor], motors, file=self._file, place=f"{_PLACE}.motors")
            if part > 0.0:
                yield motor, [Direction(motor=motors.index(motor), size=part)]
        for force in spec.forces:
            links, place = mechanism.model.frame_names, f"{_PLACE}.forces.{force.name}.link"
            expect_names("link", [force.link], links, file=self._file, place=place)
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
        interval = dict(self.spec.parameters).get(name)
        if interval is None:
            return 1.0, 1.0
        below, above = np.abs(np.array(interval) - self._mechanism.parameters[name].value).tolist()
        return below / max(below, above), above / max(below, above)

    @cached_property
    def _variants(self) -> dict[int, ResolvedMechanism]:
        """The machine a step along each direction in which its forces differ."""
        known, found = self._mechanism.parameters, {}
        for p, one in enumerate(self.directions):
            values = {
                name: known[name].value + _STEP * x
                for name, x in one.values
                if not (name.startswith("links.") or name.endswith(".armature"))
            }
            if values:
                found[p] = self._mechanism.with_parameters(values)
        return found

    @property
    def row_count(self) -> int:
        """Number of rows of U."""
        inside = 6 * len(self._bodies) + len(self._armatures) + len(self._variants)
        return inside + sum(one.motor >= 0 or bool(one.link) for one in self.directions)

    def rows(
        self, model: RobotModel, kinematics: FrameKinematics, t: Any, q: Symbols, v: Symbols
    ) -> Symbols:
        """U, (rows, nv), at a state, of the robot itself or with further frames."""
        mechanism, nv = self._mechanism, len(v)
        found: list[Symbols] = []
        for body in self._bodies:
            found += [*body.jacobian(model, kinematics)]
        found += [*np.eye(nv)[self._armatures]]
        now = _forces(mechanism, kinematics, t, q, v) if self._variants else 0.0
        for variant in self._variants.values():
            found.append((now - _forces(variant, kinematics, t, q, v)) * (1.0 / _STEP))
        for one in self.directions:
            if one.motor >= 0:
                found.append(-one.size * mechanism.actuators.matrix[:, one.motor])
            elif one.link:
                found.append(-one.size * wrench_row(model, kinematics, one.link, one.axis))
        return np.stack(found)

    def shares(
        self,
        model: RobotModel,  # as of :meth:`rows`, as the others
        kinematics: FrameKinematics,  # see there
        v: Symbols,  # velocity, (nv,)
        motion: Symbols,  # U q̈, (rows,)
        efforts: Symbols,  # of the motors, (motors,)
    ) -> Symbols:
        """β, (directions, rows)."""
        place = 6 * len(self._bodies)
        forces = place + len(self._armatures)
        outside, count = forces + len(self._variants), self.row_count
        found: Symbols = np.full((len(self.directions), count), 0.0, dtype=motion.dtype)
        for k, body in enumerate(self._bodies):
            at = slice(6 * k, 6 * k + 6)
            found[:, at] = body.wrenches(model, kinematics, v, motion[at])
        for p, one in enumerate(self.directions):
            for name, x in one.values:
                if name.endswith(".armature"):
                    joint = self._mechanism.model.velocity_index(name.split(".")[1])
                    row = place + self._armatures.index(joint)
                    found[p, row] = x * motion[row]
        for k, p in enumerate(self._variants):
            found[p, forces + k] = 1.0
        for p, one in enumerate(self.directions):
            if one.motor >= 0 or one.link:
                found[p, outside] = efforts[one.motor] if one.motor >= 0 else 1.0
                outside += 1
        return found

    def inertias(self, model: RobotModel, kinematics: FrameKinematics, X: Symbols) -> Symbols:
        """By how much each direction changes the inertia, (directions, freedoms, freedoms).

        X has the rows in the admissible motions or some, (freedoms, rows); see :meth:`rows`.
        """
        rows, v = np.eye(self.row_count, dtype=X.dtype), np.zeros(model.nv)
        efforts = np.zeros(len(self._mechanism.actuators))
        units = (self.shares(model, kinematics, v, unit, efforts) for unit in rows)
        constant = self.shares(model, kinematics, v, 0.0 * rows[0], efforts)
        slopes = np.stack([unit - constant for unit in units], axis=-1)  # of β by U q̈
        found: Symbols = X @ slopes @ X.T
        return 0.5 * (found + found.transpose(0, 2, 1))

    def inertia(self, changes: Array) -> tuple[float, float]:
        """η₋ and η₊ of what :meth:`inertias` gave: parts by which inertia may be less or more."""
        freedoms = changes.shape[1]
        smallest, largest = np.zeros((2, freedoms, freedoms))
        less = more = 0.0
        for group, (fall, rise) in zip(self.groups, self.sides, strict=True):
            squares = 0.0
            for p in group:
                B = changes[p]
                values = np.linalg.eigvalsh(B) if freedoms else np.zeros(1)
                if len(group) == 1 and values[0] >= -_DEFINITE * max(values[-1], 0.0):
                    smallest += fall * B  # adds inertia: all of them may do so together
                    largest += rise * B
                else:
                    squares += float(np.abs(values).max()) ** 2
            less, more = less + squares**0.5, more + squares**0.5
        if freedoms:
            less += max(float(np.linalg.eigvalsh(smallest)[-1]), 0.0)
            more += max(float(np.linalg.eigvalsh(largest)[-1]), 0.0)
        return less, more

    @property
    def rubbing(self) -> Array:
        """Flags of the directions that are Coulomb friction of joints alone, (directions,)."""
        names = ([name for name, _ in one.values] for one in self.directions)
        return np.array([bool(x) and all(n.endswith(".friction") for n in x) for x in names])

    def motor_losses(self) -> Mapping[int, float]:
        """Part by which the constant of a motor may differ, by its place."""
        return {one.motor: one.size for one in self.directions if one.motor >= 0}


def _forces(
    mechanism: ResolvedMechanism, kinematics: FrameKinematics, t: Any, q: Symbols, v: Symbols
) -> Symbols:
    """Forces of joints and springs, (nv,)."""
    force: Symbols = mechanism.passive.force(q, v)
    mechanism.forces.add_to(force, kinematics, t, q, v)
    return force
