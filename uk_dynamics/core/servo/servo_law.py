# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The closed-form servo law, and inverse dynamics, on motions that the structure leaves.

Motors act within q̈ = a_s + N S u, with a_s the motion of the structure at u = 0 and N what it
lets forces do. A task A_t q̈ = b_t then asks of the efforts u (servo paper (32), (35))

    C u = b_t − A_t a_s,  C = A_t N S,    u = G (b_t − A_t a_s) + (I − G C) s,

with G the pseudoinverse of C that minimises uᵀ W u, or one that minimises accelerations X u:

- Gauss: X = K S with N = KᵀK. The motion deviates least from the free one in the metric of M; where
  every coordinate has a motor of its own, u is the Udwadia–Kalaba force of the task, review (71).
- generalised inverse: X = N S. The acceleration A⁺ r is least in the Euclidean norm, as the
  feedback −M Aᵀ(AAᵀ)⁻¹P⁻¹β of the review's (72) distributes it.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from uk_dynamics.arrays import Array, Flags
from uk_dynamics.core.equation.fundamental_equation import Factorization
from uk_dynamics.core.linalg.rank_rule import (
    DEFAULT_TASK_RANK_TOLERANCE,
    NEGLIGIBLE_ACCELERATION,
    ZERO_ROW,
)
from uk_dynamics.core.linalg.row_basis import RowBasis, least_solution


def actuation(motors: int, moved: int, wanted: int) -> str:
    """Compare the motors with the independent motions wanted, and those of them that they cause.

    These are the rank of S, or of A_t N S for tasks, within the motions that the structure leaves.
    "underactuated and redundantly actuated": some motions lack a motor, others have too many.
    """
    if motors == 0 or moved == 0:
        return "not actuated"
    kinds = ["underactuated"] * (moved < wanted) + ["redundantly actuated"] * (motors > moved)
    return " and ".join(kinds) or "fully actuated"


def least_motion_efforts(X: Array, T: Array, wanted: Array, rank_tolerance: float) -> Array:
    """The u of least |X u| with T X u = wanted; of several such u the one of least |u|.

    X: Accelerations, in any coordinates, per unit effort, (n, nu); wanted: (mt,); where no u gives
    it, the error is least; rank_tolerance: A direction that keeps at most this part of its size is
    dependent. Returns: (nu,).
    """
    if not X.size or not T.size:
        return np.zeros(X.shape[1])
    motion = RowBasis(np.asfortranarray(X), None, rank_tolerance)
    reached = motion.rotate_back(np.eye(X.shape[0], motion.rank, order="F"))
    rows = T @ reached
    acceleration = least_solution(rows, np.linalg.norm(T, axis=1), wanted, rank_tolerance)[0]
    efforts = np.linalg.lstsq(reached.T @ X, acceleration, rcond=None)[0]
    return np.asarray(efforts, dtype=float)


def lacking(residual: Array, side: Array | None) -> Array:
    """The part of b_t − A_t q̈ that counts, (mt,): of bounded rows that beyond the bound.

    side: 1 where a row is at least b_t, −1 where it is at most, 0 where it is equal, (mt,); None:
    all are equal.
    """
    if side is None:
        return residual
    return np.where(side == 0.0, residual, side * np.maximum(side * residual, 0.0))


Distribution = Literal["effort", "gauss"]

# What motors leave of a task row counts as met below this part of the row's own size.
MET = 1e-6


@dataclass(frozen=True, eq=False)
class ServoSolution:
    """Motor efforts and how far they serve the tasks."""

    # u, (nu,), N m or N; where the tasks contradict each other or the motors cannot serve them, the
    # residual's Euclidean norm is least
    efforts: Array
    residual: Array  # what is missing, b_t − A_t q̈ with these efforts, (mt,)
    rank: int  # rank of A_t N S: what the motors move
    task_rank: int  # rank of A_t within the admissible motions: what would have to be moved
    # whether the motors can serve each row whatever (attainable) b_t asks, (mt,)
    controllable: Flags
    reachable: Flags  # whether they serve each row now: controllable, and no residual, (mt,)
    size: Array  # what is large for each row: a residual is one above a millionth of it, (mt,)
    map: Array  # C = A_t N S, task acceleration per unit effort, (mt, nu)
    wanted: Array  # b_t − A_t a_s, what the motors have to add, (mt,)
    side: Array | None = None  # which rows are bounded, as of :func:`lacking`

    @property
    def actuation(self) -> str:
        """Full, under- or redundant actuation of the tasks, see :func:`actuation`."""
        return actuation(self.map.shape[1], self.rank, self.task_rank)

    def missed(self, efforts: Array) -> tuple[Array, Flags]:
        """Residual b_t − A_t q̈ of other efforts, (nu,), and where it is one, (mt,)."""
        residual = self.residual
        if efforts is not self.efforts:
            residual = lacking(self.wanted - self.map @ efforts, self.side)
        return residual, np.abs(residual) > MET * self.size

    @property
    def crosses(self) -> bool:
        """Whether these efforts cross the bound of a row."""
        if self.side is None:
            return False
        return bool((np.abs(self.residual) > MET * self.size)[self.side != 0.0].any())

    @property
    def fully_reachable(self) -> bool:
        """Whether all rows are: both ranks agree and the residual of (33) vanishes."""
        return bool(self.reachable.all())


def servo_efforts(
    factorization: Factorization,  # of M and the structural constraints
    qdd_free: Array,  # constrained acceleration a_s at zero effort, (nv,)
    S: Array,  # generalized forces per unit effort, (nv, nu)
    A_t: Array,  # task matrix, (mt, nv)
    b_t: Array,  # right-hand side of A_t q̈ = b_t, (mt,)
    *,
    weights: Array | None = None,  # diagonal of W, positive, (nu,); default ones
    # s, the efforts to come close to where the tasks leave freedom, (nu,)
    preload: Array | None = None,
    # what is least where efforts are free: ``effort`` uᵀ W u; ``gauss`` the deviation from the free
    # motion in the metric of M, as the Udwadia–Kalaba force has it
    distribution: Distribution = "effort",
    # part of b_t that is served by the acceleration of least Euclidean norm instead, (mt,), review
    # (72)
    feedback: Array | None = None,
    # part of what it takes beyond the free motion that each row asks for, (mt,); None: all of it
    share: Array | None = None,
    # rows that are bounded instead of served, as of :func:`lacking`, (mt,); these efforts do not
    # count them
    side: Array | None = None,
    # of the rows of A_t N S by ``rank_rule``; the natural scale of a row is what perfectly placed
    # motors would give it
    rank_tolerance: float = DEFAULT_TASK_RANK_TOLERANCE,
) -> ServoSolution:
    """Efforts that make the structure follow the tasks, with ranks and reachability."""
    root = np.ones(S.shape[1]) if weights is None else np.sqrt(weights)
    task, task_size = factorization.admissible_coordinates(A_t.T)
    motor, _ = factorization.admissible_coordinates(S / root)
    task_norms = np.linalg.norm(task, axis=0)
    # Rows that the structure holds by itself, and rows that are rounding as a whole.
    fixed = task_norms <= ZERO_ROW * task_size.max(initial=0.0)
    task[:, fixed] = 0.0
    map_ = C = task.T @ motor
    bounded = np.zeros(len(b_t), dtype=bool)
    if side is not None:
        bounded = side != 0.0
        C = C * ~bounded[:, None]
        task[:, bounded] = 0.0
    task_rank = RowBasis(task, task_size, rank_tolerance).rank
    attainable = task_norms * np.linalg.norm(motor)
    wanted = b_t - A_t @ qdd_free
    if share is not None:
        wanted = share * wanted
        feedback = None if feedback is None else share * feedback
    by_metric = wanted if feedback is None else wanted - feedback
    scaled, range_basis, basis = least_solution(C, attainable, by_metric, rank_tolerance)
    if distribution == "gauss":
        scaled = least_motion_efforts(motor, task.T, by_metric, rank_tolerance)
    if feedback is not None:
        motion = factorization.admissible(S / root)
        scaled = scaled + least_motion_efforts(motion, A_t, feedback, rank_tolerance)
    if preload is not None:
        scaled = scaled + null_part(basis, root * preload)
    residual = lacking(wanted - map_ @ scaled, side)
    if basis.rank == task_rank:
        controllable = np.ones(len(b_t), dtype=bool)
    else:
        unserved = task.T - range_basis @ (range_basis.T @ task.T)
        controllable = np.linalg.norm(unserved, axis=1) <= MET * np.maximum(task_norms, 1e-300)
        controllable |= fixed
    controllable[bounded] = np.linalg.norm(map_[bounded], axis=1) > MET * attainable[bounded]
    size = np.abs(b_t) + np.abs(A_t) @ np.abs(qdd_free) + NEGLIGIBLE_ACCELERATION
    return ServoSolution(
        efforts=scaled / root,
        residual=residual,
        rank=basis.rank,
        task_rank=task_rank,
        controllable=controllable,
        reachable=controllable & (bounded | (np.abs(residual) <= MET * size)),
        size=size,
        map=map_ * root,
        wanted=wanted,
        side=side,
    )


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
    """Efforts that accelerate the structure as given: inverse dynamics.

    The constraint forces balance every other component, so only the admissible motions count,
    N = KᵀK (K is Zᵀ in whitened coordinates):

        K S u = K M (q̈ − a_s),

    with a_s the motion of the structure at u = 0. With M a_s = F + forces of the structure this is
    the classical u = (ZᵀS)⁺ Zᵀ(M q̈ − F); its residual is least in the metric of M, as Gauss would
    have it.

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


def null_part(basis: RowBasis, x: Array) -> Array:
    """(I − C⁺C) x, (nu,), for the basis of the rows of C."""
    rotated = basis.rotate(x)
    rotated[: basis.rank] = 0.0
    return basis.rotate_back(rotated)
