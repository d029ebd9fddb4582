# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A robot with every joint type that URDF knows, and steps of finite differences on it."""

from __future__ import annotations

import numpy as np

from uk_dynamics.constraints.kinds.kind import SampleRobot
from uk_dynamics.constraints.rows import ConstraintSet
from uk_dynamics.model import RobotModel

STEP = 1e-5


# Central differences: h² times third derivatives (of order 1e2 at unit speeds) plus rounding eps/h.
TOLERANCE = 2e-7


JOINTS = ("j1", "j2", "j4", "j6")


ROBOT = SampleRobot(JOINTS, ("a", "left", "right"))


def _link(name: str) -> str:
    return (
        f'<link name="{name}"><inertial><origin xyz="0.1 0.02 -0.03"/><mass value="1.3"/>'
        '<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0" iyz="0.002"/>'
        "</inertial></link>"
    )


def _joint(name: str, kind: str, parent: str, child: str, axis: str) -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.2 -0.1 0.3" rpy="0.3 0.5 -0.4"/><axis xyz="{axis}"/>'
        '<limit lower="-9" upper="9" effort="10" velocity="10"/></joint>'
    )


# A trunk with two branches; every joint type that URDF knows moves something.
_CHAIN = [
    ("j1", "revolute", "base", "a", "0 1 0"),
    ("j2", "prismatic", "a", "b", "0.6 0 0.8"),
    ("j3", "floating", "b", "c", "1 0 0"),
    ("j4", "continuous", "c", "left", "0 0 1"),
    ("j5", "planar", "b", "d", "0 0 1"),
    ("j6", "revolute", "d", "right", "1 0 0"),
]


URDF = (
    '<robot name="all_joints">'
    + "".join(_link(name) for name in ("base", "a", "b", "c", "left", "d", "right"))
    + "".join(_joint(*entry) for entry in _CHAIN)
    + "</robot>"
)


def rows_are_derivatives(
    rows: ConstraintSet, model: RobotModel, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> bool:
    """Compare rates, and A a + bias, with differences; False: residuals jump between them."""
    workspace = model.workspace()

    def terms(h: float):
        q_h = model.integrate(q, h * v + 0.5 * h * h * a)
        workspace.update(q_h, v + h * a)
        return rows.evaluate(workspace, 0.0, q_h, v + h * a)

    now, *around = (terms(k * STEP) for k in (0, -2, -1, 1, 2))
    if not (np.ptp([one.residual for one in around], axis=0) < 0.1).all():
        return False
    # of order four: where rows bend sharply, errors of order two are larger than the tolerance
    weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12.0 * STEP)
    rate, second = (weights @ [getattr(one, of) for one in around] for of in ("residual", "rate"))
    np.testing.assert_allclose(now.rate, rate, rtol=0, atol=10 * TOLERANCE)
    np.testing.assert_allclose(now.A @ a + now.bias, second, rtol=0, atol=10 * TOLERANCE)
    return True
