"""Every kind of constraint in both roles, from files: A and b against finite differences."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources

import numpy as np
import pytest
from mechanism_builder import mechanism
from numpy.typing import NDArray
from test_constraints_derivatives import URDF

from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.specification import TasksSpec
from uk_dynamics.mechanism.state import Inputs, State
from uk_dynamics.mechanism.tasks import Tasks

Array = NDArray[np.float64]
# A, b, residual and rate of the rows at a time, a configuration and a velocity.
Evaluate = Callable[[float, Array, Array], tuple[Array, Array, Array, Array]]

FRAMES = (
    "parent: {link: left, xyz: [0.1, -0.2, 0.3], rpy: [0.2, 0.4, 0.6]}, "
    "child: {link: right, xyz: [-0.3, 0.1, 0.2], rpy: [-0.8, 0.4, 0.2]}"
)
WAVE = "reference: {type: sinusoid, offset: 0.3, amplitude: 0.2, frequency: 0.4, phase: 0.1}"
KINDS = {
    "point": FRAMES,
    "weld": f"{FRAMES}, {WAVE}",
    "hinge": f"axis: [0.3, 1.0, -0.2], {FRAMES}",
    "universal": f"axis: [0.0, 0.6, 0.8], {FRAMES}",
    "cylindrical": f"axis: [1, 0, 0], {FRAMES}",
    "prismatic": f"axis: [0, 0, 1], {FRAMES}",
    "planar": f"axis: [1, 2, 3], {FRAMES}",
    "distance": f"distance: 0.7, {FRAMES}, {WAVE}",
    "frame": f"axes: [z, rx, y], {FRAMES}, {WAVE}",
    "relative_frame": f"axes: [x, rx, ry, rz], {FRAMES}, {WAVE}",
    "frame_velocity": f"axes: [x, y, rz], expressed_in: child, {FRAMES}, {WAVE}",
    "no_slip": f"radius: 0.4, directions: [rolling, sideways, height], {FRAMES}",
    "center_of_mass": f"axes: [y, x], links: [a, left, right], {WAVE}",
    "joint": "joint: j1, reference: {type: polynomial, coefficients: [0.1, 0.2, -0.3]}",
    "joint_coupling": "joints: {j1: 2.0, j6: -3.0}, offset: 0.25, "
    "reference: {type: spline, times: [0, 1], values: [0, 0.4]}",
    "expression": "expressions: [j1 - exp(0.3*j2)*sin(t), d(j1)*d(j4) - j6*cos(2*t)]",
}
# Central differences: h² times third derivatives (of up to 1e4 where rotation vectors are part
# of it) plus rounding eps/h.
STEP = 1e-5
TOLERANCE = 4e-6


def constrained(
    kind: str, role: str, arguments: str
) -> tuple[Mechanism, Evaluate, tuple[str, ...]]:
    """A machine of all joint types, and the rows of one constraint in one of the roles."""
    text = f"k: {{type: {kind}, {arguments}}}"
    parts = URDF.partition(">")[2].removesuffix("</robot>")
    if role == "constraints":
        structure = mechanism(parts, f"constraints:\n  {text}\n")
        dynamics = structure.dynamics()

        def of_structure(t: float, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
            state, inputs = State(t, q, v), Inputs(stabilize=False)
            terms = structure.terms(state, inputs)
            residual = dynamics.residual(state, inputs)
            return terms.A.copy(), terms.b.copy(), residual.position, residual.velocity

        return structure, of_structure, structure.row_names
    machine = mechanism(parts)
    tasks = Tasks(TasksSpec.from_text(f"schema: 1\ntasks:\n  {text}\n"), machine)
    workspace = tasks.model.workspace()

    def of_task(t: float, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        workspace.update(q, v)
        rows = tasks.evaluate(workspace, q, v, t)
        return rows.A, -rows.bias, rows.residual, rows.rate

    return machine, of_task, tasks.row_names


def test_no_kind_is_forgotten() -> None:
    file = resources.files("uk_dynamics.mechanism") / "schema" / "constraint.schema.json"
    schema = json.loads(file.read_text(encoding="utf-8"))
    assert set(KINDS) == set(schema["definitions"]["constraint_type"]["enum"])


@pytest.mark.parametrize("role", ["constraints", "tasks"])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_derivatives(kind: str, role: str) -> None:
    """A q̈ − b is the derivative of ψ̇ (velocity rows: of ψ), and ψ̇ is that of ψ."""
    machine, evaluate, names = constrained(kind, role, KINDS[kind])
    rng = np.random.default_rng(0)
    model = machine.model
    for _ in range(4):
        q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv))
        v, a = rng.standard_normal((2, model.nv))
        t = rng.uniform(0.1, 0.9)

        def along(h: float, q: Array = q, v: Array = v, a: Array = a, t: float = t) -> Array:
            moved = model.integrate(q, h * v + 0.5 * h * h * a)
            return np.stack(evaluate(t + h, moved, v + h * a)[2:])

        A, b, _, rate = evaluate(t, q, v)
        residual_rate, acceleration = (along(STEP) - along(-STEP)) / (2 * STEP)
        np.testing.assert_allclose(A @ a - b, acceleration, rtol=0, atol=TOLERANCE)
        for row in integrated(kind, names):
            assert abs(rate[row] - residual_rate[row]) < TOLERANCE, names[row]


def integrated(kind: str, names: tuple[str, ...]) -> list[int]:
    """Rows whose ψ̇ is the derivative of ψ; a complete rotation has its angular velocity there."""
    labels = [name.partition(".")[2] for name in names]
    if kind == "frame_velocity":
        return []
    if kind == "no_slip":
        return [labels.index("height")]
    if kind == "expression":
        return [0]
    complete = {"rx", "ry", "rz"} <= set(labels) or kind in ("weld", "prismatic")
    return [i for i, label in enumerate(labels) if not (complete and label.startswith("r"))]


@pytest.mark.parametrize("role", ["constraints", "tasks"])
def test_accelerations_in_an_expression_are_as_they_are_written(role: str) -> None:
    text = "expression: dd(j1) - 2*d(j2)*dd(j4) + sin(j6)*t"
    machine, evaluate, _ = constrained("expression", role, text)
    rng = np.random.default_rng(1)
    model = machine.model
    q, v, a = model.neutral(), *rng.standard_normal((2, model.nv))
    at = {name: model.velocity_names.index(name) for name in ("j1", "j2", "j4")}
    q[model.position_index("j6")] = 0.4
    A, b, _, _ = evaluate(0.7, q, v)
    expected = a[at["j1"]] - 2.0 * v[at["j2"]] * a[at["j4"]] + np.sin(0.4) * 0.7
    np.testing.assert_allclose(A @ a - b, [expected], rtol=0, atol=1e-13)
