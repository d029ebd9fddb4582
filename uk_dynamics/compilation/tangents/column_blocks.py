# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The slopes of :mod:`.equation_tangents` with columns side by side in vectors of the processor.

What a displacement along a column does to a body and to its twist V and acceleration A follows from
the column and from ψ, ξ and κ of :mod:`.tree_tangents`, whichever body behind the joint it is:

    δV = ψ − V × J,    δA = ξ − A × J − V × ψ;    along v: δV = J,    δA = κ − V × J.

Slopes by the motion of a body, which are few and scalars, therefore turn into slopes by all columns
in products of short vectors with J, ψ, ξ and κ, columns in lanes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np

from uk_dynamics.compilation.tangents.equation_tangents import Trace
from uk_dynamics.compilation.tangents.forward_mode import Tangents
from uk_dynamics.compilation.tangents.tree_tangents import (
    Load,
    TreeTangents,
    force_cross,
    motion_cross,
)
from uk_dynamics.compilation.trace.sparse_vectors import Scalar, Sparse, add_multiple, is_zero
from uk_dynamics.compilation.trace.symbolic_joints import skew, zeros
from uk_dynamics.compilation.trace.symbols import WIDTH, Graph, Objects, Symbol, as_objects
from uk_dynamics.mechanism.resolution import ResolvedMechanism

_OF_A_BODY = 18  # directions: its displacement, twist and acceleration


class BlockRow(NamedTuple):
    """One row of slopes: vectors of columns of q and of v, and single entries elsewhere."""

    by_position: Objects  # (blocks,)
    by_velocity: Objects  # (blocks,)
    others: Sparse  # by column


class BlockTangents(NamedTuple):
    """As :class:`~.equation_tangents.EquationTangents`, in vectors."""

    motion: list[BlockRow]
    rows: list[BlockRow]
    rates: list[BlockRow]


class _Columns:
    """Velocities in the lanes of vectors; what is zero in all lanes is no vector."""

    def __init__(self, graph: Graph, count: int) -> None:
        self._graph, self.count = graph, count
        self.blocks = -(-count // WIDTH)

    def pack(self, values: Iterable[Scalar]) -> Objects:
        """A value per velocity, (blocks,)."""
        given = [*values]
        given += [0.0] * (self.blocks * WIDTH - len(given))
        packed = zeros(self.blocks)
        for b in range(self.blocks):
            lanes = given[b * WIDTH : (b + 1) * WIDTH]
            if not all(map(is_zero, lanes)):
                packed[b] = self._graph.node("row", *lanes)
        return packed

    def pack_all(self, values: Sequence[Objects]) -> Objects:
        """A vector or matrix per velocity, (…, blocks)."""
        stacked = np.stack(values, axis=-1)
        packed = [self.pack(x) for x in stacked.reshape(-1, len(values))]
        return as_objects(packed).reshape(*stacked.shape[:-1], self.blocks)

    def mask(self, chosen: Iterable[int]) -> Objects:
        """One in some lanes, (blocks,): a float where it is in all of them or in none."""
        wanted = set(chosen)
        ones = [float(k in wanted) for k in range(self.count)]
        packed = self.pack(ones)
        for b in range(self.blocks):
            if all(ones[b * WIDTH : (b + 1) * WIDTH]):
                packed[b] = 1.0
        return packed

    def at(self, packed: Objects, k: int) -> Objects:
        """What belongs to one velocity of a packed vector (n, blocks), (n,)."""
        b, lane = divmod(k, WIDTH)
        return as_objects([self._lane(x, lane) for x in packed[:, b]])

    def _lane(self, x: Scalar, lane: int) -> Scalar:
        if not isinstance(x, Symbol):
            return x
        if x.operation == "row":
            return x.operands[lane]
        return self._graph.node("lane", x, float(lane))


def _product(factors: Objects, rows: Objects, mask: Objects) -> Objects:
    """Σ factor · row where a mask has ones, (blocks,)."""
    found = zeros(len(mask))
    for b, chosen in enumerate(mask):
        if not is_zero(chosen):
            total: Scalar = 0.0
            for factor, row in zip(factors, rows[:, b], strict=True):
                total = total + factor * row
            found[b] = total * chosen
    return found


class _Spread:
    """Slopes by the motion of bodies as slopes by columns."""

    def __init__(self, tree: TreeTangents, columns: _Columns) -> None:
        self.columns, self._tree = columns, tree
        bodies = tree.body_of
        self.J = columns.pack_all([tree.J[:, k] for k in range(columns.count)])
        carriers = [tree.carrier(i, falling=True) for i in bodies]
        V = columns.pack_all([V for V, _ in carriers])
        A = columns.pack_all([A for _, A in carriers])
        own = columns.pack_all([tree.twist[i] for i in bodies])
        self.psi = motion_cross(V, self.J)
        self.xi = motion_cross(A, self.J) + motion_cross(V, self.psi)
        self.kappa = self.psi + motion_cross(own, self.J)
        self._by_position = np.concatenate([self.J, self.psi, self.xi])
        self._by_velocity = np.concatenate([self.J, self.kappa])

    def __call__(self, slopes: Sparse) -> tuple[Objects, Objects]:
        """By the columns of q and of v, (blocks,) each; see ``_seeds`` for the directions."""
        q, v = zeros(self.columns.blocks), zeros(self.columns.blocks)
        for i in sorted({k // _OF_A_BODY for k in slopes}):
            parts = as_objects([slopes.get(_OF_A_BODY * i + k, 0.0) for k in range(_OF_A_BODY)])
            place, twist, acceleration = parts.reshape(3, 6)
            V, A = self._tree.twist[i], self._tree.acceleration[i] + self._tree.falling
            pushed = twist + force_cross(V, acceleration)
            moved = place + force_cross(V, twist) + force_cross(A, acceleration)
            mask = self.columns.mask(self._tree.behind(i))
            q = q + _product(
                np.concatenate([moved, pushed, acceleration]), self._by_position, mask
            )
            v = v + _product(np.concatenate([pushed, acceleration]), self._by_velocity, mask)
        return q, v


def block_tangents(mechanism: ResolvedMechanism) -> BlockTangents:
    """Trace them; rows that are no function of the motion of bodies are left to single entries."""
    trace = Trace(mechanism)
    tree, nv = trace.tree, trace.model.nv
    columns = _Columns(trace.x.graph, nv)
    spread = _Spread(tree, columns)
    time = _OF_A_BODY * len(trace.model.bodies)
    by_bodies = Tangents(_seeds(trace) | {cast(Symbol, trace.x.t): {time: 1.0}})

    def split(slopes: Sparse) -> BlockRow:
        last = {2 * nv: slopes.pop(time)} if time in slopes else {}
        return BlockRow(*spread(slopes), last)

    none = zeros(columns.blocks)
    rows = [BlockRow(none, none, {}) for _ in range(len(mechanism.constraints))]
    rates = list(rows)
    other = trace.other_rows()
    for r, slopes, rate in zip(other.chosen, other.rows, other.rates, strict=True):
        rows[r], rates[r] = BlockRow(none, none, slopes), BlockRow(none, none, rate)
    framed = trace.framed_rows()
    for r, value, change in zip(framed.chosen, framed.values, framed.rate, strict=True):
        q, v, last = split(by_bodies.backward(value))
        rows[r] = BlockRow(-q, -v, {k: -x for k, x in last.items()})
        rates[r] = split(by_bodies.backward(change))
    pushed = [[split(by_bodies(x)) for x in body] for body in framed.wrenches]
    motion = _motion(trace, spread, framed.wrenches, pushed, other.force)
    return BlockTangents(motion, rows, rates)


def _seeds(trace: Trace) -> Mapping[Symbol, Sparse]:
    """Of frames, twists and accelerations along the motions of bodies, in world axes."""
    found: dict[Symbol, Sparse] = {}
    tree, kinematics = trace.tree, trace.x.tree

    def moves(vector: Objects, first: int) -> None:
        for k, x in enumerate(vector):
            if isinstance(x, Symbol):
                found[x] = {first + k: 1.0}

    for i in range(len(trace.model.bodies)):
        moves(tree.acceleration[i], _OF_A_BODY * i + 12)
        moves(tree.twist[i], _OF_A_BODY * i + 6)
    for body, R, p in zip(
        kinematics.body_of_frame, kinematics.rotation, kinematics.translation, strict=True
    ):
        if body < 0:
            continue
        first = _OF_A_BODY * body
        for vector, shift in ((p, 1.0), *((axis, 0.0) for axis in R.T)):
            turned = -skew(vector)
            for k, x in enumerate(vector):
                if isinstance(x, Symbol):
                    slopes = {first + 3 + j: y for j, y in enumerate(turned[k]) if not is_zero(y)}
                    found[x] = ({first + k: shift} if shift else {}) | slopes
    return found


def _motion(
    trace: Trace,
    spread: _Spread,
    wrenches: Objects,
    pushed: list[list[BlockRow]],
    force: list[Sparse],
) -> list[BlockRow]:
    """Of −G: inverse dynamics, the wrenches of rows of frame pairs (bodies, 6), other forces."""
    tree, columns, nv = trace.tree, spread.columns, trace.model.nv
    J, psi, xi, kappa = spread.J, spread.psi, spread.xi, spread.kappa
    loads = [tree.loads[i] for i in tree.body_of]
    packed = Load(
        columns.pack([x.mass for x in loads]),
        *(
            columns.pack_all([getattr(x, name) for x in loads])
            for name in ("moment", "inertia", "momentum", "turning", "force")
        ),
    )
    momentum, carried = packed.inertial(J), packed.carried_transposed(J)
    moved = force_cross(J, packed.force) + packed.inertial(xi) + packed.carried(psi)
    driven = packed.inertial(kappa) + packed.carried(J)
    total = tree.carried_wrenches(wrenches)
    turning = force_cross(J, columns.pack_all([total[i] for i in tree.body_of]))
    above_by_position = np.concatenate([xi, psi[3:], J])
    above_by_velocity = np.concatenate([kappa, J[3:]])
    by_body = _carried_rows(trace, pushed, columns.blocks)
    rows = []
    for k, i in enumerate(tree.body_of):
        axis = tree.J[:, k]
        above = set(tree.behind(i))
        same = {j for j in above if tree.body_of[j] == i}
        below = {j for j in range(nv) if k in set(tree.behind(tree.body_of[j]))} - same
        answer = np.concatenate([columns.at(momentum, k), columns.at(carried, k)])
        turned = np.concatenate([answer, -columns.at(turning, k)])
        others = {j: x for j, x in force[k].items() if j >= 2 * nv}
        add = [columns.pack(force[k].get(j + at, 0.0) for j in range(nv)) for at in (0, nv)]
        for component, (q, v, last) in zip(axis, by_body[i], strict=True):
            if not is_zero(component):
                add = [add[0] + q * component, add[1] + v * component]
                add_multiple(others, component, last)
        rows.append(
            BlockRow(
                add[0]
                - _product(axis, moved, columns.mask(below))
                - _product(turned, above_by_position, columns.mask(above)),
                add[1]
                - _product(axis, driven, columns.mask(below | same))
                - _product(answer, above_by_velocity, columns.mask(above - same)),
                others,
            )
        )
    return rows


def _carried_rows(
    trace: Trace, pushed: list[list[BlockRow]], blocks: int
) -> list[list[BlockRow]]:
    """Sums over each body and all that it carries."""
    total = [list(body) for body in pushed]
    for i in reversed(range(len(total))):
        parent = trace.model.bodies[i].parent
        if parent >= 0:
            for k, (ours, theirs) in enumerate(zip(total[i], total[parent], strict=True)):
                last = dict(theirs.others)
                add_multiple(last, 1.0, ours.others)
                total[parent][k] = BlockRow(
                    theirs.by_position + ours.by_position,
                    theirs.by_velocity + ours.by_velocity,
                    last,
                )
    return total
