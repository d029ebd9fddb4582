# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motions of floating and planar joints in C are those that Python integrates."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from support.all_joints import URDF
from support.mechanism_builder import near

from uk_dynamics import DelayCompensation, Hold, ServoController, State, Tasks
from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model import RobotModel
from uk_dynamics.simulation import simulate

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")

MACHINE = """schema: 1
actuators:
  m1: {joint: j1, effort_limit: 20.0}
  m4: {joint: j4, effort_limit: 3.0}
  m6: {joint: j6, effort_limit: 5.0}
constraints:
  ball:
    type: frame
    axes: [x, y, z]
    parent: {link: left, xyz: [0.1, 0.0, 0.2]}
    child: {link: right, xyz: [0.0, 0.1, 0.1]}
"""
TASKS = """schema: 1
tasks:
  lift: {type: joint, joint: j1, reference: {type: sinusoid, amplitude: 0.2, frequency: 1.0}}
  turn: {type: joint, joint: j6, reference: {type: sinusoid, amplitude: 0.2, frequency: 1.0}}
"""


@pytest.fixture(scope="module")
def machine() -> Mechanism:
    """A floating, a planar and four other joints in a closed loop."""
    return Mechanism.from_spec(MechanismSpec.from_text(MACHINE), robot_description=URDF)


@pytest.fixture(scope="module")
def begin(machine: Mechanism) -> State:
    """All joints away from zero, and moving."""
    rng, model = np.random.default_rng(3), machine.model
    q = model.integrate(model.neutral(), 0.4 * rng.standard_normal(model.nv))
    state = State(0.0, q, 0.5 * rng.standard_normal(model.nv))
    return machine.dynamics("interpreted").project(state)


def both(machine: Mechanism, begin: State, law: Any = None, **options: Any) -> None:
    """Run it by each evaluator and compare; a run of 0.3 s adds some 1e-13 of rounding."""
    expected, found = (
        simulate(
            machine,
            begin,
            0.3,
            controller=None if law is None else law(backend),
            backend=backend,
            **options,
        )
        for backend in ("interpreted", "compiled")
    )
    assert found.statistics.steps == expected.statistics.steps
    assert np.ptp(expected.q, axis=0).min() > 1e-3, "everything moves"
    assert found.warnings == expected.warnings
    for name in ("q", "v", "efforts"):
        near(getattr(found, name), getattr(expected, name), relative=1e-10)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "DOP853"])
def test_free_motion(machine: Mechanism, begin: State, method: str) -> None:
    motion = machine.dynamics("compiled").motion()
    assert motion is not None
    both(machine, begin, method=method)


@pytest.mark.slow
@needs_compiler
def test_a_servo_law_with_a_delay(machine: Mechanism, begin: State) -> None:
    tasks = Tasks(TasksSpec.from_text(TASKS), machine)

    def law(backend: str) -> DelayCompensation:
        own = ServoController(machine, tasks, control_period=2e-3, backend=backend)
        kept = {"control_period": 2e-3, "longest": 1e-3, "backend": backend}
        return DelayCompensation(own, 1e-3, **kept)

    both(machine, begin, law, control_period=2e-3, delay=1e-3)


@pytest.mark.slow
@needs_compiler
def test_hold_with_error_control(machine: Mechanism, begin: State) -> None:
    def law(backend: str) -> Hold:
        return Hold(machine, control_period=5e-3, backend=backend)

    both(machine, begin, law, control_period=5e-3, method="DOP853")


@pytest.mark.parametrize("size", [1e-4, 1e-3, 0.1, 0.299, 0.301, 2.5])
@pytest.mark.parametrize("root", ["floating", "planar"])
def test_rates_of_the_chart_are_their_series(root: str, size: float) -> None:
    """ξ̇ = Σ (−1)ⁿ Bₙ/n! adⁿ v, summed with 40 digits."""
    model = RobotModel.from_urdf('<robot name="r"><link name="l"/></robot>', root=root)
    rng = np.random.default_rng(4)
    xi, v = rng.standard_normal((2, model.nv))
    turn = slice(3, 6) if root == "floating" else slice(2, 3)
    xi[turn] *= size / np.linalg.norm(xi[turn])
    with mpmath.workdps(40):
        bracket = mpmath.matrix(
            np.column_stack([model.lie_bracket(xi, e) for e in np.eye(model.nv)]).tolist()
        )
        term = mpmath.matrix(v.tolist())
        total = term.copy()
        for n in range(1, 80):
            term = bracket * term
            total += term * ((-1) ** n * mpmath.bernoulli(n) / mpmath.factorial(n))
        expected = np.array([float(x) for x in total])
    # angles near 0.3 rad lose two digits
    np.testing.assert_allclose(model.tangent_rate(model.neutral(), xi, v), expected, atol=1e-13)


@pytest.mark.slow
@needs_compiler
def test_two_bodies_that_float_on_the_same_link() -> None:
    parts = [
        f'<link name="{name}"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.2" izz="0.3"'
        ' ixy="0" ixz="0" iyz="0"/></inertial></link>'
        for name in ("base", "left", "right")
    ] + [
        f'<joint name="to_{name}" type="floating"><parent link="base"/>'
        f'<child link="{name}"/></joint>'
        for name in ("left", "right")
    ]
    robot = f'<robot name="two">{"".join(parts)}</robot>'
    pair = Mechanism.from_spec(MechanismSpec.from_text("schema: 1"), robot_description=robot)
    both(pair, pair.state(v=np.linspace(1.0, 3.0, 12)), method="rk4")
