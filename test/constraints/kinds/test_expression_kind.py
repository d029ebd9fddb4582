# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Constraints of type expression: A, b and rates against finite differences, files, errors."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from support import mechanism_builder
from support.mechanism_builder import joint, link

from uk_dynamics.constraints.rows.row import ConstraintTerms
from uk_dynamics.exceptions import ExpressionValueError, InputError, SimulationError
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.resolution.state import Inputs, State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.mechanism_class import Mechanism

Array = NDArray[np.float64]

# A particle on three sliders, and two bodies that turn: everything a name can be.
AXES = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}
PARTS = link("base") + "".join(
    link(f"l_{name}") + joint(name, parent, f"l_{name}", kind="prismatic", axis=axis)
    for (name, axis), parent in zip(AXES.items(), ("base", "l_x", "l_y"), strict=True)
)
WHEELS = "".join(
    link(f"w_{i}") + joint(f"w_{i}", "base", f"w_{i}", axis="0 0 1") for i in (1, 2, 3)
)


def machine(constraint: str) -> Mechanism:
    """The particle and three wheels with one constraint ``c``, given in YAML flow style."""
    return mechanism_builder.mechanism(
        PARTS + WHEELS, f"constraints:\n  c: {{type: expression, {constraint}}}\n"
    )


def rows_at(mechanism: Mechanism, t: float, q: Array, v: Array) -> ConstraintTerms:
    workspace = mechanism.model.workspace()
    workspace.update(q, v)
    return mechanism.constraints.evaluate(workspace, t, q, v)


def states(count: int = 10) -> list[tuple[float, Array, Array]]:
    rng = np.random.default_rng(1)
    return [
        (rng.uniform(0.0, 3.0), rng.uniform(0.2, 1.5, 6), rng.uniform(-1.5, 1.5, 6))
        for _ in range(count)
    ]


# Central differences of smooth functions of size one with h = 1e-5: h² = 1e-10 from the curvature,
# 1e-16/h = 1e-11 from rounding; some of the functions here are a hundred times steeper.
STEP = 1e-5
TOLERANCE = 3e-8

POSITIONS = [
    "x - exp(0.1*y)",
    "x**2 + y**2 + z**2 - 1 - 0.1*sin(3*t)",
    "sin(w_1)*cos(w_2) + atan2(y, x) - t**2",
    "log(x + y)*sqrt(z) - tanh(w_3*t)",
    "x**y - asin(0.3*z) + acos(0.5*sin(w_1)) + atan(w_2)*tan(0.3*x)",
    "sum((w[i] - w[j])**2 for i in s for j in s if i < j) - 2*pi, indices: {s: [1, 2, 3]}",
    "k*cosh(x) - sinh(y)/k, parameters: {k: 1.7}",
]
VELOCITIES = [
    "d(x)*sin(w_1) - d(y)*cos(w_1)",
    "d(x) + 2*z*d(y) + d(z) - 1",
    "d(x)**2 + d(y)**2 - (1 + 0.2*sin(t))**2*x",
    "d(w_1)*d(w_2) - exp(x*t) + z",
    "sqrt(1 + d(x)**2)*y - t*log(x)",
]


@pytest.mark.parametrize("text", POSITIONS)
def test_position_rows_against_differences(text: str) -> None:
    mechanism = machine(f"expression: {quoted(text)}")
    assert mechanism.constraints.orders == ("position",)
    for t, q, v in states():
        rows = rows_at(mechanism, t, q, v)
        numeric = differences(lambda x, t=t, v=v: rows_at(mechanism, t, x, v).residual[0], q)
        close(rows.A[0], numeric)
        ahead = rows_at(mechanism, t + STEP, q + STEP * v, v)
        behind = rows_at(mechanism, t - STEP, q - STEP * v, v)
        close(rows.rate, (ahead.residual - behind.residual) / (2 * STEP))
        close(rows.bias, (ahead.rate - behind.rate) / (2 * STEP))
        workspace = mechanism.model.workspace()
        workspace.update_positions(q)
        A, residual = mechanism.constraints.position(workspace, t, q)
        assert np.array_equal(A, rows.A)
        assert np.array_equal(residual, rows.residual)


@pytest.mark.parametrize("text", VELOCITIES)
def test_velocity_rows_against_differences(text: str) -> None:
    mechanism = machine(f"expression: {quoted(text)}")
    assert mechanism.constraints.orders == ("velocity",)
    for t, q, v in states():
        rows = rows_at(mechanism, t, q, v)
        numeric = differences(lambda x, t=t, q=q: rows_at(mechanism, t, q, x).rate[0], v)
        close(rows.A[0], numeric)
        ahead = rows_at(mechanism, t + STEP, q + STEP * v, v)
        behind = rows_at(mechanism, t - STEP, q - STEP * v, v)
        close(rows.bias, (ahead.rate - behind.rate) / (2 * STEP))
        assert rows.residual[0] == rows.rate[0]


def test_values_are_those_of_the_text() -> None:
    mechanism = machine(
        "expressions: {p: x - exp(0.1*y), "
        "v: d(x)*sin(w_1) - t, a: dd(x)*y + cos(t)*dd(z) - d(y)**2}"
    )
    assert mechanism.row_names == ("c.p", "c.v", "c.a")
    assert mechanism.constraints.orders == ("position", "velocity", "acceleration")
    for t, q, v in states():
        at = dict(zip(mechanism.model.velocity_names, q, strict=True))
        rate = dict(zip(mechanism.model.velocity_names, v, strict=True))
        rows = rows_at(mechanism, t, q, v)
        velocity = rate["x"] * math.sin(at["w_1"]) - t
        close(rows.residual, [at["x"] - math.exp(0.1 * at["y"]), velocity, 0.0])
        close(rows.rate[1:], [velocity, 0.0])
        acceleration = np.arange(1.0, 7.0)
        a = dict(zip(mechanism.model.velocity_names, acceleration, strict=True))
        expected = a["x"] * at["y"] + math.cos(t) * a["z"] - rate["y"] ** 2
        close(rows.A[2] @ acceleration + rows.bias[2], expected)


def test_the_review_examples_have_their_second_order_forms() -> None:
    """Examples 2 to 4 of the review: A and b of (19) and (20); (14) as (12)."""
    for text, column, bias in [
        ("d(x) + 2*y*d(y) + d(z)", lambda q: 2 * q[1], lambda v: 2 * v[1] ** 2),
        ("d(x) + 2*y*d(y) + d(z) - 1", lambda q: 2 * q[1], lambda v: 2 * v[1] ** 2),
        ("d(x) + 2*z*d(y) + d(z)", lambda q: 2 * q[2], lambda v: 2 * v[1] * v[2]),
    ]:
        mechanism = machine(f"expression: {text}")
        for t, q, v in states():
            rows = rows_at(mechanism, t, q, v)
            close(rows.A[0], [1.0, column(q), 1.0, 0.0, 0.0, 0.0])
            close(rows.bias, [bias(v)])


def test_what_depends_on_time_and_what_is_affine_is_known() -> None:
    def flags(text: str) -> tuple[bool, bool]:
        constraints = machine(f"expression: {text}").constraints
        return constraints.time_dependent, constraints.linear_in_rates

    assert flags("x - y") == (False, True)
    assert flags("x - t") == (True, True)
    assert flags("d(x)*y - 1") == (False, True)
    assert flags("d(x)*t - 1") == (True, True)
    assert flags("d(x)**2 - 1") == (False, False)
    assert flags("dd(x) - d(x)**2") == (False, True)


@pytest.mark.parametrize(
    "constraint",
    [
        "expression: x - exp(0.1*y)",
        "expression: x - 0.3*sin(t)",
        "expression: d(x)*sin(w_1) - d(y)*cos(w_1)",
        "expression: d(x)**2 + d(y)**2 - 1",
        "expression: dd(x) + d(x) + sin(t)",
        "expressions: [x*y - 1, d(z) - t]",
    ],
)
def test_accelerations_obey_and_forces_do_no_more(constraint: str) -> None:
    """A q̈ = b, and the constraint force lies in the range of Aᵀ."""
    mechanism = machine(constraint)
    dynamics = mechanism.dynamics()
    rng = np.random.default_rng(2)
    for t, q, v in states():
        state = State(t, q, v)
        inputs = Inputs(tau=rng.standard_normal(6))
        terms = mechanism.terms(state, inputs)
        solution = dynamics.evaluate(state, inputs)
        size = 1.0 + np.abs(terms.b).max()
        np.testing.assert_allclose(terms.A @ solution.qdd, terms.b, rtol=0, atol=1e-12 * size)
        force = solution.constraint_force
        multipliers = np.linalg.lstsq(terms.A.T, force, rcond=None)[0]
        np.testing.assert_allclose(
            terms.A.T @ multipliers, force, rtol=0, atol=1e-10 * (1.0 + np.abs(force).max())
        )


def test_states_are_projected_onto_expressions_nonlinear_in_the_rates() -> None:
    mechanism = machine("expressions: [d(x)**2 + d(y)**2 - (1 + t)**2, x*y - 0.2]")
    dynamics = mechanism.dynamics()
    state = dynamics.project(State(0.5, np.full(6, 0.5), np.array([1.0, 0.8, 0, 0, 0, 0])))
    residual = dynamics.residual(state)
    close(residual.position, 0.0, 1e-12)
    close(residual.velocity, 0.0, 1e-12)


def test_rates_that_nothing_can_satisfy_are_an_error() -> None:
    mechanism = machine("expression: d(x)**2 + d(y)**2 + 1")
    with pytest.raises(SimulationError, match="no velocity was found that c admits"):
        mechanism.dynamics().project(mechanism.state(v={"x": 1.0}))


def test_an_expression_can_be_switched_on_where_it_is() -> None:
    """Its positions are captured, its rates are taken on; the energy of the jump is told."""
    mechanism = machine("expressions: [x - y, d(z) - 1], switchable: true, active: false")
    state = mechanism.state({"x": 1.0, "y": 0.25}, {"x": 2.0, "z": 0.25})
    switched = mechanism.switch(state, {"c": True})
    close(switched.state.q, state.q, 1e-14)
    at = dict(zip(mechanism.model.velocity_names, switched.state.v, strict=True))
    close([at["x"], at["z"]], [at["y"], 1.0], 1e-13)
    # Masses: x carries three bodies, y two of them, z one, of 1 kg each; momentum along x is kept.
    close(at["x"], 3.0 * 2.0 / (3.0 + 2.0), 1e-13)
    kept = 0.5 * (3.0 + 2.0) * at["x"] ** 2 + 0.5
    close(switched.energy_lost, 0.5 * 3.0 * 2.0**2 + 0.5 * 0.25**2 - kept, 1e-12)


# --- files --------------------------------------------------------------------------------------


def test_families_over_indices() -> None:
    mechanism = machine(
        "indices: {wheels: 3}, for_each: {i: wheels, j: wheels}, where: 'j == i + 1', "
        "expressions: {even: 'w[i] - w[j]', far: 'd(w[i])*i + x'}"
    )
    assert mechanism.row_names == ("c.even_1_2", "c.far_1_2", "c.even_2_3", "c.far_2_3")
    _, q, v = states(1)[0]
    rows = rows_at(mechanism, 0.0, q, v)
    close(rows.A[0], [0, 0, 0, 1, -1, 0])
    close(rows.A[3], [0, 0, 0, 0, 2, 0])


def test_one_text_carries_the_name_of_its_constraint() -> None:
    assert machine("expression: x").row_names == ("c",)
    assert machine("expressions: [x, y]").row_names == ("c.1", "c.2")
    assert machine("indices: {a: [x, y]}, for_each: {i: a}, expression: w_1 - 1").row_names == (
        "c.x",
        "c.y",
    )


def test_joints_whose_names_are_no_words_get_others() -> None:
    parts = link("base") + link("l") + joint("arm/joint-1", "base", "l")
    text = "constraints: {c: {type: expression, expression: a - t, names: {a: arm/joint-1}}}"
    mechanism = mechanism_builder.mechanism(parts, text)
    close(rows_at(mechanism, 2.0, np.array([5.0]), np.zeros(1)).residual, 3.0)


REFUSED = [
    ("expression: x.y", r"constraints\.c\.expression: column 2: a dot"),
    ("expressions: [x, y +]", r"constraints\.c\.expressions\[1\]: column \d: no formula"),
    ("expressions: {a: x^2}", r"constraints\.c\.expressions\.a: column 2: "),
    ("expression: qq", 'column 1: no joint or parameter "qq"'),
    ("expression: x, order: velocity", "order velocity, and no rate d"),
    ("expression: d(x), order: position", "order position, and a rate d"),
    ("expression: t - 1", "no joint occurs"),
    ("expression: 'dd(x)**2'", "not affine in the accelerations"),
    ("expression: dd(x)*dd(y)", r"the factor of dd\(x\) contains dd\(y\)"),
    ("expression: sin(dd(x))", "not affine"),
    ("expression: abs(x)", "column 1: abs has a kink"),
    ("expression: 5", "expression: found 5; give text"),
    ("expressions: []", "an empty list"),
    ("expression: x, expressions: [y]", "either expression: TEXT or expressions"),
    ("order: position", "either expression: TEXT or expressions"),
    ("expression: x, oder: position", 'unknown key "oder".*did you mean "order"'),
    ("expression: x, order: speed", 'unknown "speed"'),
    ("expression: x, parameters: {y: 1}", 'parameter "y" has the name of a joint'),
    ("expression: x, parameters: {sin: 1}", "built in"),
    ("expression: x, names: {a: b}", 'no joint or parameter "b"'),
    ("expression: x, names: {y: z}", 'alias "y" has the name of a joint'),
    ("expression: x, indices: {x: [1]}", 'index set "x" has the name of a joint'),
    ("expression: 'x[i]', indices: {s: 2}, for_each: {i: s}", r"\(i = 1\): .*\"x_1\""),
    ("expression: 'w[i]', indices: {s: 4}, for_each: {i: s}", r"\(i = 4\): .*\"w_4\""),
    ("expression: x, for_each: {i: s}", "for_each.i: no index set"),
    ("expression: x, indices: {s: 2}, for_each: {w_1: s}", 'index "w_1" has the name of a joint'),
    ("expression: x, indices: {s: 2}, for_each: {i: s}, where: i > 5", "make 0 rows"),
    ("expression: x, indices: {s: 2}, for_each: {i: s}, where: i", "compares indices"),
    ("expression: x, indices: {s: 10001}", "at most 10000"),
    ("expression: x, indices: {s: [1, 1]}", "there twice"),
    ("expression: x, indices: {s: 99}, for_each: {i: s, j: s, k: s}", "970299 passes"),
    ("expression: x, indices: {s: [-1]}", "at least 0"),
    ("expression: x, reference: {type: expression, value: sin(q)}", 'value: column 5: no "q"'),
    ("expression: x, reference: {type: expression, value: [t, t]}", "2 expressions for 1 row"),
]


@pytest.mark.parametrize(("constraint", "part"), REFUSED, ids=lambda value: value[:40])
def test_mistakes_are_told_with_file_place_and_column(constraint: str, part: str) -> None:
    with pytest.raises(InputError, match=part) as caught:
        machine(constraint)
    assert str(caught.value).startswith("<text>: constraints.c")


def test_families_are_bounded_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uk_dynamics.constraints.kinds.joints.expression.LARGEST_FAMILY", 40)
    family = "indices: {s: 9}, for_each: {i: s}, expression: 'sin(i*x)*d(y)'"
    with pytest.raises(InputError, match=r"constraints\.c: its rows .* more than 40 operations"):
        machine(family)
    assert len(machine(family.replace("s: 9", "s: 3")).row_names) == 3


def test_joints_with_several_coordinates_cannot_be_named() -> None:
    text = "model: {root: floating}\nconstraints: {c: {type: expression, expression: 'root'}}"
    with pytest.raises(InputError, match='joint "root" has several coordinates'):
        mechanism_builder.mechanism(PARTS, text)
    for name in ("root.x", "root.vx"):
        with pytest.raises(InputError, match="column 5: a dot behind a name"):
            mechanism_builder.mechanism(PARTS, text.replace("'root'", f"'{name}'"))


def test_beside_a_floating_root_the_right_coordinates_are_meant() -> None:
    text = "model: {root: floating}\nconstraints: {c: {type: expression, expression: y*d(z) - 1}}"
    mechanism = mechanism_builder.mechanism(PARTS, text)
    q = {"y": 3.0}
    state = mechanism.state(q, {"z": 2.0})
    rows = rows_at(mechanism, 0.0, state.q, state.v)
    close(rows.rate, 5.0)
    expected = np.zeros(mechanism.model.nv)
    expected[mechanism.model.velocity_index("z")] = 3.0
    close(rows.A[0], expected)


@pytest.mark.parametrize(
    ("expression", "part"),
    [
        ("y + log(x)", r"c: at t = 2 s log\(x\) has no value, with x = -1 "),
        ("y + 1/x", r"x\*\*-2|x\*\*-1"),
        ("y - sqrt(x)", r"sqrt\(x\) has no value, with x = -1"),
        ("y - asin(2*x)", r"asin\(2\*x\)"),
        ("exp(1000*x**2) - y", "exp"),
        ("y - x**0.3", r"x\*\*0.3"),
    ],
)
def test_no_value_is_an_error_and_never_nan(expression: str, part: str) -> None:
    mechanism = machine(f"expression: {expression}, stabilization: {{frequency: 1.0}}")
    x = 0.0 if "1/x" in expression else -1.0
    state = mechanism.state({"x": x}, t=2.0)
    with pytest.raises(ExpressionValueError, match=part):
        mechanism.dynamics().evaluate(state)
    with pytest.raises(ExpressionValueError, match=part):
        mechanism.dynamics().project(state)


def test_overflow_without_an_exception_is_found() -> None:
    mechanism = machine("expression: x**4 - y")
    with pytest.raises(ExpressionValueError, match=r"x\*\*4"):
        mechanism.dynamics().evaluate(mechanism.state({"x": 1e90}))


# --- tasks and references -----------------------------------------------------------------------


def test_a_task_and_a_reference_of_t() -> None:
    mechanism = mechanism_builder.mechanism(PARTS)
    text = """
schema: 1
tasks:
  circle:
    type: expression
    expressions: [x + y, x - y]
    reference: {type: expression, value: [a*sin(w*t), "exp(-t)"], parameters: {a: 0.5, w: 3.0}}
"""
    tasks = Tasks(TasksSpec.from_text(text), mechanism)
    for t in (0.0, 0.4, 1.7):
        sample = tasks.sample(t)
        assert sample is not None
        wave = 0.5 * math.sin(3.0 * t)
        close(sample.value, [wave, math.exp(-t)])
        close(sample.rate, [1.5 * math.cos(3.0 * t), -math.exp(-t)])
        close(sample.acceleration, [-9.0 * wave, math.exp(-t)])


def test_a_reference_without_a_value_says_when() -> None:
    mechanism = machine("expression: x, reference: {type: expression, value: log(t - 1)}")
    with pytest.raises(ExpressionValueError, match=r"reference.value: at t = 0.5 s log\(t - 1\)"):
        mechanism.dynamics().evaluate(mechanism.state(t=0.5))


def quoted(text: str) -> str:
    """A text for YAML's flow style; further keys follow the first comma and space with a colon."""
    expression, comma, more = text.partition(", indices:")
    if not comma:
        expression, comma, more = text.partition(", parameters:")
    return f"'{expression}'{comma}{more}"


def differences(function: Callable[[Array], float], at: Array) -> Array:
    """Gradient by central differences."""
    steps = STEP * np.eye(len(at))
    return np.array([(function(at + s) - function(at - s)) / (2 * STEP) for s in steps])


def close(found: object, expected: object, tolerance: float = TOLERANCE) -> None:
    size = 1.0 + float(np.max(np.abs(np.asarray(expected, dtype=float))))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * size)
