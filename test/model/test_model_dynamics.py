# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Dynamics and kinematics of random trees against independent computations."""

import gc

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.random_urdf import trees

from uk_dynamics.model import AttachedFrame, RobotModel

# Rounding of a few hundred operations on numbers up to about 100.
ROUNDING = 1e-10
# Central differences with a step of 1e-6: truncation 1e-12 and rounding 1e-10, times derivatives
# of up to about 1e3 in a chain of six moving joints.
DIFFERENCE = 1e-5
STEP = 1e-6

examples = settings(max_examples=40, deadline=None)
roots = st.sampled_from(["fixed", "floating", "planar"])


def random_state(model, seed):
    rng = np.random.default_rng(seed)
    q = model.integrate(model.neutral(), rng.uniform(-1.5, 1.5, model.nv))
    return q, rng.normal(size=model.nv), rng.normal(size=model.nv)


def updated(model, q, v):
    workspace = model.workspace()
    workspace.update(q, v)
    return workspace


class Oracle:
    """The same URDF read by Pinocchio itself, its coordinates sorted by joint name."""

    def __init__(self, model, text):
        self.model = pin.buildModelFromXML(text)
        self.data = self.model.createData()
        self.ours = model.pinocchio
        pairs = [
            (self.ours.joints[i], self.model.joints[self.model.getJointId(self.ours.names[i])])
            for i in range(1, self.ours.njoints)
        ]
        self.pairs = pairs
        self.order = np.concatenate(
            [np.arange(b.idx_v, b.idx_v + b.nv) for _, b in pairs] or [np.zeros(0)]
        ).astype(int)

    def positions(self, q):
        theirs = np.zeros(self.model.nq)
        for a, b in self.pairs:
            own = q[a.idx_q : a.idx_q + a.nq]
            if a.nq == 1 and b.nq == 2:  # Pinocchio keeps continuous joints as cosine and sine
                own = np.array([np.cos(own[0]), np.sin(own[0])])
            theirs[b.idx_q : b.idx_q + b.nq] = own
        return theirs

    def velocities(self, v):
        theirs = np.zeros(self.model.nv)
        theirs[self.order] = v
        return theirs

    def forces(self, q, v, a):
        tau = pin.rnea(
            self.model, self.data, self.positions(q), self.velocities(v), self.velocities(a)
        )
        return tau[self.order]

    def accelerations(self, q, v, tau):
        qdd = pin.aba(
            self.model, self.data, self.positions(q), self.velocities(v), self.velocities(tau)
        )
        return qdd[self.order]


@examples
@given(trees())
def test_inverse_dynamics_are_those_of_pinocchios_own_urdf_reader(tree):
    model = RobotModel.from_urdf(tree.text)
    q, v, a = random_state(model, tree.seed)
    workspace = updated(model, q, v)
    expected = Oracle(model, tree.text).forces(q, v, a)
    assert workspace.mass @ a + workspace.bias == pytest.approx(expected, abs=1e-8)


@examples
@given(trees())
def test_forward_dynamics_are_those_of_the_articulated_body_algorithm(tree):
    model = RobotModel.from_urdf(tree.text)
    q, v, tau = random_state(model, tree.seed)
    workspace = updated(model, q, v)
    expected = Oracle(model, tree.text).accelerations(q, v, tau)
    force = workspace.mass @ expected + workspace.bias
    # Compared as forces: accelerations of a light tip would carry the condition of M.
    assert force == pytest.approx(tau, abs=1e-7)


@examples
@given(roots, trees())
def test_mass_matrix_is_symmetric_and_positive_definite(root, tree):
    model = RobotModel.from_urdf(tree.text, root=root)
    q, v, _ = random_state(model, tree.seed)
    mass = updated(model, q, v).mass
    assert mass == pytest.approx(mass.T, abs=0.0)
    assert np.all(np.linalg.eigvalsh(mass) > 0.0)


@examples
@given(roots, trees())
def test_frame_jacobian_times_velocity_is_the_motion_of_the_frame(root, tree):
    frames = [AttachedFrame("tool", "link1", (0.1, -0.2, 0.3), (0.1, 0.2, 0.3, 0.9))]
    model = RobotModel.from_urdf(tree.text, root=root, frames=frames)
    q, v, _ = random_state(model, tree.seed)
    workspace = updated(model, q, v)
    before = updated(model, model.integrate(q, -STEP * v), v)
    after = updated(model, model.integrate(q, STEP * v), v)
    for name in model.frame_names:
        at = model.frame_index(name)
        twist = (workspace.jacobian * model.ancestor_mask[at]) @ v
        linear = twist[:3] + np.cross(twist[3:], workspace.translation[at])
        moved = (after.translation[at] - before.translation[at]) / (2 * STEP)
        turned = pin.log3(after.rotation[at] @ before.rotation[at].T) / (2 * STEP)
        assert linear == pytest.approx(moved, abs=DIFFERENCE)
        assert twist[3:] == pytest.approx(turned, abs=DIFFERENCE)


@examples
@given(roots, trees())
def test_jacobian_rate_is_the_derivative_of_the_jacobian(root, tree):
    model = RobotModel.from_urdf(tree.text, root=root)
    q, v, _ = random_state(model, tree.seed)
    before = updated(model, model.integrate(q, -STEP * v), v)
    after = updated(model, model.integrate(q, STEP * v), v)
    difference = (after.jacobian - before.jacobian) / (2 * STEP)
    assert updated(model, q, v).jacobian_rate == pytest.approx(difference, abs=DIFFERENCE)


@examples
@given(roots, trees())
def test_power_of_the_forces_is_the_rate_of_energy(root, tree):
    model = RobotModel.from_urdf(tree.text, root=root)
    q, v, a = random_state(model, tree.seed)
    workspace = updated(model, q, v)
    power = v @ (workspace.mass @ a + workspace.bias)

    def energy(t):
        moved = model.integrate(q, v * t + a * t * t / 2)
        return workspace.kinetic_energy(moved, v + a * t) + workspace.potential_energy(moved)

    rate = (energy(STEP) - energy(-STEP)) / (2 * STEP)
    # Energies of up to about 1e3 J lose 1e-13 relative: 1e-4 W after the division by the step.
    assert power == pytest.approx(rate, abs=1e-3)


@examples
@given(roots, trees())
def test_positions_alone_give_the_same_kinematics(root, tree):
    model = RobotModel.from_urdf(tree.text, root=root)
    q, v, _ = random_state(model, tree.seed)
    full, part = updated(model, q, v), model.workspace()
    part.update_positions(q)
    for name in ("mass", "jacobian", "rotation", "translation"):
        assert getattr(part, name) == pytest.approx(getattr(full, name), abs=ROUNDING)


@examples
@given(trees())
def test_armature_adds_to_the_diagonal_of_the_mass_matrix(tree):
    plain = RobotModel.from_urdf(tree.text)
    armature = {name: 0.5 + 0.25 * k for k, name in enumerate(plain.joint_names)}
    geared = RobotModel.from_urdf(tree.text, armature=armature)
    q, v, _ = random_state(plain, tree.seed)
    added = updated(geared, q, v).mass - updated(plain, q, v).mass
    expected = np.zeros(plain.nv)
    for name, value in armature.items():
        expected[plain.velocity_index(name)] = value
    assert added == pytest.approx(np.diag(expected), abs=ROUNDING)
    assert updated(geared, q, v).bias == pytest.approx(updated(plain, q, v).bias, abs=ROUNDING)
    part = geared.workspace()
    part.update_positions(q)
    assert part.mass == pytest.approx(updated(geared, q, v).mass, abs=ROUNDING)
    energy = part.kinetic_energy(q, v) - plain.workspace().kinetic_energy(q, v)
    assert energy == pytest.approx(0.5 * float(expected @ v**2), abs=ROUNDING)


@examples
@given(roots, trees())
def test_velocity_parents_lead_through_all_velocities_that_move_a_joint(root, tree):
    model = RobotModel.from_urdf(tree.text, root=root)
    for index, name in enumerate(model.velocity_names):
        joint = name.partition(".")[0]
        link = "link0" if joint == "root" else joint.replace("joint", "link")
        moving = np.flatnonzero(model.ancestor_mask[model.frame_index(link)])
        chain = [index]
        while model.velocity_parents[chain[-1]] >= 0:
            chain.append(model.velocity_parents[chain[-1]])
        assert set(chain) == {k for k in moving if k <= index}


@examples
@given(trees())
def test_ancestor_mask_is_one_where_a_joint_lies_between_link_and_root(tree):
    model = RobotModel.from_urdf(tree.text)
    for link in range(len(tree.parents) + 1):
        above = set()
        at = link
        while at:
            above.add(f"joint{at}")
            at = tree.parents[at - 1]
        row = model.ancestor_mask[model.frame_index(f"link{link}")]
        expected = [float(name.partition(".")[0] in above) for name in model.velocity_names]
        assert row == pytest.approx(expected, abs=0.0)


@examples
@given(roots, trees())
def test_difference_undoes_integrate(root, tree):
    model = RobotModel.from_urdf(tree.text, root=root)
    q, _, w = random_state(model, tree.seed)
    w = np.clip(w, -1.0, 1.0)  # beyond half a turn a rotation comes back the other way
    # Pinocchio divides by 1 - cos of a plane turn, which keeps 8 digits from 1e-4 rad on.
    tolerance = 1e-7 if root == "planar" else 1e-9
    assert model.difference(q, model.integrate(q, w)) == pytest.approx(w, abs=tolerance)


@examples
@given(roots, trees())
def test_tangent_rate_moves_the_chart_as_the_velocity_moves_the_configuration(root, tree):
    model = RobotModel.from_urdf(tree.text, root=root)
    q, v, xi = random_state(model, tree.seed)
    rate = model.tangent_rate(q, xi, v)
    # Pinocchio's difference of planar joints takes rotations below 1e-8 rad for none at all
    step = 5e-4
    after = model.integrate(q, xi + step * rate)
    before = model.integrate(q, xi - step * rate)
    assert model.difference(before, after) / (2 * step) == pytest.approx(v, abs=5e-5)


def test_arrays_outlive_updates_and_their_workspace(random_model):
    q, v, _ = random_state(random_model, 1)
    workspace = updated(random_model, q, v)
    names = ("mass", "bias", "jacobian", "jacobian_rate", "rotation", "translation")
    arrays = {name: getattr(workspace, name) for name in names}
    copies = {name: array.copy() for name, array in arrays.items()}
    workspace.update(0.5 * q, v)
    del workspace
    gc.collect()
    others = [updated(random_model, q * 0.1, v) for _ in range(5)]  # would reuse freed memory
    assert len(others) == 5
    for name, array in arrays.items():
        assert array == pytest.approx(copies[name], abs=0.0)


def test_energies_leave_the_arrays_alone(random_model):
    q, v, _ = random_state(random_model, 1)
    workspace = updated(random_model, q, v)
    mass, translation = workspace.mass.copy(), workspace.translation.copy()
    workspace.kinetic_energy(q * 0.5, v)
    workspace.potential_energy(q * 0.5)
    assert workspace.mass == pytest.approx(mass, abs=0.0)
    assert workspace.translation == pytest.approx(translation, abs=0.0)


def test_a_planar_joint_moves_in_the_plane_normal_to_its_axis():
    normal = np.array([0.6, 0.0, 0.8])
    model = RobotModel.from_urdf(
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="planar"><parent link="a"/><child link="b"/>'
        '<axis xyz="0.6 0 0.8"/></joint></robot>'
    )
    workspace = model.workspace()
    workspace.update_positions(model.neutral())
    assert workspace.rotation[1] == pytest.approx(np.eye(3), abs=1e-15)
    jacobian = workspace.jacobian
    assert normal @ jacobian[:3, :2] == pytest.approx([0.0, 0.0], abs=1e-15)
    assert jacobian[3:, 2] == pytest.approx(normal, abs=1e-15)


@pytest.fixture
def random_model():
    from support.random_urdf import urdf

    kinds = ("revolute", "prismatic", "continuous", "revolute")
    return RobotModel.from_urdf(urdf((0, 1, 1, 3), kinds, seed=3))
