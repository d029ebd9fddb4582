# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Every kind of constraint in both roles, from files: A and b against finite differences."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from support.all_joints import ROBOT, URDF
from support.kind_samples import KINDS, sample
from support.mechanism_builder import joint, link, mechanism
from support.on_processor import some_device
from support.traced_values import value

from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.compilation.gpu import GpuDynamics
from uk_dynamics.compilation.trace.terms import trace
from uk_dynamics.constraints.kinds.registry import kinds
from uk_dynamics.constraints.rows.row import Row
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.resolution.state import ActiveConstraints, Inputs, State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.mechanism_class import Mechanism

Array = NDArray[np.float64]
# A, b, residual and rate of the rows at a time, a configuration and a velocity.
Evaluate = Callable[[float, Array, Array], tuple[Array, Array, Array, Array]]

PARENT = {"link": "left", "xyz": [0.1, -0.2, 0.3], "rpy": [0.2, 0.4, 0.6]}
CHILD = {"link": "right", "xyz": [-0.3, 0.1, 0.2], "rpy": [-0.8, 0.4, 0.2]}
# parts of the ground: what is between them never moves
MOUNT = link("mount") + joint("bolt", "base", "mount", kind="fixed")
ON_GROUND = {"parent": PARENT | {"link": "base"}, "child": CHILD | {"link": "mount"}}
WAVE = {"type": "sinusoid", "offset": 0.3, "amplitude": 0.2, "frequency": 0.4, "phase": 0.1}
# Central differences: h² times third derivatives (of up to 1e4 where rotation vectors are part
# of it) plus rounding eps/h.
STEP = 1e-5
TOLERANCE = 4e-6


def declared(name: str, seed: int, *, follows: bool) -> dict[str, Any]:
    """A random constraint of a kind, as a file has it."""
    frames = {"parent": PARENT, "child": CHILD}
    data = sample(name, ROBOT, seed) | {role: frames[role] for role in kinds()[name].frames}
    return data | ({"reference": WAVE} if follows else {})


def constrained(data: Mapping[str, Any], role: str) -> tuple[Mechanism, Evaluate, tuple[Row, ...]]:
    """A machine of all joint types, and the rows of one constraint in one of the roles."""
    text = f"k: {json.dumps(data)}"
    parts = URDF.partition(">")[2].removesuffix("</robot>") + MOUNT
    if role == "constraints":
        structure = mechanism(parts, f"constraints:\n  {text}\n")
        dynamics = structure.dynamics()

        def of_structure(t: float, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
            state, inputs = State(t, q, v), Inputs(stabilize=False)
            terms = structure.terms(state, inputs)
            residual = dynamics.residual(state, inputs)
            return terms.A.copy(), terms.b.copy(), residual.position, residual.velocity

        return structure, of_structure, structure.constraints.constraints[0].rows
    machine = mechanism(parts)
    tasks = Tasks(TasksSpec.from_text(f"schema: 1\ntasks:\n  {text}\n"), machine)
    workspace = tasks.model.workspace()

    def of_task(t: float, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        workspace.update(q, v)
        rows = tasks.evaluate(workspace, q, v, t)
        return rows.A, -rows.bias, rows.residual, rows.rate

    return machine, of_task, tasks.constraints.constraints[0].rows


@pytest.mark.parametrize("follows", [False, True], ids=["held", "following"])
@pytest.mark.parametrize("role", ["constraints", "tasks"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_rows_are_derivatives(kind: str, role: str, follows: bool, seed: int) -> None:
    """A q̈ − b is the derivative of ψ̇ (velocity rows: of ψ), and ψ̇ is that of ψ."""
    machine, evaluate, rows = constrained(declared(kind, seed, follows=follows), role)
    rng = np.random.default_rng(seed)
    model = machine.model
    q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv))
    v, a = rng.standard_normal((2, model.nv))
    t = rng.uniform(0.1, 0.9)

    def along(h: float) -> Array:
        moved = model.integrate(q, h * v + 0.5 * h * h * a)
        return np.stack(evaluate(t + h, moved, v + h * a)[2:])

    A, b, _, rate = evaluate(t, q, v)
    residual_rate, acceleration = (along(STEP) - along(-STEP)) / (2 * STEP)
    np.testing.assert_allclose(A @ a - b, acceleration, rtol=0, atol=TOLERANCE)
    for index, row in enumerate(rows):
        if row.order == "position" and row.exact_rate:
            assert abs(rate[index] - residual_rate[index]) < TOLERANCE, row.label


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_a_kind_is_an_entry_of_a_file(kind: str) -> None:
    text = f"schema: 1\nconstraints:\n  {kinds()[kind].example}\n"
    (spec,) = MechanismSpec.from_text(text).constraints
    assert spec.type == kind


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "fixed"),
    # relative_frame is refused between parts of the ground
    [
        (kind, fixed)
        for kind in KINDS
        for fixed in ((False,) if kind == "relative_frame" else (False, True))
    ],
)
def test_traced_rows_are_those_of_numbers(kind: str, fixed: bool) -> None:
    """C is written from the trace; here that is evaluated in Python, symbol by symbol."""
    data = declared(kind, 5, follows=True)
    if fixed:
        data |= {role: ON_GROUND[role] for role in kinds()[kind].frames}
    machine, _, _ = constrained(data, "constraints")
    rng = np.random.default_rng(3)
    model = machine.model
    q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv))
    v, t = rng.standard_normal(model.nv), 0.4
    workspace = model.workspace()
    workspace.update(q, v)
    reference = machine.references.sample(t)
    assert reference is not None
    terms = machine.constraints.evaluate(workspace, t, q, v, reference)
    given = {"q": q, "v": v, "followed": np.concatenate(reference)}
    inputs = {f"{name}[{i}]": float(x) for name, xs in given.items() for i, x in enumerate(xs)}
    traced = trace(machine)
    for name, expected in terms._asdict().items():
        symbols = getattr(traced, name)
        found = [value(x, inputs | {"t": t}) for x in symbols.reshape(-1)]
        np.testing.assert_allclose(
            np.reshape(found, symbols.shape), expected, rtol=0, atol=1e-11, err_msg=name
        )


@pytest.fixture(scope="module")
def everything() -> Mechanism:
    """One machine with a constraint of every kind, all of them open."""
    entries = {
        name: declared(name, 7, follows=False) | {"switchable": True, "active": False}
        for name in KINDS
    }
    parts = URDF.partition(">")[2].removesuffix("</robot>")
    return mechanism(parts, f"constraints: {json.dumps(entries)}\n")


@cache
def evaluator(machine: Mechanism, backend: Literal["compiled", "gpu"]) -> Any:
    """What is compiled once for all kinds."""
    return (
        machine.dynamics(backend) if backend == "compiled" else GpuDynamics(machine, some_device())
    )


def agree(machine: Mechanism, kind: str, backend: Literal["compiled", "gpu"]) -> None:
    """Accelerations and multipliers with one constraint closed are those of the interpreter."""
    rng = np.random.default_rng(KINDS.index(kind))
    model = machine.model
    q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv))
    v, tau = rng.standard_normal((2, model.nv))
    inputs = Inputs(active=ActiveConstraints(frozenset({kind})))
    arrays = q[None], v[None], tau[None]
    found = evaluator(machine, backend).evaluate_batch(*arrays, t=0.2, inputs=inputs)
    expected = machine.dynamics("interpreted").evaluate_batch(*arrays, t=0.2, inputs=inputs)
    assert expected.rank[0] == len(machine.constraints.constraints[KINDS.index(kind)].rows)
    for name in ("qdd", "multipliers", "residual"):
        right = getattr(expected, name)
        # Rounding times the condition of random rows, up to 1e4.
        size = max(1.0, float(np.abs(right).max()))
        np.testing.assert_allclose(
            getattr(found, name), right, rtol=0, atol=1e-9 * size, err_msg=name
        )


@pytest.mark.slow
@pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler on this machine")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_compiled(everything: Mechanism, kind: str) -> None:
    agree(everything, kind, "compiled")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler")
def test_every_kind_has_a_kernel(everything: Mechanism, kind: str) -> None:
    agree(everything, kind, "gpu")


@pytest.mark.parametrize("role", ["constraints", "tasks"])
def test_accelerations_in_an_expression_are_as_they_are_written(role: str) -> None:
    text = "dd(j1) - 2*d(j2)*dd(j4) + sin(j6)*t"
    machine, evaluate, _ = constrained({"type": "expression", "expression": text}, role)
    rng = np.random.default_rng(1)
    model = machine.model
    q, v, a = model.neutral(), *rng.standard_normal((2, model.nv))
    at = {name: model.velocity_names.index(name) for name in ("j1", "j2", "j4")}
    q[model.position_index("j6")] = 0.4
    A, b, _, _ = evaluate(0.7, q, v)
    expected = a[at["j1"]] - 2.0 * v[at["j2"]] * a[at["j4"]] + np.sin(0.4) * 0.7
    np.testing.assert_allclose(A @ a - b, [expected], rtol=0, atol=1e-13)
