# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Jacobians of frames through the loops, and transmission ratios of the motors, with names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.arrays import Values
from uk_dynamics.core.linalg import skew
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.kinematics.independent_coordinates import IndependentCoordinates
from uk_dynamics.mechanism.kinematics.loop_motion import LoopMotion, Positions, states_of
from uk_dynamics.mechanism.resolution import Point, ResolvedMechanism, placed
from uk_dynamics.mechanism.resolution.state import Array

Of = Literal["motors", "independent", "all"]
Axes = Literal["local_world_aligned", "local", "world"]
TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")
"""Rows of a frame's velocity: linear, then angular, as Pinocchio has them."""
_UNSTEERED = 1e-6  # least rate of some motor in units of the motion


@dataclass(frozen=True, eq=False)
class FrameJacobian:
    """How a frame moves with some rates: twist = matrix @ rates.

    ``numpy.asarray`` of it is the matrix.

    Attributes:
        matrix: (6, n), or (K, 6, n) at K states; m/s or rad/s per unit of the column's rate.
        drift: J̇ times the rates, (6,) or (K, 6): the acceleration that is left where those of
            the columns vanish, in m/s² and rad/s²; zero at rest.
        rows: vx, vy, vz, wx, wy, wz.
        columns: Names of the motors or velocity coordinates, (n,).
        axes: In which axes and at which point; see :func:`frame_jacobian`.
    """

    matrix: Array
    drift: Array
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    axes: Axes

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The matrix."""
        return np.array(self.matrix, dtype=dtype)


def frame_jacobian(  # noqa: D417 - a method of mechanisms
    mechanism: ResolvedMechanism,
    frame: Point,
    q: Positions = None,
    v: Values | None = None,
    *,
    of: Of = "motors",
    axes: Axes = "local_world_aligned",
    coordinates: Sequence[str] | None = None,
) -> FrameJacobian:
    """The Jacobian of a frame through the loops, and what its rate does.

    Args:
        frame: A link, or a point in it.
        q: One configuration or (K, nq).
        v: Velocities for the drift J̇ ẏ, by name, (nv,) or (K, nv); None is rest.
        of: Columns: rates of the ``motors``; ``independent`` coordinates; or ``all`` velocity
            coordinates, as if the loops were open.
        axes: As in Pinocchio: ``local_world_aligned``, velocity of the point in world axes;
            ``local``, in the frame's own; ``world``, of the point that passes the world's
            origin.
        coordinates: Names of the independent ones; None: those that are best at the first
            configuration.

    Returns:
        Matrix (6, n) or (K, 6, n), linear rows first, with names. The frame's acceleration is
        matrix @ second rates + drift.

    Raises:
        UnknownNameError: A name does not exist.
        InputError: The motors, or the coordinates, do not determine the motion here.
    """
    for place, found, valid in (("of", of, get_args(Of)), ("axes", axes, get_args(Axes))):
        if found not in valid:
            raise InputError(f'expected {", ".join(valid)}, found "{found}"', place=place)
    states, many = states_of(mechanism, q, v)
    motion = LoopMotion(mechanism)
    columns, reduce = _reduction(mechanism, motion, of, states[0].q, coordinates)
    matrices, drifts = [], []
    for state in states:
        motion.update(state.q, state.v, state.t)
        J, drift = twist_map(motion, frame, state.v, axes)
        T, left = reduce()
        matrices.append(J @ T)
        drifts.append(drift + J @ left)
    matrix, drift = (np.array(parts) if many else parts[0] for parts in (matrices, drifts))
    return FrameJacobian(matrix, drift, TWIST, columns, axes)


def twist_map(
    motion: LoopMotion, frame: Point, v: Array, axes: Axes = "local_world_aligned"
) -> tuple[Array, Array]:
    """J of the tree for a frame, (6, nv), and J̇ v, (6,), where a motion was updated last."""
    model, workspace = motion.mechanism.model, motion.workspace
    index, place, rotation = placed(model, workspace, frame)
    mask = model.ancestor_mask[index]
    J, drift = workspace.jacobian * mask, (workspace.jacobian_rate * mask) @ v
    if axes == "world":
        return J, drift
    J[:3] -= skew(place) @ J[3:]
    twist = J @ v
    drift[:3] -= skew(place) @ drift[3:]
    if axes == "local_world_aligned":  # of the point itself, which turns with the frame
        drift[:3] += skew(twist[3:]) @ twist[:3]
    else:
        return (
            np.vstack([rotation.T @ J[:3], rotation.T @ J[3:]]),
            np.concatenate([rotation.T @ drift[:3], rotation.T @ drift[3:]]),
        )
    return J, drift


def motor_map(motion: LoopMotion) -> Array:
    """T with v = T ṁ for the rates ṁ = Sᵀ v of the motors, (nv, motors), which determine motions.

    With more motors than freedoms the rates of motors depend on each other, and T takes those
    that come closest to the given ones.
    """
    mechanism = motion.mechanism
    basis, motors = motion.basis(), mechanism.actuators
    S = motors.matrix * motion.unit[:, None]
    size = np.linalg.norm(S, axis=0)
    size[size == 0.0] = 1.0
    steered = (S / size).T @ basis
    freedoms = basis.shape[1]
    _, values, directions = np.linalg.svd(steered)
    values = np.append(values, np.zeros(freedoms - len(values)))
    if freedoms and values[-1] < _UNSTEERED:
        lost = np.count_nonzero(values < _UNSTEERED)
        moving = np.abs(basis @ directions[-1])
        names = [mechanism.model.velocity_names[k] for k in np.argsort(-moving)[:3]]
        raise InputError(
            f"{lost} of {freedoms} freedoms move with all motors at rest ({', '.join(names)} most):"
            " the motors do not determine the motion here; take independent coordinates",
            place=mechanism.name,
        )
    found: Array = motion.unit[:, None] * (basis @ np.linalg.pinv(steered)) / size
    return found


def _reduction(
    mechanism: ResolvedMechanism,
    motion: LoopMotion,
    of: Of,
    q: Array,
    coordinates: Sequence[str] | None,
) -> tuple[tuple[str, ...], Callable[[], tuple[Array, Array]]]:
    """Names of the columns; and T with v = T rates, and q̈ where their rates vanish."""
    nv = mechanism.model.nv
    if of == "all":
        return mechanism.model.velocity_names, lambda: (np.eye(nv), np.zeros(nv))
    if of == "motors":
        S, names = mechanism.actuators.matrix, mechanism.actuators.names
        make = motor_map
    else:
        chosen = IndependentCoordinates(mechanism, q, coordinates)
        names = chosen.velocities
        S = np.eye(nv)[:, [mechanism.model.velocity_index(name) for name in names]]

        def make(motion: LoopMotion) -> Array:
            return chosen.map(motion)

    def reduce() -> tuple[Array, Array]:
        T = make(motion)
        least = motion.particular(-motion.bias)
        return T, least - T @ (S.T @ least)

    return names, reduce


@dataclass(frozen=True, eq=False)
class Transmission:
    """What motors move at an output, and what forces they meet there; of an ideal mechanism.

    Attributes:
        ratio: Rates of the output = ratio @ rates of the motors, (n, motors) or (K, n, motors).
        rows: Names of the joints, or vx … wz of a frame, (n,).
        columns: Names of the motors.
    """

    ratio: Array
    rows: tuple[str, ...]
    columns: tuple[str, ...]

    def efforts(self, forces: ArrayLike) -> Array:
        """Motor efforts that make forces at the output, (motors,), in N or N·m.

        They are ratioᵀ @ forces, so that the power of both is the same in all admissible motions.
        With more motors than freedoms other efforts do as well, which differ by internal forces.

        Args:
            forces: On the surroundings, (n,), in N or N·m.
        """
        found: Array = np.swapaxes(self.ratio, -1, -2) @ np.asarray(forces, dtype=float)
        return found

    def forces(self, efforts: ArrayLike) -> Array:
        """Forces on what holds the output at rest, (n,), in N or N·m, that motor efforts make.

        Where several forces do, because parts of the output do not move, those of least norm.

        Args:
            efforts: Of the motors, (motors,), in N or N·m.

        Raises:
            InputError: No force at the output balances these efforts: motors move other parts.
        """
        given = np.asarray(efforts, dtype=float)
        found = np.linalg.pinv(np.swapaxes(self.ratio, -1, -2), rcond=1e-9) @ given
        left = np.abs(self.efforts(found) - given).max(initial=0.0)
        if left > 1e-6 * (1.0 + np.abs(given).max(initial=0.0)):
            raise InputError(
                f"no force at {', '.join(self.rows)} balances these efforts: {left:.3g} N or N·m is"
                " left, which moves other parts, or is internal"
            )
        return np.asarray(found)


def transmission(  # noqa: D417 - a method of mechanisms
    mechanism: ResolvedMechanism, to: Point | Sequence[str], q: Positions = None
) -> Transmission:
    """Transmission ratio from the motors to joints or a frame, and of forces the other way.

    Args:
        to: A joint, a list of joints, a link, or a point in a link; of a joint and a link of
            one name the joint.
        q: One configuration or (K, nq).

    Raises:
        UnknownNameError: There is no such joint or link.
        InputError: The motors do not determine the motion here, or there are none.
    """
    model, actuators = mechanism.model, mechanism.actuators
    known = model.velocity_names
    joints = [to] if isinstance(to, str) and to in known else to if isinstance(to, list) else None
    states, many = states_of(mechanism, q)
    if not len(actuators):
        raise InputError("has no motors", place=mechanism.name)
    motion = LoopMotion(mechanism)
    ratios = []
    for state in states:
        motion.update(state.q, None, state.t)
        T = motor_map(motion)
        if joints is not None:
            ratios.append(T[[model.velocity_index(name) for name in joints]])
        else:
            ratios.append(twist_map(motion, to, np.zeros(model.nv))[0] @ T)  # type: ignore[arg-type]
    rows = TWIST if joints is None else tuple(joints)
    return Transmission(np.array(ratios) if many else ratios[0], rows, actuators.names)
