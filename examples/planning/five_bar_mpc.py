# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Model predictive control of the five-bar, within a speed that its crank is not to exceed.

The crank follows steps between two postures. The motor has little more than gravity takes, and the
crank must not turn faster than SPEED: a controller has to see the end of a step coming. Every 5 ms
the motion of the next second is linearised along the efforts of the last plan, and a quadratic
program by DAQP, which comes with CasADi, improves them once (real-time iteration). The motion and
its exact derivatives come in C from :func:`uk_dynamics.planning.casadi_function`.

    python five_bar_mpc.py            # simulated by the library, with the time of a solve
    python five_bar_mpc.py --node     # as a node, with a simulator in lockstep at 200 Hz
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import casadi
import numpy as np
from feedback import Efforts, run_node

import uk_dynamics as ukd
from uk_dynamics.planning import casadi_function

PERIOD = 0.005  # s, 200 Hz
EFFORT = 35.0  # N m; gravity takes up to 28.3
SPEED = 1.5  # rad/s
INTERVALS, STEP = 20, 0.05  # of the horizon, s
LOW, HIGH = 0.6, 2.4  # rad, on both sides of upright


def steps(t: float) -> float:
    """Angle that the crank is to have, in rad."""
    return HIGH if t % 5.0 < 2.5 else LOW


class Predictive:
    """A controller that plans a second ahead at every state.

    Attributes:
        times: Processor time of each plan, in s.
    """

    row_names = ("crank",)

    def __init__(
        self, mechanism: ukd.Mechanism, reference: Callable[[float], float] = steps
    ) -> None:
        self.reference = reference
        self.times: list[float] = []
        self._crank = mechanism.model.velocity_names.index("crank")
        self._program = _program(mechanism, self._crank)
        shapes = {name: self._program.sparsity_out(name) for name in ("h", "a")}
        self._qp = casadi.conic("qp", "daqp", shapes, {"error_on_fail": True})
        self._plan = np.zeros(INTERVALS)  # of EFFORT

    def command(self, state: ukd.State) -> Efforts:
        """Improve the plan once from here; its first effort acts."""
        begin = time.process_time()
        x = np.concatenate([state.q, state.v])
        program = self._program(x=x, u=self._plan, target=self.reference(state.t))
        change = self._qp(**program)["x"].full().ravel()[:-1]
        self._plan = self._plan + change
        self.times.append(time.process_time() - begin)
        return Efforts(EFFORT * self._plan[:1])

    def tracking_error(self, state: ukd.State) -> np.ndarray:
        """Angle of the crank from where it is to be, in rad, (1,)."""
        return np.array([state.q[self._crank] - self.reference(state.t)])


def _program(mechanism: ukd.Mechanism, crank: int) -> casadi.Function:
    """(x, u, target) → the quadratic program of changes of the efforts u, and of a slack.

    Least Σ w (angle − target)² + w' rate² + w'' (uₖ − uₖ₋₁)² + slack with |rate| ≤ SPEED + slack.
    """
    size, nv = 2 * mechanism.model.nv, mechanism.model.nv
    f = casadi_function(mechanism)
    x, effort = casadi.MX.sym("x", size), casadi.MX.sym("effort")
    k1 = f(x, EFFORT * effort)
    k2 = f(x + 0.5 * STEP * k1, EFFORT * effort)
    k3 = f(x + 0.5 * STEP * k2, EFFORT * effort)
    k4 = f(x + STEP * k3, EFFORT * effort)
    after = x + STEP / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
    slopes = [casadi.jacobian(after, x), casadi.jacobian(after, effort)]
    F = casadi.Function("F", [x, effort], [after, *slopes])

    u, target = casadi.MX.sym("u", INTERVALS), casadi.MX.sym("target")
    slack = INTERVALS
    motion, slopes = x, casadi.MX.zeros(size, INTERVALS + 1)  # by efforts and slack
    errors, error_slopes, rows, bounds = [], [], [], []
    for k in range(INTERVALS):
        motion, A, B = F(motion, u[k])
        slopes = A @ slopes
        slopes[:, k] += B
        angle, rate, last = motion[crank], motion[nv + crank], k == INTERVALS - 1
        errors += [(4.5 if last else 1.0) * (angle - target), (1.4 if last else 0.14) * rate]
        error_slopes += [(4.5 if last else 1.0) * slopes[crank, :]]
        error_slopes += [(1.4 if last else 0.14) * slopes[nv + crank, :]]
        room = casadi.MX.zeros(1, INTERVALS + 1)
        room[slack] = 1.0
        rows += [slopes[nv + crank, :] - room, -slopes[nv + crank, :] - room]
        bounds += [SPEED - rate, SPEED + rate]
    smooth = np.diff(np.eye(INTERVALS), axis=0) * 0.14
    J = casadi.vertcat(*error_slopes, casadi.horzcat(smooth, np.zeros((INTERVALS - 1, 1))))
    r = casadi.vertcat(*errors, smooth @ u)
    weight = np.diag(np.r_[np.full(INTERVALS, 1e-4), 1e3])
    linear = np.r_[np.zeros(INTERVALS), 1e3]
    program = {
        "h": casadi.densify(J.T @ J + weight),
        "g": J.T @ r + linear,
        "a": casadi.densify(casadi.vertcat(*rows)),
        "uba": casadi.vertcat(*bounds),
        "lba": casadi.DM(np.full(2 * INTERVALS, -np.inf)),
        "lbx": casadi.vertcat(-1.0 - u, 0.0),
        "ubx": casadi.vertcat(1.0 - u, casadi.inf),
    }
    return casadi.Function(
        "program", [x, u, target], list(program.values()), ["x", "u", "target"], list(program)
    )


def main(duration: float = 10.0) -> None:
    """Follow the steps in simulation."""
    mechanism = ukd.Mechanism.from_file("five_bar")
    controller = Predictive(mechanism)
    run = ukd.simulate(
        mechanism, mechanism.start(), duration, controller=controller, control_period=PERIOD
    )
    times = 1e3 * np.array(controller.times)
    print(
        f"speed at most {np.abs(run.velocity('crank')).max():.3f} rad/s,"
        f" effort at most {np.abs(run.efforts).max():.1f} N m;"
        f" a plan takes {np.median(times):.2f} ms, 99 % at most {np.percentile(times, 99):.2f} ms"
    )


if __name__ == "__main__":
    if "--node" in sys.argv:
        machine = ukd.Mechanism.from_file("five_bar")
        run_node(machine, Predictive(machine))
    else:
        main()
