"""Rows evaluated as sums of products are those that their families give."""

from __future__ import annotations

import numpy as np
import pytest
from mechanism_builder import joint, link, mechanism

from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.model.description import AttachedFrame
from uk_dynamics.model.workspace import Workspace

# Axes that are axes of the frames, and some that are none; loops that move both frames, and one
# frame of the base.
KINDS = """constraints:
  straight: {type: hinge, axis: [0, 1, 0], parent: {link: a2, xyz: [1, 0.1, 0]}, child: {link: b1}}
  oblique:
    type: hinge
    axis: [0.6, 0.0, 0.8]
    parent: {link: a3, xyz: [0.1, 0.2, -0.3], rpy: [0.3, -0.4, 0.5]}
    child: {link: b3, xyz: [0.2, 0, 0], rpy: [0.3, -0.4, 0.5]}
  bolt: {type: weld, parent: {link: base, xyz: [1, 2, 3]}, child: {link: b2, rpy: [0.1, 0.2, 0.3]}}
  ball:
    type: point
    parent: {link: a1, xyz: [0.5, 0, 0.1]}
    child: {link: b3}
    stabilization: {frequency: 2.0, damping_ratio: 0.7}
  slide:
    type: prismatic
    axis: [1, 0, 0]
    parent: {link: a1}
    child: {link: b1}
    stabilization: {frequency: 0.0}
"""


PARTS = link("base")
for name, parent, axis in (
    ("a1", "base", "0 1 0"),
    ("a2", "a1", "0.6 0 0.8"),
    ("a3", "a2", "1 0 0"),
    ("b1", "base", "0 1 0"),
    ("b2", "b1", "0 0.6 0.8"),
    ("b3", "b2", "0 0 1"),
):
    PARTS += link(name) + joint(f"{name}_joint", parent, name, axis=axis, xyz="0.5 0.1 0.2")


@pytest.fixture(scope="module")
def machine() -> Mechanism:
    return mechanism(PARTS, KINDS)


def evaluated(machine: Mechanism, workspace: Workspace, q, v):
    workspace.update(q, v)
    quick = machine.constraints.evaluate(workspace, 0.0, q, v)
    products = machine.constraints.products(workspace)  # None where there are other rows
    if products:
        lean = (*products.equation(), products.equation(stabilize=True)[1])
    workspace.placements = None
    by_families = machine.constraints.evaluate(workspace, 0.0, q, v)
    return quick, lean if products else of_equation(machine, quick), by_families


def of_equation(machine: Mechanism, rows):
    """A, then b without and with stabilisation."""
    constraints = machine.constraints
    stabilized = rows.right_hand_side(constraints.damping, constraints.stiffness)
    return rows.A, -rows.bias, stabilized


def agree(found, wanted):
    """Within rounding; stabilised b contains residuals times (2π · 5 Hz)², up to 1e3."""
    size = max(1.0, np.abs(wanted).max())
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13 * size)


def test_rows_are_those_of_the_families(machine):
    rng = np.random.default_rng(0)
    for _ in range(20):
        q, v = rng.uniform(-3, 3, machine.model.nq), rng.standard_normal(machine.model.nv)
        quick, lean, expected = evaluated(machine, machine.model.workspace(), q, v)
        # all numbers are of size one to ten: rounding
        for found, wanted in zip(quick, expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13)
        for found, wanted in zip(lean, of_equation(machine, expected), strict=True):
            agree(found, wanted)


def test_further_frames_change_nothing(machine):
    rng = np.random.default_rng(1)
    q, v = rng.uniform(-3, 3, machine.model.nq), rng.standard_normal(machine.model.nv)
    _, _, expected = evaluated(machine, machine.model.workspace(), q, v)
    longer = machine.extended_model([AttachedFrame("tool", "b3", (1.0, 1.0, 1.0))])
    quick, _, _ = evaluated(machine, longer.workspace(), q, v)
    for found, wanted in zip(quick, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13)


def test_joint_rows_stand_between_them(machine):
    both = mechanism(PARTS, KINDS + "  gear: {type: joint, joint: a1_joint}\n")
    model = both.model
    workspace = model.workspace()
    q, v = np.linspace(-1, 1, model.nq), np.linspace(1, 2, model.nv)
    quick, lean, expected = evaluated(both, workspace, q, v)
    assert both.constraints.row_names[-1] == "gear"
    lean_of_all = of_equation(both, expected)
    for found, wanted in zip((*quick, *lean), (*expected, *lean_of_all), strict=True):
        agree(found, wanted)


def test_two_robots_of_one_set_do_not_disturb_each_other(machine):
    first, second = machine.model.workspace(), machine.model.workspace()
    rng = np.random.default_rng(2)
    q, v = rng.uniform(-3, 3, machine.model.nq), rng.standard_normal(machine.model.nv)
    states = [(q, v), (-q, 2.0 * v)]
    for workspace, (q, v) in zip((first, second), states, strict=True):
        workspace.update(q, v)
    found = [
        machine.constraints.evaluate(workspace, 0.0, *state)
        for workspace, state in zip((first, second), states, strict=True)
    ]
    for workspace, (q, v), rows in zip((first, second), states, found, strict=True):
        workspace.placements = None
        expected = machine.constraints.evaluate(workspace, 0.0, q, v)
        for part, wanted in zip(rows, expected, strict=True):
            np.testing.assert_allclose(part, wanted, rtol=0, atol=1e-12)  # speeds up to ten
