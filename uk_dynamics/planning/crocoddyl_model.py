# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The motion of a mechanism as a differential action model of crocoddyl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from uk_dynamics.derivatives import DerivativeBackend, MotionDerivatives
from uk_dynamics.exceptions import InputError, UkDynamicsError
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.planning.casadi_function import no_state_form

if TYPE_CHECKING:
    from crocoddyl import CostModelSum, DifferentialActionModelAbstract


def crocoddyl_model(
    mechanism: Mechanism,
    # of a state and the motor efforts, with ``StateVector(2 nv)`` and nu = motors
    costs: CostModelSum,
    # of the motion and its derivatives, as of :class:`MotionDerivatives`
    backend: DerivativeBackend = "cached",
) -> DifferentialActionModelAbstract:
    """q̈ = f(q, v, u) with exact derivatives, and costs, for the solvers of crocoddyl.

    x = (q, v) holds all joints in the order of ``model.velocity_names``, u the motor efforts; the
    state is ``crocoddyl.StateVector(2 nv)``. Closed loops need no constraint: a motion that begins
    with closed loops keeps them, and the stabilisation of the mechanism file draws it back. Costs
    on a final state should name independent coordinates alone. Integrate by
    ``IntegratedActionModelRK`` or ``IntegratedActionModelEuler``.

    The model is not to be shared between threads: ``ShootingProblem.nthreads`` stays 1.

    Raises:
        InputError: Its motion is no q̈ = f(q, v, u): a floating or planar joint, or something that
            depends on time; or it has no derivatives; or costs of another size.
        CompilationError: With backend ``compiled``: it cannot be compiled.
        UkDynamicsError: crocoddyl is not installed.
    """
    try:
        import crocoddyl
    except ImportError:
        raise UkDynamicsError("crocoddyl is not installed: pip install crocoddyl") from None
    model, motors = mechanism.model, mechanism.actuators
    if not model.is_euclidean or mechanism.driven_by_time or mechanism.follows_references:
        raise no_state_form(mechanism)
    nv = model.nv
    if (costs.state.nx, costs.nu) != (2 * nv, len(motors)):
        raise InputError(
            f"expected costs of {2 * nv} states and {len(motors)} efforts; found"
            f" {costs.state.nx} and {costs.nu}",
            place=mechanism.name,
        )
    derivatives = MotionDerivatives(mechanism, backend)
    dynamics = mechanism.dynamics("compiled" if backend == "compiled" else "auto")
    matrix = motors.matrix

    class Data(crocoddyl.DifferentialActionDataAbstract):  # type: ignore[misc]
        """Results, and those of the costs, which write into them."""

        def __init__(self, of: Any) -> None:
            super().__init__(of)
            self.costs = costs.createData(crocoddyl.DataCollectorAbstract())
            self.costs.shareMemory(self)

    class Model(crocoddyl.DifferentialActionModelAbstract):  # type: ignore[misc]
        """What ``crocoddyl_model`` says."""

        def __init__(self) -> None:
            super().__init__(costs.state, costs.nu, costs.nr)

        def createData(self) -> Data:  # crocoddyl's name
            return Data(self)

        def calc(self, data: Data, x: Array, u: Array | None = None) -> None:
            """Acceleration and cost; without efforts the cost of a final state alone."""
            if u is None:
                costs.calc(data.costs, x)
            else:
                data.xout = dynamics.acceleration(*_parts(x), tau=matrix @ u)
                costs.calc(data.costs, x, u)
            data.cost = data.costs.cost

        def calcDiff(self, data: Data, x: Array, u: Array | None = None) -> None:
            """Their derivatives."""
            if u is None:
                costs.calcDiff(data.costs, x)
                return
            by = derivatives.acceleration(*_parts(x), tau=matrix @ u)
            data.Fx = np.hstack([by.q, by.v])
            data.Fu = by.tau @ matrix
            costs.calcDiff(data.costs, x, u)

    def _parts(x: Array) -> tuple[Array, Array]:
        # copies: crocoddyl's vectors are its own memory
        return np.array(x[:nv]), np.array(x[nv:])

    return Model()
