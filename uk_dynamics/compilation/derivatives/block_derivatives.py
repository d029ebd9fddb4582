# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The derivatives of both equations, columns one by one or side by side in vectors.

What a displacement along a column does to a body and to its twist V and acceleration A follows from
the column and from ψ, ξ and κ of :mod:`.tree_derivatives`, whichever body behind the joint it is:

    δV = ψ − V × J,    δA = ξ − A × J − V × ψ;    along v: δV = J,    δA = κ − V × J.

Derivatives by the motion of a body, which are few and single numbers, turn into those by all
columns in products of short vectors with J, ψ, ξ and κ. Rows of a frame pair depend on the motion
of one body relative to the other: they need derivatives by the motion of one alone, and what moves
both changes
nothing but the direction of the wrenches.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import NamedTuple, cast

import numpy as np

from uk_dynamics.compilation.derivatives.columns import Columns, by_blocks, product
from uk_dynamics.compilation.derivatives.equation_trace import BodyMotions, Pair, Trace
from uk_dynamics.compilation.derivatives.forward_mode import SymbolDerivatives
from uk_dynamics.compilation.derivatives.tree_derivatives import Load, force_cross, motion_cross
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
    """One row of derivatives: vectors of columns of q and of v, and single entries beside them."""

    by_position: Objects  # (blocks,)
    by_velocity: Objects  # (blocks,)
    others: Sparse  # by column

    def plus(self, factor: Scalar, row: "BlockRow") -> "BlockRow":
        """Add a multiple of another row."""
        others = dict(self.others)
        add_multiple(others, factor, row.others)
        return BlockRow(
            self.by_position + row.by_position * factor,
            self.by_velocity + row.by_velocity * factor,
            others,
        )


class BlockDerivatives(NamedTuple):
    """Derivatives as ``TracedDerivatives`` of ``equation_derivatives`` has them."""

    motion: list[BlockRow]  # of −G, nv rows
    rows: list[BlockRow]  # of −H, m rows
    rates: list[BlockRow]  # of the rates of the rows, m rows


def block_derivatives(mechanism: ResolvedMechanism, width: int = WIDTH) -> BlockDerivatives:
    """Trace derivatives of q and v, as many columns at a time as a vector has numbers, or one."""
    trace = Trace(mechanism)
    tree = _Columns(trace, width)
    rows = [tree.none] * len(mechanism.constraints)
    rates = list(rows)
    other = trace.other_rows()
    for r, partials, rate in zip(other.chosen, other.rows, other.rates, strict=True):
        rows[r], rates[r] = tree.none._replace(others=partials), tree.none._replace(others=rate)
    framed = _FramedDerivatives(trace, tree)
    for pair in trace.pairs():
        framed.add(pair, rows, rates)
    return BlockDerivatives(_motion(tree, framed, other.force), rows, rates)


class _Columns:
    """Columns of the velocities of a tree, and motions that they make."""

    def __init__(self, trace: Trace, width: int) -> None:
        tree, nv = trace.tree, trace.model.nv
        self.trace, self.tree, self._width = trace, tree, width
        columns = self.columns = Columns(trace.x.graph, nv, width)
        self.none = BlockRow(zeros(columns.blocks), zeros(columns.blocks), {})
        carriers = [tree.carrier(i) for i in tree.body_of]
        V = columns.pack_all([V for V, _ in carriers])
        A = columns.pack_all([A for _, A in carriers])
        own = columns.pack_all([tree.twist[i] for i in tree.body_of])
        J = self.J = columns.pack_all(list(tree.J.T))
        self.psi = by_blocks(motion_cross, V, J)
        xi = by_blocks(motion_cross, A, J) + by_blocks(motion_cross, V, self.psi)
        #: With gravity.
        self.xi = xi + by_blocks(lambda column: motion_cross(tree.falling, column), J)
        self.kappa = self.psi + by_blocks(motion_cross, own, J)
        self._by_position = np.concatenate([J, self.psi, xi])
        self._by_velocity = np.concatenate([J, self.kappa])

    def along(self, partials: Sparse, body: int) -> Objects:
        """Turn columns of displacement, twist and acceleration into those of J, ψ and ξ, (18,)."""
        parts = as_objects([partials.get(k, 0.0) for k in range(_TIME)])
        place, twist, acceleration = parts.reshape(3, 6)
        V, A = self.tree.twist[body], self.tree.acceleration[body]
        pushed = twist + force_cross(V, acceleration)
        moved = place + force_cross(V, twist) + force_cross(A, acceleration)
        return cast(Objects, np.concatenate([moved, pushed, acceleration]))

    def row(self, partials: Objects, weights: Objects, others: Sparse) -> BlockRow:
        """Make a row of derivatives by J, ψ and ξ, which along v are none, J and κ."""
        return BlockRow(
            product(partials, self._by_position, weights),
            product(partials[6:], self._by_velocity, weights),
            others,
        )

    def loads(self, fixed: Objects) -> list[Load]:
        """Sum the loads of bodies and all they carry; ``fixed``: wrenches that turn with them."""
        tree, places = self.tree, self.trace.x.tree.places
        bodies = Columns(self.trace.x.graph, len(places), self._width)
        own = self.trace.x.tree.inertias
        parts = (
            [as_objects(x.mass) for x in own],
            [x.moment for x in own],
            [x.matrix for x in own],
            [place.rotation for place in places],
            [place.translation for place in places],
            list(tree.twist),
            list(tree.acceleration),
        )
        found = []
        for block in zip(*(np.moveaxis(bodies.pack_all(x), -1, 0) for x in parts), strict=True):
            mass, moment, matrix, *motion = block
            found.append(tree.own_load(Inertia(_number(mass), moment, matrix), *motion))
        packed = _parts(found)
        alone = [_load([bodies.at(x, i) for x in packed]) for i in range(bodies.count)]
        return tree.with_carried(
            [replace(load, force=load.force - x) for load, x in zip(alone, fixed, strict=True)]
        )


def _parts(loads: Sequence[Load]) -> list[Objects]:
    """Numbers of the loads, each with a last axis for the bodies."""
    return [
        np.stack([np.asarray(getattr(load, x.name), dtype=object) for load in loads], -1)
        for x in fields(Load)
    ]


def _load(parts: Sequence[Objects]) -> Load:
    mass, *others = parts
    return Load(_number(mass), *others)


def _number(x: Objects) -> Scalar:
    return np.asarray(x, dtype=object).item()


class _FramedDerivatives:
    """Rows of frame pairs, and the wrenches that they load the bodies with.

    Symbols of its own for each body and frame tell the two of a pair apart, also where they move as
    one.
    """

    def __init__(self, trace: Trace, tree: _Columns) -> None:
        self._trace, self._tree = trace, tree
        values = trace.motions
        self._symbols = _variables(trace.x.graph, values)
        self._rows = trace.framed_rows(self._symbols)
        self._back = Substitution(
            {
                symbol: x
                for symbols, given in zip(self._symbols, values, strict=True)
                for symbol, x in zip(symbols.reshape(-1), given.reshape(-1), strict=True)
            }
        )
        count = len(trace.model.bodies)
        # wrenches on the bodies, (bodies, 6), and further ones, which turn with their bodies
        self.free, self.fixed = zeros(count, 6), zeros(count, 6)
        # how they change beyond that, for each body and component
        self.pushed = [[tree.none] * 6 for _ in range(count)]

    def add(self, pair: Pair, rows: list[BlockRow], rates: list[BlockRow]) -> None:
        """Write the rows of a pair, and load its bodies."""
        trace, tree, framed = self._trace, self._tree, self._rows
        derivatives = SymbolDerivatives(
            _seeds(self._symbols, pair) | {cast(Symbol, trace.x.t): {_TIME: 1.0}}
        )
        moves, turns = list(trace.tree.behind(pair.moved)), list(trace.tree.behind(pair.base))
        apart = tree.columns.weights(moves, turns)
        own = np.flatnonzero(np.isin(framed.chosen, pair.rows))
        for r, value, rate in zip(
            framed.chosen[own], framed.values[own], framed.rate[own], strict=True
        ):
            rows[r] = tree.none.plus(-1.0, self._row(derivatives.backward(value), pair, apart))
            rates[r] = self._row(derivatives.backward(rate), pair, apart)
        wrench = trace.multipliers[framed.chosen[own]] @ framed.jacobian[own, pair.moved]
        changes = [derivatives(x) for x in wrench]
        wrench = as_objects([self._back(x) for x in wrench])
        self.free[pair.moved] = self.free[pair.moved] + wrench
        on_moved = self.pushed[pair.moved]
        for k, change in enumerate(changes):
            on_moved[k] = on_moved[k].plus(
                1.0, self._row(change, pair, tree.columns.weights(moves))
            )
        if pair.base < 0:
            return
        # what moves both turns the wrench, and therefore does what moves the other one alone, less
        # what the first one's motion does
        self.fixed[pair.base] = self.fixed[pair.base] - wrench
        on_base = self.pushed[pair.base]
        for k, (change, turning) in enumerate(zip(changes, _turning(wrench), strict=True)):
            rest = -self._along(change, pair)
            rest[:6] = rest[:6] + turning
            on_moved[k] = on_moved[k].plus(1.0, tree.row(rest, tree.columns.weights(turns), {}))
            on_base[k] = on_base[k].plus(-1.0, self._row(change, pair, apart))

    def _along(self, partials: Sparse, pair: Pair) -> Objects:
        return self._tree.along({k: self._back(x) for k, x in partials.items()}, pair.moved)

    def _row(self, partials: Sparse, pair: Pair, weights: Objects) -> BlockRow:
        last = 2 * self._trace.model.nv
        others = {last: self._back(partials[_TIME])} if _TIME in partials else {}
        return self._tree.row(self._along(partials, pair), weights, others)

    def carried(self) -> list[list[BlockRow]]:
        """Changes of the wrenches on each body and all that it carries."""
        total = [list(body) for body in self.pushed]
        for i, body in reversed(list(enumerate(self._trace.model.bodies))):
            if body.parent >= 0:
                total[body.parent] = [
                    x.plus(1.0, y) for x, y in zip(total[body.parent], total[i], strict=True)
                ]
        return total


def _turning(wrench: Objects) -> Objects:
    """Matrix of the cross product of motions with a wrench, (6, 6)."""
    force, couple = -skew(wrench[:3]), -skew(wrench[3:])
    return cast(Objects, np.block([[zeros(3, 3), force], [force, couple]]))


def _variables(graph: Graph, motions: BodyMotions) -> BodyMotions:
    """Replace every number by a symbol."""
    return BodyMotions(
        *(
            graph.variables(name, values.size).reshape(values.shape)
            for name, values in zip(motions._fields, motions, strict=True)
        )
    )


def _seeds(motions: BodyMotions, pair: Pair) -> dict[Symbol, Sparse]:
    """Derivatives of a frame, its twist and acceleration by its body's motion, in world axes."""
    found: dict[Symbol, Sparse] = {}
    for first, vector in ((6, motions.twist[pair.moved]), (12, motions.acceleration[pair.moved])):
        found |= {x: {first + k: 1.0} for k, x in enumerate(vector)}
    for axis in motions.rotation[pair.frame].T:
        found |= _turned(axis)
    for k, (x, turned) in enumerate(_turned(motions.translation[pair.frame]).items()):
        found[x] = {k: 1.0} | turned
    return found


def _turned(vector: Objects) -> dict[Symbol, Sparse]:
    """Changes ω × of a vector by its entries."""
    return {
        x: {3 + j: y for j, y in enumerate(row) if not is_zero(y)}
        for x, row in zip(vector, -skew(vector), strict=True)
    }


def _motion(blocks: _Columns, framed: _FramedDerivatives, force: list[Sparse]) -> list[BlockRow]:
    """Differentiate −G: inverse dynamics, wrenches of frame pairs and other forces."""
    tree, columns = blocks.tree, blocks.columns
    J, psi, xi, kappa = blocks.J, blocks.psi, blocks.xi, blocks.kappa
    carried_by, pushed, free = (
        blocks.loads(framed.fixed),
        framed.carried(),
        tree.carried_wrenches(framed.free),
    )
    packed = [
        columns.pack_all(list(np.moveaxis(x, -1, 0)))
        for x in _parts([carried_by[i] for i in tree.body_of])
    ]

    def by_loads(function: Callable[..., Objects], *vectors: Objects) -> Objects:
        def of_block(*given: Objects) -> Objects:
            return function(_load(given[: len(packed)]), *given[len(packed) :])

        return by_blocks(of_block, *packed, *vectors)

    momentum = by_loads(Load.inertial, J)
    turned = by_loads(Load.carried_transposed, J)
    moved = by_loads(
        lambda load, J, psi, xi: force_cross(J, load.force) + load.inertial(xi) + load.carried(psi),
        *(J, psi, xi),
    )
    driven = by_loads(lambda load, J, kappa: load.inertial(kappa) + load.carried(J), J, kappa)
    loaded = by_blocks(force_cross, J, columns.pack_all([free[i] for i in tree.body_of]))
    answers = np.concatenate([momentum, turned, -loaded])
    above_by_position = np.concatenate([xi, psi[3:], J])
    above_by_velocity = np.concatenate([kappa, J[3:]])
    behind = [set(tree.behind(i)) for i in tree.body_of]
    nv = columns.count
    rows = []
    for k, i in enumerate(tree.body_of):
        axis, answer = tree.J[:, k], columns.at(answers, k)
        above = behind[k]
        same = {j for j in above if tree.body_of[j] == i}
        below = {j for j in range(nv) if k in behind[j]} - same
        row = BlockRow(
            columns.pack(force[k].get(j, 0.0) for j in range(nv))
            - product(axis, moved, columns.weights(below))
            - product(answer, above_by_position, columns.weights(above)),
            columns.pack(force[k].get(j, 0.0) for j in range(nv, 2 * nv))
            - product(axis, driven, columns.weights(below | same))
            - product(answer[:9], above_by_velocity, columns.weights(above - same)),
            {j: x for j, x in force[k].items() if j >= 2 * nv},
        )
        for component, change in zip(axis, pushed[i], strict=True):
            row = row.plus(component, change)
        rows.append(row)
    return rows
