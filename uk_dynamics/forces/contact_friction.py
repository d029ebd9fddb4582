# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Dry friction of sliding contacts: the force −μ λ u/|u| of the load λ that the contact bears.

What sticks is a constraint; what slides has the direction of its velocity u in the plane of the
contact. A motion that is to be followed until it sticks passes u = 0 on its way there, where the
direction would jump: with the direction d in which it began to slide, the force acts against
u/|u| where uᵀd > 0, and beyond that, where no motion is meant, against −u/|u|, which is smooth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.constraints.rows import AncestorMask, FrameKinematics, FramePairs, skew

# m/s: slower, the direction is rounding.
_LEAST_SPEED = 1e-12


@dataclass(frozen=True)
class FrictionalContact:
    """A contact with friction."""

    name: str  # of the constraint that holds its distance
    parent: int  # frame index; the plane's z axis is its normal
    child: int  # frame index of the point, or the centre of the sphere
    radius: float  # of the sphere, in m
    friction: float  # μ
    row: int  # whose multiplier is the load


class ContactFriction:
    """Friction of all contacts that slide."""

    def __init__(
        self, contacts: Sequence[FrictionalContact], ancestor_mask: AncestorMask, rows: int
    ) -> None:
        """Collect the contacts.

        Args:
            contacts: In any order.
            ancestor_mask: 1 where a velocity coordinate moves a frame, (frames, nv).
            rows: Number of rows of the mechanism.
        """
        self._place = {contact.name: index for index, contact in enumerate(contacts)}
        self._pairs = FramePairs(
            np.array([contact.parent for contact in contacts], dtype=np.intp),
            np.array([contact.child for contact in contacts], dtype=np.intp),
            ancestor_mask,
        )
        self._radius = np.array([contact.radius for contact in contacts])
        self._friction = np.array([contact.friction for contact in contacts])
        self._load_map = np.zeros((len(contacts), 3, rows))
        for index, contact in enumerate(contacts):
            self._load_map[index, 0, contact.row] = 1.0

    def own(self, sliding: Mapping[str, Array]) -> dict[str, Array]:
        """Those of what slides that are contacts, with their directions, (2,)."""
        return {name: one for name, one in sliding.items() if name in self._place}

    def jacobians(self, kinematics: FrameKinematics) -> Array:
        """Of the velocity of each contact point along x and y, (contacts, 2, nv), in m."""
        pairs = self._pairs
        axes = kinematics.rotation.take(pairs.parent, 0)
        point = kinematics.translation.take(pairs.child, 0)
        point = point - self._radius[:, None] * axes[:, :, 2]
        force = axes[:, :, :2]
        wrench = np.concatenate((force, skew(point) @ force), axis=1).transpose(0, 2, 1)
        found: Array = (wrench @ kinematics.jacobian) * pairs.sign[:, None, :]
        return found

    def evaluate(
        self, kinematics: FrameKinematics, v: Array, sliding: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        """Forces per unit load as columns, (nv, k), and the loads' maps, (k, 3, m).

        Args:
            kinematics: Arrays of the robot at the state.
            v: Velocities, (nv,).
            sliding: Direction in which each sliding contact began to, (2,), by its name.
        """
        chosen = [self._place[name] for name in sliding]
        jacobian = self.jacobians(kinematics)[chosen]
        began = np.array(list(sliding.values())).reshape(-1, 2)
        velocity = jacobian @ v
        speed = np.linalg.norm(velocity, axis=1)
        along = np.where((velocity * began).sum(axis=1) < 0.0, -1.0, 1.0)
        fast = speed > _LEAST_SPEED
        direction = np.where(
            fast[:, None], along[:, None] * velocity / np.where(fast, speed, 1.0)[:, None], began
        )
        force = -self._friction[chosen, None] * (direction[:, None] @ jacobian)[:, 0]
        return force.T, self._load_map[chosen]
