# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Many states and trajectories of one mechanism, one after the other."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from uk_dynamics.core.equation import Solution, Status, results
from uk_dynamics.exceptions import InputError, SimulationError, UkDynamicsError
from uk_dynamics.mechanism.dynamics.arguments import METHODS
from uk_dynamics.mechanism.dynamics.dynamics import Dynamics
from uk_dynamics.mechanism.dynamics.state_projection import project_step
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import (
    Array,
    BatchSolution,
    Inputs,
    Plan,
    Rollout,
    Samples,
    State,
    States,
    Stopped,
)

#: What the numbers in :attr:`BatchSolution.status` mean.
STATUSES = tuple(Status)
#: Why a trajectory stops whose numbers overflow.
INFINITE = "the motion has become infinite; take smaller steps"


def evaluate_each(
    dynamics: Dynamics, given: States, inputs: Inputs, *, forces: bool
) -> BatchSolution:
    """One state after the other."""
    count = len(given.q)
    batch = empty(count, given.v.shape[1], dynamics.rows, forces=forces)
    for k in range(count):
        put(batch, k, dynamics.evaluate(*given.at(k, inputs)))
    return batch


def empty(count: int, nv: int, rows: int, *, forces: bool) -> BatchSolution:
    """A batch to be filled."""
    shapes: dict[str, tuple[int, ...]] = {"1": (count,), "NV": (count, nv), "M": (count, rows)}
    wanted = results(always=None if forces else True)
    return BatchSolution(**{x.name: np.zeros(shapes[x.size], x.kind) for x in wanted})


def put(batch: BatchSolution, k: int, solution: Solution) -> None:
    """Write a single solution into a batch as number k."""
    for name, array in vars(batch).items():
        if array is not None:
            found = getattr(solution, name)
            array[k] = STATUSES.index(found) if isinstance(found, Status) else found


def sample_each(dynamics: Dynamics, given: States, inputs: Inputs) -> Samples:
    """One state after the other; arguments as of :meth:`Dynamics.samples`."""
    places = [given.at(k, inputs) for k in range(len(given.q))]
    solutions = [dynamics.evaluate(*place) for place in places]
    residuals = [dynamics.residual(*place) for place in places]
    shape = (len(places), dynamics.rows)
    return Samples(
        np.array([solution.qdd for solution in solutions]),
        np.array([solution.rank for solution in solutions], dtype=np.intp),
        np.array([solution.joint_multipliers for solution in solutions]).reshape(shape),
        np.array([residual.position for residual in residuals]).reshape(shape),
        np.array([residual.velocity for residual in residuals]).reshape(shape),
        [solution.status for solution in solutions],
        solutions.__getitem__,
    )


def goes_over_contacts(mechanism: ResolvedMechanism, given: Plan) -> bool:
    """Whether the steps of a rollout go over contacts, stops and ropes, as the method does."""
    over = given.method == "moreau"
    if over == bool(mechanism.one_sided):
        return over
    if over:
        problem = "moreau is for contacts, stops and ropes, of which there are none; take rk4"
        raise InputError(problem, place="method")
    raise InputError(
        f'{given.method} does not know contacts, stops and ropes; take method="moreau"',
        place=mechanism.one_sided[0].name,
    )


def roll_each(
    given: Plan,
    walk: Callable[[int], Iterator[State]],  # states of a trajectory before and after every step
    into: Rollout,  # where samples go
    which: Iterable[int],  # the trajectories
) -> Rollout:
    """One trajectory after the other."""
    for k in which:
        states = walk(k)
        for step in range(given.steps + 1):
            t = given.t + step * given.dt
            try:
                state = next(states)
            except UkDynamicsError as error:
                into.stopped[k] = Stopped(t, str(error))
                break
            if step % given.every == 0:
                sample = k, step // given.every
                into.q[sample], into.v[sample] = state.q, state.v
    return into


def roll_smoothly(
    mechanism: ResolvedMechanism, dynamics: Dynamics, given: Plan, inputs: Inputs
) -> Rollout:
    """One trajectory after the other, without contacts."""
    walk = partial(_walk, mechanism, dynamics, given, inputs)
    return roll_each(given, walk, Rollout.unknown(given), range(len(given.q)))


def _walk(
    mechanism: ResolvedMechanism, dynamics: Dynamics, given: Plan, inputs: Inputs, k: int
) -> Iterator[State]:
    """The states of trajectory k after every step."""
    one_step = METHODS[given.method].step

    def settled(step: int, q: Array, v: Array, start: State | None = None) -> State:
        t = given.t + step * given.dt
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            raise SimulationError(INFINITE, t)
        state = State(t, q, v)
        if not given.project:
            return state
        if start is None:
            return dynamics.project(state, inputs)
        return project_step(mechanism, dynamics, start, state, inputs)

    state = settled(0, given.q[k], given.v[k])
    yield state
    for step in range(given.steps):
        acting = replace(inputs, tau=given.tau_at(k, step), stabilize=not given.project)

        def acceleration(t: float, q: Array, v: Array, acting: Inputs = acting) -> Array:
            return dynamics.evaluate(State(t, q, v), acting).qdd

        q, v = one_step(dynamics.model, acceleration, state.t, state.q, state.v, given.dt)
        state = settled(step + 1, q, v, state)
        yield state
