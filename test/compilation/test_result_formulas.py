# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A result that is declared with a formula reaches one state, batches, clusters and exported C."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.mechanism_builder import clustered, shipped

from uk_dynamics import Mechanism, State
from uk_dynamics.arrays import Array
from uk_dynamics.compilation.build import state_export, write_c_files
from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.compilation.emit.layout import Layout
from uk_dynamics.compilation.runtime.compiled_dynamics import CompiledDynamics
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Inputs

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")

STEP = (
    1e-5  # s; errors of second order are 1e-10 of the third derivative, rounding is 1e-11 J / STEP
)


def energy_rate(machine: Mechanism, state: State, qdd: Array) -> float:
    """Rate of the energy along the motion, by central differences, in W."""
    work = machine.model.workspace()

    def energy(h: float) -> float:
        q = machine.model.integrate(state.q, h * state.v + 0.5 * h * h * qdd)
        work.update(q, state.v + h * qdd)
        kinetic: float = work.kinetic_energy(q, state.v + h * qdd)
        return kinetic + work.potential_energy(q)

    return (energy(STEP) - energy(-STEP)) / (2.0 * STEP)


def exported(machine: Mechanism, state: State, tau: Array, folder: Path) -> float:
    """What exported C finds."""
    files = write_c_files(folder, state_export(machine))
    source = next(f for f in files if f.suffix == ".c" and not f.stem.endswith("_batch"))
    library = folder / "exported.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
    layout = Layout(machine)
    memory = layout.memory()
    for name, value in (("q", state.q), ("v", state.v), ("tau", tau)):
        memory[layout[name]] = value
    evaluate = getattr(ctypes.CDLL(str(library)), f"{source.stem}_evaluate")
    assert evaluate(ctypes.c_void_p(memory.ctypes.data)) == 0
    return float(memory[layout["power"]][0])


def main(folder: str) -> None:
    """Hold all evaluators to the rate of the energy."""
    for machine in (shipped("five_bar"), clustered(shipped("five_bar"))):
        rng, nv = np.random.default_rng(1), machine.model.nv
        interpreted, compiled = InterpretedDynamics(machine), CompiledDynamics(machine)
        q = machine.start().q
        tau = rng.standard_normal(nv)
        state = interpreted.project(State(0.0, q, rng.standard_normal(nv)))
        one = interpreted.evaluate(state, Inputs(tau))
        rate = energy_rate(machine, state, one.qdd)
        assert abs(rate) > 0.1, "it would be told from nothing"
        tiled = (np.tile(x, (11, 1)) for x in (state.q, state.v, tau))  # lanes, and some left over
        found = [
            one.power,  # type: ignore[attr-defined]
            compiled.evaluate(state, Inputs(tau)).power,  # type: ignore[attr-defined]
            *compiled.evaluate_batch(*tiled).power,  # type: ignore[attr-defined]
        ]
        if machine.local is None:
            found.append(exported(machine, state, tau, Path(folder)))
        np.testing.assert_allclose(found[0], rate, atol=1e-6)
        np.testing.assert_allclose(found[1:], found[0], atol=1e-9)  # rounding


@pytest.mark.slow
def test_one_declaration_reaches_every_evaluator(tmp_path: Path) -> None:
    code = "import sys, support.power_formula, test_result_formulas as t; t.main(sys.argv[1])"
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    # libraries of the same sources with another declaration
    environment = os.environ | {"PYTHONPATH": paths, "XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=environment, check=True)
