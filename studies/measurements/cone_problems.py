# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Solves random cone problems, and says of each that stays unsolved whether its contacts wedge.

``python studies/measurements/cone_problems.py [COUNT [FIRST]]``, with Clarabel; beside Siconos
where Debian's ``python3-siconos`` is (``UK_DYNAMICS_SICONOS_PYTHON`` names its Python).

Siconos solves each by ``NSN_AC``, and by ``NSGS`` where that fails. Where its motion is another
than ours, our solver begins from its forces: if it ends at our motion, Siconos was not exact,
otherwise there are several.

A problem has a solution where some motion separates all contacts, u_n > μ |u_t| (Acary, Cadoux,
Lemaréchal and Malick 2011). Of an unsolved one the motion that does so best is a second-order cone
program. Its dual solution certifies that there is none: forces within the cones, not all zero, with
W r = 0.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from uk_dynamics.core.contact import ConeProblem

PYTHON = os.environ.get("UK_DYNAMICS_SICONOS_PYTHON", "/usr/bin/python3")
_RANK = 1e-12  # of eigenvalues
_CHUNK = 250  # problems that Siconos gets at once
_SAME = 1e-8  # of the size of motion


def random_problem(seed: int) -> ConeProblem:
    """1 to 40 contacts of a mechanism with up to 20 rows of loops and mass ratios up to 1e6."""
    from uk_dynamics.core.contact import ConeProblem

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
    import clarabel
    from scipy import sparse

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


def siconos(file: str) -> None:
    """Forces of the problems of a file, by Siconos, whose Python runs this."""
    import siconos.numerics as sn

    given, found = np.load(file), {}
    for name in {name.partition("_")[0] for name in given}:
        W, q, friction = (given[f"{name}_{part}"] for part in ("W", "q", "friction"))
        found[name] = np.full(len(q), np.nan)
        ways = (sn.SICONOS_FRICTION_3D_NSN_AC, 200), (sn.SICONOS_FRICTION_3D_NSGS, 20000)
        for method, most in ways:
            options = sn.SolverOptions(method)
            options.dparam[sn.SICONOS_DPARAM_TOL] = 1e-12
            options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = most
            problem = sn.FrictionContactProblem(3, W, q, friction)
            forces, motion = np.zeros(len(q)), np.zeros(len(q))
            failed = sn.fc3d_driver(problem, forces, motion, options)
            if not failed and np.isfinite(forces).all():
                found[name] = forces
                break
    np.savez(file, **found)


def peers(problems: dict[int, ConeProblem]) -> dict[int, NDArray[np.float64]]:
    """Forces by Siconos, (3n,), of problems by seed; NaN where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "problems.npz")
        parts = ("W", "q", "friction")
        given = {f"{k}_{x}": getattr(one, x) for k, one in problems.items() for x in parts}
        np.savez(file, **given)
        run = [PYTHON, __file__, "--siconos", str(file)]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        with np.load(file) as found:
            return {k: found[str(k)] for k in problems}


def main() -> None:
    """Count them."""
    from uk_dynamics.core.contact import solve_cone_problem

    count, first = (int(x) for x in (*sys.argv[1:], *("10000", "0")[len(sys.argv) - 1 :]))
    beside = (
        Path(PYTHON).exists()
        and not subprocess.run(
            [PYTHON, "-c", "import siconos.numerics"], check=False, capture_output=True
        ).returncode
    )
    began, ends, apart = time.perf_counter(), Counter[str](), list[float]()
    for start in range(first, first + count, _CHUNK):
        seeds = range(start, min(start + _CHUNK, first + count))
        problems = {seed: random_problem(seed) for seed in seeds}
        theirs = peers(problems) if beside else {}
        for seed, problem in problems.items():
            found = solve_cone_problem(problem)
            if not found.solved:
                best, moved = separation(problem)
                wedged = best < 1e-9 and moved < 1e-6
                ends["unsolved, wedge" if wedged else "unsolved"] += 1
                print(
                    f"{seed}: {problem.count} contacts, error {found.error:.2g}; separated by"
                    f" {best:.2g} at best; forces that cancel move by {moved:.2g}",
                    flush=True,
                )
            if seed not in theirs:
                continue
            if np.isnan(theirs[seed]).any():
                ends["Siconos fails" + ("" if found.solved else " as well")] += 1
                continue
            if not found.solved:
                continue
            size = max(float(np.abs(problem.q).max()), float(np.abs(found.motion).max()))
            off = np.abs(problem.motion(theirs[seed]) - found.motion).max() / size
            apart.append(float(off))
            if off <= _SAME:
                ends["same motion"] += 1
                continue
            refined = solve_cone_problem(problem, theirs[seed].reshape(-1, 3))
            again = np.abs(refined.motion - found.motion).max() / size
            near = np.abs(refined.motion - problem.motion(theirs[seed])).max() / size
            what = "undecided"
            if refined.solved and again <= _SAME:
                what = "same motion, Siconos refined"
            elif refined.solved and near <= 1e-3 * again:
                what = "several motions"
            ends[what] += 1
            print(
                f"{seed}: {what}, {off:.2g} apart, {again:.2g} and {near:.2g} refined", flush=True
            )
        print(f"up to {seeds[-1]}: {dict(ends)}", flush=True)
    print(f"{count} problems: {dict(ends)}; {time.perf_counter() - began:.0f} s")
    if apart:
        print(f"motions apart by {np.median(apart):.1g} in the middle, relative to their size")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--siconos"]:
        siconos(sys.argv[2])
    else:
        main()
