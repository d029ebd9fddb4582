# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a robust law promises: bounds of errors, found beforehand along the references."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from uk_dynamics.control.estimation import StateCompletion, allowed_motions
from uk_dynamics.control.servo.interpreted_servo import InterpretedServo
from uk_dynamics.control.servo.robust_servo import Nominal, disturbance
from uk_dynamics.control.servo.row_bounds import Effects, RowLoop, row_bounds
from uk_dynamics.core.servo import (
    LEAST_AUTHORITY,
    MARGIN,
    OPEN,
    SLOWER,
    Known,
    Loop,
    highest_gain,
    robust_term,
    surface_rates,
    ultimate_size,
)
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.assembly import (
    assemble_on_tasks,
    closed_configuration,
    consistent_velocity,
)
from uk_dynamics.mechanism.dynamics import Demand
from uk_dynamics.mechanism.resolution import Array, Flags, Inputs, State
from uk_dynamics.mechanism_class import Mechanism

_SPAN, _SAMPLES = 10.0, 58  # s of the references, and instants at which they are looked at
_MORE_INERTIA = 1.1  # of η along the references: the machine is beside them
_CONTINUOUS = 10.0  # of the frequency of the feedback: bandwidth where nothing is delayed
_MOST_INERTIA = 0.95  # of η₋: with nearly no inertia left, any force accelerates at will
_LEAST_BOUND = 1e-12  # √kg m/s²
_MOVING = 1.0  # rad/s or m/s, at which friction has its full size
_LEAST_APART = 1e-9  # s, of differences of encoders, where there is no control period
_LARGEST_LOOP = 0.9  # part of ρ that the errors' own feedback may take


@dataclass(frozen=True)
class Promise:
    """Bounds that hold from when the errors are within them, and what they rest on."""

    # of each task row, (mt,), in m or rad, of rows of velocities per s; infinite where nothing is
    # promised
    error: Array
    adapting: Array  # the same while estimates are used, which may be wrong at first
    known: Known  # what the law knows of the uncertainty
    bound: float  # ρ, largest along the references, in √kg m/s²
    authority: float  # α, smallest
    delay: float  # τ of the loop, in s
    parts: dict[str, float] = field(default_factory=dict)  # of ρ by uncertainty, at most
    failing: tuple[str, ...] = ()  # why nothing is promised, a sentence each
    # motors whose limits are too small for the nominal efforts with the robust term, by name: what
    # they need, in units of the limit
    overloaded: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0  # of the references that were looked at

    def to_dict(self, rows: tuple[str, ...]) -> dict[str, Any]:
        """As plain values by names, ready for JSON."""
        errors, wider = (
            [x if math.isfinite(x) else None for x in bound.tolist()]
            for bound in (self.error, self.adapting)
        )
        return {
            "error": dict(zip(rows, errors, strict=True)),
            "error_adapting": dict(zip(rows, wider, strict=True)),
            "bandwidth": float(self.known.gain[0]) / math.tau,
            "authority": self.authority,
            "delay": self.delay,
            "parts": self.parts,
            "failing": list(self.failing),
            "overloaded": self.overloaded,
            "seconds": self.seconds,
        }


def known_of(tasks: Tasks, control_period: float | None = None) -> Known | None:
    """What a robust law of some tasks knows, with its control period in s; None: it is none."""
    return None if tasks.uncertainty is None else promise(tasks, control_period).known


class _Sample(NamedTuple):
    """The machine on its references at one instant."""

    t: float
    squares: Array  # |w|² of all directions
    inertia: tuple[float, float]  # η₋ and η₊
    sizes: Array  # of the worst s of size one, as of :func:`robust_term`, (3, 1)
    reach: Array  # |T_r| of each row, (mt,)
    served: Flags  # whether motors serve each row, (mt,)
    efforts: Array  # of the model, (motors,)
    per_size: Array  # most effort per size of r, (motors,)
    effects: Effects
    independent: int  # task rows
    partly: bool  # whether the tasks leave some motions open


_found: WeakKeyDictionary[Tasks, dict[float | None, Promise]] = WeakKeyDictionary()


def promise(tasks: Tasks, control_period: float | None = None) -> Promise:
    """What uncertain tasks promise; looked for once, since it takes about a second.

    The control period is in s; None: control is continuous.
    """
    known = _found.setdefault(tasks, {})
    if control_period not in known:
        known[control_period] = _promise(tasks, control_period)
    return known[control_period]


def _promise(tasks: Tasks, control_period: float | None) -> Promise:
    """Look along the references for what uncertainty does, and what is left of it."""
    assert tasks.uncertainty is not None
    uncertainty, constraints = tasks.uncertainty, tasks.constraints
    spec, surface = uncertainty.spec, uncertainty.spec.form == "surface"
    k, b = surface_rates(constraints.damping, constraints.stiffness)
    delay, rate = spec.delay + 0.5 * (control_period or 0.0), float(b.max())
    gain = _CONTINUOUS * rate
    if delay:
        gain = float(highest_gain(np.array([delay]), np.array([rate]))[0])
    if spec.bandwidth is not None:
        gain = math.tau * spec.bandwidth
    sees, lag, apart = spec.encoders, 0.0, np.inf
    if sees is not None:
        apart = sees.filter or _LEAST_APART
        if control_period is not None:
            share = -math.expm1(-control_period / sees.filter) if sees.filter else 1.0
            apart, lag = control_period / share, control_period * (1.0 / share - 0.5)
    samples = list(_samples(tasks, lag))
    less, more = (_MORE_INERTIA * max(x.inertia[side] for x in samples) for side in (0, 1))
    stretch = (1.0 + more) / (1.0 - min(less, _MOST_INERTIA))  # c²
    partly = any(x.partly for x in samples)
    known = Known.of(gain, math.sqrt(stretch - 1.0) if partly else 0.0, surface=surface)
    terms = [robust_term(x.squares, uncertainty.groups, x.sizes, known) for x in samples]
    bound = max(float(x.bound[0]) for x in terms)
    if uncertainty.adaptive:
        learning = SLOWER * rate * (rate + gain) / max(bound, _LEAST_BOUND) ** 2
        known = known._replace(learning=np.array([learning]))
    # estimates may be as wrong as the model: at the other ends of the intervals
    estimated = np.isin(np.arange(len(uncertainty.directions)), uncertainty.adaptive)
    wrong = (np.where(estimated, 4.0, 1.0) * x.squares for x in samples)
    doubled = max(
        float(robust_term(squares, uncertainty.groups, x.sizes, known).bound[0])
        for x, squares in zip(samples, wrong, strict=True)
    ) / max(bound, _LEAST_BOUND)
    authority = min(float(x.authority[0]) for x in terms)
    served = np.logical_and.reduce([x.served for x in samples])
    failing = [
        f"motors do not serve {name}, which may be off by any amount"
        for name, serves in zip(tasks.row_names, served, strict=True)
        if not serves
    ]
    independent = min(x.independent for x in samples)
    if independent < len(k):
        verb = "is" if independent == 1 else "are"
        failing.append(
            f"{independent} of {len(k)} task rows {verb} independent; remove what the others say"
        )
    if spec.leakage is not None:
        failing.append("how large all of it is, is learned; errors stay bounded, and grow with it")
    if less >= _MOST_INERTIA:
        failing.append(
            f"the inertia may be smaller by {less:.0%}; narrow the intervals of masses, or begin"
            " with a model nearer to their lower ends"
        )
    elif authority <= LEAST_AUTHORITY:
        failing.append(
            f"the robust term keeps {authority:.2f} of its effect; narrow the intervals of masses"
            f" and motor constants{', or take distribution: gauss' if partly else ''}"
        )
    if gain <= 0.0 or delay * rate >= 1.0:
        failing.append(f"a delay of {1e3 * delay:.3g} ms leaves no bandwidth; lower the frequency")
    if sees is not None and (surface or control_period is None):
        failing.append("bounds know encoders with a control period and form: layer alone")
    error = wider = np.full(len(k), np.inf)
    pushes = [bound * x.per_size for x in samples]  # efforts of the term
    if not failing:
        loop = Loop(np.array([gain]), delay, np.array([rate]))
        size = float(ultimate_size(np.ones(1), loop, less, more, surface=surface)[0])
        # −k ė is feedback of the model: uncertain inertia makes a disturbance of it, up to 2 k |s|
        share = MARGIN * math.sqrt(stretch if partly else 1.0) / authority
        own = share * max(less, more) * 2.0 * float(k.max()) * size
        if own <= _LARGEST_LOOP and not tasks.watched.any() and sees is None:
            bound /= 1.0 - own
            reach = np.max([x.reach for x in samples], axis=0)
            error = bound * size * reach / np.where(k > 0.0, k, 1.0)
            wider = doubled * error
        if not surface:
            effects = [x.effects for x in samples]
            linear = RowLoop(gain, delay, k, b, tasks.watched, lag, apart)
            rows = every = row_bounds(uncertainty, effects, linear)
            if uncertainty.adaptive:
                every = row_bounds(uncertainty, effects, linear, estimated=np.inf)
            error, wider = np.minimum(error, rows.error), np.minimum(wider, every.error)
            least = gain * every.size
            if uncertainty.gain_falls is not None:  # where estimates are known
                low = uncertainty.gain_falls[1][0]
                calm = linear._replace(gain=low)
                settled = row_bounds(uncertainty, effects, calm, estimated=OPEN)
                wider, least = np.maximum(wider, settled.error), max(least, low * settled.size)
            if np.isfinite(least):
                known = known._replace(least=np.array([least]))
                bound = max(bound, least)
                pushes = [gain * np.abs(x.effects.asked) @ every.surface for x in samples]
        if np.isinf(error).any() and tasks.watched.any():
            failing.append("the velocity observer is too slow or too fast for this delay and form")
        elif np.isinf(error).any() and sees is not None:
            failing.append("velocities of encoders come too late for this bandwidth; lower it")
        elif np.isinf(error).any():
            failing.append(
                f"uncertain inertia makes {own:.0%} of what it meets from the tasks' own feedback;"
                " narrow the intervals of masses, or give the tasks a lower frequency"
            )
    if spec.leakage is not None and control_period is not None:
        learning = spec.leakage * (rate + gain) / max(bound, _LEAST_BOUND) ** 2
        known = known._replace(size_learning=np.array([learning]), scale=np.zeros(1))
    limits = tasks.mechanism.actuators.effort_limits
    both = [np.abs(x.efforts) + push for x, push in zip(samples, pushes, strict=True)]
    needed = np.max(both, axis=0) / limits
    norms = np.sqrt(np.max([x.squares for x in samples], axis=0))
    sums = [float(np.linalg.norm(norms[list(group)])) for group in uncertainty.groups]
    return Promise(
        error=error / constraints.reference_scale,
        adapting=wider / constraints.reference_scale,
        known=known,
        bound=bound,
        authority=authority,
        delay=delay,
        parts={n: x / (sum(sums) or 1.0) for n, x in zip(uncertainty.names, sums, strict=True)},
        failing=tuple(failing),
        overloaded={
            name: float(x)
            for name, x in zip(tasks.mechanism.actuators.names, needed, strict=True)
            if x > 1.0
        },
        seconds=samples[-1].t,
    )


def _samples(tasks: Tasks, lag: float) -> Iterator[_Sample]:
    """The machine on its references while in reach; AssemblyError: not even at the beginning."""
    mechanism, servo = tasks.mechanism, InterpretedServo(tasks)
    q = mechanism.configuration({})
    robust, encoders = tasks.spec.robust, None
    if robust is not None and robust.encoders is not None:
        assert isinstance(mechanism, Mechanism)
        encoders = StateCompletion(mechanism)
    for t in np.linspace(0.0, _SPAN, _SAMPLES).tolist():
        try:
            found = assemble_on_tasks(mechanism, tasks, q, (), t)
            q = closed_configuration(mechanism, found, tasks, t)
            v = consistent_velocity(mechanism, t, q, np.zeros(mechanism.model.nv), (), tasks)
        except UkDynamicsError:
            if t == 0.0:
                raise
            return
        yield _look(tasks, servo, State(t, q, v), (encoders, lag))


def _look(
    tasks: Tasks,
    servo: InterpretedServo,
    state: State,
    measured: tuple[StateCompletion | None, float],  # by what, and how late velocities are, in s
) -> _Sample:
    uncertainty, S = tasks.uncertainty, tasks.mechanism.actuators.matrix
    assert uncertainty is not None
    rows, allocation = len(tasks.constraints), tasks.allocation
    demand = Demand(np.zeros(rows), None, allocation.weights, allocation.preload, Inputs())
    nominal = servo.nominal(state, demand)
    factorization = nominal.prepared.factorization
    found, there = disturbance(tasks, nominal), nominal.prepared.workspace
    inertias = uncertainty.inertias(tasks.model, there, found.X)
    # a joint that the references leave at rest moves a little, and rubs
    moving = np.where(state.v < 0.0, -1.0, 1.0) * np.maximum(np.abs(state.v), _MOVING)
    U = uncertainty.rows(tasks.model, there, state.t, state.q, moving)
    rubbing = factorization.admissible_coordinates(U.T)[0] @ found.shares.T
    W = np.where(uncertainty.rubbing, rubbing, found.X @ found.shares.T)
    T = factorization.admissible_coordinates(nominal.A_t.T)[0].T
    motor = factorization.admissible_coordinates(S)[0]
    own = nominal.servo.efforts
    G = np.stack([nominal.law(nominal.b_t + unit).efforts - own for unit in np.eye(rows)], axis=1)
    spread = G @ T  # efforts per size of r in the metric of the tasks
    per_size = np.linalg.norm(spread, axis=1)
    parts = uncertainty.motor_losses().items()
    lost = sum(part * per_size[m] * np.linalg.norm(motor[:, m]) for m, part in parts)
    moved = np.linalg.norm(motor @ spread, 2) ** 2 if T.size else 1.0
    sizes = np.array([[1.0], [max(moved, 1.0)], [lost]])
    reach = np.linalg.norm(T, axis=1)
    controllable, rank = nominal.servo.controllable, nominal.servo.task_rank
    return _Sample(
        t=state.t,
        squares=np.einsum("np,np->p", W, W),
        inertia=uncertainty.inertia(inertias),
        sizes=sizes,
        reach=reach,
        served=controllable,
        efforts=own,
        per_size=per_size,
        effects=Effects(T, motor @ G, W, inertias, motor, G, _seen(tasks, nominal, *measured)),
        independent=rank,
        partly=rank < T.shape[1],
    )


def _seen(tasks: Tasks, nominal: Nominal, encoders: StateCompletion | None, lag: float) -> Array:
    """What encoders make of the errors of rows, as :class:`Effects` has it, (2, mt)."""
    robust = tasks.spec.robust
    if encoders is None or robust is None or robust.encoders is None:
        return np.zeros((2, len(nominal.A_t)))
    rows, _ = encoders.rows.linearize(nominal.state.q, nominal.state.t)
    basis = allowed_motions(rows, encoders.mechanism)
    columns = encoders.encoders.columns
    E = nominal.A_t @ basis @ np.linalg.pinv(basis[columns])
    forces = tasks.mechanism.actuators.matrix @ nominal.servo.efforts
    qdd = nominal.free + nominal.prepared.factorization.admissible(forces)
    n = robust.encoders.largest * np.abs(E).sum(axis=1)
    return np.stack((n, lag * np.abs(E @ qdd[columns])))
