# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""One suite for every evaluator: the equation of motion, its forces, and the rank rule.

Interpreted and compiled evaluators answer one state at a time, ``batch`` is C with many states at
once, ``one lane`` the same source without vectors, ``gpu`` its kernels, run by the processor;
``clusters`` are the loops over clusters that large mechanisms get, interpreted and in C, one at a
time and many. Each runs through the same cases. The equations are checked against M, F, A and b of
the state, ranks and forces against the interpreted evaluator.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import pytest
from scipy.sparse import issparse
from support.mechanism_builder import (
    closed_states,
    clustered,
    joint,
    link,
    mechanism,
    near,
    pinned_arm,
    shipped,
)
from support.on_processor import some_device

from uk_dynamics.compilation.build.compiler import find_compiler
from uk_dynamics.compilation.build.library import Library, library_of
from uk_dynamics.compilation.gpu import GpuDynamics
from uk_dynamics.compilation.runtime.compiled_batch import CompiledBatch
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.core.equation.solution import Status
from uk_dynamics.mechanism.dynamics.batches_and_rollouts import STATUSES, empty, put
from uk_dynamics.mechanism.resolution.state import ActiveConstraints, BatchSolution, Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.resources import shipped_files

EVALUATORS = (
    "interpreted",
    "compiled",
    "batch",
    "one lane",
    "gpu",
    "clusters",
    "clusters compiled",
    "clusters batch",
)

# Agreement with the interpreted evaluator, relative to the largest entry of at least one: rounding
# times conditions of M and A of up to 1e4. Near the rank tolerance multipliers are worse determined
# than accelerations, by that condition again.
RELATIVE = {
    "compiled": 1e-10,
    "batch": 1e-10,
    "one lane": 1e-10,
    "gpu": 1e-10,
    "clusters compiled": 1e-10,
    "clusters batch": 1e-10,
}
OF_MULTIPLIERS = 10.0
# Rows next to a rank change magnify rounding by the square of their condition (perturbation of
# least squares; Golub, Van Loan, Matrix Computations, 5.3); beyond this a state would tell nothing.
MAGNIFIED = 1e-6
# Of forces and accelerations: rounding times conditions of up to 1e3 each of M and A.
ROUNDING = 1e-9
RANK_TOLERANCE = 1e-4  # of all cases: the default


@dataclass(frozen=True)
class Case:
    """Some states of a mechanism, and what is known of them beforehand.

    Attributes:
        machine: The mechanism.
        q: (K, nq).
        v: (K, nv).
        tau: (K, nv).
        t: (K,), in s.
        inputs: Common to all states.
        ranks: Of each state, (K,); None: those of the interpreted evaluator.
        statuses: Of each state; None likewise.
        dependence: Of a dependent row relative to its own norm, what the others do not reach, (K,):
            rounding, or up to the rank tolerance next to a rank change.
    """

    machine: Mechanism
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    t: np.ndarray
    inputs: Inputs = field(default_factory=Inputs)
    ranks: list[int] | None = None
    statuses: list[Status] | None = None
    dependence: np.ndarray | float = ROUNDING


def case(machine: Mechanism, q, v=None, t=0.0, **known) -> Case:
    """States with random forces; velocities are random where none are given."""
    rng = np.random.default_rng(len(q))
    shape = (len(q), machine.model.nv)
    v = rng.standard_normal(shape) if v is None else np.broadcast_to(v, shape)
    t = np.broadcast_to(np.asarray(t, dtype=float), len(q))
    return Case(machine, np.array(q), np.array(v), rng.standard_normal(shape), np.array(t), **known)


def walk(name: str, *, stabilize: bool) -> Case:
    """A shipped mechanism at states on its constraints and a little off them, mixed."""
    machine = shipped(name)
    rng = np.random.default_rng(5)
    states = list(closed_states(machine, rng, 12))
    q, v = np.array([s.q for s in states]), np.array([s.v for s in states])
    off = np.array([machine.model.integrate(x, 1e-3 * rng.standard_normal(v.shape[1])) for x in q])
    order = rng.permutation(24)[:21]  # no multiple of the lanes of any vector
    inputs = Inputs(stabilize=stabilize)
    dependence = np.where(order < 12, ROUNDING, RANK_TOLERANCE)
    q, v = np.vstack([q, off])[order], np.vstack([v, v])[order]
    return case(machine, q, v, 0.3, inputs=inputs, dependence=dependence)


# --- cases ---------------------------------------------------------------------------------------

ALONG = np.array([1.0, -1.0, 1.0, 1.0])  # the legs of the five-bar stay parallel: it gets flat


def flat() -> Case:
    """At, near and far from the flat configuration, where the rank falls from 3 to 2 to 1 less."""
    angles = np.array([0.0, 1e-9, 0.3, 1e-6, 1e-4, 3e-4, 0.0, -0.7, 1e-2, 1.0])
    q = angles[:, None] * ALONG
    q[5] += [1e-2, 0.0, 0.0, 0.0]  # open: the redundant row looks independent
    v = np.where(np.arange(len(q))[:, None] % 2, 2.0, 0.0) * ALONG
    return case(shipped("five_bar"), q, v, dependence=RANK_TOLERANCE)


def contradiction() -> Case:
    """Two rows that hold the same joint, and ask for different accelerations."""
    machine = pinned_arm(
        "  one: {type: joint, joint: j1}\n  two: {type: expression, expression: j1 + 0.5*t**2}\n"
    )
    return case(
        machine,
        np.zeros((3, 2)),
        np.zeros(2),
        [0.0, 1.0, 2.0],
        inputs=Inputs(stabilize=False),
        ranks=[1, 1, 1],
        statuses=[Status.INCONSISTENT] * 3,
    )


def nearly_agreeing() -> Case:
    """Two rows that hold the same joint at angles a little apart: which one counts matters."""
    apart = np.repeat([1e-16, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-7, 1e-4], 4)
    machine = pinned_arm(
        "  one: {type: joint, joint: j1}\n  two: {type: expression, expression: 1.0*j1 + exp(t)}\n"
    )
    made = case(machine, np.tile([0.3, -0.4], (len(apart), 1)), [0.2, 0.5], np.log(apart))
    right = [d < 1e-6 for d in apart]  # consistency tolerance
    found = [s is Status.OK for s in interpreted_statuses(made)]
    assert found == right
    return replace(made, ranks=[1] * len(apart))


def nearly_dependent() -> Case:
    """Two rows that differ by a small part: the rank tolerance is 1e-4."""
    part = np.repeat([1e-16, 1e-14, 1e-13, 1e-12, 1e-10, 1e-7, 5e-5, 2e-4, 1e-2], 4)
    machine = pinned_arm(
        "  one: {type: joint, joint: j1}\n  two: {type: expression, expression: 1.0*j1 + exp(j2)}\n"
    )
    q = np.stack([np.full(len(part), 0.3), np.log(part)], axis=1)
    return case(
        machine,
        q,
        [0.2, 0.5],
        ranks=[1 if p < RANK_TOLERANCE else 2 for p in part],
        dependence=RANK_TOLERANCE,
    )


def many_times() -> Case:
    """A door on twelve hinges: of 60 rows 5 are independent, all force is shared evenly."""
    hinges = "".join(
        f"  h{k}: {{type: hinge, axis: [0, 0, 1], parent: {{link: base, xyz: [0, 0, {0.1 * k}]}},"
        f" child: {{link: door, xyz: [0, 0, {0.1 * k}]}}}}\n"
        for k in range(12)
    )
    door = link("door", 20.0, 3.0, com="0.4 0 1")
    machine = mechanism(
        link("base") + door + joint("free", "base", "door", kind="floating"),
        f"constraints:\n{hinges}",
    )
    q = np.array([[0, 0, 0, 0, 0, np.sin(a / 2), np.cos(a / 2)] for a in np.linspace(-3, 3, 7)])
    return case(machine, q, [0, 0, 0, 0, 0, 0.7], ranks=[5] * 7, statuses=[Status.OK] * 7)


def bent() -> Case:
    """An arm whose tip is held: stretched, the two rows become one."""
    machine = pinned_arm(
        "  tip: {type: frame, axes: [x, z], parent: {link: base, xyz: [1.6, 0, 0]},"
        " child: {link: l3}}\n",
        lengths=(1.0, 0.7, 0.5),
        more="initial_guess: {j1: 0.4, j2: -0.9}\n",
    )
    bends = np.array([0.3, 0.4, 0.0, 1e-9, 1e-6, 5e-5, 1e-4, 2e-4, 1e-3, 0.7])
    return case(
        machine,
        bends[:, None] * np.array([1.0, -1.0, 2.0]),
        [0.1, 0.2, -0.3],
        dependence=RANK_TOLERANCE,
    )


FOLLOWED = {
    "joint": "type: joint, joint: j2, reference: {type: sinusoid, amplitude: 0.3, frequency: 1.0}",
    "rotation": "type: frame, axes: [rx, ry, rz], parent: {link: base}, child: {link: l2},"
    " reference: {type: sinusoid, amplitude: [0.1, 0.4, 0.2], frequency: 1.0}",
    "part of a rotation": "type: frame, axes: [ry], parent: {link: base}, child: {link: l2},"
    " reference: {type: sinusoid, amplitude: 0.4, frequency: 1.0}",
    "velocity": "type: frame_velocity, axes: [x], parent: {link: base}, child: {link: l2},"
    " reference: {type: constant, value: 0.4}",
}


def following(kind: str, *, live: bool = False) -> Case:
    """Rows that follow the reference of the file, or one that replaces it."""
    machine = pinned_arm(f"  drive: {{{FOLLOWED[kind]}}}\n", lengths=(1.0, 0.7, 0.5))
    rng = np.random.default_rng(2)
    sample = ReferenceSample(*rng.uniform(-0.5, 0.5, (3, len(machine.row_names))))
    inputs = Inputs(references={"drive": sample} if live else None)
    q = rng.uniform(-1.0, 1.0, (5, 3))
    return case(machine, q, t=np.linspace(0.0, 0.7, 5), inputs=inputs)


def landing(names: frozenset[str], *, captured: bool = False) -> Case:
    """A leg whose foot is on the ground, or not."""
    machine = shipped("landing_leg")
    poses = {"foot": np.array([0.1, -0.2])} if captured else {}
    q = machine.start().q + np.linspace(0.0, 0.01, 5)[:, None]
    inputs = Inputs(active=ActiveConstraints(names, poses))
    return case(machine, q, np.ones(q.shape[1]), inputs=inputs, ranks=[2 * len(names)] * 5)


def massless() -> Case:
    """A link without mass, held by a row: M is singular, the motion is determined."""
    machine = mechanism(
        '<link name="base"/><link name="l1"/>'
        '<joint name="j1" type="continuous"><parent link="base"/><child link="l1"/></joint>',
        "constraints:\n  hold: {type: joint, joint: j1}\n",
    )
    return case(machine, np.zeros((3, 1)), [1.0], ranks=[1, 1, 1])


def stops() -> Case:
    """A joint with a spring, a stop, damping and a force by expression, and no rows."""
    machine = mechanism(
        '<link name="base"/><link name="l1"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j1" type="revolute"><parent link="base"/><child link="l1"/>'
        '<axis xyz="0 0.6 0.8"/><limit lower="-0.5" upper="0.5" effort="1" velocity="1"/>'
        '<dynamics damping="0.3" friction="0.2"/></joint>',
        "joints:\n"
        "  j1: {spring: {stiffness: 3.0, rest: 0.1}, stop: {stiffness: 500.0, damping: 5.0}}\n"
        "forces:\n"
        "  push:\n    type: expression\n    joints: {j1: 2.0}\n"
        "    expression: max(0.2, sin(t))*sign(d(j1)) + min(j1, t)*abs(j1) + atan2(1, 2 + t)\n",
    )
    q, v = np.meshgrid([-0.7, -0.5, 0.0, 0.5, 0.6], [-60.0, -1.0, 0.0, 2.0])
    return case(machine, q.reshape(-1, 1), v.reshape(-1, 1), 0.7, ranks=[0] * q.size)


def nonideal() -> Case:
    """A non-ideal constraint force, servo paper (12)."""
    made = walk("five_bar", stabilize=True)
    return replace(made, inputs=Inputs(nonideal=np.array([1.0, 2.0, 3.0, 4.0])))


CASES: dict[str, Callable[[], Case]] = {
    "rank changes": flat,
    "contradicting rows": contradiction,
    "rows that nearly agree": nearly_agreeing,
    "nearly dependent rows": nearly_dependent,
    "a rank change of independent rows": bent,
    "many redundant rows": many_times,
    **{f"following: {kind}": lambda kind=kind: following(kind) for kind in FOLLOWED},
    "following: live": lambda: following("rotation", live=True),
    "switched on": lambda: landing(frozenset({"foot"})),
    "switched off": lambda: landing(frozenset()),
    "switched on where it is": lambda: landing(frozenset({"foot"}), captured=True),
    "massless": massless,
    "joint forces": stops,
    "non-ideal": nonideal,
    **{
        name: lambda name=name: walk(name, stabilize=True)
        for name in sorted(shipped_files("mechanism"))
    },
    "unstabilised": lambda: walk("five_bar", stabilize=False),
}

# Redundant, rheonomic, rolling: these are compiled in every run, the others take minutes.
QUICK = ("five_bar", "spiral_particle", "rolling_disc")
# Of what rows follow: the most that a reference has, and rows of velocities.
QUICK_FOLLOWING = ("following: rotation", "following: velocity", "following: live")
# Kernels are the source of batches: of the shipped mechanisms those that differ in what they ask.
SHIPPED_ON_GPU = (
    *("five_bar", "stewart_platform", "dual_panda", "rolling_disc", "swarm", "landing_leg"),
    *("excavator", "loop_ladder"),
)
QUICK_ON_GPU = ("rank changes", "five_bar", "unstabilised", "non-ideal")

# What loops over clusters know: rows of frame pairs with fixed ends, and joints with one freedom.
BY_CLUSTERS = (
    *("rank changes", "a rank change of independent rows", "non-ideal", "unstabilised"),
    *(
        "many redundant rows",
        "coordinated_robots",
        "dual_panda",
        "excavator",
        "five_bar",
        "five_bar_asymmetric",
    ),
    *("five_bar_maximal", "five_bar_maximal_asymmetric", "flexible_joint_arm", "four_bar"),
    *("loop_ladder", "parallel_2dof", "rrr3", "slider_crank", "stewart_platform"),
)
# One library serves all whose rows have the same types: few are made.
QUICK_BY_CLUSTERS = ("rank changes", "non-ideal", "unstabilised", "five_bar", "loop_ladder")

# The source of batches without vectors, as compilers for other processors take it.
ONE_LANE = (
    *("rank changes", "contradicting rows", "many redundant rows", "joint forces", "switched on"),
    "five_bar",
)

QUICK_IN_ONE_LANE = ("rank changes", "joint forces")

needs_cpp = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler")
needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler")


def parameters():
    """All cases with all evaluators; those that take long to compile are ``slow``."""
    for name in CASES:
        for evaluator in EVALUATORS:
            is_shipped = name in shipped_files("mechanism")
            if evaluator == "gpu" and is_shipped and name not in SHIPPED_ON_GPU:
                continue
            if evaluator.startswith("clusters") and name not in BY_CLUSTERS:
                continue
            if evaluator == "one lane" and name not in ONE_LANE:
                continue
            marks = []
            if evaluator.startswith("clusters "):
                marks.append(needs_compiler)
                if name not in QUICK_BY_CLUSTERS:
                    marks.append(pytest.mark.slow)
            if evaluator in ("compiled", "batch", "one lane"):
                marks.append(needs_compiler)
                seldom = is_shipped or name.startswith("following") or evaluator == "one lane"
                quick = QUICK_IN_ONE_LANE if evaluator == "one lane" else QUICK + QUICK_FOLLOWING
                if seldom and name not in quick:
                    marks.append(pytest.mark.slow)
            if evaluator == "gpu":
                marks.append(needs_cpp)
                if name not in QUICK_ON_GPU:
                    marks.append(pytest.mark.slow)
            yield pytest.param(name, evaluator, marks=marks, id=f"{name}-{evaluator}")


# --- evaluation ----------------------------------------------------------------------------------


@cache
def made(name: str) -> Case:
    """A case; its states take a moment."""
    return CASES[name]()


@cache
def by_clusters(machine: Mechanism) -> Mechanism:
    """The same mechanism, evaluated as large ones are."""
    return clustered(machine)


@cache
def on_gpu(machine: Mechanism):
    """Kernels are compiled once."""
    return GpuDynamics(machine, some_device())


def one_by_one(given: Case, backend: str) -> BatchSolution:
    """Every state alone."""
    dynamics = given.machine.dynamics(backend)
    batch = empty(len(given.q), given.v.shape[1], dynamics.rows, forces=True)
    for k, (q, v, tau, t) in enumerate(zip(given.q, given.v, given.tau, given.t, strict=True)):
        solution = dynamics.evaluate(State(float(t), q, v), replace(given.inputs, tau=tau))
        put(batch, k, solution)
    return batch


def interpreted_statuses(given: Case) -> list[Status]:
    """What the interpreted evaluator says of each state."""
    return [STATUSES[s] for s in one_by_one(given, "interpreted").status]


def answers(given: Case, evaluator: str) -> BatchSolution:
    """What an evaluator says of all states."""
    if evaluator in ("interpreted", "compiled"):
        return one_by_one(given, evaluator)
    if evaluator == "one lane":
        return in_one_lane(given)
    dynamics = on_gpu(given.machine) if evaluator == "gpu" else given.machine.dynamics("compiled")
    return dynamics.evaluate_batch(given.q, given.v, given.tau, t=given.t, inputs=given.inputs)


def in_one_lane(given: Case) -> BatchSolution:
    """Batches by code that is compiled for a single lane."""
    compiler = find_compiler()
    assert compiler is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", shlex.join([*compiler.command, "-DUK_WIDTH=1"]))
        batch = CompiledBatch(
            library_of(given.machine, Library.BATCH), len(given.machine.constraints), rolls=False
        )
    assert batch.width == 1
    dynamics = given.machine.dynamics("compiled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(vars(dynamics), "_batch", batch)
        return dynamics.evaluate_batch(given.q, given.v, given.tau, t=given.t, inputs=given.inputs)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "evaluator"), parameters())
def test_conformance(name, evaluator):
    given = made(name)
    if evaluator.startswith("clusters"):
        evaluator = evaluator.removeprefix("clusters").strip() or "interpreted"
        given = replace(given, machine=by_clusters(given.machine))
    solution = answers(given, evaluator)
    the_equation_holds(given, solution)
    if given.ranks is not None:
        assert list(solution.rank) == given.ranks
    if given.statuses is not None:
        assert [STATUSES[s] for s in solution.status] == given.statuses
    if evaluator != "interpreted":
        agrees(given, solution, RELATIVE[evaluator])


def the_equation_holds(given: Case, solution: BatchSolution) -> None:
    """M q̈ = F + Q_c and A q̈ = b, with the least multipliers that make the ideal force."""
    dynamics = given.machine.dynamics("interpreted")
    dependence = np.broadcast_to(given.dependence, len(given.q))
    for k in range(len(given.q)):
        state = State(float(given.t[k]), given.q[k], given.v[k])
        M, F, A, b = dynamics.terms(state, replace(given.inputs, tau=given.tau[k]))
        M, A = np.asarray(M), A.toarray() if issparse(A) else A
        qdd, force, multipliers, residual = (
            getattr(solution, name)[k]
            for name in ("qdd", "constraint_force", "multipliers", "residual")
        )
        load = float(np.max(np.abs(M) @ np.abs(qdd)) + np.max(np.abs(F)))
        near(M @ qdd, F + force, load, relative=ROUNDING)
        motion = float(np.max(np.abs(A) @ np.abs(qdd) + np.abs(b), initial=1.0))
        near(residual, A @ qdd - b, motion, relative=ROUNDING)
        independent = solution.rank[k] == len(b)
        if STATUSES[solution.status[k]] is Status.OK:
            # a dependent row may be off by the consistency tolerance
            allowed = ROUNDING if independent else given.machine.spec.solver.consistency_tolerance
            near(A @ qdd, b, motion, relative=allowed)
        if given.inputs.nonideal is None:
            allowed = ROUNDING if independent else float(dependence[k])
            size = load + float(np.max(np.abs(A.T) @ np.abs(multipliers), initial=0.0))
            near(A.T @ multipliers, force, size, relative=allowed)
            if dependence[k] == ROUNDING:  # of all that make the force, the multipliers are least
                least = np.linalg.lstsq(A.T, force, rcond=1e-6)[0]
                near(multipliers, least, size, relative=1e-6)  # redundant rows: divided by rcond


def agrees(given: Case, solution: BatchSolution, relative: float) -> None:
    """Ranks, statuses and forces are those of the interpreted evaluator."""
    dynamics = given.machine.dynamics("interpreted")
    for k in range(len(given.q)):
        state = State(float(given.t[k]), given.q[k], given.v[k])
        expected = dynamics.evaluate(state, replace(given.inputs, tau=given.tau[k]))
        assert solution.rank[k] == expected.rank
        assert STATUSES[solution.status[k]] is expected.status
        assert list(solution.determined[k]) == list(expected.determined)
        limit = max(relative, float(np.finfo(float).eps) * expected.condition**2)
        assert limit < MAGNIFIED, "this state would tell nothing"
        size = max(1.0, float(np.abs(expected.qdd).max(initial=0.0)))
        for name in ("qdd", "constraint_force", "residual", "multipliers"):
            right = getattr(expected, name)
            scale = max(size, float(np.abs(right).max(initial=0.0)))
            share = OF_MULTIPLIERS if name == "multipliers" else 1.0
            near(getattr(solution, name)[k], right, scale, relative=share * limit)
