# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Solves random cone problems, and says of each that stays unsolved whether its contacts wedge.

``python studies/measurements/cone_problems.py [COUNT [FIRST]]``, with Clarabel.

A problem has a solution where some motion separates all contacts, u_n > μ |u_t| (Acary, Cadoux,
Lemaréchal and Malick 2011). Of an unsolved one the motion that does so best is a second-order cone
program. Its dual solution certifies that there is none: forces within the cones, not all zero, with
W r = 0.
"""

import sys
import time

import clarabel
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from uk_dynamics.core.contact import ConeProblem, solve_cone_problem

_RANK = 1e-12  # of eigenvalues


def random_problem(seed: int) -> ConeProblem:
    """1 to 40 contacts of a mechanism with up to 20 rows of loops and mass ratios up to 1e6."""
    rng = np.random.default_rng(seed)
    count, rows = int(rng.integers(1, 41)), int(rng.integers(0, 21))
    freedoms = int(rng.integers(max(count // 2, 1), 3 * count + 7)) + rows
    spread = rng.uniform(0.0, 6.0)
    mass = 10.0 ** rng.uniform(-0.5 * spread, 0.5 * spread, size=freedoms)
    loops = rng.normal(size=(rows, freedoms))
    for k in range(rows // 4):  # redundant ones
        loops[rows - 1 - k] = rng.normal(size=rows // 2) @ loops[: rows // 2]
    contacts = rng.normal(size=(3 * count, freedoms))
    root = np.sqrt(mass)
    _, values, vectors = np.linalg.svd(loops / root)
    rank = int(np.count_nonzero(values > 1e-10 * values.max(initial=0.0)))
    admissible = vectors[rank:]  # orthonormal motions within the loops, in units of equal inertia
    seen = contacts / root @ admissible.T
    friction = rng.uniform(0.05, 1.0, size=count)
    return ConeProblem(seen @ seen.T, seen @ rng.normal(size=len(admissible)), friction)


def separation(problem: ConeProblem) -> tuple[float, float]:
    """How well motions of unit size separate all contacts, and how sure it is that none does.

    The second number is the motion that the forces of the dual solution make, relative to that of
    any forces of their size.
    """
    values, vectors = np.linalg.eigh(problem.W)
    moves = values > _RANK * values[-1]
    seen = (vectors[:, moves] * np.sqrt(values[moves])).reshape(problem.count, 3, -1)
    seen /= np.linalg.norm(seen, axis=(1, 2), keepdims=True)
    size = seen.shape[2]
    blocks: list[NDArray[np.float64]] = []
    for mu, own in zip(problem.friction, seen, strict=True):  # u_n − s ≥ μ |u_t|
        blocks.append(np.hstack((-np.vstack((own[:1], mu * own[1:])), [[1.0], [0.0], [0.0]])))
    blocks.append(np.vstack((np.zeros(size + 1), np.eye(size, size + 1))))  # 1 ≥ |w|
    right = np.zeros(3 * problem.count + size + 1)
    right[3 * problem.count] = 1.0
    cones = [clarabel.SecondOrderConeT(3)] * problem.count
    cones.append(clarabel.SecondOrderConeT(size + 1))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cost = np.append(np.zeros(size), -1.0)
    none, rows = sparse.csc_matrix((size + 1, size + 1)), sparse.csc_matrix(np.vstack(blocks))
    found = clarabel.DefaultSolver(none, cost, rows, right, cones, settings).solve()
    forces = np.array(found.z)[: 3 * problem.count].reshape(-1, 3)
    forces[:, 1:] *= problem.friction[:, None]
    moved = np.linalg.norm(np.einsum("kdw,kd->w", seen, forces)) / np.linalg.norm(forces)
    return -float(found.obj_val), float(moved)


def main() -> None:
    """Count them."""
    count, first = (int(x) for x in (*sys.argv[1:], *("10000", "0")[len(sys.argv) - 1 :]))
    began, unsolved, wedged = time.perf_counter(), 0, 0
    for seed in range(first, first + count):
        problem = random_problem(seed)
        found = solve_cone_problem(problem)
        if found.solved:
            continue
        unsolved += 1
        best, moved = separation(problem)
        wedged += best < 1e-9 and moved < 1e-6
        print(
            f"{seed}: {problem.count} contacts, error {found.error:.2g}; separated by {best:.2g} at"
            f" best; forces that cancel move by {moved:.2g}",
            flush=True,
        )
    print(
        f"{count} problems, {unsolved} unsolved, of which {wedged} wedge;"
        f" {time.perf_counter() - began:.0f} s"
    )


if __name__ == "__main__":
    main()
