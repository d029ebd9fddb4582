"""All constraints of one role (structure or tasks) evaluated at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from uk_dynamics.constraints.constraint import Constraint
from uk_dynamics.constraints.joint_rows import JointRows
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.constraints.relative_motion import FrameKinematics
from uk_dynamics.constraints.rotation_reference import RotationReference
from uk_dynamics.constraints.row_layout import RowLayout
from uk_dynamics.constraints.rows import AlignmentRows, AngularRows, DistanceRows
from uk_dynamics.constraints.vectors import Array, dot


class Rows(NamedTuple):
    """A q̈ = −bias is the second derivative of residual = 0, stabilisation not included.

    Attributes:
        A: (m, nv).
        bias: Second derivative of the rows at zero joint acceleration, (m,), minus the reference's.
        residual: ψ, (m,), in m (angular rows: rad times the declared length).
        rate: A v minus the reference's rate, (m,).
    """

    A: Array
    bias: Array
    residual: Array
    rate: Array

    def right_hand_side(self, damping: Array, stiffness: Array) -> Array:
        """Give b = −bias − 2ζω·rate − ω²·residual (review (18), de Falco (32)).

        Args:
            damping: 2ζω per row, (m,), in 1/s.
            stiffness: ω² per row, (m,), in 1/s².
        """
        return -(self.bias + damping * self.rate + stiffness * self.residual)


class ConstraintSet:
    """An ordered, immutable set of constraints on one robot.

    Attributes:
        constraints: The constraints in their declared order.
        names: Their names.
        row_names: Name of each row, ``constraint.label``.
        damping: 2ζω of each row, (m,), in 1/s.
        stiffness: ω² of each row, (m,), in 1/s².
        slices: Rows of each constraint by name.
    """

    def __init__(
        self,
        constraints: tuple[Constraint, ...],
        ancestor_mask: Array,
        nq: int,
        length: float = 1.0,
    ) -> None:
        """Lay out the rows.

        Args:
            constraints: In declared order.
            ancestor_mask: 1 where a velocity coordinate moves a frame, (frames, nv).
            nq: Size of q.
            length: Declared length that scales angular rows, in m.
        """
        self.constraints = constraints
        self.names = tuple(c.name for c in constraints)
        self.row_names = tuple(name for c in constraints for name in c.row_names)
        self.slices: dict[str, slice] = {}
        start = 0
        for constraint in constraints:
            self.slices[constraint.name] = slice(start, start + len(constraint.rows))
            start += len(constraint.rows)
        omega = np.array([2.0 * np.pi * c.frequency for c in constraints for _ in c.rows])
        ratio = np.array([c.damping_ratio for c in constraints for _ in c.rows])
        self.damping = 2.0 * ratio * omega
        self.stiffness = omega * omega
        self._joint_rows = JointRows.of(constraints, nq, ancestor_mask.shape[1])
        self._layout = RowLayout.of(constraints, ancestor_mask, length)
        self._sign = self._layout.pairs.sign[self._layout.pair_of_row]
        self._reach = self._layout.pairs.reach[self._layout.pair_of_row]

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.row_names)

    def position(
        self, kinematics: FrameKinematics, q: Array, reference: ReferenceSample | None = None
    ) -> tuple[Array, Array]:
        """A (m, nv) and residual (m,) at a configuration.

        Args:
            kinematics: Arrays of the model at q; velocities are not used.
            q: Configuration, (nq,).
            reference: Values to subtract, per row, None for zero.
        """
        wrench, frame_residual = self._wrenches(kinematics, self._rotation_reference(reference))
        A = self._join((wrench @ kinematics.jacobian) * self._sign, self._joint_rows.matrix)
        residual = self._join(frame_residual, self._joint_rows.residual(q))
        if reference is not None:
            residual = residual - self._layout.direct_scale * reference.value
        return A, residual

    def evaluate(
        self,
        kinematics: FrameKinematics,
        q: Array,
        v: Array,
        reference: ReferenceSample | None = None,
    ) -> Rows:
        """All rows at a state.

        Args:
            kinematics: Arrays of the model at (q, v).
            q: Configuration, (nq,).
            v: Velocity, (nv,).
            reference: Value, rate and acceleration to follow, per row, None for zero.
        """
        layout = self._layout
        joint = self._joint_rows
        if not layout.families:
            rows = Rows(joint.matrix, np.zeros(len(self)), joint.residual(q), joint.matrix @ v)
            return rows if reference is None else self._follow(rows, reference, None)
        rotation = self._rotation_reference(reference)
        twist = layout.pairs.twist(kinematics, v)
        wrench, frame_residual = self._wrenches(kinematics, rotation)
        bias = dot(wrench, twist.bias.take(layout.pair_of_row, 0))
        for family, rows_of_family in layout.families:
            if isinstance(family, AlignmentRows | DistanceRows):
                bias[rows_of_family] += family.extra_bias(kinematics, twist)
        A = np.dot(wrench, kinematics.jacobian) * self._sign
        if len(joint.offset):
            A = self._join(A, joint.matrix)
            bias = self._join(bias, np.zeros(len(joint.offset)))
            frame_residual = self._join(frame_residual, joint.residual(q))
        elif not layout.declared_order:
            A, bias, frame_residual = (x[layout.order] for x in (A, bias, frame_residual))
        rows = Rows(A, bias, frame_residual, np.dot(A, v))
        return rows if reference is None else self._follow(rows, reference, rotation)

    def natural_scale(self, kinematics: FrameKinematics) -> Array:
        """Rows with parent and child taken apart, (m, nv): their size if nothing cancelled."""
        wrench, _ = self._wrenches(kinematics, None)
        reach = np.abs(wrench @ kinematics.jacobian) * self._reach
        return self._join(reach, np.abs(self._joint_rows.matrix))

    def wrenches(self, kinematics: FrameKinematics) -> Array:
        """Wrench (f, n) of each row, linear part first, (m, 6); zero for joint rows.

        It stands at the world's origin in world axes. A multiplier times it acts on the child, and
        its opposite on the parent.
        """
        wrench, _ = self._wrenches(kinematics, None)
        return self._join(wrench, np.zeros((len(self) - len(wrench), 6)))

    def reversed_axes(self, kinematics: FrameKinematics) -> tuple[str, ...]:
        """Constraints whose aligned axes point against each other: closed the wrong way round."""
        return self._layout.reversed_axes(kinematics)

    def _wrenches(
        self, kinematics: FrameKinematics, rotation: RotationReference | None
    ) -> tuple[Array, Array]:
        wrenches = []
        residuals = []
        for family, _ in self._layout.families:
            if isinstance(family, AngularRows):
                wrench, residual = family.position(
                    kinematics, None if rotation is None else rotation.rotation
                )
            else:
                wrench, residual = family.position(kinematics)
            wrenches.append(wrench)
            residuals.append(residual)
        if len(wrenches) == 1:
            return wrenches[0], residuals[0]
        if not wrenches:
            return np.zeros((0, 6)), np.zeros(0)
        return np.concatenate(wrenches), np.concatenate(residuals)

    def _join(self, frame_rows: Array, joint_rows: Array) -> Array:
        return np.concatenate((frame_rows, joint_rows))[self._layout.order]

    def _rotation_reference(self, reference: ReferenceSample | None) -> RotationReference | None:
        groups = self._layout.rotation_groups
        if reference is None or groups is None:
            return None
        angular = self._layout.angular_rows
        return groups.sample(ReferenceSample(*(part[angular] for part in reference)))

    def _follow(
        self, rows: Rows, reference: ReferenceSample, rotation: RotationReference | None
    ) -> Rows:
        scale = self._layout.direct_scale
        rate = rows.rate - scale * reference.rate
        bias = rows.bias - scale * reference.acceleration
        if rotation is not None:
            rate[self._layout.angular_rows] -= rotation.rate
            bias[self._layout.angular_rows] -= rotation.acceleration
        return Rows(rows.A, bias, rows.residual - scale * reference.value, rate)
