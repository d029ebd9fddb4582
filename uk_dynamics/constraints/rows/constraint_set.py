# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""All constraints of one role (structure or tasks) and their references evaluated at once."""

from functools import cached_property

import numpy as np

from uk_dynamics.arrays import Flags
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.constraints.rows.frame_rows import AngularRows
from uk_dynamics.constraints.rows.relative_motion import (
    AncestorMask,
    FrameKinematics,
    RelativeTwist,
)
from uk_dynamics.constraints.rows.rotation_vector_rows import RotationReference, RotationVectorRows
from uk_dynamics.constraints.rows.row import Constraint, ConstraintTerms, FrameRows
from uk_dynamics.constraints.rows.row_layout import RowLayout
from uk_dynamics.constraints.rows.vectors import Array, dot
from uk_dynamics.core.equation import row_gains
from uk_dynamics.core.linalg import cosine, polar_angle, sine


class FollowedReferences:
    """The references of a set of rows, each in the place that the order of its row gives it."""

    def __init__(self, layout: RowLayout, position_rows: Flags, motion_rows: Flags) -> None:
        # where the references of angular rows stand among the rotations
        self.of_angles = slice(0, layout.angular_count)
        self.of_vectors = slice(layout.angular_count, None)  # where those of rotation vectors stand
        self._layout = layout
        self._position, self._motion = position_rows, motion_rows
        self._periodic = np.flatnonzero(np.isfinite(layout.period))

    def rotation(self, reference: ReferenceSample | None) -> RotationReference | None:
        """Reference rotations, None where no row has one."""
        groups = self._layout.rotation_groups
        if reference is None or groups is None:
            return None
        angular = self._layout.angular_rows
        return groups.sample(ReferenceSample(*(part[angular] for part in reference)))

    def subtract(
        self, reference: ReferenceSample, rotation: RotationReference | None, rows: ConstraintTerms
    ) -> ConstraintTerms:
        """The rows as seen from their references."""
        scale = self._layout.direct_scale
        value, first, second = (scale * part for part in reference)
        position, motion = self._position, self._motion
        if not position.all():
            # of order velocity the value stands where others have the rate, and so on
            second = np.where(position, second, np.where(motion, first, value))
            first = np.where(position, first, np.where(motion, value, 0.0))
            value = np.where(position, value, 0.0)
        rate = rows.rate - first
        bias = rows.bias - second
        if rotation is not None:
            angular = self._layout.angular_rows[self.of_angles]
            rate[angular] -= rotation.rate[self.of_angles]
            bias[angular] -= rotation.acceleration[self.of_angles]
        return ConstraintTerms(rows.A, bias, self.errors(rows.residual, value), rate)

    def errors(self, residual: Array, value: Array) -> Array:
        """Residuals as seen from their references, those of periodic rows from the nearest one."""
        error: Array = residual - value
        for row in self._periodic.tolist():
            rise = self._layout.period[row : row + 1] / (2.0 * np.pi)
            angle = error[row : row + 1] / rise
            error[row : row + 1] = rise * polar_angle(sine(angle), cosine(angle))
        return error


class ConstraintSet:
    """An ordered, immutable set of constraints on one robot."""

    def __init__(
        self,
        constraints: tuple[Constraint, ...],  # in declared order
        ancestor_mask: AncestorMask,  # 1 where a velocity coordinate moves a frame, (frames, nv)
        nq: int,  # size of q
        length: float = 1.0,  # declared length that scales angular rows, in m
    ) -> None:
        """Lay out the rows."""
        self.constraints = constraints
        self.names = tuple(c.name for c in constraints)  # of the constraints
        self.row_names = tuple(name for c in constraints for name in c.row_names)
        self.slices: dict[str, slice] = {}  # rows of each constraint by name
        start = 0
        for constraint in constraints:
            self.slices[constraint.name] = slice(start, start + len(constraint.rows))
            start += len(constraint.rows)
        self.orders = tuple(row.order for c in constraints for row in c.rows)
        orders = np.array(self.orders, dtype=object)
        self.position_rows: Flags = orders == "position"  # whether they hold positions, (m,)
        self.motion_rows: Flags = orders != "acceleration"  # or positions or velocities, (m,)
        velocity_rows = np.flatnonzero(self.motion_rows & ~self.position_rows)
        self._velocity_rows = velocity_rows if len(velocity_rows) else None
        frequency = np.array([c.frequency for c in constraints for _ in c.rows])
        ratio = np.array([c.damping_ratio for c in constraints for _ in c.rows])
        # 2ζω of each row (of order velocity ω, of order acceleration 0), in 1/s, and ω² of each row
        # of order position, else 0, in 1/s², (m,)
        self.damping, self.stiffness = row_gains(
            frequency, ratio, self.position_rows, self.motion_rows
        )
        self.layout = RowLayout.of(constraints, ancestor_mask, nq, length)
        direct = self.layout.direct_scale
        # residual per unit of reference, (m,): the declared length for rows of angles, else 1. What
        # people read is in m, rad, N and N·m: residuals over it, and multipliers times it
        self.reference_scale = np.where(direct == 0.0, length, direct)
        self._followed = FollowedReferences(self.layout, self.position_rows, self.motion_rows)
        families = self.layout.families
        self._families = tuple(family for family, _ in families)
        self._turning = tuple((f, rows) for f, rows in families if f.turning)
        self._vectors = tuple(
            (f, rows) for f, rows in families if isinstance(f, RotationVectorRows)
        )
        # whether some row depends on t by itself, references aside
        self.time_dependent = any(family.time_dependent for family in self.layout.others)
        # whether the rate of every row is affine in v
        self.linear_in_rates = all(family.linear_in_rates for family in self.layout.others)

    def __repr__(self) -> str:
        return f"<ConstraintSet {', '.join(self.names) or 'empty'}: {len(self)} rows>"

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.row_names)

    def position(
        self,
        kinematics: FrameKinematics,  # arrays of the model at q; velocities are not used
        t: float,  # time, in s
        q: Array,  # configuration, (nq,)
        reference: ReferenceSample | None = None,  # values to subtract, per row, None for zero
    ) -> tuple[Array, Array]:
        """A (m, nv) and residual (m,) of the robot at rest at a configuration."""
        layout = self.layout
        wrench, frame_residual = self._wrenches(kinematics, self._followed.rotation(reference))
        parts = [(self._frame_jacobian(wrench, kinematics), frame_residual)]
        parts += [family.position(kinematics, t, q) for family in layout.others]
        A = self._declared([part[0] for part in parts])
        residual = self._declared([part[1] for part in parts])
        if reference is not None:
            value = layout.direct_scale * reference.value * self.position_rows
            residual = self._followed.errors(residual, value)
        return A, residual

    def evaluate(
        self,
        kinematics: FrameKinematics,  # arrays of the model at (q, v)
        t: float,  # time, in s
        q: Array,  # configuration, (nq,)
        v: Array,  # velocity, (nv,)
        # value, rate and acceleration to follow, per row, None for zero. Of a row of order velocity
        # the value is the desired rate, of order acceleration it is an acceleration
        reference: ReferenceSample | None = None,
    ) -> ConstraintTerms:
        """All rows at a state."""
        rotation = self._followed.rotation(reference)
        rows = self._evaluate(kinematics, t, q, v, rotation)
        if reference is not None:
            rows = self._followed.subtract(reference, rotation, rows)
        if self._velocity_rows is not None:
            rows.residual[self._velocity_rows] = rows.rate[self._velocity_rows]
        return rows

    def _evaluate(
        self,
        kinematics: FrameKinematics,
        t: float,
        q: Array,
        v: Array,
        rotation: RotationReference | None,
    ) -> ConstraintTerms:
        """All rows in declared order; of the references they follow rotations alone."""
        layout = self.layout
        if not layout.families:
            rows = self._other_rows(kinematics, t, q, v)
        else:
            rows = self._by_families(kinematics, v, rotation)
            if layout.others:
                others = self._other_rows(kinematics, t, q, v)
                rows = ConstraintTerms(*map(np.concatenate, zip(rows, others, strict=True)))
        if not layout.declared_order:
            rows = ConstraintTerms(*(part[layout.order] for part in rows))
        return rows

    def _by_families(
        self, kinematics: FrameKinematics, v: Array, rotation: RotationReference | None
    ) -> ConstraintTerms:
        """Rows of frame pairs in the order of their families."""
        twist = self._relative_twist(kinematics, v)
        wrench, residual = self._wrenches(kinematics, rotation)
        bias = dot(wrench, twist.bias.take(self.layout.pair_of_row, 0))
        for turning, chosen in self._turning:
            bias[chosen] += turning.extra_bias(kinematics, twist)
        A = self._frame_jacobian(wrench, kinematics)
        rate = A.dot(v)
        for vectors, chosen in self._vectors:
            followed = None if rotation is None else rotation.part(self._followed.of_vectors)
            missing = vectors.motion(kinematics, twist, followed)
            rate[chosen] += missing[0]
            bias[chosen] += missing[1]
        return ConstraintTerms(A, bias, residual, rate)

    def natural_scale(self, kinematics: FrameKinematics, q: Array) -> Array:
        """Sum of the magnitudes of the parent's and the child's part, (m, nv): nothing cancels."""
        wrench, _ = self._wrenches(kinematics, None)
        reach = np.abs(wrench @ kinematics.jacobian) * self._reach
        others = [family.natural_scale(kinematics, q) for family in self.layout.others]
        return self._declared([reach, *others])

    @cached_property
    def _sign(self) -> Array:
        return self.layout.pairs.sign[self.layout.pair_of_row]

    @cached_property
    def _reach(self) -> Array:
        return self.layout.pairs.reach[self.layout.pair_of_row]

    def _frame_jacobian(self, wrench: Array, kinematics: FrameKinematics) -> Array:
        """A of the rows of frame pairs, (rows, nv)."""
        A: Array = wrench.dot(kinematics.jacobian)
        A *= self._sign
        return A

    def _relative_twist(self, kinematics: FrameKinematics, v: Array) -> RelativeTwist:
        """Motion of all frame pairs."""
        return self.layout.pairs.twist(kinematics, v)

    def wrenches(self, kinematics: FrameKinematics) -> Array:
        """Wrench (f, n) of each row, linear part first, (m, 6); zero for rows without frames.

        It stands at the world's origin in world axes. A multiplier times it acts on the child, and
        its opposite on the parent.
        """
        wrench, _ = self._wrenches(kinematics, None)
        return self._declared([wrench, np.zeros((len(self) - len(wrench), 6))])

    def reversed_axes(self, kinematics: FrameKinematics) -> tuple[str, ...]:
        """Constraints whose aligned axes point against each other: loops closed in reverse."""
        return self.layout.reversed_axes(kinematics)

    def _wrenches(
        self, kinematics: FrameKinematics, rotation: RotationReference | None
    ) -> tuple[Array, Array]:
        if rotation is None:
            found = [family.position(kinematics) for family in self._families]
        else:
            found = [self._turned(family, kinematics, rotation) for family in self._families]
        if len(found) == 1:
            return found[0]
        if not found:
            return np.zeros((0, 6)), np.zeros(0)
        return np.concatenate([part[0] for part in found]), np.concatenate(
            [part[1] for part in found]
        )

    def _turned(
        self, family: FrameRows, kinematics: FrameKinematics, rotation: RotationReference
    ) -> tuple[Array, Array]:
        """Wrenches and residuals of a family; angles count from the reference."""
        if isinstance(family, AngularRows):
            return family.position(kinematics, rotation.rotation[self._followed.of_angles])
        if isinstance(family, RotationVectorRows):
            return family.position(kinematics, rotation.rotation[self._followed.of_vectors])
        return family.position(kinematics)

    def _other_rows(
        self, kinematics: FrameKinematics, t: float, q: Array, v: Array
    ) -> ConstraintTerms:
        found = [family.evaluate(kinematics, t, q, v) for family in self.layout.others]
        if len(found) == 1:
            return found[0]
        if not found:
            return ConstraintTerms(np.zeros((0, len(v))), np.zeros(0), np.zeros(0), np.zeros(0))
        return ConstraintTerms(*map(np.concatenate, zip(*found, strict=True)))

    def _declared(self, parts: list[Array]) -> Array:
        return np.concatenate(parts)[self.layout.order]
