# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Kinematics through the loops, as methods of a mechanism."""

from collections.abc import Sequence

from uk_dynamics.mechanism.kinematics.force_envelope import ForceEnvelope, StaticLoads
from uk_dynamics.mechanism.kinematics.independent_coordinates import IndependentCoordinates
from uk_dynamics.mechanism.kinematics.inverse_and_forward_kinematics import (
    forward_kinematics,
    inverse_kinematics,
)
from uk_dynamics.mechanism.kinematics.jacobian import frame_jacobian, transmission
from uk_dynamics.mechanism.kinematics.loop_motion import Positions, states_of
from uk_dynamics.mechanism.kinematics.singularities import dexterity, nearest_singularity
from uk_dynamics.mechanism.resolution import Point, ResolvedMechanism


class KinematicMechanism(ResolvedMechanism):
    """What a mechanism's geometry alone answers.

    A frame is the name of a link, or a point in one, such as ``("coupler", (0.2, 0, 0))``.
    Configurations are closed: from ``assemble()``, ``start().q`` or the methods below. ``q`` may be
    a state, positions by name, or (nq,); None is the initial guess.
    """

    jacobian = frame_jacobian
    transmission = transmission
    dexterity = dexterity
    nearest_singularity = nearest_singularity
    inverse_kinematics = inverse_kinematics
    forward_kinematics = forward_kinematics

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
