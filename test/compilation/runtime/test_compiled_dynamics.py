# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The compiled evaluator: what it keeps, what it leaves to the interpreted one, what it refuses."""

import dataclasses

import numpy as np
import pytest
from support.mechanism_builder import closed_states, mechanism, near, pinned_arm, shipped

from uk_dynamics.compilation.build import compiler
from uk_dynamics.compilation.build.compiler import CompilationError
from uk_dynamics.compilation.build.library import announce
from uk_dynamics.core.equation.solution import Status
from uk_dynamics.exceptions import StateError, UndeterminedMotionError
from uk_dynamics.mechanism.resolution.state import ActiveConstraints, Inputs, State

# Relative to the largest entry of at least one.
RELATIVE = 1e-10
DRIVE = "type: joint, joint: j2, reference: {type: sinusoid, amplitude: 0.3, frequency: 1.0}"
PIN = "  pin: {type: point, parent: {link: base, xyz: [1.0, 0, 0.5]}, child: {link: l2}}"

pytestmark = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="there is no C compiler on this machine"
)


def compare(machine, state, inputs, compiled=None):
    """Both evaluators at one state; gives the interpreted solution."""
    expected = machine.dynamics("interpreted").evaluate(state, inputs)
    found = (compiled or machine.dynamics("compiled")).evaluate(state, inputs)
    assert found.rank == expected.rank
    assert found.status is expected.status
    assert set(found.offending) == set(expected.offending)
    assert list(found.determined) == list(expected.determined)
    for name in ("qdd", "constraint_force", "ideal_force", "multipliers", "joint_multipliers"):
        near(getattr(found, name), getattr(expected, name), relative=RELATIVE)
    size = max(1.0, float(np.abs(expected.qdd).max(initial=0.0)))
    near(found.residual, expected.residual, size, relative=RELATIVE)
    return expected


def test_rows_that_are_switched_off_do_not_act():
    machine = shipped("landing_leg")
    compiled = machine.dynamics("compiled")
    state = machine.start()
    for names in (frozenset(), frozenset({"foot"}), frozenset()):
        inputs = Inputs(active=ActiveConstraints(names))
        expected = compare(machine, state, inputs, compiled)
        assert expected.rank == 2 * len(names)
        found = compiled.evaluate(state, inputs)
        push = np.array([1.0, 2.0, 3.0])
        near(found.reactions.nonideal_force(push), expected.reactions.nonideal_force(push))
    captured = ActiveConstraints(frozenset({"foot"}), {"foot": np.array([0.1, -0.2])})
    compare(machine, state, Inputs(active=captured), compiled)


@pytest.mark.slow
def test_contradicting_rows_are_named_alike():
    machine = pinned_arm(
        "  one: {type: joint, joint: j1}\n  two: {type: expression, expression: j1 + 0.5*t**2}\n"
    )
    solution = compare(machine, machine.state(t=1.0), Inputs(stabilize=False))
    assert solution.status is Status.INCONSISTENT


def test_a_singular_mass_matrix_and_undetermined_motion_are_left_to_the_other(caplog):
    parts = (
        '<link name="base"/><link name="l1"/>'
        '<joint name="j1" type="continuous"><parent link="base"/><child link="l1"/></joint>'
    )
    held = mechanism(parts, "constraints:\n  hold: {type: joint, joint: j1}\n")
    announce.cache_clear()
    compiled = held.dynamics("compiled")
    for _ in range(3):
        compare(held, held.state(), Inputs(), compiled)
    assert caplog.text.count("the mass matrix is singular") == 1
    free = mechanism(parts)
    compiled = free.dynamics("compiled")
    with pytest.raises(UndeterminedMotionError, match="j1"):
        compiled.evaluate(free.state())


def test_solutions_outlive_the_next_evaluation_and_what_is_not_kept_is_computed_again():
    machine = shipped("five_bar")
    rng = np.random.default_rng(3)
    first, second = closed_states(machine, rng, 2)
    compiled, interpreted = machine.dynamics("compiled"), machine.dynamics("interpreted")
    solution = compiled.evaluate(first)
    compiled.evaluate(second)
    expected = interpreted.evaluate(first)
    near(solution.qdd, expected.qdd, relative=RELATIVE)
    near(solution.multipliers, expected.multipliers, relative=RELATIVE)
    assert solution.condition == pytest.approx(expected.condition, rel=1e-9, abs=0)
    reactions, peer = solution.reactions, expected.reactions
    push = rng.standard_normal(4)
    near(reactions.nonideal_force(push), peer.nonideal_force(push))
    near(reactions.holding(push), peer.ideal_force(peer.holding(push)))
    near(reactions.multipliers(reactions.holding(push)), peer.multipliers(peer.holding(push)))


@pytest.mark.parametrize("part", ["q", "v", "tau"])
def test_wrong_sizes_are_named(part):
    machine = shipped("five_bar")
    sizes = {"q": 4, "v": 4, "tau": 4} | {part: 3}
    q, v, tau = (np.zeros(size) for size in sizes.values())
    with pytest.raises(StateError, match=rf"{part}: expected shape \(4,\), found \(3,\)"):
        machine.dynamics("compiled").evaluate(State(0.0, q, v), Inputs(tau=tau))


@pytest.mark.parametrize(
    ("machine", "place"),
    [
        (lambda: pinned_arm(f"{PIN}\n", more="solver: {method: kkt}\n"), "solver.method: kkt"),
        (lambda: pinned_arm(f"{PIN[:-1]}, compliance: 1.0e-6}}\n"), "constraints.pin.compliance"),
        (
            lambda: pinned_arm(f"{PIN[:-1]}, friction: {{coulomb: 0.1, radius: 0.02}}}}\n"),
            "constraints.pin.friction",
        ),
    ],
)
def test_what_cannot_be_compiled_is_named(machine, place):
    with pytest.raises(CompilationError, match=place):
        machine().dynamics("compiled")


def test_a_user_s_function_cannot_be_compiled():
    source = shipped("five_bar")
    machine = type(source).from_file("five_bar", nonideal=lambda state, solution: np.zeros(4))
    with pytest.raises(CompilationError, match=r"five_bar.yaml: .* Python function.*interpreted"):
        machine.dynamics("compiled")


@pytest.mark.parametrize(
    ("work", "problem"),
    [
        ('echo "out of memory" >&2; exit 1', "failed: out of memory"),
        ("exit 0", "has made nothing"),
        ("while [ $1 != -o ]; do shift; done; echo . > $2", "cannot be loaded: .*XDG_CACHE_HOME"),
    ],
)
def test_a_compiler_that_fails_is_quoted(work, problem, monkeypatch, tmp_path):
    script = tmp_path / "cc"
    script.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo 1 && exit 0\n{work}\n')
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(CompilationError, match=problem):
        shipped("five_bar").dynamics("compiled")


@pytest.mark.slow
def test_options_of_the_compiler_overrule_those_of_the_package(monkeypatch, tmp_path):
    """They stand last, whatever starts the compiler, and make another library."""
    found = compiler.find_compiler()
    given, program = tmp_path / "given", tmp_path / "cc"
    program.write_text(f'#!/bin/sh\necho "$@" >> {given}\nexec {found.command[0]} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for level in ("-O1", "-O2"):
        monkeypatch.setenv("CC", f"env {program} {level} -DNAME='a b'")
        shipped("spiral_particle").dynamics("compiled")
        (words,) = (line.split() for line in given.read_text().splitlines() if "-shared" in line)
        assert [word for word in words if word.startswith("-O")][-1] == level
        given.unlink()


def test_the_key_sees_every_change():
    machine = shipped("five_bar")
    from uk_dynamics.compilation.build.cache import key_of

    found = compiler.find_compiler()
    spec = machine.spec
    solver = dataclasses.replace(spec.solver, rank_tolerance=2e-4)
    other = type(machine).from_spec(dataclasses.replace(spec, solver=solver))
    newer = dataclasses.replace(found, version="newer")
    keys = {key_of(machine, found), key_of(other, found), key_of(machine, newer)}
    assert len(keys) == 3
    assert key_of(machine, found) == key_of(type(machine).from_file("five_bar"), found)


@pytest.mark.slow
def test_without_the_headers_of_python_it_is_the_same(monkeypatch):
    machine = shipped("five_bar")
    rng = np.random.default_rng(7)
    states = list(closed_states(machine, rng, 4))
    quick = machine.dynamics("compiled")
    monkeypatch.setattr(compiler, "_python", tuple)
    compiler._known.cache_clear()
    try:
        plain = machine.dynamics("compiled")
    finally:
        compiler._known.cache_clear()
    for state in states:
        inputs = Inputs(tau=rng.standard_normal(4))
        compare(machine, state, inputs, plain)
        assert np.array_equal(plain.evaluate(state, inputs).qdd, quick.evaluate(state, inputs).qdd)


def test_arrays_of_any_kind_are_taken():
    machine = shipped("five_bar")
    compiled = machine.dynamics("compiled")
    state = next(closed_states(machine, np.random.default_rng(8), 1))
    expected = compiled.evaluate(state).qdd
    for kind in (list, tuple, lambda x: np.repeat(x, 2)[::2]):
        given = State(state.t, kind(state.q), kind(state.v))
        assert np.array_equal(compiled.evaluate(given).qdd, expected)
        assert np.array_equal(compiled.acceleration(given.q, given.v, [0, 0, 0, 0]), expected)


def test_the_acceleration_alone_is_that_of_the_solution():
    for machine in (
        shipped("five_bar"),
        pinned_arm(f"  drive: {{{DRIVE}}}\n", lengths=(1.0, 0.7, 0.5)),
    ):
        state = machine.start()
        tau = np.linspace(0.5, 1.0, machine.model.nv)
        for backend in ("compiled", "interpreted"):
            found = machine.dynamics(backend).acceleration(state.q, state.v, tau, 0.2)
            at = State(0.2, state.q, state.v)
            expected = machine.dynamics("interpreted").evaluate(at, Inputs(tau=tau)).qdd
            near(found, expected, relative=RELATIVE)
