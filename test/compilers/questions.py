# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What is asked of compiled code: every kind of library, at states whose answers are known.

The answers of the interpreted evaluators are the reference. Batches and closed loops side by side
have more members than any vector has lanes, each with a state of its own.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from support.mechanism_builder import clustered, joint, link, mechanism, shipped

import uk_dynamics as ukd
from uk_dynamics import compilation
from uk_dynamics.compilation.build.compiler import FLAGS, CompilationError, find_compiler
from uk_dynamics.compilation.build.library import Library, Subject, library_of
from uk_dynamics.derivatives import MotionDerivatives, ProjectionDerivatives
from uk_dynamics.mechanism.dynamics import Backend

MEMBERS = 13  # of a batch: eight lanes and a part of them
PERIOD = 1e-3  # s
L = Library
# Relative to the largest entry of an answer, or to one: rounding times conditions of M and A of up
# to 1e4, for derivatives and motions once more.
DIRECT, DERIVED = 1e-10, 1e-8


@dataclass(frozen=True)
class Question:
    """One kind of library, asked about one mechanism.

    Attributes:
        name: Kind of library and mechanism.
        libraries: What is compiled, and of what.
        ask: The answers with a backend, as arrays.
        tolerance: Of the difference between the answers, relative.
        before: Makes what is no library.
    """

    name: str
    libraries: tuple[tuple[Subject, Library], ...]
    ask: Callable[[Backend], Any]
    tolerance: float = DIRECT
    before: Callable[[], object] | None = None

    def compile(self) -> None:
        """Make what is asked."""
        for subject, kind in self.libraries:
            library_of(subject, kind)
        if self.before:
            self.before()

    @property
    def in_vectors(self) -> bool:
        """Whether the code has vectors, of which compilers make the most different things."""
        return self.name.startswith(("functions", "batch", "rollout", "closed loops"))


def difference(found: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """The largest one, relative to the largest entry of an array or to one; inf: no comparison."""
    if [x.shape for x in found] != [x.shape for x in expected]:
        return float("inf")
    worst = 0.0
    for one, other in zip(found, expected, strict=True):
        if not np.array_equal(np.isfinite(one), np.isfinite(other)):
            return float("inf")
        where = np.isfinite(other)
        size = max(1.0, float(np.abs(other[where]).max(initial=0.0)))
        worst = max(worst, float(np.abs(one[where] - other[where]).max(initial=0.0)) / size)
    return worst


def numbers(answer: Any) -> Iterator[np.ndarray]:
    """All numbers of an answer, whatever holds them, in order."""
    if dataclasses.is_dataclass(answer):
        answer = [getattr(answer, field.name) for field in dataclasses.fields(answer)]
    if isinstance(answer, (list, tuple)):
        for part in answer:
            yield from numbers(part)
    elif isinstance(answer, (bool, int, float, np.ndarray, np.generic)):
        yield np.asarray(answer, dtype=float)


# --- mechanisms ----------------------------------------------------------------------------------


@cache
def turning() -> ukd.Mechanism:
    """An arm whose orientation follows a reference: logarithms of rotations."""
    parts, parent = link("base"), "base"
    for number, axis in enumerate(("0 0 1", "0 1 0", "1 0 0", "0 0.6 0.8"), start=1):
        parts += link(f"l{number}", com="0.3 0 0.1")
        parts += joint(f"j{number}", parent, f"l{number}", axis=axis, xyz="0.5 0 0")
        parent = f"l{number}"
    return mechanism(
        parts,
        "constraints:\n"
        "  drive: {type: frame, axes: [rx, ry, rz], parent: {link: base}, child: {link: l4},"
        " reference: {type: sinusoid, amplitude: [0.1, 0.4, 0.2], frequency: 1.0}}\n",
    )


@cache
def pushed() -> ukd.Mechanism:
    """Joint forces: a spring, a stop, damping, and an expression with what functions there are."""
    return mechanism(
        link("base")
        + link("l1", inertia=1.0)
        + joint("j1", "base", "l1", axis="0 0.6 0.8", limits=(-0.5, 0.5)),
        "joints:\n"
        "  j1: {spring: {stiffness: 3.0, rest: 0.1}, stop: {stiffness: 500.0, damping: 5.0}}\n"
        "forces:\n  push:\n    type: expression\n    joints: {j1: 2.0}\n"
        "    expression: max(0.2, sin(t))*sign(d(j1)) + min(j1, t)*abs(j1) + atan2(j1, j1 - 0.2)"
        " + exp(-j1**2) + tanh(d(j1)) + sqrt(1 + j1**2) + cos(3*j1)\n",
    )


@cache
def in_clusters() -> ukd.Mechanism:
    """A linkage that is evaluated as large mechanisms are."""
    return clustered(shipped("slider_crank"))


@cache
def states(machine: ukd.Mechanism) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Assembled states, and disturbed ones among them: q (K, nq), v and τ (K, nv)."""
    chance = np.random.default_rng(11)
    nv, start, dynamics = machine.model.nv, machine.start().q, machine.dynamics("interpreted")
    q, v = [], []
    for k in range(MEMBERS):
        there = machine.model.integrate(start, 0.1 * chance.standard_normal(nv))
        speed = chance.standard_normal(nv)
        if k % 3:
            closed = dynamics.project(ukd.State(0.3, there, speed))
            there, speed = closed.q, closed.v
        q.append(there), v.append(speed)
    return np.array(q), np.array(v), chance.standard_normal((MEMBERS, nv))


@cache
def closed(machine: ukd.Mechanism) -> tuple[ukd.State, ...]:
    """Assembled states, moving, at the start of time."""
    q, v, _ = states(machine)
    dynamics = machine.dynamics("interpreted")
    return tuple(dynamics.project(ukd.State(0.0, *x)) for x in zip(q, 0.3 * v, strict=True))


# --- functions of lanes --------------------------------------------------------------------------

_LANES = Path(__file__).with_name("lanes_values.c")
_C = Path(compilation.__file__).with_name("c")


def lanes_program() -> Path:
    """A program that calls functions of lanes, in the directory of the cache."""
    compiler = find_compiler()
    assert compiler is not None
    made = Path(os.environ["XDG_CACHE_HOME"], "lanes_values")
    made.with_name("uk_lanes.h").touch()  # all of it is in lanes.c
    options = [*FLAGS, "-O3", *compiler.options, f"-I{_C}", f"-I{made.parent}"]
    command = [*compiler.command, *options, str(_LANES), "-lm", "-o", str(made)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompilationError(done.stderr.strip().splitlines()[-1])
    return made


def lanes(backend: Backend) -> list[np.ndarray]:
    """Functions of lanes, of numbers of either sign and all sizes."""
    chance = np.random.default_rng(4)
    x, y = chance.standard_normal((2, 64)) * 10.0 ** chance.uniform(-3, 3, 64)
    y[:8], x[8:16] = x[:8], -y[8:16]
    if backend == "compiled":
        given = "".join(f"{a!r} {b!r}\n" for a, b in zip(x.tolist(), y.tolist(), strict=True))
        made = Path(os.environ["XDG_CACHE_HOME"], "lanes_values")
        said = subprocess.run([made], input=given, capture_output=True, text=True, check=True)
        return [np.array(said.stdout.split(), dtype=float)]
    parts = [np.abs(x), np.sin(x), np.cos(x), np.arctan2(x, y), np.arctan(x), np.maximum(x, y)]
    return [np.concatenate([*parts, np.sqrt(np.abs(x)), y, np.exp(-np.abs(y))])]


# --- questions -----------------------------------------------------------------------------------


def one_state(machine: ukd.Mechanism, backend: Backend) -> Any:
    """Accelerations, forces, multipliers, ranks, one state after the other."""
    dynamics = machine.dynamics(backend)
    for q, v, tau in zip(*states(machine), strict=True):
        found = dynamics.evaluate(ukd.State(0.3, q, v), ukd.Inputs(tau))
        yield [found.qdd, found.constraint_force, found.multipliers, found.residual, found.rank]
        yield dynamics.acceleration(q, v, tau, 0.3)


def batch(machine: ukd.Mechanism, backend: Backend) -> Any:
    """The same side by side."""
    yield machine.dynamics(backend).evaluate_batch(*states(machine), t=0.3)


def rollout(machine: ukd.Mechanism, backend: Backend) -> Any:
    """Trajectories side by side."""
    _, _, tau = states(machine)
    q, v = (np.array([getattr(x, name) for x in closed(machine)]) for name in "qv")
    found = machine.dynamics(backend).rollout(q, v, tau, steps=5, dt=PERIOD)
    yield [found.q, found.v]


def derivatives(machine: ukd.Mechanism, backend: Backend) -> Any:
    """Derivatives of motion and projection, of one state and side by side."""
    made = MotionDerivatives(machine, backend)
    starts = closed(machine)
    q, v = (np.array([getattr(x, name) for x in starts]) for name in "qv")
    tau = states(machine)[2]
    for found in (made.batch(q, v, tau, forces=True), made.forces(q[0], v[0], tau[0])):
        # off the constraints those of redundant multipliers are free
        yield [found.acceleration.whole, found.force.whole]
    moved = ProjectionDerivatives(machine, backend).batch(q, v)
    yield [[x.value, x.whole] for x in moved.quantities.values()]
    yield moved.status


def _controller(
    machine: ukd.Mechanism, tasks: str, backend: Backend, limit: float = 0.2
) -> ukd.ServoController:
    made = ukd.Tasks.from_file(tasks, machine)
    controller = ukd.ServoController(machine, made, control_period=PERIOD, backend=backend)
    controller.limits.effort = controller.limits.effort * limit  # some motors reach 0.2
    return controller


def law(machine: ukd.Mechanism, tasks: str, backend: Backend) -> Any:
    """Efforts of the servo law."""
    for state in closed(machine):
        for limit in (0.2, 20.0):
            yield _controller(machine, tasks, backend, limit).command(state).efforts


def period(machine: ukd.Mechanism, tasks: str, backend: Backend) -> Any:
    """Closed loop: control periods and motion."""
    made = ukd.simulate(
        machine,
        closed(machine)[0],
        10 * PERIOD,
        controller=_controller(machine, tasks, backend),
        control_period=PERIOD,
        sample_period=PERIOD,
        backend=backend,
    )
    yield [made.q, made.v, made.efforts]


def held(machine: ukd.Mechanism, backend: Backend) -> Any:
    """Motion under hold and under gravity compensation, within limits and at them."""
    for law, limit in itertools.product((ukd.Hold, ukd.GravityCompensation), (0.02, 1.0)):
        for state in closed(machine)[::3]:
            made = law(machine, control_period=PERIOD, backend=backend)
            made.limits.effort = made.limits.effort * limit
            how = {"control_period": PERIOD, "sample_period": PERIOD, "backend": backend}
            found = ukd.simulate(machine, state, 2 * PERIOD, controller=made, **how)
            yield [found.q, found.v, found.efforts]


def loops(machine: ukd.Mechanism, tasks: str, backend: Backend) -> Any:
    """Closed loops side by side; one after the other without C."""
    starts = closed(machine)
    made = ukd.simulate_many(
        machine,
        starts,
        4 * PERIOD,
        controllers=[_controller(machine, tasks, backend) for _ in starts],
        control_period=PERIOD,
        sample_period=PERIOD,
        backend=backend,
        threads=1,
    )
    yield [[x.q, x.v, x.efforts] for x in made]


def efforts(machine: ukd.Mechanism, tasks: str, backend: Backend) -> Any:
    """Derivatives of the efforts."""
    made = ukd.ServoDerivatives(ukd.Tasks.from_file(tasks, machine), backend)
    q, v = (np.array([getattr(x, name) for x in closed(machine)]) for name in "qv")
    found = made.batch(q, v)
    own = found.efforts
    yield [own.value, own.q, own.v, own.t]


@cache
def questions() -> tuple[Question, ...]:
    """All of them."""
    made = [Question("functions of lanes", (), lanes, before=lanes_program)]

    def add(kind: str, tasks: str, ask: Any, *kinds: Library, tolerance: float = DIRECT) -> None:
        """A question about ``machine``, and about the law of tasks where the file is named."""
        subject = ukd.Tasks.from_file(tasks, machine) if tasks else machine
        extra = (tasks,) if tasks else ()
        made.append(
            Question(
                f"{kind}, {name}",
                tuple((machine if x is L.MOTION else subject, x) for x in kinds),
                lambda backend, machine=machine: list(numbers(list(ask(machine, *extra, backend)))),
                tolerance,
            )
        )

    laws = {"five_bar": "five_bar_sweep", "clusters": "slider_crank_sweep"}
    for name, machine in {
        "rotations": turning(),
        "joint forces": pushed(),
        "five_bar": shipped("five_bar"),
        "clusters": in_clusters(),
    }.items():
        add("state", "", one_state, L.STATE)
        add("batch", "", batch, L.BATCH)
        if tasks := laws.get(name):
            add("rollout", "", rollout, L.BATCH, tolerance=DERIVED)
            add("law", tasks, law, L.SERVO)
            add("period and motion", tasks, period, L.SERVO, L.MOTION, tolerance=DERIVED)
        if tasks and machine.local is None:
            add("closed loops", tasks, loops, L.CLOSED_LOOPS, tolerance=DERIVED)
            add("hold", "", held, L.STATE, L.JOINT_SPACE, tolerance=DERIVED)
            add("derivatives of efforts", tasks, efforts, L.EFFORTS, tolerance=DERIVED)
            kinds = L.DERIVATIVES, L.DERIVATIVE_BATCH, L.PROJECTION
            add("derivatives", "", derivatives, *kinds, tolerance=DERIVED)
    return tuple(made)
