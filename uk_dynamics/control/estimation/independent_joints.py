# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Joints whose velocities determine all others through the constraints."""

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from uk_dynamics.core.linalg import null_basis
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism

_STEEP = 1e3  # of a velocity per velocity of the joints: nearly singular
_SEEN = 50  # configurations


def allowed_motions(A: Array, mechanism: Mechanism) -> Array:
    """Orthonormal basis of the velocities that rows A (m, nv) allow, (nv, mobility)."""
    return null_basis(A, mechanism.spec.solver.rank_tolerance)


class IndependentJoints:
    """Coordinates y with v = Z y: joints of these names, in the order of the velocities, (k,)."""

    def __init__(
        self,
        mechanism: Mechanism,  # with the joints
        # of :func:`allowed_motions` at configurations where they are to be good ones
        bases: Sequence[Array] = (),
        # which ones; None: those with motors, if these determine the others
        names: Sequence[str] | None = None,
    ) -> None:
        """Choose joints that exist and determine the motion, if there is any."""
        model = mechanism.model
        if names is None:
            self.indices = _chosen(mechanism, bases)
        else:
            self.indices = [model.velocity_index(name) for name in names]
        self.names = tuple(model.velocity_names[i] for i in self.indices)

    def motions(self, basis: Array) -> Array | None:
        """Z, (nv, k), from a basis; None near configurations where the joints do not suffice."""
        if basis.shape[1] != len(self.indices):
            return None
        try:
            Z: Array = basis @ np.linalg.inv(basis[self.indices])
        except np.linalg.LinAlgError:
            return None
        return Z if np.abs(Z).max() < _STEEP * max(1.0, len(basis)) else None


def _chosen(mechanism: Mechanism, bases: Sequence[Array]) -> list[int]:
    count = int(np.median([basis.shape[1] for basis in bases]))
    if not count:
        raise InputError("cannot move: it has no mobility", place=mechanism.name)
    seen = [basis for basis in bases if basis.shape[1] == count]
    seen = seen[:: max(1, len(seen) // _SEEN)]
    driven = np.flatnonzero(mechanism.actuators.matrix.any(axis=1))
    chosen: list[int] = []
    for candidates in (driven, np.arange(mechanism.model.nv)):
        if len(candidates) < count:
            continue
        stacked = np.hstack([basis[candidates] for basis in seen])
        order = scipy.linalg.qr(stacked.T, mode="r", pivoting=True)[1]
        chosen = sorted(int(candidates[i]) for i in order[:count])
        if min(np.linalg.svd(basis[chosen], compute_uv=False)[-1] for basis in seen) * _STEEP > 1.0:
            break
    return chosen
