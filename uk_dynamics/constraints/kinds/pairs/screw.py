# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A screw: a common axis, and one turn about it slides the child by the pitch.

With n the axis, d·n how far the child's origin is along it and φ the child's turn about it,
ψ = n·d − p φ/2π. φ is the twist about n after the shortest rotation from n to the child's
axis m; its rate is exact: ω·w with w = (n + m)/(1 + n·m).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uk_dynamics.constraints.kinds.keys import AXIS, number
from uk_dynamics.constraints.kinds.kind import (
    Data,
    Friction,
    Kind,
    SampleRobot,
    Setting,
    Surfaces,
    random_axis,
)
from uk_dynamics.constraints.kinds.selections import across, aligned, on_axis
from uk_dynamics.constraints.rows.frame_rows import couple, force_through
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics, RelativeTwist
from uk_dynamics.constraints.rows.row import Direction, FrameRow, FrameRows, Row, RowFrames
from uk_dynamics.constraints.rows.vectors import Array, apply, cross, dot
from uk_dynamics.core.linalg import cosine, polar_angle, sine
from uk_dynamics.exceptions import MechanismFileError


@dataclass(frozen=True)
class Screw(Kind):
    """A helical pair.

    Any number of turns is allowed: the residual of its row ``thread`` is that to the nearest
    thread, so it does not jump where an angle is wrapped.
    """

    axis: Direction  # Unit vector in the parent frame
    pitch: float  # In m per turn, positive for a right-handed thread, not zero
    name = "screw"
    removes = 5
    summary = "free: turning about the axis, which slides the child along it by the pitch per turn"
    example = (
        "spindle: {type: screw, axis: [1, 0, 0], pitch: 0.005, parent: {link: spindle},"
        " child: {link: carriage}}"
    )
    keys: ClassVar = {
        "axis": AXIS,
        "pitch": number(
            "m/turn",
            "How far a turn slides the child along the axis, in m/turn: above 0 for a right-handed"
            " thread, below 0 for a left-handed one.",
            0.005,
        ),
    }
    required = ("axis", "pitch")
    friction = Friction(
        "along the thread, by thrust and the force across the axis", turns_on="a thread"
    )
    foreign_names: ClassVar = {"URDF": ("screw",), "SDF": ("screw",), "Drake": ("ScrewJoint",)}

    @classmethod
    def from_data(cls, data: Data) -> Kind:
        """See :meth:`Kind.from_data`."""
        if data["pitch"] == 0:
            problem = "a screw of pitch 0 does not slide; give a pitch in m/turn, or type: hinge"
            raise MechanismFileError(problem, place="pitch")
        return super().from_data(data)

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """Those of a cylindrical joint, then the thread."""
        thread = ThreadRow("thread", self.axis, self.pitch)
        return (*on_axis(self.axis), *aligned(self.axis), thread)

    def surfaces(self, rows: Sequence[Row]) -> Surfaces:
        """As of other kinds; thrust loads the thread."""
        held, turns, loads, _ = super().surfaces(rows)
        return Surfaces(held, turns, [*loads[:-1], self.axis])

    @classmethod
    def of_axes(cls, axes: Sequence[Direction], pitch: float) -> dict[str, Any] | None:
        """Axis and pitch."""
        return {"axis": list(axes[0]), "pitch": pitch} if pitch else None

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """Any axis, right- or left-handed."""
        return {"axis": random_axis(rng), "pitch": float(rng.choice((-1, 1)) * rng.uniform(2, 4))}


@dataclass(frozen=True)
class ThreadRow(FrameRow):
    """Sliding and turning along an axis go together."""

    axis: Direction  # In the parent frame, unit
    pitch: float  # In m per turn

    @property
    def period(self) -> float:
        """The pitch: threads are all alike."""
        return abs(self.pitch)

    @classmethod
    def stack(cls, rows: "Sequence[ThreadRow]", frames: RowFrames, length: float) -> "ThreadRows":
        """See :meth:`FrameRow.stack`."""
        sides = [across(row.axis) for row in rows]
        return ThreadRows(
            frames,
            axis=np.array([row.axis for row in rows]),
            first=np.array([first for first, _ in sides]),
            second=np.array([second for _, second in sides]),
            rise=np.array([row.pitch for row in rows]) / (2.0 * math.pi),
        )


@dataclass(frozen=True)
class ThreadRows(FrameRows, of=ThreadRow):
    """ψ = n·d − r φ to the nearest thread, r = p/2π."""

    frames: RowFrames
    axis: Array  # n in the parent frame, unit, (m, 3)
    first: Array  # Unit vector across it in the parent frame, (m, 3)
    second: Array  # n × first, (m, 3)
    rise: Array  # r, (m,), in m/rad
    turning: ClassVar[bool] = True

    def _axes(self, kinematics: FrameKinematics) -> tuple[Array, Array, Array]:
        """n, m and w in the world, (m, 3) each."""
        rotation = kinematics.rotation
        n = apply(rotation.take(self.frames.parent, 0), self.axis)
        m = apply(rotation.take(self.frames.child, 0), self.axis)
        return n, m, (n + m) / (1.0 + dot(n, m))[:, None]

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (m, 6) and residuals (m,) in m, of at most half a pitch."""
        point, offset = self.frames.origins(kinematics)
        n, _, w = self._axes(kinematics)
        parent = kinematics.rotation.take(self.frames.parent, 0)
        child = kinematics.rotation.take(self.frames.child, 0)
        e1, e2 = apply(parent, self.first), apply(parent, self.second)
        c1, c2 = apply(child, self.first), apply(child, self.second)
        # Both are (1 + n·m) times a sine or cosine of φ.
        sin, cos = dot(e2, c1) - dot(e1, c2), dot(e1, c1) + dot(e2, c2)
        slid = dot(n, offset) / self.rise
        # The angle of slid − φ between −π and π: no branch of φ has to be known.
        ahead = sine(slid) * cos - cosine(slid) * sin
        along = cosine(slid) * cos + sine(slid) * sin
        wrench = force_through(point, n) - couple(self.rise[:, None] * w)
        return wrench, self.rise * polar_angle(ahead, along)

    def extra_bias(self, kinematics: FrameKinematics, twist: RelativeTwist) -> Array:
        """−r w'·ω with ' the derivative seen from the parent, (m,), in m/s².

        In it m' = ω × m is perpendicular to ω, so w'·ω = −(w·ω)(n·m')/(1 + n·m).
        """
        n, m, w = self._axes(kinematics)
        omega = twist.angular.take(self.frames.pair, 0)
        return self.rise * dot(w, omega) * (dot(n, cross(omega, m)) / (1.0 + dot(n, m)))
