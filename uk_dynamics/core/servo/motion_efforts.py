# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Inverse dynamics of a constrained machine: efforts that cause a given acceleration.

The constraint forces balance every other component, so only the admissible motions count, N = KᵀK
(K is Zᵀ in whitened coordinates):

    K S u = K M (q̈ − a_s),

with a_s the motion of the structure at u = 0. With M a_s = F + forces of the structure this is the
classical u = (ZᵀS)⁺ Zᵀ(M q̈ − F); its residual is least in the metric of M, as Gauss would have it.
"""

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.core.equation.fundamental_equation import Factorization
from uk_dynamics.core.linalg.rank_rule import DEFAULT_TASK_RANK_TOLERANCE, NEGLIGIBLE_ACCELERATION
from uk_dynamics.core.linalg.row_basis import least_solution
from uk_dynamics.core.servo.servo_law import MET, ServoSolution, null_part


def motion_efforts(
    factorization: Factorization,  # of M and the structural constraints
    M: Array,  # mass matrix, (nv, nv)
    qdd_free: Array,  # constrained acceleration a_s at zero effort, (nv,)
    S: Array,  # generalized forces per unit effort, (nv, nu)
    # wanted acceleration, (nv,); what the structure does not allow of it does not count
    qdd: Array,
    *,
    weights: Array | None = None,  # diagonal of W, positive, (nu,); default ones
    # s, the efforts to come close to where the motion leaves freedom, (nu,)
    preload: Array | None = None,
    # a motion is out of reach when motors have at most this part of their largest effect on it
    rank_tolerance: float = DEFAULT_TASK_RANK_TOLERANCE,
) -> ServoSolution:
    """Efforts that accelerate the structure as given.

    Returns:
        The efforts of least (u − s)ᵀ W (u − s), with one row per admissible motion, in coordinates
        whose squares are kinetic energies, √kg m/s².
    """
    root = np.ones(S.shape[1]) if weights is None else np.sqrt(weights)
    motor, _ = factorization.admissible_coordinates(S / root)
    forces = np.stack((M @ (qdd - qdd_free), M @ qdd, M @ qdd_free), axis=1)
    wanted, *parts = factorization.admissible_coordinates(forces)[0].T
    size = np.full(len(motor), np.linalg.norm(motor))
    scaled, range_basis, basis = least_solution(motor, size, wanted, rank_tolerance)
    if preload is not None:
        scaled = scaled + null_part(basis, root * preload)
    residual = wanted - motor @ scaled
    if basis.rank == len(motor):
        controllable = np.ones(len(motor), dtype=bool)
    else:
        controllable = 1.0 - np.add.reduce(range_basis * range_basis, 1) <= MET
    large = sum(float(np.linalg.norm(part)) for part in parts)
    inertia = float(np.sqrt(np.abs(M).max(initial=0.0)))
    magnitude = np.full(len(motor), large + inertia * NEGLIGIBLE_ACCELERATION)
    return ServoSolution(
        efforts=scaled / root,
        residual=residual,
        rank=basis.rank,
        task_rank=len(motor),
        controllable=controllable,
        reachable=controllable & (np.abs(residual) <= MET * magnitude),
        size=magnitude,
        map=motor * root,
        wanted=wanted,
    )
