# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Traced terms against Pinocchio and against the code they were traced from."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import random_urdf
from support.mechanism_builder import shipped
from support.traced_values import values

from uk_dynamics.compilation.trace.symbolic_tree import SymbolicTree
from uk_dynamics.compilation.trace.symbols import Graph, as_objects
from uk_dynamics.core.linalg import rotations as so3
from uk_dynamics.core.linalg.symbolic_functions import at_least, below, where
from uk_dynamics.model.robot_model import RobotModel

ARRAYS = ("mass", "bias", "jacobian", "jacobian_rate", "rotation", "translation")


def check_tree(model, seed):
    """The recursions run on floats as well: that is the quickest check of their formulas."""
    rng = np.random.default_rng(seed)
    q = model.integrate(model.neutral(), rng.uniform(-2.0, 2.0, model.nv))
    v = rng.normal(size=model.nv)
    workspace = model.workspace()
    workspace.update(q, v)
    tree = SymbolicTree(
        model.bodies,
        model.body_frames,
        as_objects(q.tolist()),
        as_objects(v.tolist()),
        model.gravity,
        model.armature,
    )
    for name in ARRAYS:
        expected = getattr(workspace, name)
        size = max(1.0, float(np.abs(expected).max(initial=0.0)))
        found = np.asarray(getattr(tree, name), dtype=float)
        assert found == pytest.approx(expected, abs=1e-12 * size), name


@given(tree=random_urdf.trees(), root=st.sampled_from(["fixed", "floating", "planar"]))
@settings(max_examples=40, deadline=None)
def test_the_recursions_give_what_pinocchio_gives(tree, root):
    model = RobotModel.from_urdf(tree.text, root=root)
    check_tree(model, tree.seed)


@pytest.mark.parametrize("name", ["five_bar", "stewart_platform", "dual_panda", "rolling_disc"])
def test_the_recursions_know_the_shipped_robots(name):
    check_tree(shipped(name).model, 0)


def test_equal_operations_are_one_node_and_constants_vanish():
    graph = Graph()
    x, y = graph.variable("x"), graph.variable("y")
    assert x * y + 1.0 is y * x + 1.0
    assert x * 0.0 + y is y
    assert x * 1.0 - 0.0 is x
    assert x - x == 0.0
    negative = -x
    assert -negative is x
    assert (-x) * (-y) is x * y
    assert x**2 is x * x
    with pytest.raises(TypeError, match="truth value"):
        bool(x < y)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 0.5, 1.5, 2.2, 3.0, math.pi - 1e-7])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, -1, 0), (0.6, 0, 0.8), (-0.36, 0.48, -0.8)])
def test_rotations_of_symbols_are_those_of_floats(angle, axis):
    phi = angle * np.array(axis)
    rate = np.array([0.3, -0.2, 0.5])
    rotation = so3.exp(phi)
    graph = Graph()
    R = graph.variables("R", 9).reshape(1, 3, 3)
    p, w = graph.variables("p", 3), graph.variables("w", 3)
    # Near π the logarithm amplifies rounding of the matrix, alike in both.
    assert values(so3.log(R), R=rotation)[0] == pytest.approx(so3.log(rotation), abs=1e-13)
    inverse = values(so3.left_jacobian_inverse(p), p=phi)
    assert inverse == pytest.approx(so3.left_jacobian_inverse(phi), abs=1e-14)
    jacobian_rate = values(so3.left_jacobian_rate(p, w), p=phi, w=rate)
    assert jacobian_rate == pytest.approx(so3.left_jacobian_rate(phi, rate), abs=1e-14)


@pytest.mark.parametrize("x", [-1.0, 0.0, 2.0])
def test_choices_of_symbols_are_those_of_floats(x):
    symbols = Graph().variables("x", 1)
    for function in (
        lambda y: where(below(y, 0.5), y * 2.0, -3.0),
        lambda y: at_least(y, 0.25),
    ):
        assert values(function(symbols), x=[x]) == function(np.array([x]))
