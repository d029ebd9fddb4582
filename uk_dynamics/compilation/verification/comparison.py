# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""States at which libraries are tried, and how far answers of C may be from the reference's."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism.dynamics import Dynamics
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism, State

# How far loops are open, in rad or m: states on the constraints, near them, and one where stops and
# other forces act that a guess does not reach.
_APART = (0.0, 0.0, 0.0, 0.05, 0.05, 0.7)
_NEAR = 1e-12  # relative change of an input that rounding may amount to


class Trial(NamedTuple):
    """Inputs of an evaluation."""

    state: State
    tau: Array  # (nv,), in N or N·m

    def nearby(self, mechanism: ResolvedMechanism) -> "Trial":
        """Inputs that differ by about as much as rounding does in the course of an evaluation."""
        t, q, v = self.state.t, self.state.q, self.state.v
        rng = np.random.default_rng(1)
        step = _NEAR * (1.0 + np.abs(v)) * rng.uniform(-1.0, 1.0, len(v))
        moved = mechanism.model.integrate(q, step)
        return Trial(State(t, moved, v + step), self.tau * (1.0 + _NEAR))


def trials(mechanism: ResolvedMechanism, reference: Dynamics) -> list[Trial]:
    """Give the same states every time: assembled by the reference and moving, then open loops."""
    model = mechanism.model
    rng = np.random.default_rng(20)
    found = []
    for k, apart in enumerate(_APART):
        t = 0.37 * k
        # assembled from near the guess, where the mechanism is known to close
        step = rng.uniform(-1.0, 1.0, model.nv)
        v, tau = rng.standard_normal((2, model.nv))
        state = State(t, model.integrate(mechanism.initial_guess, 0.02 * k * step), v)
        try:
            state = reference.project(state)
        except UkDynamicsError:
            if not apart:
                continue
        q = model.integrate(state.q, apart * step)
        found.append(Trial(State(t, q, state.v + apart * v), tau))
    return found


# Both evaluators agree to about 1e-12 of the largest number; sine wrong by 1e-6 shows as 1e-6.
_WITHIN = 1e-9
# Where the reference itself changes by more when its inputs change as by rounding, so may C. Its
# sums have another order: tens of roundings, not one.
_AMPLIFIED = 10.0

#: Arrays by the name of the function that gives them, or None: it has no answer at that state.
Answers = Callable[[Trial], Mapping[str, Array] | None]
#: The same at many states.
AnswersOfMany = Callable[[Sequence[Trial]], Sequence[Mapping[str, Array] | None]]


@dataclass(frozen=True)
class Comparison:
    """An answer of C and one of the reference."""

    function: str  # what was asked for
    found: Array  # of C
    wanted: Array  # of the reference, of the same shape
    allowed: float  # largest difference that rounding explains

    @property
    def difference(self) -> float:
        """Largest difference; infinite where one of both is no number."""
        with np.errstate(invalid="ignore"):
            apart = np.abs(np.asarray(self.found, dtype=float) - self.wanted)
        return float(np.where(np.isfinite(apart), apart, np.inf).max(initial=0.0))

    @property
    def problem(self) -> str:
        """What differs, in words; empty: nothing does."""
        if self.difference <= self.allowed:
            return ""
        size = np.abs(self.wanted).max(initial=0.0)
        return f"{self.function} is off by {self.difference:.2g}, of {size:.3g}"


def compare(
    mechanism: ResolvedMechanism,  # what is evaluated
    reference: Answers,  # answers at one state
    compiled: AnswersOfMany,  # answers of C at many
    given: Sequence[Trial],  # states
    copies: int = 1,  # how often C answers at each, in turn; so that every lane has its share
) -> Iterator[Comparison]:
    """Compare all answers that both have."""
    asked = []  # where the reference has an answer, also when inputs change as by rounding
    for trial in given:
        expected, near = answered(reference, trial), answered(reference, trial.nearby(mechanism))
        if expected is not None and near is not None:
            asked.append((trial, expected, near))
    if not asked:
        return
    # the least favourable of all states, since rows of a lane share one call
    found = compiled([trial for _ in range(copies) for trial, _, _ in asked])
    for answers, (_, expected, near) in zip(found, asked * copies, strict=True):
        for function, value in (answers or {}).items():
            wanted = expected[function]
            yield Comparison(function, value, wanted, allowed(wanted, near[function]))


def allowed(
    expected: Array,  # of the reference
    near: Array,  # the same, at inputs that differ by rounding
) -> float:
    """Tell how far an answer of C may be from that of the reference."""
    change = float(np.abs(near - expected).max(initial=0.0))
    return _WITHIN * (1.0 + float(np.abs(expected).max(initial=0.0))) + _AMPLIFIED * change


def answered(reference: Answers, trial: Trial) -> Mapping[str, Array] | None:
    """Answers that are numbers; None: the reference has none there."""
    try:
        found = reference(trial)
    except UkDynamicsError:
        return None
    if found is None or not all(np.isfinite(value).all() for value in found.values()):
        return None
    return found
