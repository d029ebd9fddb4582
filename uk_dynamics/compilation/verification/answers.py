# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What each library offers, and how the reference answers the same."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from uk_dynamics.compilation.verification.comparison import (
    Answers,
    AnswersOfMany,
    Comparison,
    Trial,
    compare,
    trials,
)
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.contact import ContactStepping
from uk_dynamics.mechanism.dynamics import (
    Demand,
    Dynamics,
    Instants,
    InterpretedDynamics,
    Motion,
    MotionSegment,
    ServoEvaluator,
)
from uk_dynamics.mechanism.resolution import (
    Array,
    BatchSolution,
    Inputs,
    Plan,
    ResolvedMechanism,
    Rollout,
    State,
    States,
)

Found = Mapping[str, Array] | None
_STEP = 1e-3  # s
_DIFFERENTIATED = 2  # states: in Python, one takes up to 70 ms
_ROLLED = 2  # trajectories: each costs the reference as much as some ten evaluations


def each(answer: Callable[[Trial], Found]) -> Callable[[Sequence[Trial]], list[Found]]:
    """Answers at many states, one after the other."""
    return lambda given: [answer(trial) for trial in given]


def state_answers(
    mechanism: ResolvedMechanism,  # what is evaluated
    reference: Dynamics,  # the interpreted evaluator
    # of C: arrays by ``evaluate``, ``forces``, ``acceleration``
    evaluate: Callable[[State, Inputs], Found],
) -> Iterator[Comparison]:
    """Compare acceleration and forces of single states."""

    def expected(trial: Trial) -> Found:
        state, tau = trial
        solution = reference.evaluate(state, Inputs(tau=tau))
        force = solution.constraint_force
        return {"evaluate": solution.qdd, "forces": force, "acceleration": solution.qdd}

    def compiled(trial: Trial) -> Found:
        return evaluate(trial.state, Inputs(tau=trial.tau))

    yield from compare(mechanism, expected, each(compiled), trials(mechanism, reference))


def motion_answers(
    mechanism: ResolvedMechanism,  # what moves
    reference: Dynamics,  # the interpreted evaluator
    motion: Motion,  # in C
    # of C: positions and velocities; None: it finds none
    project: Callable[[State], tuple[Array, Array] | None],
) -> Iterator[Comparison]:
    """Compare the projection of a state, and steps of both methods."""
    given = trials(mechanism, reference)
    motors = np.zeros(len(mechanism.actuators))
    free = Inputs(stabilize=False)  # as simulations move: steps end on the constraints

    def expected(trial: Trial) -> Found:
        projected = reference.project(trial.state)
        return {"projection": projected.q, "projected velocity": projected.v}

    def compiled(trial: Trial) -> Found:
        motion.act(free, motors, trial.tau)  # what is switched on when a motion begins
        found = project(trial.state)
        return None if found is None else {"projection": found[0], "projected velocity": found[1]}

    yield from compare(mechanism, expected, each(compiled), given)
    # contacts refuse steps that pass them over
    for method in () if mechanism.one_sided else ("rk4", "semi_implicit_euler"):
        name = f"a step of {method}"

        def stepped(trial: Trial, method: str = method, name: str = name) -> Found:
            return {name: rolled(reference, trial, method)}

        def moved(trial: Trial, method: str = method, name: str = name) -> Found:
            start = reference.project(trial.state)
            motion.act(free, motors, trial.tau)
            given = start, Instants.alone((start.t, start.t + _STEP))
            end = motion.move(*given, step=_STEP, method=method)
            if end.phase != "done":
                return None
            return {name: np.concatenate([end.state.q, end.state.v])}

        yield from compare(mechanism, stepped, each(moved), given[:2])
    if mechanism.one_sided:
        yield from _contact_answers(mechanism, reference, motion, given)


def _contact_answers(
    mechanism: ResolvedMechanism, reference: Dynamics, motion: Motion, given: Sequence[Trial]
) -> Iterator[Comparison]:
    """Compare a step over contacts, all open before it."""
    # Several contacts with friction may have several motions. So both begin with impulses that C
    # has found: near them they find the same motion, from none perhaps another one.
    stepping, name = ContactStepping(mechanism), "a step over contacts"
    active = stepping.without(mechanism.hierarchy.initial)
    smooth = Inputs(active=active, stabilize=False)
    is_open = np.zeros(len(stepping.names), dtype=np.int64)

    def inside(state: State) -> frozenset[str]:
        deep = stepping.places(state).gap < -stepping.tables.close
        return frozenset(np.array(stepping.names, dtype=object)[deep].tolist())

    def begun(trial: Trial) -> State:
        # Out of all surfaces, as every motion begins: from deep inside, the end of a step would be
        # sought so far away that rounding decides where Newton's steps arrive, and whether.
        start = out = reference.project(trial.state, smooth)
        held = active
        while deep := inside(out) - held.names:
            held = replace(held, names=held.names | deep)
            out = reference.project(out, replace(smooth, active=held))
        return reference.project(replace(out, v=start.v), smooth)

    def expected(trial: Trial) -> Found:
        stepping.forget()
        in_c(trial)
        end, _ = stepping.step(begun(trial), _STEP, reference, replace(smooth, tau=trial.tau))
        return {name: np.concatenate([end.q, end.v])}

    def in_c(trial: Trial) -> MotionSegment:
        start = begun(trial)
        motion.act(smooth, np.zeros(len(mechanism.actuators)), trial.tau)
        given = start, Instants.alone((start.t, start.t + _STEP))
        return motion.move(*given, step=_STEP, method="moreau", over=(stepping.tables, is_open))

    def compiled(trial: Trial) -> Found:
        stepping.forget()
        in_c(trial)
        found = in_c(trial)
        solved = found.phase == "done"  # what C does not solve is left to Python
        return {name: np.concatenate([found.state.q, found.state.v])} if solved else None

    yield from compare(mechanism, expected, each(compiled), given)


def rolled(reference: Dynamics, trial: Trial, method: str, dt: float = _STEP) -> Array:
    """Positions and velocities after one step; NaN: there is none."""
    state, tau = trial
    wanted = {"steps": 1, "dt": dt, "method": method, "t": state.t}
    end = reference.rollout(state.q[None], state.v[None], tau[None], **wanted)  # type: ignore[arg-type]
    return np.concatenate([end.q[0, -1], end.v[0, -1]])


def batch_answers(
    mechanism: ResolvedMechanism,  # what is evaluated
    reference: Dynamics,  # the interpreted evaluator
    width: int,  # states per vector
    # of C: states, inputs, and whether forces are wanted
    evaluate: Callable[[States, Inputs, bool], BatchSolution],
    roll: Callable[[Plan, Inputs], Rollout] | None,  # of C; None: it moves nothing
) -> Iterator[Comparison]:
    """Compare accelerations, forces and steps in every lane."""

    def expected(trial: Trial) -> Found:
        solution = reference.evaluate(trial.state, Inputs(tau=trial.tau))
        qdd = solution.qdd
        return {"batch": qdd, "batch with forces": qdd, "forces": solution.constraint_force}

    def compiled(given: Sequence[Trial]) -> list[Found]:
        states = states_of(given)
        alone, whole = evaluate(states, Inputs(), False), evaluate(states, Inputs(), True)
        forces = whole.constraint_force
        assert forces is not None
        return [
            {"batch": alone.qdd[k], "batch with forces": whole.qdd[k], "forces": forces[k]}
            if np.isfinite(alone.qdd[k]).all()
            else None
            for k in range(len(given))
        ]

    given = trials(mechanism, reference)
    copies = max(1, -(-2 * width // max(len(given), 1)))  # so that every lane has two states
    yield from compare(mechanism, expected, compiled, given, copies)
    if roll is None:
        return

    def stepped(trial: Trial) -> Found:
        return {"rollout": rolled(reference, trial, "rk4")}

    def in_lanes(given: Sequence[Trial]) -> list[Found]:
        found: list[Found] = [None] * len(given)
        for first in range(_ROLLED):  # instants are common to all lanes
            lanes = range(first, len(given), _ROLLED)
            states = states_of([given[k] for k in lanes])
            tau = np.array([[given[first].tau]])
            start = given[first].state.t
            end = roll(Plan(states.q, states.v, tau, 1, _STEP, 1, "rk4", True, start), Inputs())
            for lane, k in enumerate(lanes):
                if lane not in end.stopped:
                    found[k] = {"rollout": np.concatenate([end.q[lane, -1], end.v[lane, -1]])}
        return found

    yield from compare(mechanism, stepped, in_lanes, given[:_ROLLED], width)


def states_of(given: Sequence[Trial]) -> States:
    """States of some trials as arrays."""
    state = [trial.state for trial in given]
    times, q, v = ([getattr(one, name) for one in state] for name in ("t", "q", "v"))
    tau = np.array([trial.tau for trial in given])
    return States(np.array(times), np.array(q), np.array(v), tau)


def servo_answers(
    tasks: Tasks,  # what the law serves
    reference: Dynamics,  # the interpreted evaluator of their mechanism
    interpreted: ServoEvaluator,  # the law in Python
    compiled: ServoEvaluator,  # the same in C
) -> Iterator[Comparison]:
    """Compare errors of tasks, efforts of the law, and efforts within limits."""
    weights = tasks.allocation.weights

    def answer(law: ServoEvaluator) -> Callable[[Trial], Found]:
        def answered(trial: Trial) -> Found:
            state = trial.state
            errors = law.errors(state)
            demand = Demand(
                -40.0 * errors.rate - 400.0 * errors.residual, None, weights, None, Inputs()
            )
            outcome = law.evaluate(state, demand)
            efforts = outcome.servo.efforts
            half = 0.5 * np.abs(efforts) + 1e-3
            limited, _ = law.allocate(outcome.servo, demand, -half, half)
            return {
                "errors of tasks": np.concatenate([errors.residual, errors.rate]),
                "efforts": efforts,
                "acceleration without motors": outcome.qdd,
                "shortfall of tasks": outcome.servo.residual,
                "efforts within limits": limited,
            }

        return answered

    given = trials(tasks.mechanism, reference)
    yield from compare(tasks.mechanism, answer(interpreted), each(answer(compiled)), given)


def derivative_answers(
    mechanism: ResolvedMechanism,  # what is differentiated
    expected: Answers,  # derivatives in Python at one state
    compiled: AnswersOfMany,  # the same in C at many states
    width: int = 1,  # states per vector
) -> Iterator[Comparison]:
    """Compare derivatives at assembled states, where they exist."""
    given = trials(mechanism, InterpretedDynamics(mechanism))[:_DIFFERENTIATED]
    yield from compare(mechanism, expected, compiled, given, width)
