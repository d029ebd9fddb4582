# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A motion that tells parameters: Fourier series of independent joints, within the limits."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from uk_dynamics.control.estimation import IndependentJoints, StateCompletion, allowed_motions
from uk_dynamics.exceptions import InputError
from uk_dynamics.identification.identifiability import identifiability, random_motions
from uk_dynamics.identification.regressor import (
    UNSTABILIZED,
    Motions,
    Regressor,
    bound_acceleration,
    driving_efforts,
    rms,
)
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism

EVALUATIONS = 200  # of the bound, unless told otherwise
_HARMONICS = 5
_SAMPLES = 40
_ROOM, _EFFORT = 0.9, 0.75  # of limits that are used; what is to be found adds to efforts
_REACH, _FARTHEST = 0.4, 1.2  # m or rad: first amplitude; largest of joints without limits
_VARIETY, _CENTERS = 0.3, 0.6  # of the logarithm of amplitudes; of centers without limits
_SHARES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.17, 0.12)  # of the amplitude, until a guess can be driven
_STEEP = 1e3  # of what is beyond the limits, in the cost
_SHORTEST_PERIOD = 1e-6  # s; its inverse is the longest
_STEP, _SHORTEST = 0.6, 0.05  # of the search, in deviations of its first guesses
_TOGETHER = 0.3  # of the unknowns, in a step
_NOISE = 0.01  # of each motor's effort, root mean square
_NOTHING = 1e-9  # of the best told combination: what a motion does not tell at all


@dataclass(frozen=True)
class Excitation:
    """A periodic motion of independent joints."""

    joints: tuple[str, ...]  # that follow it
    center: Array  # their mean positions, (k,), in m or rad
    sines: Array  # amplitudes by joint and harmonic, (k, n)
    cosines: Array  # the same
    period: float  # in s
    # how many times smaller standard deviations are than with the best random guess, root mean
    # square over units such as kg or N m
    gain: float = 1.0

    def curve(self, t: Array) -> tuple[Array, Array, Array]:
        """Positions, velocities and accelerations of the joints, (K, k) each."""
        w = 2.0 * np.pi / self.period * np.arange(1, self.sines.shape[1] + 1)
        s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
        return (
            self.center + s @ self.sines.T + c @ self.cosines.T,
            (c * w) @ self.sines.T - (s * w) @ self.cosines.T,
            -((s * w**2) @ self.sines.T) - (c * w**2) @ self.cosines.T,
        )

    def tasks(self) -> dict[str, object]:
        """A tasks file, as dicts and lists."""
        return {"tasks": {f"excite_{j}": self._task(k, j) for k, j in enumerate(self.joints)}}

    def _task(self, k: int, joint: str) -> dict[str, object]:
        w = 2.0 * np.pi / self.period
        terms = [
            f"{x:+.6g}*{function}({n * w:.10g}*t)"
            for function, row in (("sin", self.sines[k]), ("cos", self.cosines[k]))
            for n, x in enumerate(row, start=1)
        ]
        text = f"{self.center[k]:.10g} " + " ".join(terms)
        return {"type": "joint", "joint": joint, "reference": {"type": "expression", "value": text}}


def excitation(
    regressor: Regressor,  # of the parameters
    period: float,  # in s
    *,
    evaluations: int = EVALUATIONS,  # of the bound, at most
    seed: int = 0,  # of the random numbers
    progress: Callable[[], object] | None = None,  # called after each evaluation
) -> Excitation:
    """Find a motion that tells the parameters with small errors.

    What is minimized is the Cramér-Rao bound of what any motion tells (A-optimality), with noise
    that is proportional to the efforts; each unit counts as much as any other. Joint positions
    and velocities stay within nine tenths of their limits, motor efforts within three quarters, as
    what is to be found adds to them; loops stay closed.

    Raises:
        InputError: No motion was found within the limits, or the period is of no machine.
    """
    if not _SHORTEST_PERIOD <= period <= 1.0 / _SHORTEST_PERIOD:
        problem = f"expected a period between {_SHORTEST_PERIOD:g} and {1.0 / _SHORTEST_PERIOD:g} s"
        raise InputError(f"{problem}, found {period:g}")
    search = _Search(regressor, period)
    random = np.random.default_rng(seed)
    guesses = [random.standard_normal(search.unknowns) for _ in range(max(1, evaluations // 10))]
    for search.share in _SHARES:  # loops and motors may allow less than the joints
        best = min(guesses, key=search.cost)
        if search.overload(best) <= 1.0:
            break
    else:
        raise InputError(
            "no motion within the limits was found near the initial guess; give another one, or a"
            f" period longer than {period:g} s",
            file=regressor.mechanism.spec.file,
            place="initial_guess",
        )
    before = search.usual = search.errors(best)
    if not np.isfinite(before).all():
        raise InputError(
            f"motions of {period:g} s are too slow to tell parameters from rounding errors; give a"
            " shorter period"
        )
    found = _improved(search, best, evaluations, random, progress)
    return replace(search.made(found), gain=1.0 / float(rms(search.errors(found) / before)))


def _improved(
    search: "_Search",
    best: Array,
    evaluations: int,
    random: np.random.Generator,
    progress: Callable[[], object] | None,
) -> Array:
    """Random steps, of which those to a lower cost are taken: Rechenberg's (1+1) evolution."""
    # costs are infinite where loops do not close, and have kinks at limits: methods that follow
    # slopes get no further in as many evaluations
    cost, step = search.cost(best), _STEP
    for _ in range(evaluations):
        tried = best + step * random.standard_normal(len(best)) * (
            random.random(len(best)) < _TOGETHER
        )
        found = search.cost(tried)
        step = max(step * (1.3 if found < cost else 0.93), _SHORTEST)  # one in five succeeds
        if found < cost:
            best, cost = tried, found
        if progress is not None:
            progress()
    return best


class _Search:
    """Excitations as vectors of unknowns, and what is wrong with them."""

    def __init__(self, regressor: Regressor, period: float) -> None:
        self._regressor = regressor
        mechanism = regressor.mechanism
        self._mechanism, self._period = mechanism, period
        self._dynamics = InterpretedDynamics(mechanism)
        q = mechanism.assemble()
        home = allowed_motions(self._dynamics.terms(mechanism.state(q)).A, mechanism)
        self._independent = IndependentJoints(mechanism, [home])
        self._completion = StateCompletion(mechanism, self._independent.names)
        self._limits = _Limits(mechanism, self._independent, q)
        self.unknowns = (2 + 2 * _HARMONICS) * len(self._independent.names)
        self.share = 1.0  # of the amplitude that joint limits leave
        units = np.array([x.unit for x in regressor.parameters])
        self._alike = [np.flatnonzero(units == unit) for unit in dict.fromkeys(units.tolist())]
        self.usual = np.ones(len(self._alike))  # errors that count alike
        self._sizes, self._rank = self._scales(q)

    def _scales(self, around: Array) -> tuple[Array, int]:
        """What counts as large of each parameter, (p,), and how many combinations have effect."""
        # where nothing is known of a size, all parameters of a unit have the same one
        parameters = self._regressor.parameters
        random = random_motions(self._regressor, around)
        matrix = self._regressor.equations(random, self._independent.names).matrix
        flat = matrix.reshape(-1, len(parameters))
        norms = np.linalg.norm(flat, axis=0)
        sizes = np.array([x.size for x in parameters])
        rank = identifiability(flat, [x.name for x in parameters], sizes).rank
        usual = (norms * sizes).max() or 1.0
        for members in self._alike:
            unknown = members[sizes[members] <= 0.0]
            sizes[unknown] = usual / (norms[unknown].max(initial=0.0) or usual)
        return sizes, rank

    def made(self, x: Array) -> Excitation:
        """The excitation of some unknowns, as large as the limits of its joints allow."""
        limits, k = self._limits, len(self._limits.reach)
        turned = np.clip(self.share * _CENTERS * x[:k], -1.0, 1.0) * _FARTHEST
        center = limits.center + np.where(limits.bounded, 0.0, turned)
        parts = x[2 * k :].reshape(2, -1, _HARMONICS) / np.arange(1, _HARMONICS + 1)
        raw = Excitation(self._independent.names, center, parts[0], parts[1], self._period)
        q, v, _ = raw.curve(np.linspace(0.0, self._period, 4 * _SAMPLES))
        usual = self.share * np.minimum(limits.reach, _REACH) * np.exp(_VARIETY * x[k : 2 * k])
        room = np.minimum(limits.reach, usual) / np.abs(q - center).max(axis=0)
        scale = np.minimum(room, limits.speed / np.abs(v).max(axis=0))
        sines, cosines = (part * scale[:, None] for part in parts)
        return replace(raw, sines=sines, cosines=cosines)

    def cost(self, x: Array) -> float:
        """Logarithm of the error, more where limits are exceeded."""
        motions = self._motions(self.made(x))
        if motions is None:
            return np.inf
        beyond = float(np.maximum(self._loads(motions) - _ROOM, 0.0).sum())
        errors = self._errors(motions)
        if errors is None:
            return np.inf
        return float(np.log10(rms(errors / self.usual))) + _STEEP * beyond

    def overload(self, x: Array) -> float:
        """Largest load in parts of its limit; infinite where loops do not close."""
        motions = self._motions(self.made(x))
        return np.inf if motions is None else float(self._loads(motions).max(initial=0.0))

    def _loads(self, motions: Motions) -> Array:
        """Efforts, velocities and distances from the middle, in parts of their limits."""
        limits = self._mechanism.actuators.effort_limits
        loads = np.abs(motions.efforts).max(axis=0) / np.where(limits > 0.0, limits, np.inf)
        return np.concatenate([_ROOM / _EFFORT * loads, self._limits.loads(motions.q, motions.v)])

    def errors(self, x: Array) -> Array:
        """Errors of the estimates by unit, in units of the parameters' sizes."""
        motions = self._motions(self.made(x))
        found = None if motions is None else self._errors(motions)
        return np.full(len(self._alike), np.inf) if found is None else found

    def _errors(self, motions: Motions) -> Array | None:
        """Cramér-Rao bound of what any motion tells, with noise of efforts alone; rms by unit."""
        equations = self._regressor.equations(motions, self._independent.names)
        noise = _NOISE * np.sqrt((motions.efforts**2).mean(axis=0))
        applied = equations.applied * (noise + _NOISE * noise.max())
        spread = applied @ applied.transpose(0, 2, 1)
        least = _NOISE**2 * np.trace(spread, axis1=1, axis2=2).max()
        factors = np.linalg.cholesky(spread + (least or 1.0) * np.eye(spread.shape[1]))
        white = np.linalg.solve(factors, equations.matrix).reshape(-1, len(self._sizes))
        _, values, directions = np.linalg.svd(white * self._sizes, full_matrices=False)
        values, directions = values[: self._rank], directions[: self._rank]
        if len(values) < self._rank or values[-1] <= _NOTHING * values[0]:
            return None
        variances = ((directions / values[:, None]) ** 2).sum(axis=0)
        return np.sqrt([variances[members].mean() for members in self._alike])

    def _motions(self, candidate: Excitation) -> Motions | None:
        """Samples of one period; None where loops do not close."""
        mechanism, S = self._mechanism, self._mechanism.actuators.matrix
        t = np.linspace(0.0, self._period, _SAMPLES, endpoint=False)
        curve = candidate.curve(t)
        self._completion.reset()
        rows = []
        for k, time in enumerate(t.tolist()):
            found = self._completion.complete(curve[0][k], curve[1][k], time)
            if not found.usable or found.branch_doubtful:
                return None
            q, v = found.q, found.v
            terms = self._dynamics.terms(State(time, q, v), UNSTABILIZED)
            Z = self._independent.motions(allowed_motions(terms.A, mechanism))
            if Z is None or mechanism.model.limit_violations(q):
                return None
            bound = bound_acceleration(terms)
            qdd = bound + Z @ (curve[2][k] - bound[self._independent.indices])
            rows.append((q, v, qdd, driving_efforts(terms, Z, S, qdd)))
        q, v, qdd, efforts = (np.array(x) for x in zip(*rows, strict=True))
        return Motions(t, q, v, qdd, efforts)


class _Limits:
    """Where joints may go, and how fast."""

    def __init__(self, mechanism: Mechanism, independent: IndependentJoints, q: Array) -> None:
        model, chosen = mechanism.model, independent.indices
        places = [model.position_index(name) for name in independent.names]
        lower, upper = model.lower[chosen], model.upper[chosen]
        at = q[places]
        # around where the loops close, in the inner half of the range
        bounded = np.isfinite(lower) & np.isfinite(upper)
        low, high = np.where(bounded, lower, 0.0), np.where(bounded, upper, 0.0)
        inner = np.clip(at, 0.75 * low + 0.25 * high, 0.25 * low + 0.75 * high)
        self.bounded = bounded
        self.center = np.where(bounded, inner, at)
        room = np.minimum(self.center - lower, upper - self.center)
        self.reach = np.where(bounded, _ROOM * room, _FARTHEST)
        self.speed = _ROOM * model.velocity_limit[chosen]
        self._fastest = np.where(model.velocity_limit > 0.0, model.velocity_limit, np.inf)
        all_places, all_rates = model.joint_places
        lower, upper = model.lower[all_rates], model.upper[all_rates]
        limited = np.isfinite(lower) & np.isfinite(upper) & (upper > lower)
        self._places = all_places[limited]
        self._middle = 0.5 * (lower[limited] + upper[limited])
        self._half = 0.5 * (upper[limited] - lower[limited])
        # one that begins beyond nine tenths may go as far again
        begin = np.abs(q[self._places] - self._middle) / self._half
        self._half *= np.maximum(1.0, (1.0 + begin) / 2.0 / _ROOM)

    def loads(self, q: Array, v: Array) -> Array:
        """Largest distances from the middle and speeds of all joints, in parts of their limits."""
        places = np.abs(q[:, self._places] - self._middle).max(axis=0) / self._half
        return np.concatenate([places, np.abs(v).max(axis=0) / self._fastest])
