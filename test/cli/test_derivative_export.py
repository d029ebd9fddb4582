# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics compile --derivatives``: C that builds, with the functions that acados calls."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from support.mechanism_builder import shipped

from uk_dynamics import Inputs, ServoDerivatives, State, Tasks
from uk_dynamics.cli.main import main
from uk_dynamics.compilation.emit.layout import DerivativeLayout
from uk_dynamics.derivatives import (
    MotionDerivatives,
    ParameterDerivatives,
    ProjectionDerivatives,
)

COMPILER = shutil.which("cc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
BY = ["derivatives", pytest.param("parameters", marks=pytest.mark.slow)]
STRICT = [COMPILER, "-std=c99", "-Wall", "-Wextra", "-Werror", "-O1"]
PARAMETERS = ["links.left_leg.mass", "gravity.z", "constraints.right_pin.parent.x"]
TOLERANCE = 1e-9  # of derivatives up to some 1e3, rounding of the pivots included


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("derivatives")
    options = [
        "--tasks",
        "five_bar_sweep",
        "--derivatives",
        "--parameters",
        *PARAMETERS,
        "--export-c",
        str(folder),
    ]
    assert main(["compile", "five_bar", *options]) == 0
    return folder / "five_bar_derivatives.c"


def derivatives_at(machine, state, efforts):
    return machine.derivatives(state, machine.inputs(efforts=efforts)).acceleration


@pytest.mark.slow
@pytest.mark.parametrize("by", BY)
def test_the_example_prints_the_derivatives(source, tmp_path, by):
    program, machine = tmp_path / "program", shipped("five_bar")
    files = [source.with_name(f"five_bar_{by}{part}.c") for part in ("", "_example")]
    subprocess.run([*STRICT, *files, "-o", program, "-lm"], check=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    found = np.array([line.split()[1:] for line in said.splitlines()], dtype=float)
    state = derivatives_at(machine, machine.start(), np.zeros(len(machine.actuators)))
    expected = np.hstack([state.q, state.v, state.t[:, None], state.tau])
    if by == "parameters":  # in alphabetical order, as the header lists them
        derivatives = ParameterDerivatives(machine, sorted(PARAMETERS), "interpreted")
        # the loop that one pin opens alone follows the rows taken as independent
        of_parameters = derivatives.at(machine.start())
        assert of_parameters.exist.tolist() == [False, True, True]
        expected = of_parameters.acceleration.whole[:, 1:]
        found = found[:, 1:]
        assert (
            "links.left_leg.mass [kg], 1.0" in source.with_name("five_bar_parameters.h").read_text()
        )
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=TOLERANCE * np.abs(expected).max())


@pytest.mark.slow
def test_the_example_of_the_servo_law(source, tmp_path):
    program, machine = tmp_path / "program", shipped("five_bar")
    law = Tasks.from_file("five_bar_sweep", machine)
    files = [source.with_name(f"five_bar_servo_derivatives{part}.c") for part in ("", "_example")]
    subprocess.run([*STRICT, *files, "-o", program, "-lm"], check=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    name, *numbers = said.split()
    assert name == "crank_motor"
    own = ServoDerivatives(law, "interpreted").at(machine.start())
    expected = np.concatenate([own.efforts.value, np.ravel(own.efforts.whole)])
    bound = TOLERANCE * np.abs(expected).max()
    np.testing.assert_allclose(np.array(numbers, float), expected, rtol=0.0, atol=bound)


@pytest.mark.slow
@pytest.mark.parametrize("by", BY)
def test_many_states_compile_without_a_warning(source, tmp_path, by):
    batch = source.with_name(f"five_bar_{by}_batch.c")
    build = [*STRICT, "-std=c11", "-march=native", "-c", batch, "-o", tmp_path / "batch.o"]
    subprocess.run(build, check=True)


@pytest.fixture(scope="module")
def functions(source):
    library = source.with_name("library.so")
    build = [*STRICT, "-Dcasadi_int=int", "-shared", "-fPIC", source, "-o", library, "-lm"]
    subprocess.run(build, check=True)
    return ctypes.CDLL(str(library))


@pytest.mark.slow
def test_derivatives_of_redundant_multipliers_and_forces(functions):
    """Along the constraints, and by the forces that act."""
    machine = shipped("five_bar")
    begin, layout = machine.start(), DerivativeLayout(machine)
    memory = layout.memory()
    memory[layout["q"]], memory[layout["v"]] = begin.q, begin.v
    memory[layout["tau"]] = tau = np.random.default_rng(6).normal(size=machine.model.nv)
    where = ctypes.c_void_p(memory.ctypes.data)
    assert functions.five_bar_derivatives_differentiate(where) == 0
    found = [np.empty((rows, layout.row_length)) for rows in (layout.rows, machine.model.nv)]
    functions.five_bar_derivatives_force_derivatives(
        where, *(ctypes.c_void_p(x.ctypes.data) for x in found)
    )
    expected = MotionDerivatives(machine, "interpreted").at(begin, Inputs(tau))
    moves = expected.motions
    for derivatives, by in zip(found, (expected.multipliers, expected.force), strict=True):
        along = derivatives[:, : len(moves)] @ moves
        bound = TOLERANCE * max(1.0, np.abs(by.q).max(), np.abs(by.v).max())
        np.testing.assert_allclose(along, np.hstack([by.q, by.v]) @ moves, rtol=0.0, atol=bound)
        np.testing.assert_allclose(derivatives[:, layout.stride :], by.tau, rtol=0.0, atol=bound)


def test_derivatives_of_the_projection(functions):
    """Of redundant rows; parallelograms that are flat have none."""
    machine, rng = shipped("five_bar"), np.random.default_rng(8)
    begin, layout, nv = machine.start(), DerivativeLayout(machine), machine.model.nv
    memory, derivatives = layout.memory(), np.empty((2 * nv, 2 * nv + 1))
    project = functions.five_bar_derivatives_projection_derivatives
    places = [ctypes.c_void_p(x.ctypes.data) for x in (memory, derivatives)]
    v = rng.normal(size=nv)
    memory[layout["q"]], memory[layout["v"]] = begin.q, v
    assert project(*places) == 0
    expected = ProjectionDerivatives(machine, "interpreted").at(State(0.0, begin.q, v))
    for found, own in (
        (derivatives[:nv], expected.position.whole),
        (derivatives[nv:], expected.velocity.whole),
    ):
        np.testing.assert_allclose(found, own, rtol=0.0, atol=TOLERANCE * np.abs(own).max())
    memory[layout["q"]], memory[layout["v"]] = 0.0, v
    assert project(*places) == 4
    memory[layout["q"]] = begin.q + 0.01
    assert project(*places) == 3


def test_functions_as_acados_calls_them(functions):
    """Its integers are ``int``; sensitivities are products with the one Jacobian."""
    machine, rng = shipped("five_bar"), np.random.default_rng(4)
    begin = machine.start()
    nx, nu = 2 * machine.model.nv, len(machine.actuators)
    x, u = np.concatenate([begin.q, begin.v]), rng.normal(size=nu)
    by = derivatives_at(machine, begin, u)
    A = np.block([[np.zeros((nx // 2, nx // 2)), np.eye(nx // 2)], [by.q, by.v]])
    B = np.vstack([np.zeros((nx // 2, nu)), by.tau @ machine.actuators.matrix])

    def call(name, inputs, outputs):
        function = getattr(functions, f"five_bar_{name}")
        sizes = [ctypes.c_int() for _ in range(4)]
        getattr(functions, f"five_bar_{name}_work")(*map(ctypes.byref, sizes))
        work = np.zeros(sizes[3].value)

        def pointers(arrays):
            given = (a.ctypes.data if a is not None else None for a in arrays)
            return (ctypes.c_void_p * len(arrays))(*given)

        failed = function(
            pointers(inputs), pointers(outputs), None, ctypes.c_void_p(work.ctypes.data), 0
        )
        assert failed == 0

    def columns(rows, count):
        return np.asfortranarray(rng.normal(size=(rows, count)))

    Sx, Su, multiplier = columns(nx, nx), columns(nx, nu), rng.normal(size=nx)
    rate, vde_x, vde_u = np.zeros(nx), columns(nx, nx), columns(nx, nu)
    call("expl_vde_forw", [x, Sx, Su, u, None], [rate, vde_x, vde_u])
    alone, adjoint = np.zeros(nx), np.zeros(nx + nu)
    call("expl_ode_fun", [x, u, None], [alone])
    call("expl_vde_adj", [x, multiplier, u, None], [adjoint])
    size = np.abs(A).max()
    for found, expected in (
        (rate, alone),
        (vde_x, A @ Sx),
        (vde_u, A @ Su + B),
        (adjoint, multiplier @ np.hstack([A, B])),
    ):
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=TOLERANCE * size)
