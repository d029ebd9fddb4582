# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Posing a mechanism by hand: one joint or frame is led, the passive joints follow the loops."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from uk_dynamics.exceptions import expect_names
from uk_dynamics.mechanism.kinematics import LoopMotion, twist_map
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism

_STEP = 0.1  # rad or m: a joint is led in steps no longer than this, so that it keeps its branch
_LEAST_STEP = 2e-3
_ARRIVED = 1e-9
_JUMP = 30.0  # way of the other joints per way of the led one that is no continuous motion
_OTHERS_STAY = 0.05  # least freedom left in a joint, 0 to 1, for it to be held as well
_FRAME_STEPS = 12
_DAMPING = 1e-4
_CONDITION_GROWTH = 10.0  # against where the mechanism starts
_FEW_FREEDOM = 0.05


@dataclass(frozen=True)
class Pose:
    """Where posing ended."""

    q: Array  # a configuration on the constraints, (nq,)
    reached: bool  # whether it is the one that was asked for
    message: str = ""  # why not, or what to beware of; empty when all is well


class _Rows(NamedTuple):
    """Constraints on positions at a configuration, of coordinates in their units."""

    admissible: Array  # orthonormal basis of the velocities that keep them, (nv, k)
    rank: int  # independent rows
    condition: float  # largest singular value over the smallest one that counts


class Poser:
    """Moves a mechanism along its constraints."""

    def __init__(self, mechanism: Mechanism) -> None:
        """Find the joints and how well the mechanism is conditioned where it starts."""
        self._mechanism, self._model = mechanism, mechanism.model
        self._motion = LoopMotion(mechanism)
        actuated = np.any(mechanism.actuators.matrix != 0.0, axis=1)
        driven = tuple(
            name
            for name in mechanism.joint_names
            if actuated[self._model.velocity_index(name)] or not actuated.any()
        )
        # names of the joints to be led by hand: those of the motors, or all without motors
        self.joints = driven
        self._v = np.array([self._model.velocity_index(name) for name in driven], dtype=int)
        self._q = np.array([self._model.position_index(name) for name in driven], dtype=int)
        half = np.array([math.pi if self._model.units[n] == "rad" else 1.0 for n in driven])
        start = mechanism.initial_guess[self._q]
        lower, upper = self._model.lower[self._v], self._model.upper[self._v]
        # lower, upper: ends of their ways, in rad or m
        self.lower = np.where(np.isfinite(lower), lower, start - half)
        self.upper = np.where(np.isfinite(upper), upper, start + half)
        _, self._usual_rank, self._usual_condition = self._rows(mechanism.initial_guess)

    def lead_joint(self, q: Array, name: str, value: float) -> Pose:
        """Bring one joint to a position, in rad or m; other motors stay if the loops permit."""
        expect_names("joint", [name], self.joints)
        index = self._model.position_index(name)
        asked, (low, high) = value, self._limits(name)
        value = min(max(value, low), high)
        reached, step = q, _STEP
        while abs(value - reached[index]) > _ARRIVED:
            way = float(np.clip(value - reached[index], -step, step))
            guess = reached.copy()
            guess[index] += way
            closed = self._mechanism.assembly(guess, hold=self._held_with(reached, name))
            moved = np.abs(self._model.difference(reached, closed.q)).max(initial=0.0)
            if closed.closed and moved <= _JUMP * abs(way):
                reached = closed.q
            elif step > _LEAST_STEP:
                step /= 4.0
            else:
                reason = f"no assembly with {name} beyond {reached[index]:.4g}"
                caution = self.caution(reached)
                return Pose(reached, False, f"{reason}; {caution}" if caution else reason)
        if value != asked:
            return Pose(reached, False, f"{name} ends at its limit of {value:.4g}")
        return Pose(reached, True, self.caution(reached))

    def lead_frame(self, q: Array, link: str, target: Array) -> Pose:
        """Bring the origin of a link as close to a point, (3,), in m, as the constraints allow."""
        still = np.zeros(self._model.nv)
        reached = q
        missing = target - self._mechanism.pose(link, q)[0]
        for _ in range(_FRAME_STEPS):
            admissible = self._motion.unit[:, None] * self._rows(reached).admissible
            toward = twist_map(self._motion, link, still)[0][:3] @ admissible
            gram = toward @ toward.T + _DAMPING * np.eye(3)
            step = admissible @ (toward.T @ np.linalg.solve(gram, missing))
            step *= min(1.0, _STEP / (np.abs(step).max(initial=0.0) + 1e-12))
            closed = self._mechanism.assembly(self._model.integrate(reached, step))
            left = target - self._mechanism.pose(link, closed.q)[0]
            if not closed.closed or np.linalg.norm(left) > np.linalg.norm(missing) - 1e-7:
                break
            reached, missing = closed.q, left
        distance = float(np.linalg.norm(missing))
        if distance > 1e-3:
            return Pose(reached, False, f"{link} stays {distance:.3g} m short of the point")
        return Pose(reached, True, self.caution(reached))

    def caution(self, q: Array) -> str:
        """Say whether a pose is close to a singular one or beyond limits; empty when it is not."""
        admissible, rank, condition = self._rows(q)
        if rank < self._usual_rank:
            return f"singular configuration: rank {rank} instead of {self._usual_rank}"
        if condition > _CONDITION_GROWTH * self._usual_condition:
            return f"close to a singular configuration: condition of the loops {condition:.3g}"
        motors = self._motion.unit[:, None] * self._mechanism.actuators.matrix
        if motors.shape[1] and admissible.shape[1]:
            norms = np.linalg.norm(motors, axis=0)
            values = np.linalg.svd((motors / norms).T @ admissible, compute_uv=False)
            freedoms = min(motors.shape[1], admissible.shape[1])
            if values[freedoms - 1] < _FEW_FREEDOM * values[0]:
                return "close to a singular configuration: the motors cannot steer every freedom"
        for name in self._mechanism.joint_names:
            position, (low, high) = q[self._model.position_index(name)], self._limits(name)
            if not low - _ARRIVED <= position <= high + _ARRIVED:
                limit = low if position < low else high
                return f"{name} is at {position:.4g}, beyond its limit of {limit:.4g}"
        return ""

    def _limits(self, name: str) -> tuple[float, float]:
        """Limits of a joint, in rad or m; infinite where it has none."""
        index = self._model.velocity_index(name)
        return float(self._model.lower[index]), float(self._model.upper[index])

    def _held_with(self, q: Array, name: str) -> tuple[str, ...]:
        """The joint that is led, and those that may stand still meanwhile."""
        admissible = self._rows(q).admissible
        order = [self.joints.index(name), *range(len(self.joints))]
        held: list[str] = []
        taken = np.zeros((0, admissible.shape[1]))
        for index in order:
            if self.joints[index] in held or (held and len(taken) == admissible.shape[1]):
                continue
            row = admissible[self._v[index]]
            left = row - taken.T @ (taken @ row)
            size = float(np.linalg.norm(left))
            if not held or size > _OTHERS_STAY * float(np.linalg.norm(row)) > 0.0:
                held.append(self.joints[index])
                if size > 0.0:
                    taken = np.vstack((taken, left / size))
        return tuple(held)

    def _rows(self, q: Array) -> _Rows:
        self._motion.update(q)
        _, values, directions = np.linalg.svd(self._motion.position_rows)
        tolerance = self._mechanism.spec.solver.rank_tolerance
        rank = int(np.count_nonzero(values > tolerance * values.max(initial=0.0)))
        condition = float(values[0] / values[rank - 1]) if rank else 1.0
        return _Rows(directions[rank:].T, rank, condition)
