# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Projection in C moves states where the interpreted one does; who uses what is compiled."""

import numpy as np
import pytest
from support.mechanism_builder import closed_states, pinned_arm, shipped

from uk_dynamics.compilation.build import compiler, library
from uk_dynamics.compilation.runtime.compiled_dynamics import CompiledDynamics
from uk_dynamics.exceptions import SimulationError
from uk_dynamics.mechanism.resolution.state import ActiveConstraints, Inputs, State
from uk_dynamics.simulation.simulate import simulate

pytestmark = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="there is no C compiler on this machine"
)


def compare(machine, state, inputs=None):
    found = machine.dynamics("compiled").project(state, inputs)
    expected = machine.dynamics("interpreted").project(state, inputs)
    assert found.q == pytest.approx(expected.q, abs=1e-12)  # m or rad, of numbers around one
    assert found.v == pytest.approx(expected.v, abs=1e-11 * max(1.0, np.abs(expected.v).max()))
    assert found.t == state.t
    return found


# The pendulum's M and F are constants, which were once written into the solution as numbers.
@pytest.mark.slow
@pytest.mark.parametrize("name", ["five_bar", "rolling_disc", "simple_pendulum"])
@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 1e-2])
def test_states_are_moved_where_the_interpreted_evaluator_moves_them(name, size):
    machine = shipped(name)
    rng = np.random.default_rng(4)
    for state in closed_states(machine, rng, 5):
        q = state.q + size * rng.standard_normal(len(state.q))
        v = state.v + size * rng.standard_normal(len(state.v))
        compare(machine, State(0.3, q, v))


def test_references_and_switched_rows_are_projected_on():
    leg = shipped("landing_leg")
    start = leg.start()
    off = State(0.0, start.q + 1e-3, start.v + 0.1)
    free = compare(leg, off, Inputs(active=ActiveConstraints(frozenset())))
    assert free.q == pytest.approx(off.q, abs=1e-15)  # nothing holds it
    held = ActiveConstraints(frozenset({"foot"}), {"foot": np.array([0.01, -0.02])})
    compare(leg, off, Inputs(active=held))


@pytest.mark.slow
def test_what_cannot_be_closed_is_told_as_by_the_interpreted_evaluator():
    machine = pinned_arm(
        "  far: {type: point, parent: {link: base, xyz: [9.0, 0, 0]}, child: {link: l3}}\n",
        lengths=(1.0, 0.7, 0.5),
    )
    with pytest.raises(SimulationError, match="away from the constraints"):
        machine.dynamics("compiled").project(machine.state([0.3, 0.3, 0.3]))


def test_simulations_take_what_has_been_compiled(monkeypatch, tmp_path):
    machine = shipped("five_bar")
    with monkeypatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert not library.is_cached(machine)
        assert not isinstance(machine.dynamics("cached"), CompiledDynamics)
        assert not list(tmp_path.iterdir())  # nothing was compiled for that
    machine.dynamics("compiled").project(machine.start())
    assert library.is_cached(machine)
    assert isinstance(machine.dynamics("cached"), CompiledDynamics)
    runs = [
        simulate(machine, machine.start(), 0.2, backend=backend)
        for backend in ("cached", "interpreted")
    ]
    assert runs[0].q == pytest.approx(runs[1].q, abs=1e-9)  # both within rtol 1e-9


@pytest.mark.slow
def test_without_vectors_projections_and_batches_are_interpreted_and_that_is_said_once(
    monkeypatch, tmp_path, caplog
):
    script = tmp_path / "cc"
    # A compiler that knows no vectors.
    script.write_text(
        '#!/bin/sh\nfor last; do case $last in *.c) grep -q vector_size "$last" &&'
        ' echo "no vectors" >&2 && exit 1;; esac; done\nexec cc "$@"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    library.announce.cache_clear()
    machine = shipped("five_bar")
    dynamics = machine.dynamics("compiled")
    state = machine.start()
    assert dynamics.project(state).q == pytest.approx(state.q, abs=1e-12)
    batch = dynamics.evaluate_batch(state.q[None], state.v[None])
    assert batch.qdd[0] == pytest.approx(dynamics.evaluate(state).qdd, abs=1e-12)
    assert [record.message.count("no vectors") for record in caplog.records] == [1]
