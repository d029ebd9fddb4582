# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Efforts of motors and forces of contacts, within their cones, that cause a motion together.

Quadratic programs over second-order cones, solved by Clarabel's interior-point method (Goulart and
Chen 2024, arXiv 2405.12762): the efforts of least cost, then the contact forces of least norm that
go with them. Where none cause the motion, those that leave the least of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.resources import optional_library

_TOLERANCE = 1e-10  # of Clarabel, relative
_LEFT = 1e-7  # of what is wanted: a smaller residual is the solver's
# Of directions of loads, how far they agree, and after how many trials; loads below it are none
_SAME, _MOST_TURNS, _NOTHING = 1e-9, 30, 1e-100
_SLIGHT = 1e-8  # of the cost of efforts: that of contact forces, which makes them finite


class JointCone(NamedTuple):
    """A joint that sticks: some efforts t with |t| ≤ most |load|, which is affine in all."""

    size: int  # of t
    most: float
    load: Array  # (3, 1 + nu + 3k)

    def along(self, direction: Array, start: int) -> tuple[Array, Array]:
        """The cone where the load has a direction, (3,), and t begins at an index: g and G."""
        g, *G = self.most * (direction @ self.load)
        return np.append(g, np.zeros(self.size)), np.vstack((G, np.eye(self.size, len(G), start)))


@dataclass(frozen=True, eq=False)
class ConeEfforts:
    """Efforts and forces that cause a motion, or come closest to it."""

    efforts: Array  # (nu,)
    forces: Array  # of contacts: normal, first and second tangent, (k, 3)
    possible: bool  # whether they cause it


class ConeProgram(NamedTuple):
    """Which efforts u and contact forces r have motor @ u + contact @ r = wanted."""

    motor: Array  # motion per unit effort, (n, nu)
    contact: Array  # motion per unit contact force: normal, two tangents of each, (n, 3k)
    wanted: Array  # (n,)
    friction: Array  # μ, (k,)
    lower: Array  # of efforts, possibly infinite, (nu,)
    upper: Array
    # further cones, in which g + G (u, r) is: its first entry is at least the norm of the others
    joints: tuple[tuple[Array, Array], ...] = ()

    def least_with_joints(
        self, joints: Sequence[JointCone], weights: Array, preload: Array
    ) -> ConeEfforts:
        """As :meth:`least`, where the last of the efforts are what joints hold.

        The norm of a load is no convex bound. In its place stands its part in the direction that it
        had in the solution before, until that stays; in the first one loads have no part.
        """
        starts = (
            len(self.lower) - np.cumsum([one.size for one in reversed(joints)], dtype=int)[::-1]
        )
        toward = [one.load[:, 0] * (not one.load[:, 1:].any()) for one in joints]
        for _ in range(_MOST_TURNS):
            each = zip(joints, toward, starts.tolist(), strict=True)
            cones = [one.along(d, start) for one, d, start in each if d.any()]
            found = self._replace(joints=tuple(cones)).least(weights, preload)
            x = np.concatenate(((1.0,), found.efforts, found.forces.ravel()))
            before, loads = toward, [one.load @ x for one in joints]
            toward = [load / max(float(np.linalg.norm(load)), _NOTHING) for load in loads]
            if np.allclose(toward, before, rtol=0.0, atol=_SAME):
                break
        return found

    def least(self, weights: Array, preload: Array) -> ConeEfforts:
        """The efforts of least (u − s)ᵀ W (u − s), and the contact forces of least norm with them.

        W has the weights, (nu,), on its diagonal, zero where an effort costs nothing; s is (nu,).
        """
        nu, count = len(preload), self.contact.shape[1]
        equal = np.hstack((self.motor, self.contact))
        relative = weights / (weights.max(initial=0.0) or 1.0)
        cost = np.concatenate((relative, np.full(count, _SLIGHT)))
        toward = np.concatenate((relative * preload, np.zeros(count)))
        x, wanted = self._solve(cost, -toward, equal, self.wanted), self.wanted
        if x is None or not self._causes(equal, x):
            closest = self._closest(equal)
            wanted = equal @ closest
            again = self._solve(cost, -toward, equal, wanted)
            x = closest if again is None else again
        joints = tuple((g + G[:, :nu] @ x[:nu], G[:, nu:]) for g, G in self.joints)
        r = self._replace(lower=np.zeros(0), upper=np.zeros(0), joints=joints)._solve(
            np.ones(count), np.zeros(count), self.contact, wanted - self.motor @ x[:nu]
        )
        forces = (x[nu:] if r is None else r).reshape(-1, 3)
        return ConeEfforts(x[:nu], forces, self._causes(equal, x))

    def _causes(self, equal: Array, x: Array) -> bool:
        """Whether efforts and forces, (nu + 3k,), cause what is wanted, but for rounding."""
        size = np.linalg.norm(self.wanted) + np.linalg.norm(self.motor @ x[: len(self.lower)])
        return bool(np.linalg.norm(self.wanted - equal @ x) <= _LEFT * size)

    def _closest(self, equal: Array) -> Array:
        """The efforts and forces that leave the least, (nu + 3k,)."""
        n, count = equal.shape
        cost = np.concatenate((np.full(count, 1e-14), np.ones(n)))
        found = self._solve(cost, np.zeros(count + n), np.hstack((equal, np.eye(n))), self.wanted)
        return np.zeros(count) if found is None else found[:count]

    def _solve(self, cost: Array, linear: Array, equal: Array, right: Array) -> Array | None:
        """The x = (u, r, …) of least ½ Σ cost x² + linear · x with equal @ x = right."""
        from scipy import sparse

        missing = "contacts in inverse dynamics need Clarabel: pip install clarabel"
        clarabel = optional_library("clarabel", missing)
        nu, total = len(self.lower), equal.shape[1]
        rows, offsets, cones = [equal], [right], [clarabel.ZeroConeT(len(right))]
        for sign, bounds in ((1.0, self.upper), (-1.0, self.lower)):
            finite = np.flatnonzero(np.isfinite(bounds))
            if len(finite):
                rows.append(sign * np.eye(nu, total)[finite])
                offsets.append(sign * bounds[finite])
                cones.append(clarabel.NonnegativeConeT(len(finite)))
        for k, mu in enumerate(self.friction.tolist()):
            block = np.zeros((3, total))
            block[:, nu + 3 * k : nu + 3 * k + 3] = -np.diag((mu or 1.0, 1.0, 1.0))
            if mu:
                cones.append(clarabel.SecondOrderConeT(3))
            else:  # no tangential force
                cones += [clarabel.NonnegativeConeT(1), clarabel.ZeroConeT(2)]
            rows.append(block)
            offsets.append(np.zeros(3))
        for g, G in self.joints:
            rows.append(np.hstack((-G, np.zeros((len(g), total - G.shape[1])))))
            offsets.append(g)
            cones.append(clarabel.SecondOrderConeT(len(g)))
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOLERANCE
        found = clarabel.DefaultSolver(
            sparse.diags_array(cost).tocsc(),
            linear,
            sparse.csc_matrix(np.vstack(rows)),
            np.concatenate(offsets),
            cones,
            settings,
        ).solve()
        return None if str(found.status) not in ("Solved", "AlmostSolved") else np.array(found.x)
