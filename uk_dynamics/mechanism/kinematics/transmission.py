# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Transmission ratios from motors to joints and frames, and of forces the other way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.kinematics.jacobian import TWIST, motor_map, twist_map
from uk_dynamics.mechanism.kinematics.loop_motion import LoopMotion, Positions, states_of
from uk_dynamics.mechanism.resolution.actuators import Actuators
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array
from uk_dynamics.mechanism.resolution.wrenches import Point


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
    motion = LoopMotion(mechanism)
    ratios = []
    for state in states:
        motion.update(state.q, None, state.t)
        T = _motors(motion, actuators)
        if joints is not None:
            ratios.append(T[[model.velocity_index(name) for name in joints]])
        else:
            ratios.append(twist_map(motion, to, np.zeros(model.nv))[0] @ T)  # type: ignore[arg-type]
    rows = TWIST if joints is None else tuple(joints)
    return Transmission(np.array(ratios) if many else ratios[0], rows, actuators.names)


def _motors(motion: LoopMotion, actuators: Actuators) -> Array:
    if not len(actuators):
        raise InputError("has no motors", place=motion.mechanism.name)
    return motor_map(motion)
