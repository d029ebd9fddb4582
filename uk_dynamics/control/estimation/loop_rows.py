"""The rows that close the loops of a mechanism: rigid, active, and of order position."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.mechanism import Mechanism
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array


class LoopRows:
    """Rigid, active rows of order position."""

    def __init__(self, mechanism: Mechanism, active: ActiveConstraints | None) -> None:
        self._constraints = mechanism.constraints
        self._references = mechanism.references
        hierarchy = mechanism.hierarchy
        held = self._constraints.position_rows & hierarchy.rigid & hierarchy.acting(active)
        self._held = np.flatnonzero(held)
        self._all_held = bool(held.all())
        self._captured = hierarchy.captured(active)
        self.live: Mapping[str, ReferenceSample] = {}
        self._moving = self._constraints.time_dependent or bool(self._references.references)
        self._still = np.zeros(mechanism.model.nv)
        self._workspace = mechanism.model.workspace()
        self.scale = self._constraints.reference_scale[self._held]  # residual per m or rad, (m,)
        self.names = tuple(mechanism.row_names[i] for i in self._held)  # of the rows

    def linearize(self, q: Array, t: float) -> tuple[Array, Array]:
        """A (m, nv) and ψ (m,) at a configuration (nq,) and time in s."""
        self._workspace.update_positions(q)
        reference = self._references.sample(t, {**self.live, **self._captured})
        A, residual = self._constraints.position(self._workspace, t, q, reference)
        if self._all_held:
            return A, residual
        return A[self._held], residual[self._held]

    def coordinate_scale(self, q: Array) -> Array:
        """Displacement of each coordinate per unit residual, (nv,); 1 where rows ignore it."""
        self._workspace.update_positions(q)
        rows = self._constraints.natural_scale(self._workspace, q)[self._held]
        size = np.linalg.norm(rows, axis=0)
        return np.asarray(1.0 / np.where(size > 0.0, size, 1.0))

    def drift(self, q: Array, t: float) -> Array:
        """Partial time derivative of the rows, (m,); zero for scleronomic loops."""
        if not self._moving:
            return np.zeros(len(self._held))
        self._workspace.update(q, self._still)
        reference = self._references.sample(t, {**self.live, **self._captured})
        rows = self._constraints.evaluate(self._workspace, t, q, self._still, reference)
        return rows.rate[self._held]
