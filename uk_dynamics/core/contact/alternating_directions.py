# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts by alternating directions: from any start, to a few digits, however ill-conditioned.

With the motion changed as De Saxcé does, u + μ |u_t| n, the conditions say that the force is in
its cone, the motion in the dual one, and both are orthogonal: those of a convex problem as long as
|u_t| is held. The method of multipliers alternates between the linear part, whose eigenvectors are
found once, and projections onto the cones, and lets |u_t| follow (Carpentier, Montaut and Le Lidec
2024, arXiv 2405.17020).
"""

import numpy as np

from uk_dynamics.arrays import Array, largest
from uk_dynamics.core.contact.friction_cone import project_on_cones

_SMALLEST = 1e-6  # eigenvalue over the largest that counts for the first penalty
# The generated C has these constants from here.
FIRST, LATER = 20, 1.2  # iterations before the penalty changes, and how this number grows
MOST = 5.0  # factor of such a change
PENALTY = 0.01  # of the largest sum of a row of W: where C begins, which knows no eigenvalues
LIGHTEST = 1e-12  # of the largest response: contacts that move less are as if they moved so
_NOTHING = 1e-13  # eigenvalue over the largest: rounding
_DECADES, _PROJECTIONS = 8, 300
# friction of cones that are aimed at: what is near them is inside of the whole ones
_NARROWER = 0.99


class AlternatingDirections:
    """Approaches forces r in cones with W r + q in the dual ones."""

    def __init__(self, W: Array, q: Array, friction: Array, relaxation: float) -> None:
        """Find eigenvectors of W ≥ 0, (dn, dn); q is the motion without forces, (dn,), and μ (n,).

        The relaxation of the iteration is 1 to 1.8.
        """
        n = len(friction)
        own = np.abs(np.diagonal(W)).reshape(n, -1).max(axis=1)
        least = LIGHTEST * own.max(initial=0.0) + np.finfo(float).tiny
        self._scale = 1.0 / np.sqrt(np.maximum(own, least))
        wide = np.repeat(self._scale, len(q) // n)
        values, self._vectors = np.linalg.eigh(wide[:, None] * W * wide)
        self._values = np.maximum(values, 0.0)
        self._q, self._friction, self._relaxation = wide * q, friction, relaxation
        large = float(self._values[-1])
        small = float(self._values[self._values > _SMALLEST * large].min(initial=large))
        self._penalty = np.sqrt(large * small) + np.finfo(float).tiny
        self._r, self._u = np.zeros((2, n, len(q) // n))
        self._next, self._wait, self._done = FIRST, float(FIRST), 0

    def advance(self, iterations: int) -> Array:
        """Forces after further iterations, (n, d)."""
        r, u = self._r, self._u
        for _ in range(iterations):
            self._done += 1
            shifted = self._penalty * r + u
            shifted[:, 0] -= self._friction * np.linalg.norm(u[:, 1:], axis=1)
            part = self._vectors.T @ (shifted.ravel() - self._q) / (self._values + self._penalty)
            free = (self._vectors @ part).reshape(r.shape)
            relaxed = self._relaxation * free + (1.0 - self._relaxation) * r
            last, r = r, project_on_cones((relaxed - u / self._penalty).T, self._friction).T
            u = u - self._penalty * (relaxed - r)
            if self._done == self._next:
                self._balance(free - r, self._penalty * (r - last), r, u)
        self._r, self._u = r, u
        found: Array = self._scale[:, None] * r
        return found

    def wedged(self) -> Array | None:
        """Forces inside of all cones with W r = −q, by which all contacts stick, (n, d).

        Where forces within the cones cancel, no motion separates all contacts, and forces that are
        large enough hold any motion. They are found by projections onto W r = −q and onto narrower
        cones in turn, from larger and larger normal forces. None: there are none.
        """
        moves = self._values > _NOTHING * self._values[-1]
        seen, kernel = self._vectors[:, moves], self._vectors[:, ~moves]
        needed = -seen @ ((seen.T @ self._q) / self._values[moves])
        size = largest(needed)
        for _ in range(_DECADES if kernel.size else 0):
            r = np.zeros_like(self._r)
            r[:, 0] = size
            for _ in range(_PROJECTIONS):
                r = (needed + kernel @ (kernel.T @ r.ravel())).reshape(r.shape)
                if (np.linalg.norm(r[:, 1:], axis=1) < self._friction * r[:, 0]).all():
                    found: Array = self._scale[:, None] * r
                    return found
                r = project_on_cones(r.T, _NARROWER * self._friction).T
            size *= 10.0
        return None

    def _balance(self, primal: Array, dual: Array, r: Array, u: Array) -> None:
        """Change the penalty so that what is left of both conditions shrinks alike."""
        tiny = np.finfo(float).tiny
        left, off = (largest(x) / (largest(size) + tiny) for x, size in ((primal, r), (dual, u)))
        factor = np.sqrt((left + tiny) / (off + tiny))
        self._penalty *= float(np.clip(factor, 1.0 / MOST, MOST))
        self._wait *= LATER
        self._next = self._done + int(self._wait)
