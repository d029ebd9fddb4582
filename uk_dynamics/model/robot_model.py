# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The robot as a tree: names, limits, configuration space; evaluation happens in a Workspace."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from uk_dynamics.arrays import Flags, Values
from uk_dynamics.core.tree import Clusters
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.model.coordinates import Coordinates, read_only
from uk_dynamics.model.floating_bases import FloatingBase, floating_bases
from uk_dynamics.model.kinematics.bodies import (
    Ancestry,
    Body,
    BodyFrame,
    bodies_of,
    by_freedom,
    frames_of,
)
from uk_dynamics.model.kinematics.chart import chart_rate, lie_bracket
from uk_dynamics.model.kinematics.tree_workspace import TreeWorkspace
from uk_dynamics.model.kinematics.workspace import Workspace
from uk_dynamics.model.pinocchio_tree import Root, Tree
from uk_dynamics.model.urdf.description import Array, AttachedFrame, Mimic, RobotDescription
from uk_dynamics.model.urdf.reading import read_urdf

# Pinocchio keeps several arrays of nv³ numbers: here they are a quarter of a gigabyte.
_LARGEST_DENSE = 200
STANDARD_GRAVITY = (0.0, 0.0, -9.81)


class RobotModel(Coordinates):
    """An immutable model of the tree that a URDF describes, with the names of its coordinates."""

    def __init__(
        self,
        description: RobotDescription,
        *,
        gravity: Sequence[float] = STANDARD_GRAVITY,
        root: Root = "fixed",
        frames: Sequence[AttachedFrame] = (),
        armature: Mapping[str, float] | None = None,
    ) -> None:
        tree = Tree(description, root, frames)
        tree.set_armature(armature or {})
        tree.model.gravity.linear = _checked_gravity(gravity)
        super().__init__(tree.joints)
        # the underlying ``pinocchio.Model``, for comparisons; do not change it
        self.pinocchio: Any = tree.model
        self.description = description  # the checked description it was built from
        self.attached = tuple(frames)  # the frames besides links
        self.name = description.name  # name of the robot
        # what is legal in the description but probably not meant
        self.warnings = description.warnings
        # joints that follow others; the tree moves them freely, constraints must couple them
        self.mimic: tuple[Mimic, ...] = description.mimics
        # nq, nv: number of positions and of velocities; they differ on floating and planar joints
        self.nq = int(tree.model.nq)
        self.nv = int(tree.model.nv)
        self.is_euclidean = self.nq == self.nv  # whether q is a vector space with nq == nv
        # the links that floating and planar joints move
        self.bases: tuple[FloatingBase, ...] = floating_bases(tree.joints)
        # depth first from the root
        self.link_names = tuple(tree.frame_names[: len(description.links)])
        # links, then attached frames; the order of Workspace.rotation
        self.frame_names = tuple(tree.frame_names)
        self._frame_index = {name: index for index, name in enumerate(self.frame_names)}
        self.armature = read_only(tree.model.armature)  # rotor inertia, (nv,)
        self.gravity = read_only(tree.model.gravity.linear)  # in m/s², (3,)
        self.ancestry: Ancestry = tree.ancestry()  # which velocities move which frames
        # for each velocity the one before it towards the root, or -1
        self.velocity_parents = tuple(int(parent) for parent in self.ancestry.parents)
        # of everything that moves, in kg
        self.total_mass = float(sum(inertia.mass for inertia in list(tree.model.inertias)[1:]))
        self._neutral = read_only(pin.neutral(tree.model))

    def __repr__(self) -> str:
        return f"<RobotModel {self.name}: {len(self.link_names)} links, {self.nv} velocities>"

    @classmethod
    def from_urdf(
        cls,
        # path or ``package://`` URI of a URDF or xacro file, or the URDF text itself
        urdf: str | Path,
        *,
        # acceleration of free fall in world axes, m/s²
        gravity: Sequence[float] = STANDARD_GRAVITY,
        # what connects the root link to the world: nothing moves, six or three freedoms
        root: Root = "fixed",
        frames: Sequence[AttachedFrame] = (),  # further named frames, fixed in links
        # rotor inertia at the joint by joint name, kg m² or kg
        armature: Mapping[str, float] | None = None,
    ) -> "RobotModel":
        """Read a robot description.

        Raises:
            UrdfError: The description is not a usable tree; the text names file, place and remedy.
            UnknownNameError: A frame's link or an armature's joint does not exist.
        """
        return cls(read_urdf(urdf), gravity=gravity, root=root, frames=frames, armature=armature)

    @cached_property
    def ancestor_mask(self) -> Array:
        """1 where a velocity moves a frame, else 0, (nframes, nv)."""
        return read_only(self.ancestry[np.arange(len(self.frame_names))])

    def workspace(self) -> Workspace:
        """Fresh memory for evaluations; use one per thread."""
        if self.nv > _LARGEST_DENSE and self.has_single_freedoms:
            return self.tree_workspace()
        return Workspace(self.pinocchio)

    def tree_workspace(self, clusters: Clusters | None = None) -> TreeWorkspace:
        """Memory that grows linearly with the joints; see :attr:`has_single_freedoms`.

        Clusters are joints that loops couple; None: each is a cluster of its own.
        """
        return TreeWorkspace(
            self.freedoms,
            self.body_frames,
            self.ancestry.carriers,
            armature=self.armature,
            gravity=self.gravity,
            clusters=clusters,
        )

    @cached_property
    def bodies(self) -> tuple[Body, ...]:
        """The moving bodies, parents first."""
        return bodies_of(self.pinocchio, self.description)

    @cached_property
    def freedoms(self) -> tuple[Body, ...]:
        """One body for each velocity; see :attr:`has_single_freedoms`."""
        return by_freedom(self.bodies)

    @cached_property
    def body_frames(self) -> tuple[BodyFrame, ...]:
        """The frames by the body that carries them, in the order of ``frame_names``."""
        return frames_of(self.pinocchio)

    @cached_property
    def slides(self) -> Flags:
        """Whether each velocity is one of sliding, in m/s, (nv,); the others are of turning."""
        slides = np.zeros(self.nv, dtype=bool)
        for body in self.bodies:
            sliding = {"prismatic": 1, "planar": 2, "floating": 3}.get(body.kind, 0)
            slides[body.velocity : body.velocity + sliding] = True
        return slides

    @property
    def has_single_freedoms(self) -> bool:
        """Whether every joint but a floating root has one freedom."""
        first = 6 if self.bodies and self.bodies[0].kind == "floating" else 0
        return len(self.joint_names) == self.nv - first

    def neutral(self) -> Array:
        """The zero configuration, (nq,): joints at 0, quaternions at identity."""
        return self._neutral.copy()

    def integrate(self, q: Array, w: Array) -> Array:
        """The configuration reached from q (nq,) along the tangent vector w (nv,)."""
        if self.is_euclidean:
            return np.add(q, w)
        return np.asarray(pin.integrate(self.pinocchio, q, w))

    def difference(self, q0: Array, q1: Array) -> Array:
        """The tangent vector (nv,) that leads from q0 to q1."""
        if self.is_euclidean:
            return np.subtract(q1, q0)
        return np.asarray(pin.difference(self.pinocchio, q0, q1))

    def tangent_rate(self, q: Array, xi: Array, v: Array) -> Array:
        """Rate of the chart coordinates xi (nv,) around q for the velocity v (nv,) at q ⊕ xi."""
        return np.array(v, dtype=float) if self.is_euclidean else chart_rate(self.bodies, xi, v)

    def lie_bracket(self, x: Array, y: Array) -> Array:
        """[x, y] of two constant velocities, (nv,): where the order of motions matters.

        Moving h along x, then y, then back along x and y ends h²[x, y] away, to higher order in h.
        """
        return lie_bracket(self.bodies, x, y)

    def frame_index(self, name: str) -> int:
        """Place of a link or attached frame in Workspace.rotation, or UnknownNameError."""
        try:
            return self._frame_index[name]
        except KeyError:
            raise UnknownNameError("link", name, self.frame_names) from None

    def to_positions(self, values: Values, default: Array | None = None) -> Array:
        """A checked configuration, see :meth:`Coordinates.to_positions`; others are at zero."""
        return super().to_positions(values, self._neutral if default is None else default)


def _checked_gravity(gravity: Sequence[float]) -> Array:
    try:
        vector = np.array(gravity, dtype=float)
    except (TypeError, ValueError):
        vector = np.zeros(0)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(f"gravity must be three finite numbers in m/s², found {gravity}")
    return vector
