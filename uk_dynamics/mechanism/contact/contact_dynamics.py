# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts, stops, ropes and joints that stick at one instant: where they are, what follows.

Which of them are closed, stick or slide is a choice of rows and of friction (their mode). It
changes at events: velocities jump at an impact, and after any event the motion that follows is the
one whose accelerations and forces fulfil Signorini's and Coulomb's conditions together with the
loops.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain

import numpy as np
from numpy.linalg import norm
from numpy.typing import NDArray

from uk_dynamics.arrays import largest
from uk_dynamics.core.equation import Solution
from uk_dynamics.core.linalg import EXACTLY_DEPENDENT
from uk_dynamics.exceptions import InputError, SimulationError
from uk_dynamics.mechanism.contact.closed_contacts import CLOSE, ClosedContacts, Places
from uk_dynamics.mechanism.contact.contact import SLOW, Contact
from uk_dynamics.mechanism.contact.contact_points import ContactPoints
from uk_dynamics.mechanism.contact.impulses import Pressing
from uk_dynamics.mechanism.dynamics import Dynamics
from uk_dynamics.mechanism.resolution.state import ActiveConstraints, Array, Inputs, State

# m or rad: lower flights between bounces are the end of a sequence that accumulates.
_LOWEST_FLIGHT = 1e-12
# Of the accelerations that cancel: what is less is rounding.
_STILL = 1e-9
# m or rad, and per s: projections move what is closed by less, whatever is distinct.
_SLIGHT = 1e-4
# Methods whose rank rule takes row after row, each by its own tolerance.
_PIVOTING = ("auto", "udwadia_kalaba", "nullspace")


@dataclass(frozen=True, eq=False)
class Impact:
    """What an impact did."""

    state: State  # after it
    energy_lost: float  # kinetic, in J
    struck: tuple[str, ...]  # one-sided constraints with an impulse
    solved: bool  # whether impulses were found that fulfil all conditions


@dataclass(frozen=True, eq=False)
class Onset:
    """The motion that begins at an instant."""

    active: ActiveConstraints  # what is closed, sticks and slides
    # sliding contacts whose friction leaves no motion, or several (Painlevé), by name, and the
    # friction from which on it does so there
    doubtful: Mapping[str, float]
    solved: bool  # whether forces were found that fulfil all conditions
    # what is left of bounces that accumulate here, and are taken for rest, in s
    bouncing: float
    forces: Array  # of all one-sided constraints: normal, and along the tangents, (k, d)


class ContactDynamics(ClosedContacts):
    """What contacts do to a mechanism between events and at them; not for threads."""

    def most_friction(self, k: int, load: float) -> float:
        """What a one-sided constraint can resist sliding with, in N or N·m, under its load."""
        if self._pinned[k]:
            return float(self._static[k]) * load
        return float(self._static[k]) if self._dry[k] else float(self._static_friction[k]) * load

    def beginning(self, state: State, inputs: Inputs) -> Inputs:
        """The inputs with what closes, sticks and slides in the motion that begins at a state.

        Raises:
            InputError: A contact is inside its surface, or approaches it there: an impact; or
                friction of one that slides leaves no motion (Painlevé).
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
        onset = self.onset(state, inputs, base)
        for name, friction in () if onset.solved else onset.doubtful.items():
            points = ContactPoints(self._mechanism)
            told = points.paradox(name, friction, state.q, several=False)
            raise InputError("".join(told))
        return replace(inputs, active=onset.active)

    def acting(
        self,
        state: State,
        inputs: Inputs,
        active: ActiveConstraints,  # what is on for other reasons
        closed: NDArray[np.intp],
    ) -> NDArray[np.intp]:
        """Those of closed ones that can have a force: by the rank rule, loops do not hold them.

        The motion between events drops a row that nearly depends on loops, as of a stop in a dead
        centre; a force that an event finds for it would not be there then. What depends on them
        exactly holds anyway, and shares their forces.
        """
        nearly = cache(partial(self._nearly_dependent, state, inputs, active))
        found = [
            k
            for k in closed.tolist()
            if self._dry[k] or not (count := nearly((self.names[k],))) or count <= nearly(())
        ]
        return np.array(found, dtype=np.intp)

    def _nearly_dependent(
        self, state: State, inputs: Inputs, active: ActiveConstraints, more: Collection[str]
    ) -> int:
        """Rows that depend on others but for more than rounding, with more constraints on."""
        on = replace(active, names=active.names.union(more))
        rows = self._dynamics.prepare(state, replace(inputs, active=on)).factorization
        return int((rows.residual_norm[rows.dependent] > EXACTLY_DEPENDENT).sum())

    def _distinguished(
        self, state: State, inputs: Inputs, base: ActiveConstraints, acting: ActiveConstraints
    ) -> ActiveConstraints:
        """What acts, with the contacts that are distinct though they nearly depend on each other.

        A block on two feet a hair apart stands by the difference of their rows, which is exact for
        contacts of two rigid bodies. What loops, or contacts of several bodies, leave of a row may
        be an error of their closure; and what a projection would have to turn or to stop, so that
        feet which are closed but for rounding hold it, goes on to turn.
        """
        between: dict[tuple[str, str], list[frozenset[str]]] = {}
        for one in self.one_sided:
            if one.name in self._between and one.name in acting.names:
                own = acting.names.intersection(one.constraints)
                between.setdefault(self._between[one.name], []).append(own)
        several = [pair for pair in between.values() if len(pair) > 1]
        pivots = self._mechanism.spec.solver.method in _PIVOTING
        pivots &= self._mechanism.hierarchy.clearance is None
        nearly = cache(partial(self._nearly_dependent, state, inputs, base))
        if not (pivots and several and nearly(frozenset().union(*chain(*several)))):
            return acting
        for pair in several:
            own = frozenset[str]().union(*pair)
            least = nearly(())
            if nearly(own) <= least or any(nearly(x) > least for x in pair):
                continue
            found = replace(acting, distinct=acting.distinct | own)
            with suppress(SimulationError):  # where they contradict each other
                usual, other = (
                    self._dynamics.project(state, replace(inputs, active=x))
                    for x in (acting, found)
                )
                turned = self._mechanism.model.difference(usual.q, other.q)
                if max(largest(turned), largest(other.v - usual.v)) <= _SLIGHT:
                    acting = found
        return acting

    def impact(self, state: State, inputs: Inputs, active: ActiveConstraints) -> Impact | None:
        """Impulses at closed one-sided constraints that approach; None where none does.

        By Newton's law in the form of Moreau, or Poisson's; friction acts on the impulse as on a
        force, of loop joints on the impulse in them. A constant load has none.
        """
        places = self.places(state)
        closed = np.flatnonzero((places.gap <= CLOSE) & (~self._dry | self._pinned))
        if (places.rate[closed] < -SLOW).any():
            closed = self.acting(state, inputs, active, closed)
        if not (places.rate[closed] < -SLOW).any():
            return None
        stuck = (norm(places.slip, axis=1) <= SLOW) & (self._dry | (places.rate >= -SLOW))
        ready = self._prepare(state, inputs, active, closed, {})
        no_forces = np.zeros(self._load_map.shape[2])
        found, v = self._impulses(ready, closed, state.v, state.v, stuck, 0.0, no_forces)
        after = State(state.t, state.q, v)
        lost = self._dynamics.energy(state).kinetic - self._dynamics.energy(after).kinetic
        pressed = closed[(found.forces[:, 0] > 0.0) & ~self._dry[closed]]
        return Impact(after, lost, tuple(self.names[i] for i in pressed.tolist()), found.solved)

    def stopped(
        self, state: State, dynamics: Dynamics, inputs: Inputs, names: Collection[str]
    ) -> tuple[State, float]:
        """The state after an impact that brings sliding to rest, and the energy lost, in J."""
        active = inputs.active or self._mechanism.hierarchy.initial
        held = {name for one in self.one_sided if one.name in names for name in one.constraints}
        closed = replace(active, names=active.names | held)
        after = dynamics.project(state, replace(inputs, active=closed))
        return after, dynamics.energy(state).kinetic - dynamics.energy(after).kinetic

    def onset(
        self,
        state: State,
        inputs: Inputs,
        active: ActiveConstraints,  # what is on for other reasons
        *,
        leaving: Collection[str] = (),  # closed ones whose force has just vanished
        sliding: Mapping[str, Array]
        | None = None,  # directions of those that cannot stick, (d − 1,)
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
        closed = self.acting(state, inputs, active, closed)
        directions = self._directions(places, closed, sliding or {})
        while True:
            onset, slips = self._attempt(state, inputs, active, closed, directions)
            if not slips:
                acting = self._distinguished(state, inputs, active, onset.active)
                return replace(onset, active=acting, bouncing=max(bouncing.values(), default=0.0))
            directions |= slips

    def _attempt(
        self,
        state: State,
        inputs: Inputs,
        active: ActiveConstraints,
        closed: NDArray[np.intp],
        directions: Mapping[int, Array],  # of those that slide, (d − 1,)
    ) -> tuple[Onset, dict[int, Array]]:
        """The motion, and joints that break away in it: their friction falls, so solve again."""
        if not len(closed):
            return Onset(active, {}, True, 0.0, np.zeros_like(self._last)), {}
        alone = self._dry & ~self._pinned  # their load is nothing else's
        sliding = {self.names[k]: x for k, x in directions.items() if alone[k]}
        touching = np.array([k for k in closed if self.names[k] not in sliding], dtype=np.intp)
        rows = self._prepare(state, inputs, active, touching, directions)
        smooth = replace(inputs, active=replace(active, sliding=sliding))
        there = self._dynamics.evaluate(state, smooth)
        known = np.array([k in directions for k in touching], dtype=bool)
        friction = np.where(known, 0.0, self._static_friction[touching])
        loads = np.where(known, self._coulomb[touching], self._static[touching])
        pins = self._pinned[touching]
        pressing = Pressing(loads, self._load_map[touching], pins, self._multipliers(there))
        found = rows.solve(rows.jacobian @ there.qdd + rows.bias, friction, pressing)
        response = rows.factorization.admissible(rows.force[:, :: rows.width])
        # accelerations below it are rounding
        still = 1e-9 * max(largest(found.motion), 1.0)
        doubtful = {}
        for i in np.flatnonzero(known & ~pins).tolist():
            normal, k = rows.jacobian[rows.width * i], touching[i]
            if (separates := normal @ response[:, i]) <= 0.0:
                alone = float(normal @ rows.factorization.admissible(normal))  # without friction
                part = alone / (alone - float(separates)) if alone > 0.0 else 0.0
                doubtful[self.names[k]] = part * float(self._friction[k])
        modes = self._modes(replace(active, sliding=sliding), touching, directions, found, still)
        onset = Onset(
            modes, doubtful, found.solved, 0.0, self._all_forces(touching, directions, found.forces)
        )
        return onset, {
            k: modes.sliding[self.names[k]]
            for k in touching.tolist()
            if self.names[k] in modes.sliding and k not in directions and self._falls[k]
        }

    def contacts(self, state: State, inputs: Inputs, solution: Solution) -> Iterator[Contact]:
        """Contacts, stops and ropes where the motion, a solution, has the modes of the inputs."""
        active = inputs.active or self._mechanism.hierarchy.initial
        self.features = active.features
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
        beyond = self._static_friction * forces[:, 0] - norm(forces[:, 1:], axis=1)
        rounding = 1e-9 * np.abs(forces).max(initial=0.0)
        beyond[self._dry | ~self._rubs[:, 0]] = np.inf
        if (~unique & ((forces[:, 0] < 0.0) | (beyond < -rounding))).any():
            forces = self.onset(state, inputs, self.without(active), sliding=active.sliding).forces
        yield from self.contacts_at(places, forces, unique, active.sliding)

    def _all_forces(
        self, closed: NDArray[np.intp], directions: Mapping[int, Array], forces: Array
    ) -> Array:
        """Forces (k, d) of those of the closed ones, whose sliding friction is in the normal's."""
        found = np.zeros_like(self._last)
        found[closed] = forces
        found[:, 0] = np.maximum(found[:, 0], 0.0)  # rounding
        for k in set(directions) & set(closed.tolist()):
            found[k, 1:] = -self._friction[k] * found[k, 0] * directions[k]
        return found

    @staticmethod
    def _direction(slip: Array, began: Array) -> Array:
        """Unit direction of sliding, (d − 1,); where it is too slow that in which it began."""
        speed = float(norm(slip))
        return slip / speed if speed > SLOW else began

    def contradicted(self, state: State, qdd: Array, closed: Sequence[int]) -> bool:
        """Whether accelerations (nv,) do not keep all gaps closed, since their rows disagree."""
        A, bias = (x[closed] for x in self._normal_rows(state))
        # of all accelerations: those along the normals may cancel in each of them
        rounding = _STILL * (np.abs(A).sum(axis=1) * largest(qdd) + np.abs(bias))
        return bool((np.abs(A @ qdd + bias) > rounding).any())

    def kept(self, state: State, inputs: Inputs) -> frozenset[str]:
        """Of what is closed and sticks what forces in its cones can keep so; none: not found.

        For multipliers that redundant rows share: those of least norm may be outside.
        """
        active = inputs.active
        assert active is not None
        onset = self.onset(state, inputs, self.without(active), sliding=active.sliding)
        return onset.active.names if onset.solved else frozenset()

    def _directions(
        self, places: Places, closed: NDArray[np.intp], given: Mapping[str, Array]
    ) -> dict[int, Array]:
        """Directions of those that slide, (d − 1,)."""
        found = {}
        for k in closed.tolist():
            speed = float(norm(places.slip[k]))
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
        found = np.flatnonzero((places.gap <= CLOSE) & (places.rate > SLOW) & ~self.bounds_speed)
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
