# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The Lie bracket of the velocity coordinates, against moving there and back."""

import numpy as np
import pytest
from support.mechanism_builder import joint, link

from uk_dynamics.model.robot_model import RobotModel

STEP = 1e-3


@pytest.mark.parametrize("root", ["planar", "floating"])
@pytest.mark.parametrize("seed", range(3))
def test_commutator_of_two_motions(root, seed):
    """There and back around a small parallelogram: h²[x, y] remains, third order aside."""
    text = f'<robot name="r">{link("base")}{link("arm")}{joint("j", "base", "arm")}</robot>'
    model = RobotModel.from_urdf(text, root=root)
    rng = np.random.default_rng(seed)
    q = model.integrate(model.neutral(), rng.standard_normal(model.nv))
    x, y = rng.standard_normal((2, model.nv))

    def around(h):
        there = q
        for step in (h * x, h * y, -h * x, -h * y):
            there = model.integrate(there, step)
        return model.difference(q, there) / h**2

    # The mean over ±h is free of the odd orders; what remains is of order h² times speeds⁴.
    remains = 0.5 * (around(STEP) + around(-STEP))
    np.testing.assert_allclose(remains, model.lie_bracket(x, y), rtol=0, atol=1e-4)
    assert np.linalg.norm(model.lie_bracket(x, y)) > 0.1
    np.testing.assert_allclose(model.lie_bracket(x, x), 0.0, rtol=0, atol=1e-15)


def test_joint_coordinates_commute():
    text = f'<robot name="r">{link("base")}{link("arm")}{joint("j", "base", "arm")}</robot>'
    model = RobotModel.from_urdf(text)
    assert not np.any(model.lie_bracket(np.ones(1), np.full(1, 2.0)))
