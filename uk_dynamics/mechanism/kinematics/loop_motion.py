# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the loops leave of the motion at a configuration: bases of velocities, and their bias.

Metres and radians are compared by the machine's size: velocities of sliding coordinates count in
sizes per second, next to rad/s. So no rank and no singular value depends on the unit of length.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.arrays import Array, Indices, Values
from uk_dynamics.core.linalg import RowBasis
from uk_dynamics.exceptions import StateError
from uk_dynamics.mechanism.dynamics.arguments import require_finite
from uk_dynamics.mechanism.resolution import ResolvedMechanism, State

#: One state or many: a state, positions by name, (nq,) or (K, nq); None is the initial guess.
Positions = State | Values | None

_LEAST_ROW = 1e-12
_EXCURSIONS = (0.0, 0.5, 1.0)  # rad, or parts of the machine's size, from the initial guess


class LoopMotion:
    """Rigid, active rows of a mechanism at one state after another; one per thread."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        self.mechanism = mechanism
        self.workspace = mechanism.model.workspace()  # at the last state
        # speed of each coordinate that counts as 1 rad/s: the machine's size where it slides, (nv,)
        self.unit = np.where(mechanism.model.slides, mechanism.size, 1.0)
        held = mechanism.hierarchy.rigid & mechanism.hierarchy.acting()
        self._motion = np.flatnonzero(mechanism.constraints.motion_rows & held)
        self._positions: Indices = np.flatnonzero(mechanism.constraints.position_rows[self._motion])
        self.scale = self._natural_scale()
        #: Whether rows constrain velocities and no positions, such as those of rolling.
        self.nonholonomic = len(self._positions) < len(self._motion)

    def update(self, q: Array, v: Array | None = None, t: float = 0.0) -> None:
        """Evaluate at positions (nq,) and velocities (nv,), None for rest."""
        mechanism = self.mechanism
        v = np.zeros(mechanism.model.nv) if v is None else v
        self.workspace.update(q, v)
        constraints = mechanism.constraints
        rows = constraints.evaluate(self.workspace, t, q, v, mechanism.references.sample(t))
        # of positions and velocities, (m, nv), and second derivatives at no acceleration, (m,)
        self.A, self.bias = rows.A[self._motion], rows.bias[self._motion]
        self.rate = rows.rate[self._motion] - self.A @ v  # of rows that change with time

    @property
    def rows(self) -> Array:
        """Rows of coordinates in their units, over their natural size, (m, nv)."""
        return self.A * self.unit / self.scale[:, None]

    @property
    def position_rows(self) -> Array:
        """Those of the rows that hold positions."""
        return self.rows[self._positions]

    def basis(self, *, of_positions: bool = False) -> Array:
        """Orthonormal basis of the admissible velocities in their units, (nv, k).

        ``of_positions``: of changes of position that loops allow, whatever rows of rolling say.
        """
        return self._factored(of_positions).complement()

    def velocities(self, *, of_positions: bool = False) -> Array:
        """Basis of the admissible velocities in m/s and rad/s, (nv, k)."""
        return self.unit[:, None] * self.basis(of_positions=of_positions)

    def particular(self, right: Array) -> Array:
        """The least x, in units of the coordinates, with A x = right on independent rows, (nv,)."""
        rows = self._factored(False)
        return self.unit * rows.basis_product(rows.coordinates(right / self.scale))

    def _natural_scale(self) -> Array:
        """How large each row is over the configurations, (m,): the largest of some."""
        mechanism, sizes = self.mechanism, []
        rng = np.random.default_rng(0)
        for excursion in _EXCURSIONS:
            way = excursion * self.unit * rng.uniform(-1.0, 1.0, len(self.unit))
            q = mechanism.model.integrate(mechanism.initial_guess, way)
            self.workspace.update_positions(q)
            natural = mechanism.constraints.natural_scale(self.workspace, q)
            sizes.append(np.linalg.norm(natural[self._motion] * self.unit, axis=1))
        largest: Array = np.maximum(np.max(sizes, axis=0), _LEAST_ROW)
        return largest

    def _factored(self, of_positions: bool) -> RowBasis:
        scaled = np.asfortranarray((self.position_rows if of_positions else self.rows).T)
        return RowBasis(scaled, np.ones(scaled.shape[1]), self.mechanism.spec.solver.rank_tolerance)


def states_of(
    mechanism: ResolvedMechanism,  # whose states
    q: Positions,  # a state; or positions by name, (nq,) or (K, nq); None is the initial guess
    # velocities by name, (nv,) or (K, nv); None is rest. A state has its own
    v: ArrayLike | Mapping[str, float] | None = None,
) -> tuple[list[State], bool]:
    """Checked states of names that exist, and whether an array of many was given."""
    if isinstance(q, State):
        require_finite(mechanism.model, q)
        return [q], False
    if q is None or isinstance(q, Mapping) or np.ndim(q) != 2:
        return [mechanism.state(q, v)], False
    positions = np.asarray(q, dtype=float)
    if v is None:
        return [mechanism.state(each) for each in positions], True
    velocities = np.asarray(v, dtype=float)
    if len(velocities) != len(positions):
        raise StateError(f"expected {len(positions)} velocities, found shape {velocities.shape}")
    pairs = zip(positions, velocities, strict=True)
    return [mechanism.state(each, rate) for each, rate in pairs], True
