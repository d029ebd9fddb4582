# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts, stops, ropes and joints that stick at one instant: where they are, what follows.

Which of them are closed, stick or slide is a choice of rows and of friction (their mode). It
changes at events: velocities jump at an impact, and after any event the motion that follows is the
one whose accelerations and forces fulfil Signorini's and Coulomb's conditions together with the
loops.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.arrays import largest
from uk_dynamics.core import Factorization
from uk_dynamics.core.contact import ConeProblem, ConeSolution, solve_cone_problem
from uk_dynamics.core.equation import Solution
from uk_dynamics.exceptions import InputError, SimulationError
from uk_dynamics.mechanism.dynamics.contact import SLOW, Contact
from uk_dynamics.mechanism.dynamics.dynamics import Dynamics
from uk_dynamics.mechanism.dynamics.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.dynamics.motion import SLIPS, STICKS, ContactTables, Motion
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import ActiveConstraints, Array, Inputs, State

#: m or rad: what is nearer is closed.
CLOSE = 1e-9
# m/s or rad/s: what a step leaves slower is closed.
_RESTING = 1e-9
# m or rad: lower flights between bounces are the end of a sequence that accumulates.
_LOWEST_FLIGHT = 1e-12


class Places(NamedTuple):
    """Where the one-sided constraints of a mechanism are, (k,) each."""

    gap: Array  # in m or rad, negative inside
    rate: Array  # of the gaps, in m/s or rad/s
    slip: Array  # velocity of contacts with friction in their plane, (k, 2), in m/s


@dataclass(frozen=True, eq=False)
class Impact:
    """What an impact did."""

    state: State  # after it
    energy_lost: float  # kinetic, in J
    struck: tuple[str, ...]  # one-sided constraints with an impulse


@dataclass(frozen=True, eq=False)
class Onset:
    """The motion that begins at an instant."""

    active: ActiveConstraints  # what is closed, sticks and slides
    # sliding contacts whose friction leaves no motion, or several (Painlevé), by name
    doubtful: tuple[str, ...]
    solved: bool  # whether forces were found that fulfil all conditions
    # what is left of bounces that accumulate here, and are taken for rest, in s
    bouncing: float
    forces: Array  # of all one-sided constraints: normal, friction along x and y, (k, 3)


class _Closed(NamedTuple):
    """Rows and forces of some one-sided constraints, each with three directions."""

    jacobian: Array  # (3k, nv); zero rows where there is no friction
    force: Array  # generalized force per unit force in each direction, (nv, 3k)
    bias: Array  # ψ̈ at zero joint acceleration, (3k,)


class ContactDynamics:
    """What contacts do to a mechanism; not for threads."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        self.one_sided = mechanism.one_sided
        self._mechanism = mechanism
        self._dynamics = InterpretedDynamics(mechanism)
        self._workspace = mechanism.model.workspace()
        slices = mechanism.constraints.slices
        # zero of joints that stick, which have no gap
        self._side = np.array([one.side for one in self.one_sided])
        self._friction = np.array([one.friction for one in self.one_sided])
        self._restitution = np.array([one.restitution for one in self.one_sided])
        self._scale = mechanism.constraints.reference_scale
        self._rows = np.array([slices[one.name].start for one in self.one_sided], dtype=np.intp)
        # of the sticking rows; those of a constraint without friction are its own, and count zero
        self._tangents = np.array(
            [
                (row, row)
                if one.sticking is None or one.dry is not None
                else (slices[one.sticking].start, slices[one.sticking].start + 1)
                for row, one in zip(self._rows.tolist(), self.one_sided, strict=True)
            ],
            dtype=np.intp,
        ).reshape(-1, 2)
        # of the tangents, (k, 2): contacts with friction have two, joints that stick have one
        self._rubs = np.array(
            [(one.friction > 0.0, one.friction > 0.0 and one.dry is None) for one in self.one_sided]
        )
        # what presses joints that stick, while they slide and at most, (k,); NaN of others
        dry = [one.dry for one in self.one_sided]
        self._coulomb, self._static = (
            np.array([np.nan if d is None else (d.coulomb, d.static)[i] for d in dry])
            for i in range(2)
        )
        self._dry = np.isfinite(self._coulomb)
        self._own = frozenset(name for one in self.one_sided for name in one.constraints)
        self.names = tuple(one.name for one in self.one_sided)
        self._last = np.zeros((len(self.names), 3))  # impulses of the last step, near the next
        self.tables = ContactTables(
            row=np.where(
                np.column_stack((self._side != 0.0, self._rubs)),
                np.column_stack((self._rows, self._tangents)),
                -1,
            ).astype(np.int64),
            part=np.column_stack((self._side / self._scale[self._rows], self._rubs)),
            friction=self._friction.copy(),
            restitution=self._restitution.copy(),
            load=np.nan_to_num(np.column_stack((self._coulomb, self._static))),
            close=CLOSE,
            resting=_RESTING,
            impulse=self._last,
            slip=np.zeros((len(self.names), 2)),
        )
        self._in_c: tuple[Dynamics, Motion] | None = None

    def places(self, state: State) -> Places:
        """Gaps, their rates, and velocities of sliding, closed or not."""
        self._workspace.update(state.q, state.v)
        rows = self._mechanism.constraints.evaluate(self._workspace, state.t, state.q, state.v)
        scale = self._scale[self._rows]
        return Places(
            self._side * rows.residual[self._rows] / scale,
            self._side * rows.rate[self._rows] / scale,
            rows.rate[self._tangents] * self._rubs,
        )

    def closed(self, active: ActiveConstraints) -> list[int]:
        """Indices of those that touch, joints that stick or could included."""
        return [
            k
            for k, one in enumerate(self.one_sided)
            if one.dry is not None or one.name in active.names
        ]

    def most_friction(self, k: int, load: float) -> float:
        """What a one-sided constraint can resist sliding with, in N or N·m, under its load."""
        return float(self._static[k]) if self._dry[k] else float(self._friction[k]) * load

    def without(self, active: ActiveConstraints) -> ActiveConstraints:
        """The constraints that are on for other reasons."""
        return replace(active, names=active.names - self._own, sliding={})

    def beginning(self, state: State, inputs: Inputs) -> Inputs:
        """The inputs with what closes, sticks and slides in the motion that begins at a state.

        Raises:
            InputError: A contact is inside its surface, or approaches it there: an impact.
        """
        places = self.places(state)
        inside = places.gap < -CLOSE * max(self._mechanism.size, 1.0)
        strikes = (places.gap <= CLOSE) & (places.rate < -SLOW)
        for k in np.flatnonzero(inside | strikes).tolist():
            raise InputError(
                f"is {-places.gap[k]:.3g} m or rad inside its surface"
                if inside[k]
                else f"strikes its surface at {-places.rate[k]:.3g} m/s or rad/s, where velocities"
                " jump; simulate finds what follows",
                place=self.names[k],
            )
        base = self.without(inputs.active or self._mechanism.hierarchy.initial)
        return replace(inputs, active=self.onset(state, inputs, base).active)

    def impact(self, state: State, inputs: Inputs, active: ActiveConstraints) -> Impact | None:
        """Impulses at closed one-sided constraints that approach; None where none does.

        Newton's law in the form of Moreau: the velocities of separation after the impact are at
        least restitution times those of approach, and an impulse acts only where they are that;
        friction acts on the impulse as on a force.
        """
        places = self.places(state)
        closed = np.flatnonzero((places.gap <= CLOSE) & ~self._dry)  # no impulse without a load
        if not (places.rate[closed] < -SLOW).any():
            return None
        loads = np.full(len(closed), np.nan)
        found, v = self._impulses(state, inputs, active, closed, state.v, loads)
        after = State(state.t, state.q, v)
        lost = self._dynamics.energy(state).kinetic - self._dynamics.energy(after).kinetic
        struck = tuple(self.names[i] for i in closed[found.forces[:, 0] > 0.0].tolist())
        return Impact(after, lost, struck)

    def stopped(
        self, state: State, dynamics: Dynamics, inputs: Inputs, names: Collection[str]
    ) -> tuple[State, float]:
        """The state after an impact that brings sliding to rest, and the energy lost, in J."""
        active = inputs.active or self._mechanism.hierarchy.initial
        held = {name for one in self.one_sided if one.name in names for name in one.constraints}
        closed = replace(active, names=active.names | held)
        after = dynamics.project(state, replace(inputs, active=closed))
        return after, dynamics.energy(state).kinetic - dynamics.energy(after).kinetic

    def advance(
        self,
        state: State,
        end: float,
        steps: int,
        dynamics: Dynamics,
        inputs: Inputs,
        seen: Callable[[float, frozenset[str], frozenset[str]], object] = lambda *_: None,
    ) -> tuple[State, ActiveConstraints]:
        """Steps of equal size, each as :meth:`step`; in C as far as it solves them.

        Args:
            state: Before them.
            end: Of the last one, in s.
            steps: How many.
            dynamics: Evaluator of the mechanism.
            inputs: What acts, and what is closed before them.
            seen: Is told of each step that changes the constraints that act: time in s, and the
                names before and after it.

        Returns:
            As :meth:`step`.

        Raises:
            SimulationError: The loops cannot be closed.
        """
        active = inputs.active or self._mechanism.hierarchy.initial
        base = self.without(active)
        motion = None if inputs.nonideal or inputs.references else self._motion(dynamics)
        while steps:
            h = (end - state.t) / steps
            if motion is not None:
                smooth = replace(inputs, active=base, stabilize=False)
                start = state.t
                state, modes, slip = motion.step_contacts(
                    state, smooth, self._mode(active), self.tables, end=end, steps=steps
                )
                for k in np.flatnonzero((modes[1:] != modes[:-1]).any(axis=1)).tolist():
                    names = (self._names(base, mode) for mode in modes[k : k + 2])
                    seen(start + (k + 1) * h, *names)
                steps -= len(modes) - 1
                if len(modes) > 1:
                    sliding = self._sliding(modes[-1], slip)
                    active = replace(base, names=self._names(base, modes[-1]), sliding=sliding)
                if not steps:
                    break
            before = active.names
            state, active = self.step(state, h, dynamics, replace(inputs, active=active))
            steps -= 1
            if active.names != before:
                seen(state.t, before, active.names)
        return State(end, state.q, state.v), active

    def _motion(self, dynamics: Dynamics) -> Motion | None:
        if self._in_c is None or self._in_c[0] is not dynamics:
            found = dynamics.motion()
            self._in_c = None if found is None else (dynamics, found)
        return None if self._in_c is None else self._in_c[1]

    def _mode(self, active: ActiveConstraints) -> NDArray[np.int64]:
        return np.array(
            [
                STICKS if one.sticking in active.names else int(one.name in active.names)
                for one in self.one_sided
            ],
            dtype=np.int64,
        )

    def _names(self, base: ActiveConstraints, mode: NDArray[np.int64]) -> frozenset[str]:
        """Constraints that act in these modes."""
        found = set(base.names)
        for one, does in zip(self.one_sided, mode.tolist(), strict=True):
            if does == STICKS:
                found.update(one.constraints)
            elif does == SLIPS and one.dry is None:
                found.add(one.name)
        return frozenset(found)

    def _sliding(self, mode: NDArray[np.int64], slip: Array) -> dict[str, Array]:
        """Directions in which contacts slide, by name."""
        slides = (mode == SLIPS) & self._rubs[:, 0]
        return {
            self.names[k]: slip[k] / np.hypot(*slip[k]) for k in np.flatnonzero(slides).tolist()
        }

    def step(
        self, state: State, h: float, dynamics: Dynamics, inputs: Inputs
    ) -> tuple[State, ActiveConstraints]:
        """A step of h seconds by Moreau's midpoint rule, projected onto the loops.

        Impulses act at contacts that are closed in the middle of the step. Those that end it closed
        are projected onto their surfaces, so that they do not sink.

        Args:
            state: Before it.
            h: In s.
            dynamics: Evaluator of the mechanism.
            inputs: What acts, and what is closed before the step.

        Returns:
            State after it, and what is closed, sticks and slides there.

        Raises:
            SimulationError: The loops cannot be closed.
        """
        before = inputs.active or self._mechanism.hierarchy.initial
        active = self.without(before)
        integrate = self._mechanism.model.integrate
        middle = State(state.t + 0.5 * h, integrate(state.q, 0.5 * h * state.v), state.v)
        without = replace(inputs, active=active, stabilize=False)
        free = state.v + h * dynamics.evaluate(middle, without).qdd
        # Those that were closed may lift off with a velocity, not by the curvature of their way.
        kept = np.array([name in before.names for name in self.names], dtype=bool)
        closed = np.flatnonzero((self.places(middle).gap <= CLOSE) | kept)
        v = free
        if len(closed):
            stuck = [one.sticking in before.names for one in self.one_sided]
            loads = h * np.where(stuck, self._static, self._coulomb)[closed]
            found, v = self._impulses(middle, inputs, active, closed, free, loads)
            rests = np.flatnonzero((found.motion[:, 0] <= _RESTING) & (found.forces[:, 0] > 0.0))
            part = replace(found, motion=found.motion[rests])
            active = self._modes(active, closed[rests], {}, part, _RESTING)
        end = State(state.t + h, integrate(middle.q, 0.5 * h * v), v)
        try:
            return dynamics.project(end, replace(inputs, active=active)), active
        except (
            SimulationError
        ):  # contacts that cannot all be closed, as those of two steps of a leg
            return dynamics.project(end, replace(inputs, active=self.without(active))), active

    def _impulses(
        self,
        state: State,  # with the velocities before
        inputs: Inputs,
        active: ActiveConstraints,
        closed: NDArray[np.intp],
        free: Array,  # velocities after it without impulses, (nv,)
        loads: Array,  # impulses that press joints that stick, in N s or N·m s; NaN of others
    ) -> tuple[ConeSolution, Array]:
        """Impulses of closed constraints, their motion, and velocities after them, (nv,)."""
        factorization, rows = self._prepare(state, inputs, active, closed, {})
        before, q = (rows.jacobian @ state.v).reshape(-1, 3), (rows.jacobian @ free).reshape(-1, 3)
        q[:, 0] += self._restitution[closed] * np.minimum(before[:, 0], 0.0)
        start = self._last[closed]
        found = self._solve(factorization, rows, q.ravel(), self._friction[closed], loads, start)
        self._last[:] = 0.0
        self._last[closed] = found.forces
        v = free + factorization.admissible(rows.force @ found.forces.ravel())
        return replace(found, motion=(rows.jacobian @ v).reshape(-1, 3)), v

    def onset(
        self,
        state: State,
        inputs: Inputs,
        active: ActiveConstraints,  # what is on for other reasons
        *,
        leaving: Collection[str] = (),  # closed ones whose force has just vanished
        sliding: Mapping[str, Array] | None = None,  # directions of those that cannot stick, (2,)
    ) -> Onset:
        """The motion that follows, from closed ones that do not separate."""
        places = self.places(state)
        held = [
            i
            for i in np.flatnonzero((places.gap <= CLOSE) & (np.abs(places.rate) <= SLOW)).tolist()
            if self.names[i] not in leaving
        ]
        bouncing = self._last_bounces(state, inputs, active, places, held)
        closed = np.array(sorted([*held, *bouncing]), dtype=np.intp)
        directions = self._directions(places, closed, sliding or {})
        while True:
            onset, slips = self._attempt(state, inputs, active, closed, directions)
            if not slips:
                return replace(onset, bouncing=max(bouncing.values(), default=0.0))
            directions |= slips

    def _attempt(
        self,
        state: State,
        inputs: Inputs,
        active: ActiveConstraints,
        closed: NDArray[np.intp],
        directions: Mapping[int, Array],  # of those that slide, (2,)
    ) -> tuple[Onset, dict[int, Array]]:
        """The motion, and joints that break away in it: their friction falls, so solve again."""
        sliding = {self.names[k]: x for k, x in directions.items() if self._dry[k]}
        touching = np.array([k for k in closed if self.names[k] not in sliding], dtype=np.intp)
        factorization, rows = self._prepare(state, inputs, active, touching, directions)
        smooth = replace(inputs, active=replace(active, sliding=sliding))
        q = rows.jacobian @ self._dynamics.evaluate(state, smooth).qdd + rows.bias
        known = np.array([k in directions for k in touching], dtype=bool)
        friction = np.where(known, 0.0, self._friction[touching])
        found = self._solve(factorization, rows, q, friction, self._static[touching])
        response = factorization.admissible(rows.force)
        # accelerations below it are rounding
        still = 1e-9 * max(largest(found.motion), 1.0)
        doubtful = tuple(
            self.names[k]
            for i, k in enumerate(touching.tolist())
            if known[i] and rows.jacobian[3 * i] @ response[:, 3 * i] <= 0.0
        )
        modes = self._modes(replace(active, sliding=sliding), touching, directions, found, still)
        onset = Onset(
            modes, doubtful, found.solved, 0.0, self._all_forces(touching, directions, found.forces)
        )
        slips = {
            k: modes.sliding[self.names[k]]
            for k in touching.tolist()
            if self.names[k] in modes.sliding and self._static[k] > self._coulomb[k]
        }
        return onset, slips

    def contacts(self, state: State, inputs: Inputs, solution: Solution) -> Iterator[Contact]:
        """Contacts, stops and ropes where the motion has the modes of the inputs.

        Args:
            state: Positions, velocities and time.
            inputs: With what is closed, sticks and slides.
            solution: What they lead to.
        """
        active = inputs.active or self._mechanism.hierarchy.initial
        places = self.places(state)
        normal, held = self.loads(solution.joint_multipliers)
        sticks = np.array([one.sticking in active.names for one in self.one_sided])
        determined = solution.determined
        unique = determined[self._rows] & (determined[self._tangents].all(axis=1) | ~sticks)
        directions = {
            k: self._direction(places.slip[k], active.sliding[name])
            for k, name in enumerate(self.names)
            if name in active.sliding
        }
        forces = np.column_stack((normal, held))
        forces[[name not in active.names for name in self.names]] = 0.0
        for k, direction in directions.items():
            forces[k, 1:] = -self._friction[k] * forces[k, 0] * direction
        beyond = self._friction * forces[:, 0] - np.hypot(*forces[:, 1:].T)
        rounding = 1e-9 * np.abs(forces).max(initial=0.0)
        beyond[self._dry | ~self._rubs[:, 0]] = np.inf
        if (~unique & ((forces[:, 0] < 0.0) | (beyond < -rounding))).any():
            forces = self.onset(state, inputs, self.without(active), sliding=active.sliding).forces
        for k, one in enumerate(self.one_sided):
            if one.dry is not None:
                continue
            gap, rate = float(places.gap[k]), float(places.rate[k])
            yield Contact(
                one.name, gap, rate, places.slip[k], forces[k], one.friction, bool(unique[k])
            )

    def _all_forces(
        self, closed: NDArray[np.intp], directions: Mapping[int, Array], forces: Array
    ) -> Array:
        """Forces (k, 3) of those of the closed ones, whose sliding friction is in the normal's."""
        found = np.zeros((len(self.names), 3))
        found[closed] = forces
        found[:, 0] = np.maximum(found[:, 0], 0.0)  # rounding
        for k in set(directions) & set(closed.tolist()):
            found[k, 1:] = -self._friction[k] * found[k, 0] * directions[k]
        return found

    @staticmethod
    def _direction(slip: Array, began: Array) -> Array:
        """Unit direction of sliding, (2,); where it is too slow that in which it began."""
        speed = float(np.hypot(*slip))
        return slip / speed if speed > SLOW else began

    def loads(self, multipliers: Array) -> tuple[Array, Array]:
        """Normal forces, (k,), and forces of sticking, (k, 2), in N or N·m, of all rows' λ."""
        normal = self._side * multipliers[self._rows] * self._scale[self._rows]
        return normal, multipliers[self._tangents] * self._rubs

    def holds(self, state: State, inputs: Inputs) -> bool:
        """Whether forces exist that keep what is closed and sticks as it is, in its cones.

        For multipliers that redundant rows share: those of least norm may be outside.
        """
        active = inputs.active
        assert active is not None
        onset = self.onset(state, inputs, self.without(active), sliding=active.sliding)
        return onset.solved and active.names <= onset.active.names

    def _modes(
        self,
        active: ActiveConstraints,
        closed: NDArray[np.intp],
        directions: Mapping[int, Array],
        found: ConeSolution,
        still: float,  # what moves less does not
    ) -> ActiveConstraints:
        names, sliding = set(active.names), dict(active.sliding)
        for i, k in enumerate(closed.tolist()):
            one = self.one_sided[k]
            motion = found.motion[i]
            if motion[0] > still:
                continue
            if one.dry is None:
                names.add(one.name)
            if k in directions:
                sliding[one.name] = directions[k]
            elif one.sticking is not None:
                if np.hypot(*motion[1:]) <= still:
                    names.add(one.sticking)
                else:
                    sliding[one.name] = motion[1:] / np.hypot(*motion[1:])
        return replace(active, names=frozenset(names), sliding=sliding)

    def _directions(
        self, places: Places, closed: NDArray[np.intp], given: Mapping[str, Array]
    ) -> dict[int, Array]:
        """Directions of those that slide, (2,)."""
        found = {}
        for k in closed.tolist():
            speed = float(np.hypot(*places.slip[k]))
            if not self._rubs[k, 0]:
                continue
            if speed > SLOW:
                found[k] = places.slip[k] / speed
            elif self.names[k] in given:
                found[k] = given[self.names[k]]
        return found

    def _last_bounces(
        self,
        state: State,
        inputs: Inputs,
        active: ActiveConstraints,
        places: Places,
        held: list[int],
    ) -> dict[int, float]:
        """Those whose next flight is too low to be seen, and how long they go on bouncing, in s."""
        found = np.flatnonzero((places.gap <= CLOSE) & (places.rate > SLOW))
        if not len(found):
            return {}
        names = active.names | {self.names[i] for i in held}
        there = self._dynamics.evaluate(state, replace(inputs, active=replace(active, names=names)))
        A, bias = self._normal_rows(state)
        fall = -(A @ there.qdd + bias)
        return {
            i: 2.0 * float(places.rate[i] / fall[i]) / (1.0 - float(self._restitution[i]))
            for i in found.tolist()
            if places.rate[i] ** 2 < 2.0 * _LOWEST_FLIGHT * fall[i] and self._restitution[i] < 1.0
        }

    def _normal_rows(self, state: State) -> tuple[Array, Array]:
        self._workspace.update(state.q, state.v)
        rows = self._mechanism.constraints.evaluate(self._workspace, state.t, state.q, state.v)
        part = self._side / self._scale[self._rows]
        return part[:, None] * rows.A[self._rows], part * rows.bias[self._rows]

    def _prepare(
        self,
        state: State,
        inputs: Inputs,
        active: ActiveConstraints,
        closed: NDArray[np.intp],
        directions: Mapping[int, Array],  # of those whose force is that of sliding, (2,)
    ) -> tuple[Factorization, _Closed]:
        """The mechanism without its one-sided constraints, and the rows of some of them."""
        normal, bias = self._normal_rows(state)
        rows = self._mechanism.constraints.evaluate(self._workspace, state.t, state.q, state.v)
        count, nv = len(closed), len(state.v)
        jacobian, offset = np.zeros((count, 3, nv)), np.zeros((count, 3))
        jacobian[:, 0], offset[:, 0] = normal[closed], bias[closed]
        for i, k in enumerate(closed.tolist()):
            if self._rubs[k, 0]:
                jacobian[i, 1:], offset[i, 1:] = (
                    rows.A[self._tangents[k]] * self._rubs[k][:, None],
                    rows.bias[self._tangents[k]] * self._rubs[k],
                )
        force = jacobian.copy()
        for i, k in enumerate(closed.tolist()):
            if k in directions:
                force[i, 0] -= self._friction[k] * directions[k] @ jacobian[i, 1:]
                jacobian[i, 1:], offset[i, 1:], force[i, 1:] = 0.0, 0.0, 0.0
        prepared = self._dynamics.prepare(state, replace(inputs, active=active))
        return prepared.factorization, _Closed(
            jacobian.reshape(-1, nv), force.reshape(-1, nv).T, offset.ravel()
        )

    def _solve(
        self,
        factorization: Factorization,
        rows: _Closed,
        q: Array,
        friction: Array,
        loads: Array,
        start: Array | None = None,
    ) -> ConeSolution:
        """Contact forces; joints that stick are pressed by their loads (closed,), others NaN."""
        W = rows.jacobian @ factorization.admissible(rows.force)
        for i in np.flatnonzero(np.isfinite(loads)).tolist():
            # as heavy against its load as along its joint
            W[3 * i, 3 * i] = W[3 * i + 1, 3 * i + 1]
            q[3 * i] = -W[3 * i, 3 * i] * loads[i]
        return solve_cone_problem(ConeProblem(W, q, friction), start)
