# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the two equations of constrained motion are made of, as symbols.

With the acceleration x and the multipliers λ held,

    G = M x − F − τ − Aᵀλ,    H = A x − b

are functions of q, v and t. Rows of frame pairs are taken as functions of the motion of the bodies,
not of the joints: their wrenches load the bodies, and A x is their product with the bodies'
accelerations, so that neither A nor its derivatives are written out.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from uk_dynamics.compilation.derivatives.forward_mode import SymbolDerivatives
from uk_dynamics.compilation.derivatives.tree_derivatives import TreeDerivatives, seeds
from uk_dynamics.compilation.trace.sparse_vectors import Sparse, is_zero
from uk_dynamics.compilation.trace.symbolic_joints import zeros
from uk_dynamics.compilation.trace.symbolic_tree import SymbolicTree
from uk_dynamics.compilation.trace.symbols import Objects, Symbol, as_objects
from uk_dynamics.compilation.trace.terms import StateInputs
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.constraints.rows import ConstraintSet, ConstraintTerms, FrameKinematics, FrameRow
from uk_dynamics.core.linalg import of_unit_quaternion
from uk_dynamics.mechanism.resolution import Array, Indices, ResolvedMechanism


@dataclass(frozen=True)
class _BodyKinematics:
    """Frames as functions of the motion of the bodies, six columns each."""

    jacobian: Objects
    jacobian_rate: Objects
    rotation: Objects
    translation: Objects


class Pair(NamedTuple):
    """Rows of one pair of frames: functions of the motion of one body relative to the other."""

    rows: range
    frame: int  # the one whose body ``moved`` is
    moved: int  # that body; the child's, the parent's where the child is the world
    base: int  # the other one, −1 for the world


class BodyMotions(NamedTuple):
    """Motions of frames and bodies, which rows of frame pairs are functions of."""

    rotation: Objects  # of the frames, (frames, 3, 3)
    translation: Objects  # (frames, 3)
    twist: Objects  # of the bodies, (bodies, 6)
    acceleration: Objects  # (bodies, 6)


class FramedRows(NamedTuple):
    """Rows of frame pairs as functions of the motion of the bodies."""

    chosen: Indices  # which rows they are
    values: Objects  # A x − b
    rate: Objects
    jacobian: Objects  # by the twists of bodies, (rows, bodies, 6)


class OtherRows(NamedTuple):
    """Derivatives of the other rows, and of all forces that do not come from frame pairs."""

    chosen: Indices  # which rows they are
    rows: list[Sparse]  # of −H
    rates: list[Sparse]
    force: list[Sparse]  # nv rows


class Trace:
    """Symbols of the parts of one mechanism."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        self.mechanism, self.model = mechanism, mechanism.model
        constraints = mechanism.constraints
        self.x = StateInputs(self.model, mechanism.follows_references * len(constraints))
        graph = self.x.graph
        self.qdd = graph.variables("qdd", self.model.nv)
        self.multipliers = graph.variables("multipliers", len(constraints))
        self.tree = TreeDerivatives(self.x.tree, cast(Objects, self.x.v), self.qdd)

    @cached_property
    def derivatives(self) -> SymbolDerivatives:
        """Derivatives along the velocity coordinates, v and t."""
        known = state_seeds(self.x.tree, self.x.q, self.x.v)
        for pairs in (self.tree.column_derivatives(), self.tree.place_derivatives()):
            known |= seeds(pairs)
        return SymbolDerivatives(known | {cast(Symbol, self.x.t): {2 * self.model.nv: 1.0}})

    def sets(self) -> tuple[Indices, Indices]:
        """Rows of frame pairs, as they are declared, and the other rows."""
        framed: list[int] = []
        others: list[int] = []
        constraints = self.mechanism.constraints
        for constraint in constraints.constraints:
            rows = range(*constraints.slices[constraint.name].indices(len(constraints)))
            of_frames = all(isinstance(row, FrameRow) for row in constraint.rows)
            (framed if of_frames else others).extend(rows)
        return np.array(framed, dtype=np.intp), np.array(others, dtype=np.intp)

    def pairs(self) -> list[Pair]:
        """List the pairs of frames that have rows."""
        found = []
        constraints, frames = self.mechanism.constraints, self.model.body_frames
        framed = set(self.sets()[0].tolist())
        for constraint in constraints.constraints:
            rows = range(*constraints.slices[constraint.name].indices(len(constraints)))
            if rows.start not in framed:
                continue
            child, parent = cast(int, constraint.child), cast(int, constraint.parent)
            moved, base = frames[child].body, frames[parent].body
            if moved < 0:
                child, moved, base = parent, base, moved
            found.append(Pair(rows, child, moved, base))
        return found

    def _evaluate(self, chosen: Indices, mask: Any, kinematics: Any, v: Any) -> ConstraintTerms:
        """Evaluate some rows of the mechanism over other coordinates."""
        whole = self.mechanism.constraints
        members = tuple(
            c for c in whole.constraints if whole.slices[c.name].start in set(chosen.tolist())
        )
        part = ConstraintSet(members, mask, self.model.nq, self.mechanism.spec.model.length)
        reference = self.x.reference
        if reference is not None:
            reference = ReferenceSample(*(values[chosen] for values in reference))
        return part.evaluate(
            cast(FrameKinematics, kinematics), self.x.t, self.x.q, cast(Array, v), reference
        )

    def other_rows(self) -> OtherRows:
        """Rows of joints and coordinates, and forces."""
        x, mechanism, derivatives = self.x, self.mechanism, self.derivatives
        force = mechanism.passive.force(x.q, x.v)
        mechanism.forces.add_to(force, x.kinematics, x.t, x.q, x.v)
        _, others = self.sets()
        rows: list[Sparse] = []
        rates: list[Sparse] = []
        if len(others):
            found = self._evaluate(others, self.model.ancestor_mask, x.kinematics, x.v)
            force = force + found.A.T @ self.multipliers[others]
            values = found.A @ self.qdd + self._residual_of_rows(found, others)
            rows = [{j: -y for j, y in derivatives.backward(value).items()} for value in values]
            rates = [derivatives.backward(change) for change in found.rate]
        return OtherRows(others, rows, rates, [derivatives(f) for f in force])

    def framed_rows(self, motions: BodyMotions) -> FramedRows:
        """Rows of frame pairs; A x is the product of their wrenches with accelerations."""
        framed, _ = self.sets()
        count = len(self.model.bodies)
        if not len(framed):
            return FramedRows(framed, zeros(0), zeros(0), zeros(0, count, 6))
        mask = np.array(
            [np.repeat(np.arange(count) == f.body, 6) for f in self.model.body_frames], dtype=float
        )
        kinematics = _BodyKinematics(
            np.tile(np.eye(6), count).astype(object),
            zeros(6, 6 * count),
            motions.rotation,
            motions.translation,
        )
        found = self._evaluate(framed, mask, kinematics, motions.twist.reshape(-1))
        return FramedRows(
            framed,
            found.A @ motions.acceleration.reshape(-1) + self._residual_of_rows(found, framed),
            cast(Objects, found.rate),
            cast(Objects, found.A).reshape(-1, count, 6),
        )

    @property
    def motions(self) -> BodyMotions:
        """Motions of the frames and bodies at the state."""
        tree = self.x.tree
        return BodyMotions(tree.rotation, tree.translation, self.tree.twist, self.tree.acceleration)

    def _residual_of_rows(self, rows: ConstraintTerms, chosen: Indices) -> Objects:
        """Bias and stabilisation, −b."""
        constraints = self.mechanism.constraints
        stabilize = self.x.graph.variable("stabilize")
        stabilization = (
            rows.rate * constraints.damping[chosen] + rows.residual * constraints.stiffness[chosen]
        )
        return cast(Objects, rows.bias + stabilization * stabilize)


def state_seeds(tree: SymbolicTree, q: Any, v: Any) -> dict[Symbol, Sparse]:
    """Derivatives of positions along the velocity coordinates, and of velocities."""
    nv = len(v)
    known: dict[Symbol, Sparse] = {x: {nv + j: 1.0} for j, x in enumerate(v)}
    for body in tree.bodies:
        at, k = body.position, body.velocity
        if body.kind == "floating":
            known |= _floating(q[at : at + 7], k)
        elif body.kind == "planar":
            c, s = q[at + 2], q[at + 3]
            known[q[at]], known[q[at + 1]] = {k: c, k + 1: -s}, {k: s, k + 1: c}
            known[c], known[s] = {k + 2: -s}, {k + 2: c}
        else:
            known[q[at]] = {k: 1.0}
    return known


def _floating(q: Any, k: int) -> dict[Symbol, Sparse]:
    """Derivatives of x y z qx qy qz qw along velocities in the moving frame."""
    x, y, z, w = q[3:]
    rotation = as_objects(of_unit_quaternion(x, y, z, w))
    known = {
        q[i]: {k + j: rotation[i, j] for j in range(3) if not is_zero(rotation[i, j])}
        for i in range(3)
    }
    rates = ((w, -z, y), (z, w, -x), (-y, x, w), (-x, -y, -z))
    for symbol, rate in zip((x, y, z, w), rates, strict=True):
        known[symbol] = {k + 3 + j: value * 0.5 for j, value in enumerate(rate)}
    return known
