# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Random cone problems by Pinocchio 4's two solvers and by ours: how exact, how often, how fast.

``python studies/measurements/cone_solvers_pinocchio.py [COUNT [FIRST]]``, with Pinocchio 4.

All get the problems of ``cone_problems.py`` as dense Delassus matrices, with no guess. Exactness is
that of the conditions of Signorini and Coulomb (Alart and Curnier's function), as motion relative
to the size of the problem, by one function for all. Theirs stop at 1e-10 or after so many
iterations; time is that of their ``solve``, of ours that of Python's solver.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict

import numpy as np
import pinocchio as pin
from cone_problems import random_problem
from numpy.typing import NDArray

from uk_dynamics.core.contact import ConeProblem, solve_cone_problem
from uk_dynamics.core.contact.friction_cone import conditions, steps

_MOST, _TOLERANCE = 20_000, 1e-10
_ORDER = (1, 2, 0)  # Pinocchio has the normal last
_SOLVED = 1e-8, 1e-6


def left(problem: ConeProblem, forces: NDArray[np.float64]) -> float:
    """What forces (n, 3) leave of the conditions."""
    own = np.abs(np.diagonal(problem.W)).reshape(-1, 3)
    step = steps(own.T, np.full(len(own), 1e-12 * own.max()))
    found, _ = conditions(forces.T, problem.motion(forces).T, step, problem.friction)
    return float((np.abs(found) / step).max() / np.abs(problem.q).max())


def by_pinocchio(problem: ConeProblem, name: str) -> tuple[NDArray[np.float64], float]:
    """Forces (n, 3), and the time of the solver in s."""
    n = problem.count
    order = (3 * np.arange(n)[:, None] + _ORDER).ravel()
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "free")
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for mu in problem.friction.tolist():
        contact = pin.PointContactConstraintModel(model, 1)
        contact.setFriction(mu)
        one = pin.ConstraintModel(contact)
        models.append(one)
        datas.append(one.createData())
    settings = getattr(pin, f"{name}SolverSettings")()
    settings.max_iterations, settings.solve_ncp = _MOST, True
    for kind in ("feasibility", "complementarity"):
        setattr(settings, f"absolute_{kind}_tol", _TOLERANCE * float(np.abs(problem.q).max()))
        setattr(settings, f"relative_{kind}_tol", 0.0)
    solver, result = (
        getattr(pin, f"{name}{part}")() for part in ("ConstraintSolver", "SolverResult")
    )
    delassus = pin.DelassusOperatorDense(np.asfortranarray(problem.W[np.ix_(order, order)]))
    began = time.perf_counter()
    solver.solve(delassus, problem.q[order], models, datas, settings, result)
    took = time.perf_counter() - began
    found = np.zeros(3 * n)
    found[order] = np.asarray(result.retrieveConstraintImpulses()).ravel()
    return found.reshape(n, 3), took


def main() -> None:
    """Solve them."""
    count, first = (int(x) for x in (*sys.argv[1:], *("200", "0")[len(sys.argv) - 1 :]))
    errors, times = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    for seed in range(first, first + count):
        problem = random_problem(seed)
        began = time.perf_counter()
        ours = solve_cone_problem(problem)
        times["ours"].append(time.perf_counter() - began)
        errors["ours"].append(left(problem, ours.forces))
        for name in ("ADMM", "PGS"):
            forces, took = by_pinocchio(problem, name)
            times[name].append(took)
            errors[name].append(left(problem, forces) if np.isfinite(forces).all() else np.inf)
    for name, found in errors.items():
        shares = (f"{np.mean(np.array(found) <= x):.1%} to {x:g}" for x in _SOLVED)
        middle, most = 1e3 * np.median(times[name]), 1e3 * np.max(times[name])
        print(
            f"{name:5} {', '.join(shares)}; left {np.median(found):.1g} in the middle,"
            f" {np.max(found):.1g} at most; {middle:.3g} ms in the middle, {most:.4g} at most"
        )


if __name__ == "__main__":
    main()
