# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism as tables for the C of clusters, whose structures are in c/cluster_tree.h."""

import ctypes
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.emit.c_text import structure
from uk_dynamics.compilation.emit.layout import Layout
from uk_dynamics.compilation.trace.row_kinds import families, numbers, width
from uk_dynamics.core.linalg import skew, tie_handicap
from uk_dynamics.core.tree import Clusters
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism

Integers = NDArray[np.signedinteger[Any]]


class ClusterTables:
    """The tables of a mechanism whose loops are local; they do not change."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        """Write them.

        mechanism: One that has local loops and nothing that C does not know.
        """
        assert mechanism.local is not None
        clusters = mechanism.local.clusters
        order = np.concatenate([*clusters.members, np.empty(0, dtype=np.intp)])
        number = np.empty(len(order) + 1, dtype=np.intp)  # of each joint, and of the world
        number[order] = np.arange(len(order))
        number[-1] = len(order)
        rows = _Rows.of(mechanism, clusters, number)
        spec = mechanism.spec
        self._passive = mechanism.passive.active
        self._sizes: dict[str, Any] = {
            "joints": len(order),
            "positions": mechanism.model.nq,
            "clusters": len(clusters),
            "rows": len(rows.declared),
            "rank_tolerance": spec.solver.rank_tolerance,
            "consistency_tolerance": spec.solver.consistency_tolerance,
            "length": spec.model.length,
            "gravity": tuple(mechanism.model.gravity),
        }
        constraints, declared = mechanism.local.constraints, rows.declared
        tables: dict[str, Array | Integers] = {
            "joint": _joints(mechanism)[order],
            "passive": np.stack(list(mechanism.passive.columns().values()), axis=1)[order],
            "link": _links(mechanism, clusters, number)[order],
            "cluster": _clusters(clusters, number, rows),
            "pair": rows.pairs,
            "frames": rows.frames,
            "mover": rows.movers,
            "sign": rows.signs,
            "row": declared,
            "type": rows.types,
            "own": rows.own,
            "damping": constraints.damping[declared],
            "stiffness": constraints.stiffness[declared],
            "natural_scale": mechanism.natural_scale[declared],
            "handicap": tie_handicap(len(constraints))[declared],
        }
        self._tables = {
            name: np.ascontiguousarray(table, np.int32 if table.dtype.kind == "i" else np.float64)
            for name, table in tables.items()
        }

    def tree(self) -> ctypes.Structure:
        """``uk_tree`` with their addresses, fresh; valid as long as these tables."""
        addresses = {name: table.ctypes.data for name, table in self._tables.items()}
        if not self._passive:
            del addresses["passive"]
        return structure("uk_tree")(**self._sizes, **addresses)


class ClusterMemory:
    """Memory of evaluations; not to be shared between threads."""

    def __init__(self, library: ctypes.CDLL, tables: ClusterTables) -> None:
        self._tables, self._tree = tables, tables.tree()
        lay = library.uk_cluster_memory
        lay.argtypes, lay.restype = (ctypes.c_void_p, ctypes.c_void_p), ctypes.c_longlong
        # where its ``uk_tree`` is, (1,)
        self.address = np.array([ctypes.addressof(self._tree)], dtype=np.uintp)
        # all doubles; inputs and answers come first, as in ``Layout``
        self.numbers = np.zeros(lay(int(self.address[0]), None))
        lay(int(self.address[0]), self.numbers.ctypes.data)


def attached(
    library: ctypes.CDLL, tables: ClusterTables | None, memory: Array, layout: Layout
) -> ClusterMemory | None:
    """What the memory of a mechanism in clusters points to; it lives as long as that memory."""
    if tables is None:
        return None
    found = ClusterMemory(library, tables)
    memory[layout["tree"]] = found.address.view(np.float64)
    return found


def _joints(mechanism: ResolvedMechanism) -> Array:
    """``uk_joint`` of each joint in the order of velocities."""
    model = mechanism.model
    bodies = model.freedoms
    n = len(bodies)

    def stacked(name: str, *shape: int) -> Array:
        return np.array([getattr(body, name) for body in bodies], dtype=float).reshape(n, *shape)

    rotation, axis, inertia = (
        stacked("rotation", 3, 3),
        stacked("axis", 3),
        stacked("inertia", 3, 3),
    )
    cross = skew(axis)
    upper = np.triu_indices(3)
    columns = [
        *(rotation, stacked("translation", 3), axis, np.einsum("ijk,ik->ij", rotation, axis)),
        *(rotation @ cross, stacked("mass"), stacked("center", 3)),
        *(inertia[:, upper[0], upper[1]], model.armature),
    ]
    return np.concatenate([np.reshape(column, (n, -1)) for column in columns], axis=1)


def _links(mechanism: ResolvedMechanism, clusters: Clusters, number: NDArray[np.intp]) -> Integers:
    """``uk_link`` of each joint in the order of velocities."""
    parents = clusters.tree.parents
    inside = (parents >= 0) & (clusters.cluster[parents] == clusters.cluster)
    bodies = mechanism.model.freedoms
    floats = np.array([body.kind == "floating" for body in bodies], dtype=np.intp)
    turns = np.array([body.kind == "revolute" for body in bodies], dtype=np.intp)
    turns[3:6] |= floats[3:6]  # the root about its axes
    floats[1:] *= 2
    columns = (
        *(number[parents], np.where(inside, clusters.place[parents], -1), np.arange(len(parents))),
        *(np.array([body.position for body in bodies], dtype=np.intp), turns, floats),
    )
    return np.stack(columns, axis=1).astype(np.int32)


def _clusters(clusters: Clusters, number: NDArray[np.intp], rows: "_Rows") -> Integers:
    """``uk_cluster`` of each cluster."""
    joints = np.array([len(members) for members in clusters.members], dtype=np.intp)

    def starts(counts: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.cumsum(counts) - counts

    columns = (
        *(number[clusters.base], starts(joints), joints, starts(joints**2)),
        *(starts(rows.row_counts), rows.row_counts, starts(rows.row_counts * joints)),
        *(starts(rows.pair_counts), rows.pair_counts),
    )
    return np.stack(columns, axis=1).astype(np.int32)


class _Rows(NamedTuple):
    """Rows and their frame pairs, cluster by cluster."""

    declared: NDArray[np.intp]  # number of each row
    types: Integers
    own: Array
    pairs: Integers  # ``uk_pair``
    frames: Array
    movers: Integers
    signs: Array
    row_counts: NDArray[np.intp]  # of each cluster
    pair_counts: NDArray[np.intp]

    @classmethod
    def of(
        cls, mechanism: ResolvedMechanism, clusters: Clusters, number: NDArray[np.intp]
    ) -> "_Rows":
        assert mechanism.local is not None
        constraints, model = mechanism.local.constraints, mechanism.model
        layout, ancestry = constraints.layout, model.ancestry
        supports = constraints.supports
        types = np.zeros(len(constraints), dtype=np.int32)
        own = np.zeros((len(constraints), width(constraints)))
        names = [type(family).__name__ for family in families(constraints)]
        for family, chosen in layout.families:
            found = numbers(family)
            own[chosen, : found.shape[1]] = found
            types[chosen] = names.index(type(family).__name__)
        types, own = types[layout.order], own[layout.order]  # as declared
        pair_of_row = layout.pair_of_row[layout.order] if len(constraints) else layout.pair_of_row
        cluster_of_pair = np.array([clusters.cluster[s[0]] for s in supports], dtype=np.intp)
        in_order = np.argsort(cluster_of_pair, kind="stable")
        rows_of = [np.flatnonzero(pair_of_row == pair) for pair in in_order]
        pairs: list[list[int]] = []
        frames: list[list[list[float]]] = []
        movers: list[int] = []
        signs: list[int] = []
        first = 0
        for pair, rows in zip(in_order, rows_of, strict=True):
            ends = int(layout.pairs.parent[pair]), int(layout.pairs.child[pair])
            moving, direction = ancestry.between(*ends)
            bodies = [number[ancestry.carriers[frame]] for frame in ends]
            pairs.append([*bodies, first, len(rows), len(movers), len(moving)])
            movers += [int(clusters.place[joint]) for joint in moving]
            signs += direction
            first += len(rows)
            placed = [model.body_frames[frame] for frame in ends]
            frames.append([[*frame.rotation.reshape(-1), *frame.translation] for frame in placed])
        declared = np.concatenate([*rows_of, np.empty(0, dtype=np.intp)])
        count = len(clusters)
        return cls(
            declared,
            types[declared],
            own[declared],
            np.array(pairs, dtype=np.int32).reshape(-1, 6),
            np.array(frames, dtype=float).reshape(-1, 24),
            np.array(movers, dtype=np.int32),
            np.array(signs, dtype=float),
            np.bincount(cluster_of_pair[pair_of_row], minlength=count),
            np.bincount(cluster_of_pair, minlength=count),
        )
