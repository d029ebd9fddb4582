# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The fastest lift of an excavator that its cylinders and its pump allow, by CasADi and IPOPT.

The task ``excavator_lift`` goes along a path that was drawn by hand, as fast as the limits allow on
it. Here the path is free: only its ends are those of the task. Time T and efforts held for T / N
each are the unknowns, with the state at every change of them (multiple shooting)::

    least T   with   x₀ at rest, x_{k+1} = F(x_k, u_k, T / N), motors at rest at the other end,
                     |u| and |v| within limits, strokes, and the power of all motors below PUMP

F is the Runge-Kutta method on ẋ = f(x, u) of :func:`uk_dynamics.planning.casadi_function`, whose
first derivatives are exact. The loops are in f: x holds all joints, and nothing is to be said of
them. Second derivatives are IPOPT's own estimate, from first ones (limited memory).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi
import numpy as np
from feedback import Efforts

import uk_dynamics as ukd
from uk_dynamics.planning import casadi_function

PUMP = 150e3  # W, for all cylinders together; what a cylinder gives back is lost
MARGIN = 0.98  # of the limits, that motions between the instants of the plan keep them too
SMOOTH = 1e-3  # s
STEPS = 2  # of the Runge-Kutta method, in the time of one effort


@dataclass(frozen=True)
class Plan:
    """Efforts that lead from one state to the other.

    Attributes:
        duration: In s.
        efforts: Held for duration / N each, (N, motors), in N m and N.
        iterations: Of IPOPT.
    """

    duration: float
    efforts: np.ndarray
    iterations: int

    @property
    def period(self) -> float:
        """Time for which an effort is held, in s."""
        return self.duration / len(self.efforts)


class OpenLoop:
    """A controller that gives the efforts of a plan, one after the other, and looks at nothing."""

    row_names = ()

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def command(self, state: ukd.State) -> Efforts:
        """Return what the plan has for this time."""
        k = min(int(state.t / self.plan.period + 0.5), len(self.plan.efforts) - 1)
        return Efforts(self.plan.efforts[k])

    def tracking_error(self, state: ukd.State) -> np.ndarray:
        """Nothing is tracked."""
        return np.zeros(0)


def fastest(
    mechanism: ukd.Mechanism, start: ukd.State, end: ukd.State, guess: float, intervals: int
) -> Plan:
    """Plan the fastest motion from rest to rest within the limits.

    Args:
        mechanism: With one motor for each of its freedoms.
        start: Where it begins.
        end: Where its motors are to end.
        guess: Of the duration, in s.
        intervals: N, in which efforts are constant.
    """
    model, motors = mechanism.model, mechanism.actuators
    nv, nu = model.nv, len(motors)
    driven = [int(j) for j in np.flatnonzero(motors.matrix.any(axis=1))]
    limit = MARGIN * motors.effort_limits

    f = casadi_function(mechanism)
    x, u, h = casadi.MX.sym("x", 2 * nv), casadi.MX.sym("u", nu), casadi.MX.sym("h")
    moved, effort = x, limit * u
    for _ in range(STEPS):
        k1 = f(moved, effort)
        k2 = f(moved + 0.5 * h / STEPS * k1, effort)
        k3 = f(moved + 0.5 * h / STEPS * k2, effort)
        k4 = f(moved + h / STEPS * k3, effort)
        moved = moved + h / STEPS / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
    F = casadi.Function("F", [x, u, h], [moved])

    opti = casadi.Opti()
    T = opti.variable()
    X = opti.variable(2 * nv, intervals + 1)
    U = opti.variable(nu, intervals)  # of the limits
    power = opti.variable(nu, intervals)  # of the pump's, what each motor takes of it
    # the second part chooses among motions that take the same time, and is too little to delay one
    opti.minimize(T + SMOOTH * (casadi.sumsqr(U) + casadi.sumsqr(power)) / intervals)
    opti.subject_to(0.1 * guess <= T)
    opti.subject_to(X[:, 0] == np.concatenate([start.q, np.zeros(nv)]))
    opti.subject_to(X[driven, -1] == end.q[driven])
    opti.subject_to(X[[nv + j for j in driven], -1] == 0.0)
    opti.subject_to(X[:, 1:] == F.map(intervals)(X[:, :-1], U, T / intervals))
    opti.subject_to(opti.bounded(-1.0, casadi.vec(U), 1.0))
    for j in driven:
        fast = MARGIN * model.velocity_limit[j]
        opti.subject_to(opti.bounded(-fast, X[nv + j, 1:], fast))
        opti.subject_to(opti.bounded(model.lower[j], X[j, 1:-1], model.upper[j]))
    speeds = motors.matrix.T @ X[nv:, :]
    for at in (speeds[:, :-1], speeds[:, 1:]):
        opti.subject_to(casadi.vec(power - casadi.diag(limit / PUMP) @ U * at) >= 0.0)
    opti.subject_to(casadi.vec(power) >= 0.0)
    opti.subject_to(casadi.sum1(power) <= MARGIN)

    still = [ukd.inverse_dynamics(mechanism, s, np.zeros(nv)).efforts for s in (start, end)]
    opti.set_initial(T, guess)
    for k, part in enumerate(np.linspace(0.0, 1.0, intervals + 1)):
        opti.set_initial(X[:nv, k], (1.0 - part) * start.q + part * end.q)
        opti.set_initial(X[nv:, k], (end.q - start.q) / guess if 0.0 < part < 1.0 else 0.0)
        if k < intervals:
            opti.set_initial(U[:, k], ((1.0 - part) * still[0] + part * still[1]) / limit)
    opti.solver(
        "ipopt",
        {"print_time": False},
        {
            "hessian_approximation": "limited-memory",
            "print_level": 0,
            "sb": "yes",
            "tol": 1e-4,
            "max_iter": 500,
        },
    )
    solution = opti.solve()
    found = limit[:, None] * solution.value(U)
    return Plan(float(solution.value(T)), found.T.copy(), int(opti.stats()["iter_count"]))


def utilisation(run: ukd.Trajectory, mechanism: ukd.Mechanism) -> dict[str, float]:
    """Largest use of each limit in a motion, as a part of it."""
    motors, model = mechanism.actuators, mechanism.model
    working = np.maximum(run.v @ motors.matrix * run.efforts, 0.0).sum(axis=1)
    return {
        "force": float((np.abs(run.efforts) / motors.effort_limits).max()),
        "speed": float((np.abs(run.v) / model.velocity_limit).max()),
        "pump": float(working.max() / PUMP),
    }


def main(intervals: int = 30) -> None:
    """Plan, simulate open loop, and compare with the path drawn by hand."""
    mechanism = ukd.Mechanism.from_file("excavator")
    tasks = ukd.Tasks.from_file("excavator_lift", mechanism)
    by_hand = 1.6  # s, of the task
    start, end = mechanism.start(tasks=tasks), mechanism.start(tasks=tasks, t=by_hand)
    plan = fastest(mechanism, start, end, by_hand, intervals)
    run = ukd.simulate(
        mechanism, start, plan.duration, controller=OpenLoop(plan), control_period=plan.period
    )
    controller = ukd.ServoController(mechanism, tasks, control_period=0.01)
    hand = ukd.simulate(mechanism, start, by_hand, controller=controller, control_period=0.01)
    for name, duration, motion in (("by hand", by_hand, hand), ("planned", plan.duration, run)):
        used = utilisation(motion, mechanism)
        teeth, _ = mechanism.pose("teeth", motion.q[-1])
        print(
            f"{name}: {duration:.3f} s,",
            ", ".join(f"{what} {100 * part:.0f} %" for what, part in used.items()),
            f"of the limits; teeth end at x = {teeth[0]:.3f}, z = {teeth[2]:.3f} m",
        )
    print(f"{plan.iterations} iterations")


if __name__ == "__main__":
    main()
