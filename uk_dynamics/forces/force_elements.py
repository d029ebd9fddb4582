# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""All declared forces of a mechanism together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.rows import AncestorMask, FrameKinematics
from uk_dynamics.forces.applied_forces import (
    ConstantEffort,
    ConstantEfforts,
    ConstantWrench,
    ConstantWrenches,
    ExpressionEffort,
    ExpressionEfforts,
)
from uk_dynamics.forces.springs import JointSpring, JointSprings, LineSpring, LineSprings

Array = NDArray[np.float64]
ForceElement = JointSpring | LineSpring | ConstantEffort | ConstantWrench | ExpressionEffort


class ForceElements:
    """The section ``forces`` of a mechanism file, resolved against a robot."""

    def __init__(
        self,
        elements: Sequence[ForceElement],  # in any order
        ancestor_mask: AncestorMask,  # 1 where a velocity coordinate moves a frame, (frames, nv)
        nq: int,  # size of q
    ) -> None:
        """Sort the elements by what they act on."""
        nv = ancestor_mask.shape[1]
        joint_springs = [e for e in elements if isinstance(e, JointSpring)]
        line_springs = [e for e in elements if isinstance(e, LineSpring)]
        efforts = [e for e in elements if isinstance(e, ConstantEffort)]
        wrenches = [e for e in elements if isinstance(e, ConstantWrench)]
        written = [e for e in elements if isinstance(e, ExpressionEffort)]
        self._joint_springs = JointSprings(joint_springs, nq, nv) if joint_springs else None
        self._line_springs = LineSprings(line_springs, ancestor_mask) if line_springs else None
        self._efforts = ConstantEfforts(efforts, nv) if efforts else None
        self._wrenches = ConstantWrenches(wrenches, ancestor_mask) if wrenches else None
        self._expressions = ExpressionEfforts(written, nv) if written else None
        self.active = bool(elements)  # whether there is any
        springs = [part for part in (self._joint_springs, self._line_springs) if part]
        drives = efforts or wrenches or written
        # whether all of them have a potential: springs without damping
        self.conservative = not drives and all(part.conservative for part in springs)
        # whether their energy needs the placements of frames
        self.stores_energy_in_frames = bool(line_springs)
        # whether some of them depend on t by itself
        self.time_dependent = any(effort.effort.time_dependent for effort in written)

    def add_to(
        self, force: Array, kinematics: FrameKinematics, t: float, q: Array, v: Array
    ) -> None:
        """Add all of them to a generalized force (nv,), in N or N·m.

        Args:
            force: Changed in place.
            kinematics: Arrays of the robot at (q, v).
            t: Time, in s.
            q: Configuration, (nq,).
            v: Velocity, (nv,).

        Raises:
            ExpressionValueError: An expression has no value there.
        """
        if self._joint_springs is not None:
            force += self._joint_springs.force(q, v)
        if self._line_springs is not None:
            force += self._line_springs.force(kinematics, v)
        if self._efforts is not None:
            force += self._efforts.force
        if self._wrenches is not None:
            force += self._wrenches.force(kinematics)
        if self._expressions is not None:
            force += self._expressions.force(t, q, v)

    def potential_energy(self, kinematics: FrameKinematics, q: Array) -> float:
        """Energy stored in springs, in J; other forces work like motors and store none.

        Args:
            kinematics: Placements of the robot at q.
            q: Configuration, (nq,).
        """
        energy = 0.0
        if self._joint_springs is not None:
            energy += self._joint_springs.potential_energy(q)
        if self._line_springs is not None:
            energy += self._line_springs.potential_energy(kinematics)
        return energy
