# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Kinematics through the loops, as methods of a mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from numpy.typing import ArrayLike

from uk_dynamics.mechanism.kinematics.configuration_search import (
    STARTS,
    forward_kinematics,
    inverse_kinematics,
)
from uk_dynamics.mechanism.kinematics.force_envelope import ForceEnvelope, StaticLoads
from uk_dynamics.mechanism.kinematics.independent_coordinates import IndependentCoordinates
from uk_dynamics.mechanism.kinematics.jacobian import TWIST, Axes, FrameJacobian, Of, frame_jacobian
from uk_dynamics.mechanism.kinematics.loop_motion import Positions, states_of
from uk_dynamics.mechanism.kinematics.singularities import (
    Dexterity,
    Kind,
    SingularConfiguration,
    dexterity,
    nearest_singularity,
)
from uk_dynamics.mechanism.kinematics.transmission import Transmission, transmission
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array
from uk_dynamics.mechanism.resolution.wrenches import Point


class KinematicMechanism(ResolvedMechanism):
    """What a mechanism's geometry alone answers.

    A frame is the name of a link, or a point in one, such as ``("coupler", (0.2, 0, 0))``.
    Configurations are closed: from ``assemble()``, ``start().q`` or the methods below. ``q`` may be
    a state, positions by name, or (nq,); None is the initial guess.
    """

    def jacobian(
        self,
        frame: Point,
        q: Positions = None,
        v: Mapping[str, float] | ArrayLike | None = None,
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
        return frame_jacobian(self, frame, q, v, of=of, axes=axes, coordinates=coordinates)

    def independent_coordinates(
        self, q: Positions = None, names: Sequence[str] | None = None
    ) -> IndependentCoordinates:
        """Coordinates that determine all others, and maps of q, v and q̈ from and to them.

        Args:
            q: Where they are to be good.
            names: Which; None: those that determine the motion best there.

        Raises:
            UnknownNameError: A coordinate does not exist.
            InputError: They do not determine the motion.
        """
        (state, *_), _ = states_of(self, q)
        return IndependentCoordinates(self, state.q, names)

    def transmission(self, to: Point | Sequence[str], q: Positions = None) -> Transmission:
        """Transmission ratio from the motors to joints or a frame, and of forces the other way.

        Args:
            to: A joint, a list of joints, a link, or a point in a link; of a joint and a link of
                one name the joint.
            q: One configuration or (K, nq).

        Raises:
            UnknownNameError: There is no such joint or link.
            InputError: The motors do not determine the motion here, or there are none.
        """
        return transmission(self, to, q)

    def dexterity(
        self, frame: Point, q: Positions = None, rows: Sequence[str] | None = None
    ) -> Dexterity:
        """Manipulability, condition, and how near singular configurations of each kind are.

        Args:
            frame: A link, or a point in it.
            q: One configuration.
            rows: Of vx, vy, vz, wx, wy, wz; None: those in which the frame moves here.

        Raises:
            UnknownNameError: A name does not exist.
        """
        return dexterity(self, frame, q, rows)

    def nearest_singularity(
        self,
        q: Positions = None,
        frame: Point | None = None,
        kinds: Sequence[Kind] | None = None,
        rows: Sequence[str] = TWIST,
    ) -> SingularConfiguration | None:
        """The nearest singular configuration within the joint limits, and its kind.

        Searched for by Newton's method on the measure of each kind, from here and from places
        around: there may be a nearer one that it does not find.

        Args:
            q: One configuration.
            frame: For singular configurations of the task; None: of loops and motors alone.
            kinds: Of ``loops``, ``motors``, ``task``; None: all that there are.
            rows: Of the frame's twist, that make the task.

        Returns:
            None where none is found.
        """
        return nearest_singularity(self, q, frame, kinds, rows)

    def inverse_kinematics(
        self,
        frame: Point,
        pose: object = None,
        *,
        position: ArrayLike | None = None,
        orientation: ArrayLike | None = None,
        axes: Sequence[str] | None = None,
        seed: Positions = None,
        hold: Iterable[str] = (),
        branches: bool = False,
        starts: int = STARTS,
    ) -> Array:
        """Configurations with a frame at a pose in the world, loops closed, within joint limits.

        From the seed the frame is led to the pose in steps, so that the branch is that of the seed;
        where that fails, other starts are tried. Of many poses each starts at the one before.

        Args:
            frame: A link, or a point in it.
            pose: Homogeneous matrix (4, 4) or (K, 4, 4), a ``pinocchio.SE3``, or what
                ``mechanism.pose`` returns.
            position: Instead of a pose: (3,) or (K, 3), in m; the orientation is free.
            orientation: Likewise (3, 3) or (K, 3, 3), alone or with a position.
            axes: Components that count, of x, y, z and, as a rotation vector, rx, ry, rz; None: all
                that are given.
            seed: Where to begin.
            hold: Joints that stay as they are in the seed.
            branches: Find all solutions, from many random starts. There may be more than are
                found.
            starts: How many.

        Returns:
            (nq,), (K, nq) for many poses, or with branches (k, nq), nearest to the seed first.

        Raises:
            AssemblyError: Out of reach; ``violations`` says by how much, in m and rad.
            InputError: With branches: the solutions are not isolated; or numbers that are no pose.
        """
        return inverse_kinematics(
            self,
            frame,
            pose,
            position=position,
            orientation=orientation,
            axes=axes,
            seed=seed,
            hold=hold,
            branches=branches,
            starts=starts,
        )

    def forward_kinematics(
        self,
        motors: Mapping[str, float] | ArrayLike,
        *,
        seed: Positions = None,
        hold: Iterable[str] = (),
        branches: bool = False,
        starts: int = STARTS,
    ) -> Array:
        """Configurations with the motors at positions, loops closed, within joint limits.

        Args:
            motors: Positions in rad or m by motor, Σ c q of its joints, or by joint; or of all
                motors, (motors,).
            seed: Where to begin; its branch is kept, where that is possible.
            hold: Joints that stay as they are in the seed.
            branches: Find all solutions (assembly modes), as in :meth:`inverse_kinematics`.
            starts: How many random starts.

        Returns:
            (nq,), or with branches (k, nq), nearest to the seed first.

        Raises:
            AssemblyError: The loops do not close there; says by how much.
            InputError: The motors do not determine the configuration.
            UnknownNameError: There is no such motor or joint.
        """
        return forward_kinematics(
            self, motors, seed=seed, hold=hold, branches=branches, starts=starts
        )

    def force_envelope(
        self,
        frame: Point,
        q: Positions = None,
        rows: Sequence[str] | None = None,
        *,
        weight: bool = True,
    ) -> ForceEnvelope:
        """Forces and torques at a frame that the motors can hold within their effort limits.

        Args:
            frame: A link, or a point in it, where they act.
            q: One configuration.
            rows: Of fx, fy, fz, tx, ty, tz, the others being zero; None: the forces in which
                the frame moves here.
            weight: Whether the motors also carry gravity and springs.

        Raises:
            UnknownNameError: A name does not exist.
            InputError: A motor has no effort limit, or there are none.
        """
        (state, *_), _ = states_of(self, q)
        return StaticLoads(self).envelope(frame, state, rows, weight=weight)
