"""Efforts on joints that a user wrote as expressions of the state and of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.expressions.compiled import CompiledExpressions
from uk_dynamics.constraints.rows.joint_rows import JointTerm

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ExpressionEffort:
    """An effort e(t, q, q̇) on a weighted sum of joints.

    Attributes:
        joints: What it acts on: factor · effort on each joint.
        effort: Gives one value, in N or N·m.
    """

    joints: tuple[JointTerm, ...]
    effort: CompiledExpressions


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

        Raises:
            ExpressionValueError: An expression has no value there.
        """
        efforts = np.array([function(t, q, v)[0] for function in self._functions])
        force: Array = efforts @ self._directions
        return force
