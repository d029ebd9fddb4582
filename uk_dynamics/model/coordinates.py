# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Names of positions and velocities, their limits, and the way from names to arrays and back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.arrays import Array, Flags, Indices, Values
from uk_dynamics.exceptions import StateError, UnknownNameError
from uk_dynamics.model.urdf.description import ONE_DOF, Joint

POSITION_SUFFIXES = {
    "floating": ("x", "y", "z", "qx", "qy", "qz", "qw"),
    "planar": ("x", "y", "cos", "sin"),
}
VELOCITY_SUFFIXES = {"floating": ("vx", "vy", "vz", "wx", "wy", "wz"), "planar": ("vx", "vy", "wz")}
UNIT_NORM_TOLERANCE = 1e-2


@dataclass(frozen=True)
class LimitViolation:
    """A joint outside its position limits, in rad or m."""

    joint: str
    position: float
    lower: float
    upper: float

    def __str__(self) -> str:
        return f"{self.joint} = {self.position:.6g} is outside [{self.lower:.6g}, {self.upper:.6g}]"


class Coordinates:
    """Names and limits of the coordinates of a chain of joints.

    A one-dof joint gives its name to one position and one velocity. The coordinates of a floating
    or planar joint are named ``joint.x``, ``joint.qw``, ``joint.vx``, ``joint.wz`` and so on; its
    velocities are measured in the moving frame.
    """

    def __init__(self, joints: Sequence[Joint]) -> None:
        positions: list[str] = []
        velocities: list[str] = []
        owners: list[Joint] = []
        # of the positions: ``rad``, ``m``, or ``1`` for parts of a quaternion or of a unit circle
        self.units: dict[str, str] = {}
        self._unit_parts: list[tuple[str, slice]] = []
        for joint in joints:
            start = len(positions)
            own = _names(joint, POSITION_SUFFIXES)
            positions += own
            self.units |= {name: _unit(joint, name) for name in own}
            velocities += _names(joint, VELOCITY_SUFFIXES)
            owners += [joint] * (len(velocities) - len(owners))
            if joint.type == "floating":
                self._unit_parts.append((joint.name, slice(start + 3, start + 7)))
            if joint.type == "planar":
                self._unit_parts.append((joint.name, slice(start + 2, start + 4)))
        self.position_names = tuple(positions)
        self.velocity_names = tuple(velocities)
        # the one-dof joints in velocity order
        self.joint_names = tuple(joint.name for joint in joints if joint.type in ONE_DOF)
        self._position_index = {name: index for index, name in enumerate(positions)}
        self._velocity_index = {name: index for index, name in enumerate(velocities)}
        self.position_of_joint = _indices(self._position_index, self.joint_names)
        self.velocity_of_joint = _indices(self._velocity_index, self.joint_names)
        # all by velocity index, (nv,); limits are infinite where they are not declared
        self.lower = read_only([joint.lower for joint in owners])
        self.upper = read_only([joint.upper for joint in owners])
        self.effort_limit = read_only([joint.effort_limit for joint in owners])
        self.velocity_limit = read_only([joint.velocity_limit for joint in owners])
        self.damping = read_only([joint.damping for joint in owners])
        self.friction = read_only([joint.friction for joint in owners])

    @property
    def joint_places(self) -> tuple[Indices, Indices]:
        """Where the one-dof joints are in q and in v, (n_joints,) each."""
        return self.position_of_joint, self.velocity_of_joint

    def by_velocity(self, q: Array) -> Array:
        """Positions (nq,) of the one-dof joints by velocity index, (nv,), NaN for others."""
        if not self._unit_parts:
            return q
        found = np.full(len(self.velocity_names), np.nan)
        found[self.velocity_of_joint] = q[self.position_of_joint]
        return found

    def position_index(self, name: str) -> int:
        """Place of a joint (or of a coordinate such as ``root.x``) in q."""
        return _look_up(self._position_index, name)

    def velocity_index(self, name: str) -> int:
        """Place of a joint (or of a coordinate such as ``root.vx``) in v."""
        return _look_up(self._velocity_index, name)

    def to_positions(self, values: Values, default: Array) -> Array:
        """A checked configuration from names or from an array.

        Args:
            values: Positions by name, or all nq of them; rad and m.
            default: (nq,), used for the names not given.

        Returns:
            A fresh (nq,) array; quaternions and unit circles normalised.

        Raises:
            UnknownNameError: A name does not exist.
            StateError: Wrong size, a number that is not finite, a quaternion far from unit length.
        """
        q = named_numbers(values, self.position_names, "joint", "position", default)
        for joint, part in self._unit_parts:
            norm = float(np.linalg.norm(q[part]))
            if abs(norm - 1.0) > UNIT_NORM_TOLERANCE:
                names = ", ".join(self.position_names[part])
                raise StateError(f"{names} must have unit length, found {norm:.6g}", place=joint)
            q[part] /= norm
        return q

    def to_velocities(self, values: Values) -> Array:
        """A checked (nv,) array of velocities, efforts or other per-velocity numbers.

        Names not given are zero. Raises as :meth:`to_positions`.
        """
        zeros = np.zeros(len(self.velocity_names))
        return named_numbers(values, self.velocity_names, "joint", "velocity", zeros)

    def positions_by_name(self, q: Array) -> dict[str, float]:
        """The (nq,) positions by their names."""
        return dict(zip(self.position_names, np.asarray(q).tolist(), strict=True))

    def limit_violations(self, q: Array, tolerance: float = 1e-9) -> list[LimitViolation]:
        """The one-dof joints outside their position limits by more than a tolerance (rad, m)."""
        value = np.asarray(q)[self.position_of_joint]
        lower = self.lower[self.velocity_of_joint]
        upper = self.upper[self.velocity_of_joint]
        return [
            LimitViolation(self.joint_names[k], float(value[k]), float(lower[k]), float(upper[k]))
            for k in np.flatnonzero(self.outside_limits(q, tolerance))
        ]

    def outside_limits(self, q: Array, tolerance: float = 1e-9) -> Flags:
        """Which of these joints are outside, (..., joints), at configurations (..., nq)."""
        value = np.asarray(q)[..., self.position_of_joint]
        lower = self.lower[self.velocity_of_joint]
        upper = self.upper[self.velocity_of_joint]
        return (value < lower - tolerance) | (value > upper + tolerance)


def named_numbers(
    values: Values,  # by name, or all of them, (n,)
    names: Iterable[str],  # of all n numbers, in their order
    kind: str,  # what has the names, such as a joint
    what: str,  # what the numbers are, such as a position
    default: Array | None = None,  # of those not given by name, (n,); None: all have to be given
) -> Array:
    """A checked array, fresh, (n,), of finite numbers by name or from an array."""
    names = tuple(names)
    if isinstance(values, Mapping):
        known = dict(zip(names, names if default is None else default.tolist(), strict=True))
        for name, value in values.items():
            if name not in known:
                raise UnknownNameError(kind, name, names)
            try:
                known[name] = float(value)
            except (TypeError, ValueError):
                raise StateError(f"expected a number, found {value!r}", place=name) from None
        if missing := [name for name, value in known.items() if isinstance(value, str)]:
            raise StateError(f"the {what} of {', '.join(missing)} is missing")
        values = list(known.values())
    try:
        numbers = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise StateError(f"expected {len(names)} numbers, found {values!r:.80}") from None
    if numbers.shape != (len(names),):
        listed = ", ".join(names[:6]) + " ..." * (len(names) > 6)
        problem = f"expected {len(names)} {what} values ({listed}), found shape {numbers.shape}"
        raise StateError(problem)
    if not np.isfinite(numbers).all():
        bad = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise StateError(f"expected a finite {what}, found {numbers[bad]}", place=names[bad])
    return numbers


def _unit(joint: Joint, position: str) -> str:
    if joint.type in ONE_DOF:
        return "m" if joint.type == "prismatic" else "rad"
    return "m" if position.rpartition(".")[2] in ("x", "y", "z") else "1"


def _names(joint: Joint, suffixes: Mapping[str, tuple[str, ...]]) -> list[str]:
    if joint.type in ONE_DOF:
        return [joint.name]
    return [f"{joint.name}.{suffix}" for suffix in suffixes[joint.type]]


def _indices(
    index: Mapping[str, int], names: Sequence[str]
) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.array([index[name] for name in names], dtype=np.intp)


def read_only(values: ArrayLike) -> Array:
    """A copy of numbers that cannot be changed."""
    array = np.array(values, dtype=float)
    array.flags.writeable = False
    return array


def _look_up(index: Mapping[str, int], name: str) -> int:
    try:
        return index[name]
    except KeyError:
        raise UnknownNameError("joint", name, index) from None
