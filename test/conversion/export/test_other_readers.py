# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""MuJoCo itself and Pinocchio's reader of MJCF: the exported model is the machine.

What is compared are mass matrix and bias forces, and the rows of MuJoCo's constraints, which span
what ours span at closed states.
"""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
from support.exported import written
from support.mechanism_builder import closed_states

from uk_dynamics.conversion import export_mechanism
from uk_dynamics.mechanism_class import Mechanism

mujoco = pytest.importorskip("mujoco", reason="MuJoCo reads MJCF")

# Relative to the largest entry: texts hold all digits, so rounding and 2e-15 kg and kg m² in the
# place of links without mass.
SAME = 1e-11


@pytest.mark.parametrize(
    "name", ["stewart_platform", "excavator", "rrr3", "landing_leg", "slider_crank", "dual_panda"]
)
def test_mass_bias_and_rows(name, tmp_path):
    machine = Mechanism.from_file(name)
    path = str(written(export_mechanism(machine, "mjcf"), tmp_path))
    model = mujoco.MjModel.from_xml_path(path)
    data = mujoco.MjData(model)
    np.testing.assert_allclose(data.qpos, machine.assemble(), rtol=0, atol=1e-9)  # starts closed
    assert [model.joint(j).name for j in range(model.njnt)] == list(machine.joint_names)
    other = pinocchio.buildModelFromMJCF(path)
    other.gravity.linear = machine.model.gravity  # which that reader passes over
    order = [other.joints[other.getJointId(name)].idx_v for name in machine.joint_names]
    workspace = machine.model.workspace()
    for state in closed_states(machine, np.random.default_rng(0), 2):
        data.qpos[:], data.qvel[:] = state.q, state.v
        mujoco.mj_forward(model, data)
        mass = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, mass)
        workspace.update(state.q, state.v)
        near(mass, workspace.mass)
        near(data.qfrc_bias, workspace.bias)
        q, v = np.zeros(other.nq), np.zeros(other.nv)
        q[order], v[order] = state.q, state.v
        peer = other.createData()
        found = np.triu(pinocchio.crba(other, peer, q))
        found += np.triu(found, 1).T
        near(found[np.ix_(order, order)], workspace.mass)
        near(pinocchio.nle(other, peer, q, v)[order], workspace.bias)
        near(data.qfrc_spring + data.qfrc_damper, machine.passive.force(state.q, state.v))
        rows = data.efc_J.reshape(-1, model.nv)[
            data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        ]
        ours = machine.terms(state).A
        assert np.linalg.matrix_rank(rows, 1e-8) == np.linalg.matrix_rank(ours, 1e-8)
        assert np.abs(ours - ours @ np.linalg.pinv(rows, 1e-8) @ rows).max(initial=0.0) < 1e-8


def near(found, expected):
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=SAME * scale)
