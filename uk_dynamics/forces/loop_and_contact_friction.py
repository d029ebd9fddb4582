# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Friction in loop joints and in contacts that slide: Coulomb and viscous, no Stribeck curve.

The surfaces of a joint slide on each other with velocity (u, r ω): u the relative velocity of the
child's origin along the directions that the joint leaves free, ω the free relative angular
velocity, r the radius of the pin or ball. Friction acts against it, with s its magnitude:

    force on the child   −μ N tanh(s/v₀) u/s − d u
    torque on the child  −μ N tanh(s/v₀) r² ω/s − d ω

N is the load, the magnitude of the force that the joint's translational rows transmit (of a hinge:
the part across its axis; an axial thrust is assumed to run in an ideal bearing). A hinge thus has
the pin friction μ r N tanh(r ω/v₀), a slide μ N tanh(u/v₀), a ball an isotropic torque. The power
−μ N s tanh(s/v₀) − d (u² + ω²) is never positive.

The dry friction of a contact with the load λ is −μ λ u/|u|. What sticks is a constraint; what
slides has the direction of its velocity u in the plane of the contact. A motion that is to be
followed until it sticks passes u = 0 on its way there, where the direction would jump: with the
direction d in which it began to slide, the force acts against u/|u| where uᵀd > 0, and beyond that,
where no motion is meant, against −u/|u|, which is smooth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from uk_dynamics.arrays import Array, Flags, Indices
from uk_dynamics.constraints.rows import (
    AncestorMask,
    FrameKinematics,
    FramePairs,
    apply,
    cross,
    dot,
)


@dataclass(frozen=True)
class FrictionLaw:
    """What a file declares."""

    coulomb: float = 0.0  # μ, without unit
    viscous: float = 0.0  # d, in N·s/m for sliding and N·m·s/rad for turning
    # v₀, in m/s: friction is tanh(1) of its full value at this speed of the surfaces
    velocity: float = 1e-3
    radius: float = 0.0  # r of the pin or ball, in m; 0 where nothing turns


@dataclass(frozen=True, eq=False)
class FrictionalJoint:
    """One loop joint with friction."""

    name: str  # name of the constraint
    law: FrictionLaw  # its numbers
    parent: int  # frame index
    child: int  # frame index
    held: Array  # translations that it does not allow, orthonormal in the parent frame, (k, 3)
    held_turns: Array  # rotations that it does not allow, orthonormal in the parent frame, (l, 3)
    # from the multipliers of all rows of the mechanism to the force across the sliding surfaces,
    # (3, m)
    load_map: Array
    row: int  # the first of its rows, which acts where the joint is closed


class JointFriction:
    """Friction of all loop joints that have it."""

    def __init__(self, joints: Sequence[FrictionalJoint], ancestor_mask: AncestorMask) -> None:
        """Collect the joints.

        ancestor_mask: 1 where a velocity coordinate moves a frame, (frames, nv).
        """
        self.active = bool(joints)  # whether there is any
        self.names = tuple(joint.name for joint in joints)  # the joints with friction
        # the joints with Coulomb friction, which depends on their load
        self.dry = tuple(joint.name for joint in joints if joint.law.coulomb)
        ends = [joint.parent for joint in joints], [joint.child for joint in joints]
        self._pairs = FramePairs(*ends, ancestor_mask)
        self._free = np.array([_free(joint.held) for joint in joints]).reshape(-1, 3, 3)
        self._free_turns = np.array([_free(j.held_turns) for j in joints]).reshape(-1, 3, 3)
        self._viscous = np.array([joint.law.viscous for joint in joints])
        self._velocity = np.array([joint.law.velocity for joint in joints])
        self._radius = np.array([joint.law.radius for joint in joints])
        self._coulomb = np.array([joint.law.coulomb for joint in joints])
        self._dry = np.flatnonzero(self._coulomb)
        #: Whether there is a force: viscous, or regularised; not of what sticks or slides exactly.
        self.resists = bool(self._coulomb.any() or self._viscous.any())
        self._row = np.array([joint.row for joint in joints], dtype=np.intp)
        rows = joints[0].load_map.shape[1] if joints else 0
        load_maps = [joints[index].load_map for index in self._dry.tolist()]
        # from multipliers to the load of each joint with Coulomb friction, (k, 3, m)
        self.load_map: Array = np.array(load_maps).reshape(len(load_maps), 3, rows)

    def evaluate(
        self,
        kinematics: FrameKinematics,  # arrays of the robot at the state
        v: Array,  # velocities, (nv,)
        # which rows of the mechanism act now, (m,); None: all. Open joints have none
        acting: Flags | None = None,
    ) -> tuple[Array, Array]:
        """Viscous force (nv,), and Coulomb force per unit load as columns, (nv, k)."""
        pairs = self._pairs
        twist = pairs.twist(kinematics, v)
        axes = kinematics.rotation.take(pairs.parent, 0)
        back = axes.transpose(0, 2, 1)
        # In parent axes; what violates the rows (drift) does not count as sliding.
        closed = np.ones((len(axes), 1)) if acting is None else acting[self._row, None]
        sliding = closed * apply(axes, apply(self._free, apply(back, twist.linear)))
        turning = closed * apply(axes, apply(self._free_turns, apply(back, twist.angular)))
        reach = self._radius[:, None] ** 2 * turning
        speed = np.sqrt(dot(sliding, sliding) + dot(reach, turning))
        # tanh(s/v₀)/s, with its limit 1/v₀ at rest.
        ratio = speed / self._velocity
        slope = np.where(ratio > 1e-8, np.tanh(ratio) / np.maximum(ratio, 1e-8), 1.0)
        per_load = -(self._coulomb * slope / self._velocity)[:, None]
        viscous = -self._viscous[:, None]
        point = kinematics.translation.take(pairs.child, 0)
        drag = self._generalized(kinematics, point, viscous * sliding, viscous * turning)
        dry = self._generalized(kinematics, point, per_load * sliding, per_load * reach)
        return drag.sum(axis=0), dry[self._dry].T

    def _generalized(
        self, kinematics: FrameKinematics, point: Array, force: Array, torque: Array
    ) -> Array:
        """Generalized force of each joint's wrench on the child and its opposite, (joints, nv)."""
        wrench = np.concatenate((force, torque + cross(point, force)), axis=1)
        return (wrench @ kinematics.jacobian) * self._pairs.sign


def _free(held: Array) -> Array:
    """Projector on the directions across some orthonormal ones, (3, 3)."""
    return np.eye(3) - held.T @ held


# m/s: slower, the direction is rounding, or an error of integration.
_LEAST_SPEED = 1e-9


@dataclass(frozen=True)
class SlidingPair:
    """A contact with friction, or a loop joint that sticks."""

    name: str  # of the constraint that holds its distance; of a joint, of that which makes it stick
    parent: int  # frame index of the surface
    child: int  # frame index of what touches it
    friction: float  # μ
    tangents: slice  # its rows that hold while it sticks
    load_map: Array  # from the multipliers of all rows of the mechanism to the load, (3, m)
    of_pin: bool = False  # whether it is a joint


class SlidingFriction:
    """Friction of all contacts that slide, and of loop joints that stick when they do not."""

    def __init__(
        self,
        contacts: Sequence[SlidingPair],  # in any order
        ancestor_mask: AncestorMask,  # 1 where a velocity coordinate moves a frame, (frames, nv)
        rows: int,  # number of rows of the mechanism
    ) -> None:
        """Collect the contacts."""
        self._place = {contact.name: index for index, contact in enumerate(contacts)}
        ends = [contact.parent for contact in contacts], [contact.child for contact in contacts]
        self._pairs = FramePairs(*ends, ancestor_mask)
        self._friction = np.array([contact.friction for contact in contacts])
        self._tangents = [one.tangents for one in contacts]
        self._contact = np.array([not one.of_pin for one in contacts], dtype=bool)
        self._load_map = np.array([one.load_map for one in contacts]).reshape(
            len(contacts), 3, rows
        )
        #: From the multipliers of all rows to the loads of loop joints that stick, (3, m), by name.
        self.pins = {one.name: one.load_map for one in contacts if one.of_pin}

    def own(self, sliding: Mapping[str, Array]) -> dict[str, Array]:
        """Those of what slides that are contacts or loop joints, with their directions."""
        return {name: one for name, one in sliding.items() if name in self._place}

    def rows(self, sliding: Mapping[str, Array]) -> tuple[Indices, Indices, Array]:
        """Rows of the loads of contacts, (k,), of their two tangents, (k, 2), and μ, (k,)."""
        chosen = [self._place[name] for name in sliding]
        loads = np.array([self._load_map[k, 0].argmax() for k in chosen], dtype=np.intp)
        tangents = [(self._tangents[k].start, self._tangents[k].stop - 1) for k in chosen]
        return loads, np.array(tangents, dtype=np.intp).reshape(-1, 2), self._friction[chosen]

    def evaluate(
        self,
        kinematics: FrameKinematics,  # arrays of the robot at the state
        wrenches: Array,  # of all rows of the mechanism, (m, 6)
        v: Array,  # velocities, (nv,)
        # direction in which each began to, (d − 1,), by its name
        sliding: Mapping[str, Array],
    ) -> tuple[Array, Array, Flags]:
        """Forces per unit load as columns, (nv, k), the loads' maps, (k, 3, m), and their signs.

        The last says which are of contacts, whose loads have a sign, (k,).
        """
        chosen, force = [self._place[name] for name in sliding], []
        for k, began in zip(chosen, sliding.values(), strict=True):
            jacobian = wrenches[self._tangents[k]] @ kinematics.jacobian * self._pairs.sign[k]
            velocity = jacobian @ v
            direction, speed = began[: len(velocity)], float(np.linalg.norm(velocity))
            if speed > _LEAST_SPEED:
                direction = velocity / (-speed if velocity @ direction < 0.0 else speed)
            force.append(-self._friction[k] * (direction @ jacobian))
        return np.array(force).T, self._load_map[chosen], self._contact[chosen]
