# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A linear-quadratic regulator keeps a table on two free legs upright, by moving the cart below.

The machine is linearised where it stands upright, in two of its four coordinates; the other two
follow through the loop. Gains are those of SciPy's Riccati equation, for efforts that are held for
a period each.

    python balance.py                 # simulated by the library, from a slanted start
    python balance.py --node          # as a node, with a simulator in lockstep at 200 Hz
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import scipy.linalg
from feedback import Efforts, run_node

import uk_dynamics as ukd

FILE = Path(__file__).with_name("inverted_linkage.yaml")
PERIOD = 0.005  # s, 200 Hz
COORDINATES = ("cart", "left_leg")
WEIGHTS = [10.0, 50.0, 1.0, 5.0]  # of m, rad, m/s, rad/s
EFFORT_WEIGHT = 0.01  # of N


class Balance:
    """u = u₀ − K x, x the deviation of cart and leg from upright.

    Attributes:
        system: The machine, linearised.
        gains: K, (1, 4).
    """

    row_names = COORDINATES

    def __init__(self, mechanism: ukd.Mechanism) -> None:
        upright = mechanism.equilibrium()
        self.system = mechanism.linearize(upright.state, coordinates=COORDINATES)
        A, B = self.system.discrete(PERIOD)
        weights, effort_weight = np.diag(WEIGHTS), np.array([[EFFORT_WEIGHT]])
        S = scipy.linalg.solve_discrete_are(A, B, weights, effort_weight)
        self.gains = np.linalg.solve(effort_weight + B.T @ S @ B, B.T @ S @ A)
        self._place = [mechanism.model.velocity_names.index(name) for name in COORDINATES]
        self._upright = upright.state.q[self._place]
        self._limit = mechanism.actuators.effort_limits

    def command(self, state: ukd.State) -> Efforts:
        """Efforts for a state."""
        x = np.concatenate([self.tracking_error(state), state.v[self._place]])
        return Efforts(np.clip(-self.gains @ x, -self._limit, self._limit))

    def tracking_error(self, state: ukd.State) -> np.ndarray:
        """Deviation of cart and leg from upright, in m and rad, (2,)."""
        return state.q[self._place] - self._upright


def main() -> None:
    """Balance from 0.2 rad beside upright."""
    mechanism = ukd.Mechanism.from_file(FILE)
    controller = Balance(mechanism)
    falls = max(controller.system.eigenvalues.real)
    run = ukd.simulate(
        mechanism, mechanism.start(left_leg=0.2), 5.0, controller=controller, control_period=PERIOD
    )
    leg, cart = run.position("left_leg"), run.position("cart")
    print(
        f"without control it falls as e^({falls:.2f} t); with it the leg goes from {leg[0]:.1f} to"
        f" {leg[-1]:.1e} rad, the cart by {np.abs(cart).max():.2f} m and back to {cart[-1]:.1e} m"
    )


if __name__ == "__main__":
    if "--node" in sys.argv:
        machine = ukd.Mechanism.from_file(FILE)
        run_node(machine, Balance(machine))
    else:
        main()
