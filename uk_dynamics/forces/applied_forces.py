# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Applied forces: constant efforts and wrenches, and efforts that are expressions of t, q and v."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.expressions import CompiledExpressions
from uk_dynamics.constraints.rows import AncestorMask, FrameKinematics, JointTerm, apply, skew

Array = NDArray[np.float64]
Vector = tuple[float, float, float]


@dataclass(frozen=True)
class ConstantEffort:
    """The same effort at all times on a weighted sum of joints."""

    joints: tuple[JointTerm, ...]  # what it acts on: factor · effort on each joint
    effort: float  # in N or N·m


@dataclass(frozen=True)
class ConstantWrench:
    """A force at the origin of a frame and a torque, from outside."""

    frame: int  # frame index
    force: Vector = (0.0, 0.0, 0.0)  # in N
    torque: Vector = (0.0, 0.0, 0.0)  # in N·m
    # whether they turn with the frame; otherwise they keep their direction in the world
    body_axes: bool = False


class ConstantEfforts:
    """All constant efforts: one generalized force."""

    def __init__(self, efforts: Sequence[ConstantEffort], nv: int) -> None:
        """Add them up, for nv velocities."""
        self.force = np.zeros(nv)
        for effort in efforts:
            for term in effort.joints:
                self.force[term.velocity] += term.coefficient * effort.effort
        self.force.flags.writeable = False


class ConstantWrenches:
    """All constant wrenches at once."""

    def __init__(self, wrenches: Sequence[ConstantWrench], ancestor_mask: AncestorMask) -> None:
        """Collect them.

        ancestor_mask: 1 where a velocity coordinate moves a frame, (frames, nv).
        """
        self._frame = np.array([wrench.frame for wrench in wrenches], dtype=np.intp)
        self._mask = ancestor_mask[self._frame]
        self._force = np.array([wrench.force for wrench in wrenches]).reshape(-1, 3)
        self._torque = np.array([wrench.torque for wrench in wrenches]).reshape(-1, 3)
        self._body = np.array([wrench.body_axes for wrench in wrenches], dtype=bool)[:, None, None]

    def force(self, kinematics: FrameKinematics) -> Array:
        """Generalized force, (nv,), in N or N·m."""
        axes = np.where(self._body, kinematics.rotation.take(self._frame, 0), np.eye(3))
        force, torque = apply(axes, self._force), apply(axes, self._torque)
        point = kinematics.translation.take(self._frame, 0)
        wrench = np.concatenate((force, torque + apply(skew(point), force)), axis=1)
        generalized: Array = ((wrench @ kinematics.jacobian) * self._mask).sum(axis=0)
        return generalized


@dataclass(frozen=True)
class ExpressionEffort:
    """An effort e(t, q, q̇) on a weighted sum of joints."""

    joints: tuple[JointTerm, ...]  # what it acts on: factor · effort on each joint
    effort: CompiledExpressions  # gives one value, in N or N·m


class ExpressionEfforts:
    """All of them at once: τ = Cᵀ e(t, q, q̇)."""

    def __init__(self, efforts: Sequence[ExpressionEffort], nv: int) -> None:
        """Collect the efforts, for nv velocities."""
        self._functions = [effort.effort for effort in efforts]
        self._directions = np.zeros((len(efforts), nv))
        for row, effort in enumerate(efforts):
            for term in effort.joints:
                self._directions[row, term.velocity] += term.coefficient

    def force(self, t: float, q: Array, v: Array) -> Array:
        """Generalized force at a time and state, (nv,), in N or N·m.

        Raises ExpressionValueError: An expression has no value there.
        """
        efforts = np.array([function(t, q, v)[0] for function in self._functions])
        force: Array = efforts @ self._directions
        return force
