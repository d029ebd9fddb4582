# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A motion that tells parameters: Fourier series of independent joints, within the limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.optimize

from uk_dynamics.control.estimation import IndependentJoints, StateCompletion, allowed_motions
from uk_dynamics.exceptions import InputError
from uk_dynamics.identification.regressor import Motions, Regressor
from uk_dynamics.mechanism import Mechanism
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, State

_HARMONICS = 5
_SAMPLES = 40
_ROOM = 0.9  # of limits that are used
_REACH = 0.4  # m or rad: amplitude of joints without limits
_SHARES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.17, 0.12)  # of the amplitude, until a guess can be driven
_STEEP = 1e3  # of efforts beyond their limits, in the cost
_PLAIN = Inputs(stabilize=False)


@dataclass(frozen=True)
class Excitation:
    """A periodic motion of independent joints.

    Attributes:
        joints: That follow it.
        center: Their mean positions, (k,), in m or rad.
        sines: Amplitudes by joint and harmonic, (k, n).
        cosines: The same.
        period: In s.
        condition: Of the regressor in units of the parameters' sizes, of what any motion tells.
        condition_before: Of the best random guess.
    """

    joints: tuple[str, ...]
    center: Array
    sines: Array
    cosines: Array
    period: float
    condition: float
    condition_before: float

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
        return {
            "type": "joint",
            "joint": joint,
            "reference": {"type": "expression", "value": text},
        }


def excitation(
    regressor: Regressor, period: float, *, evaluations: int = 150, seed: int = 0
) -> Excitation:
    """Find a motion whose regressor has a low condition, by a search of scipy's.

    Joint positions, velocities and motor efforts stay within nine tenths of their limits, and loops
    stay closed.

    Args:
        regressor: Of the parameters.
        period: In s.
        evaluations: Of the condition, at most.
        seed: Of the random numbers.

    Raises:
        InputError: No motion was found within the limits.
    """
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
    found = scipy.optimize.minimize(
        search.cost, best, method="Powell", options={"maxfev": evaluations, "xtol": 1e-2}
    )
    better = found.fun < search.cost(best) and search.overload(found.x) <= 1.0
    chosen = found.x if better else best
    before = search.condition(search.made(best))
    return search.made(chosen, search.condition(search.made(chosen)), before)


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
        self.unknowns = 2 * _HARMONICS * len(self._independent.names)
        self.share = 1.0  # of the amplitude that joint limits leave
        given = np.array([x.size for x in regressor.parameters])
        self._sizes = np.where(given > 0.0, given, 1.0)

    def made(self, x: Array, condition: float = np.inf, before: float = np.inf) -> Excitation:
        """The excitation of some unknowns, as large as the limits of its joints allow."""
        limits = self._limits
        parts = x.reshape(2, -1, _HARMONICS) / np.arange(1, _HARMONICS + 1)
        raw = Excitation(
            self._independent.names, limits.center, parts[0], parts[1], self._period, 0.0, 0.0
        )
        q, v, _ = raw.curve(np.linspace(0.0, self._period, 4 * _SAMPLES))
        reach = np.abs(q - limits.center).max(axis=0)
        room = self.share * limits.reach
        scale = np.minimum(room / reach, limits.speed / np.abs(v).max(axis=0))
        sines, cosines = (part * scale[:, None] for part in parts)
        return Excitation(
            self._independent.names,
            limits.center,
            sines,
            cosines,
            self._period,
            condition,
            before,
        )

    def cost(self, x: Array) -> float:
        """Logarithm of the condition, more where efforts exceed their limits."""
        motions = self._motions(self.made(x))
        if motions is None:
            return np.inf
        beyond = float(np.maximum(self._loads(motions) - _ROOM, 0.0).sum())
        return float(np.log10(self._condition(motions))) + _STEEP * beyond

    def overload(self, x: Array) -> float:
        """Largest effort in parts of its motor's limit; infinite where loops do not close."""
        motions = self._motions(self.made(x))
        return np.inf if motions is None else float(self._loads(motions).max())

    def _loads(self, motions: Motions) -> Array:
        """Largest effort of each motor in parts of its limit."""
        limits = self._mechanism.actuators.effort_limits
        loads: Array = np.abs(motions.efforts).max(axis=0) / np.where(limits > 0.0, limits, np.inf)
        return loads

    def condition(self, candidate: Excitation) -> float:
        """Of the regressor of a motion."""
        motions = self._motions(candidate)
        return np.inf if motions is None else self._condition(motions)

    def _condition(self, motions: Motions) -> float:
        equations = self._regressor.equations(motions, self._independent.names)
        matrix = equations.matrix.reshape(-1, len(self._sizes)) * self._sizes
        norms = np.linalg.norm(matrix, axis=0)
        given = np.array([x.size > 0.0 for x in self._regressor.parameters])
        matrix = matrix / np.where(given | (norms == 0.0), 1.0, norms / norms.max())
        values = np.linalg.svd(matrix, compute_uv=False)
        told = values[values > 1e-9 * values[0]]
        return float(told[0] / told[-1])

    def _motions(self, candidate: Excitation) -> Motions | None:
        """Samples of one period; None where loops do not close."""
        mechanism, S = self._mechanism, self._mechanism.actuators.matrix
        t = np.linspace(0.0, self._period, _SAMPLES, endpoint=False)
        curve = candidate.curve(t)
        self._completion.reset()
        rows = []
        for k, time in enumerate(t.tolist()):
            found = self._completion.complete(curve[0][k], t=time)
            if not found.usable or found.branch_doubtful:
                return None
            q, nv = found.q, mechanism.model.nv
            A = self._dynamics.terms(State(time, q, np.zeros(nv))).A
            Z = self._independent.motions(allowed_motions(A, mechanism))
            if Z is None or mechanism.model.limit_violations(q):
                return None
            v = Z @ curve[1][k]
            terms = self._dynamics.terms(State(time, q, v), _PLAIN)
            bound = np.linalg.lstsq(terms.A, terms.b, rcond=1e-9)[0] if len(A) else np.zeros(nv)
            qdd = bound + Z @ (curve[2][k] - bound[self._independent.indices])
            wanted = Z.T @ (terms.M @ qdd - terms.F)
            rows.append((q, v, qdd, np.linalg.lstsq(Z.T @ S, wanted, rcond=1e-9)[0]))
        return Motions(t, *(np.array(x) for x in zip(*rows, strict=True)))


class _Limits:
    """Where independent joints may go, and how fast."""

    def __init__(self, mechanism: Mechanism, independent: IndependentJoints, q: Array) -> None:
        model, chosen = mechanism.model, independent.indices
        places = [model.position_index(name) for name in independent.names]
        lower, upper = model.lower[chosen], model.upper[chosen]
        at = q[places]
        # around where the loops close, in the inner half of the range
        bounded = np.isfinite(lower) & np.isfinite(upper)
        low, high = np.where(bounded, lower, 0.0), np.where(bounded, upper, 0.0)
        inner = np.clip(at, 0.75 * low + 0.25 * high, 0.25 * low + 0.75 * high)
        self.center = np.where(bounded, inner, at)
        room = np.minimum(self.center - lower, upper - self.center)
        self.reach = np.minimum(_ROOM * room, _REACH)
        self.speed = _ROOM * model.velocity_limit[chosen]
