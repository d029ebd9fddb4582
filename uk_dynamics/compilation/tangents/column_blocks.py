# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The slopes of :mod:`.equation_tangents` with columns side by side in vectors of the processor.

What a displacement along a column does to a body and to its twist V and acceleration A follows from
the column and from ψ, ξ and κ of :mod:`.tree_tangents`, whichever body behind the joint it is:

    δV = ψ − V × J,    δA = ξ − A × J − V × ψ;    along v: δV = J,    δA = κ − V × J.

Slopes by the motion of a body, which are few and scalars, therefore turn into slopes by all columns
in products of short vectors with J, ψ, ξ and κ, columns in lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from typing import NamedTuple, cast

import numpy as np

from uk_dynamics.compilation.tangents.equation_tangents import BodyMotions, Pair, Trace
from uk_dynamics.compilation.tangents.forward_mode import Tangents
from uk_dynamics.compilation.tangents.tree_tangents import (
    Load,
    force_cross,
    motion_cross,
)
from uk_dynamics.compilation.trace.sparse_vectors import Scalar, Sparse, add_multiple, is_zero
from uk_dynamics.compilation.trace.symbolic_joints import skew, zeros
from uk_dynamics.compilation.trace.symbolic_tree import Inertia
from uk_dynamics.compilation.trace.symbols import (
    WIDTH,
    Graph,
    Objects,
    Substitution,
    Symbol,
    as_objects,
)
from uk_dynamics.mechanism.resolution import ResolvedMechanism

_TIME = 18  # its direction, behind displacement, twist and acceleration of a body


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

    def __init__(self, graph: Graph, count: int, width: int) -> None:
        self._graph, self.count, self._width = graph, count, width
        self.blocks = -(-count // width)

    def pack(self, values: Iterable[Scalar]) -> Objects:
        """A value per velocity, (blocks,)."""
        given = [*values]
        given += [0.0] * (self.blocks * self._width - len(given))
        packed = zeros(self.blocks)
        for b in range(self.blocks):
            lanes = given[b * self._width : (b + 1) * self._width]
            if self._width == 1:
                packed[b] = lanes[0]
            elif not all(map(is_zero, lanes)):
                packed[b] = self._graph.node("row", *lanes)
        return packed

    def pack_all(self, values: Sequence[Objects]) -> Objects:
        """A vector or matrix per velocity, (…, blocks)."""
        stacked = np.stack(values, axis=-1)
        packed = [self.pack(x) for x in stacked.reshape(-1, len(values))]
        return as_objects(packed).reshape(*stacked.shape[:-1], self.blocks)

    def weights(self, one: Iterable[int], less: Iterable[int] = ()) -> Objects:
        """One in some lanes and minus one in others, (blocks,); floats where all are the same."""
        found = np.zeros(self.blocks * self._width)
        found[list(one)] += 1.0
        found[list(less)] -= 1.0
        packed = self.pack(found.tolist())
        for b in range(self.blocks):
            lanes = found[b * self._width : min((b + 1) * self._width, self.count)]
            if np.all(lanes == lanes[0]):
                packed[b] = float(lanes[0])
        return packed

    def at(self, packed: Objects, k: int) -> Objects:
        """What belongs to one velocity of a packed array (…, blocks)."""
        b, lane = divmod(k, self._width)
        chosen = packed[..., b]
        found = [self._lane(x, lane) for x in chosen.reshape(-1)]
        return as_objects(found).reshape(chosen.shape)

    def _lane(self, x: Scalar, lane: int) -> Scalar:
        if not isinstance(x, Symbol) or self._width == 1:
            return x
        if x.operation == "row":
            return x.operands[lane]
        return self._graph.node("lane", x, float(lane))


def _product(factors: Objects, rows: Objects, weights: Objects) -> Objects:
    """Σ factor · row, each column with its weight, (blocks,)."""
    found = zeros(len(weights))
    for b, weight in enumerate(weights):
        if not is_zero(weight):
            total: Scalar = 0.0
            for factor, row in zip(factors, rows[:, b], strict=True):
                total = total + factor * row
            found[b] = total * weight
    return found


def _by_blocks(function: Callable[..., Objects], *packed: Objects) -> Objects:
    """A function of the vectors or matrices of one block for all of them, (…, blocks)."""
    blocks = packed[0].shape[-1]
    return cast(
        Objects, np.stack([function(*(x[..., b] for x in packed)) for b in range(blocks)], -1)
    )


class _Tree:
    """The tree with columns, and bodies, side by side."""

    def __init__(self, trace: Trace, width: int) -> None:
        self.width = width
        self._trace, tree = trace, trace.tree
        graph, nv = trace.x.graph, trace.model.nv
        columns = self.columns = _Columns(graph, nv, width)
        self.J = columns.pack_all([tree.J[:, k] for k in range(nv)])
        carriers = [tree.carrier(i) for i in tree.body_of]
        V = columns.pack_all([V for V, _ in carriers])
        A = columns.pack_all([A for _, A in carriers])
        own = columns.pack_all([tree.twist[i] for i in tree.body_of])
        self.psi = _by_blocks(motion_cross, V, self.J)
        xi = _by_blocks(motion_cross, A, self.J) + _by_blocks(motion_cross, V, self.psi)
        self.xi = xi + _by_blocks(lambda column: motion_cross(tree.falling, column), self.J)
        self.kappa = self.psi + _by_blocks(motion_cross, own, self.J)
        self.by_position = np.concatenate([self.J, self.psi, xi])
        self.by_velocity = np.concatenate([self.J, self.kappa])

    def loads(self, fixed: Objects) -> list[Load]:
        """Of each body and all that it carries; with wrenches fixed in bodies, (bodies, 6)."""
        trace, tree = self._trace, self._trace.tree
        places, own = trace.x.tree.places, trace.x.tree.inertias
        bodies = _Columns(trace.x.graph, len(places), self.width)
        given = (
            bodies.pack_all([as_objects(x.mass) for x in own]),
            bodies.pack_all([x.moment for x in own]),
            bodies.pack_all([x.matrix for x in own]),
            bodies.pack_all([x.rotation for x in places]),
            bodies.pack_all([x.translation for x in places]),
            bodies.pack_all(list(tree.twist)),
            bodies.pack_all(list(tree.acceleration)),
        )
        found = []
        for b in range(bodies.blocks):
            mass, moment, matrix, *motion = (x[..., b] for x in given)
            found.append(tree.own_load(Inertia(mass.item(), moment, matrix), *motion))
        packed = [
            np.stack([np.asarray(getattr(load, x.name), dtype=object) for load in found], -1)
            for x in fields(Load)
        ]
        loads = []
        for i in range(bodies.count):
            mass, *others = (bodies.at(x, i) for x in packed)
            load = Load(mass.item(), *others)
            loads.append(replace(load, force=load.force - fixed[i]))
        return tree.with_carried(loads)

    def carried_along(self, slopes: Sparse, body: int) -> Objects:
        """Slopes by J, ψ and ξ of columns, from those by displacement, twist and acceleration.

        (18,) each; along v the last twelve are those by J and κ.
        """
        tree = self._trace.tree
        place, twist, acceleration = as_objects(
            [slopes.get(k, 0.0) for k in range(_TIME)]
        ).reshape(3, 6)
        V, A = tree.twist[body], tree.acceleration[body]
        pushed = twist + force_cross(V, acceleration)
        moved = place + force_cross(V, twist) + force_cross(A, acceleration)
        return np.concatenate([moved, pushed, acceleration])

    def row(self, slopes: Objects, weights: Objects, others: Sparse) -> BlockRow:
        """A row from slopes by J, ψ and ξ, (18,)."""
        return BlockRow(
            _product(slopes, self.by_position, weights),
            _product(slopes[6:], self.by_velocity, weights),
            others,
        )


def block_tangents(mechanism: ResolvedMechanism, width: int = WIDTH) -> BlockTangents:
    """Trace them; rows that are no function of the motion of bodies are left to single entries."""
    trace = Trace(mechanism)
    tree, nv = _Tree(trace, width), trace.model.nv
    none = zeros(tree.columns.blocks)
    rows = [BlockRow(none, none, {}) for _ in range(len(mechanism.constraints))]
    rates = list(rows)
    other = trace.other_rows()
    for r, slopes, rate in zip(other.chosen, other.rows, other.rates, strict=True):
        rows[r], rates[r] = BlockRow(none, none, slopes), BlockRow(none, none, rate)

    # a pair's rows follow from its motion relative to the other body: symbols of its own for each
    # body and frame tell both apart, also where they move as one
    motions = trace.motions
    free = _variables(trace.x.graph, motions)
    framed = trace.framed_rows(free)
    back = Substitution(
        {
            symbol: x
            for symbols, values in zip(free, motions, strict=True)
            for symbol, x in zip(symbols.reshape(-1), values.reshape(-1), strict=True)
        }
    )
    wrenches = zeros(len(trace.model.bodies), 6)
    fixed = zeros(len(trace.model.bodies), 6)
    pushed = [[BlockRow(none, none, {})] * 6 for _ in trace.model.bodies]
    for pair in trace.pairs():
        tangents = Tangents(_seeds(free, pair) | {cast(Symbol, trace.x.t): {_TIME: 1.0}})

        moves = list(trace.tree.behind(pair.moved))
        turns = list(trace.tree.behind(pair.base))
        apart = tree.columns.weights(moves, turns)

        def found(slopes: Sparse) -> tuple[Objects, Sparse]:
            slopes = {k: back(x) for k, x in slopes.items()}
            others = {2 * nv: slopes[_TIME]} if _TIME in slopes else {}
            return tree.carried_along(slopes, pair.moved), others

        own = np.flatnonzero(np.isin(framed.chosen, pair.rows))
        for k in own:
            r = framed.chosen[k]
            slopes, others = found(tangents.backward(framed.values[k]))
            rows[r] = tree.row(-slopes, apart, {j: -x for j, x in others.items()})
            slopes, others = found(tangents.backward(framed.rate[k]))
            rates[r] = tree.row(slopes, apart, others)
        wrench = trace.multipliers[framed.chosen[own]] @ framed.jacobian[own, pair.moved]
        changes = [found(tangents(x)) for x in wrench]
        wrench = as_objects([back(x) for x in wrench])
        wrenches[pair.moved] = wrenches[pair.moved] + wrench
        # on the other body it is fixed: what moves both turns it
        turning = _turning(wrench)
        if pair.base >= 0:
            fixed[pair.base] = fixed[pair.base] - wrench
        for k, (slopes, others) in enumerate(changes):
            rest = -slopes
            rest[:6] = rest[:6] + turning[k]
            whole = [
                (pushed[pair.moved][k], 1.0),
                (tree.row(slopes, tree.columns.weights(moves), others), 1.0),
            ]
            if pair.base >= 0:
                whole.append((tree.row(rest, tree.columns.weights(turns), {}), 1.0))
                opposite = tree.row(slopes, apart, others)
                pushed[pair.base][k] = _combined([(pushed[pair.base][k], 1.0), (opposite, -1.0)])
            pushed[pair.moved][k] = _combined(whole)
    return BlockTangents(_motion(trace, tree, wrenches, fixed, pushed, other.force), rows, rates)


def _combined(parts: Sequence[tuple[BlockRow, Scalar]]) -> BlockRow:
    """A sum of rows, each with a factor."""
    (q, v, others), factor = parts[0]
    q, v = q * factor, v * factor
    total: Sparse = {}
    for k, (row, by) in enumerate(parts):
        if k:
            q, v = q + row.by_position * by, v + row.by_velocity * by
        add_multiple(total, by, row.others)
    return BlockRow(q, v, total)


def _turning(wrench: Objects) -> Objects:
    """What multiplies a motion to its cross product with a wrench, (6, 6)."""
    force, couple = -skew(wrench[:3]), -skew(wrench[3:])
    return cast(Objects, np.block([[zeros(3, 3), force], [force, couple]]))


def _variables(graph: Graph, motions: BodyMotions) -> BodyMotions:
    """Symbols in the place of every number."""
    return BodyMotions(
        *(
            graph.variables(name, values.size).reshape(values.shape)
            for name, values in zip(motions._fields, motions, strict=True)
        )
    )


def _seeds(free: BodyMotions, pair: Pair) -> dict[Symbol, Sparse]:
    """Of a frame, its twist and acceleration along the motion of its body, in world axes."""
    found: dict[Symbol, Sparse] = {}
    for first, vector in ((6, free.twist[pair.moved]), (12, free.acceleration[pair.moved])):
        found |= {x: {first + k: 1.0} for k, x in enumerate(vector)}
    for axis in free.rotation[pair.frame].T:
        found |= _turned(axis)
    origin = free.translation[pair.frame]
    for k, (x, turned) in enumerate(_turned(origin).items()):
        found[x] = {k: 1.0} | turned
    return found


def _turned(vector: Objects) -> dict[Symbol, Sparse]:
    rows = -skew(vector)
    return {
        x: {3 + j: y for j, y in enumerate(row) if not is_zero(y)}
        for x, row in zip(vector, rows, strict=True)
    }


def _motion(
    trace: Trace,
    blocks: _Tree,
    wrenches: Objects,
    fixed: Objects,
    pushed: list[list[BlockRow]],
    force: list[Sparse],
) -> list[BlockRow]:
    """Of −G: inverse dynamics, the wrenches of rows of frame pairs (bodies, 6), other forces."""
    tree, columns, nv = trace.tree, blocks.columns, trace.model.nv
    J, psi, xi, kappa = blocks.J, blocks.psi, blocks.xi, blocks.kappa
    carried_by = blocks.loads(fixed)
    loads = [carried_by[i] for i in tree.body_of]
    packed = [
        columns.pack_all([np.asarray(getattr(x, field.name), dtype=object) for x in loads])
        for field in fields(Load)
    ]

    def by_loads(function: Callable[..., Objects], *vectors: Objects) -> Objects:
        def of_block(*given: Objects) -> Objects:
            mass, *others = given[: len(packed)]
            return function(Load(mass.item(), *others), *given[len(packed) :])

        return _by_blocks(of_block, *packed, *vectors)

    momentum = by_loads(Load.inertial, J)
    carried = by_loads(Load.carried_transposed, J)
    moved = by_loads(
        lambda load, J, psi, xi: force_cross(J, load.force) + load.inertial(xi) + load.carried(psi),
        *(J, psi, xi),
    )
    driven = by_loads(lambda load, J, kappa: load.inertial(kappa) + load.carried(J), J, kappa)
    total = tree.carried_wrenches(wrenches)
    turning = _by_blocks(force_cross, J, columns.pack_all([total[i] for i in tree.body_of]))
    above_by_position = np.concatenate([xi, psi[3:], J])
    above_by_velocity = np.concatenate([kappa, J[3:]])
    for i in reversed(range(len(pushed))):
        parent = trace.model.bodies[i].parent
        if parent >= 0:
            pushed[parent] = [
                _combined([(x, 1.0), (y, 1.0)])
                for x, y in zip(pushed[parent], pushed[i], strict=True)
            ]
    rows = []
    for k, i in enumerate(tree.body_of):
        axis = tree.J[:, k]
        above = set(tree.behind(i))
        same = {j for j in above if tree.body_of[j] == i}
        below = {j for j in range(nv) if k in set(tree.behind(tree.body_of[j]))} - same
        answer = np.concatenate([columns.at(momentum, k), columns.at(carried, k)])
        turned = np.concatenate([answer, -columns.at(turning, k)])
        own = BlockRow(
            columns.pack(force[k].get(j, 0.0) for j in range(nv))
            - _product(axis, moved, columns.weights(below))
            - _product(turned, above_by_position, columns.weights(above)),
            columns.pack(force[k].get(j, 0.0) for j in range(nv, 2 * nv))
            - _product(axis, driven, columns.weights(below | same))
            - _product(answer, above_by_velocity, columns.weights(above - same)),
            {j: x for j, x in force[k].items() if j >= 2 * nv},
        )
        rows.append(_combined([(own, 1.0), *zip(pushed[i], axis, strict=True)]))
    return rows
