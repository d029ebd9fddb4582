# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts, stops, ropes and joints that stick at one instant: where they are, and their rows."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.linalg import norm
from numpy.typing import NDArray

from uk_dynamics.arrays import Flags
from uk_dynamics.constraints.rows import ConstraintTerms, HeldFeatures, HullRows, JointRow
from uk_dynamics.core.contact import ConeSolution
from uk_dynamics.core.equation import Solution
from uk_dynamics.core.integration import steps_between
from uk_dynamics.mechanism.contact.contact import SLOW, Contact
from uk_dynamics.mechanism.contact.impulses import ClosedRows, ImpactLaw, Pressing
from uk_dynamics.mechanism.dynamics import (
    SLIPS,
    STICKS,
    ContactTables,
    Instants,
    InterpretedDynamics,
    MotionSegment,
)
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import ActiveConstraints, Array, Inputs, State

#: m or rad: what is nearer is closed.
CLOSE = 1e-9
#: m/s or rad/s: what a step leaves slower is closed.
RESTING = 1e-9


class Places(NamedTuple):
    """Where the one-sided constraints of a mechanism are, (k,) each."""

    gap: Array  # in m or rad, negative inside
    rate: Array  # of the gaps, in m/s or rad/s
    slip: Array  # velocity of what has friction along its tangents, (k, d − 1), in m/s


class ClosedContacts:
    """One-sided constraints of a mechanism, and what solves those that are closed."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        self.one_sided = mechanism.one_sided
        self._mechanism = mechanism
        self._dynamics = InterpretedDynamics.shared(mechanism)
        self._workspace = mechanism.model.workspace()
        families = (family for family, _ in mechanism.constraints.layout.families)
        self._hulls = [family for family in families if isinstance(family, HullRows)]
        #: Of each pair of convex hulls one of its contacts.
        self.of_hulls = {one.hulls: one.name for one in mechanism.spec.contacts if one.hulls}
        self.features: HeldFeatures = {}  # of these; empty: those that are nearest
        # the last state, with these, and its rows
        self._known: tuple[tuple[float, bytes, bytes], HeldFeatures, ConstraintTerms] | None = None
        slices = mechanism.constraints.slices
        # zero of joints that stick, which have no gap
        self._side = np.array([one.side for one in self.one_sided])
        self._friction = np.array([one.friction for one in self.one_sided])
        self._static_friction = np.array([one.static_friction for one in self.one_sided])
        self._restitution = np.array([one.restitution for one in self.one_sided])
        self._poisson = any(one.poisson for one in self.one_sided)
        self._scale = mechanism.constraints.reference_scale
        self._rows = np.array([slices[one.name].start for one in self.one_sided], dtype=np.intp)
        #: Those that bound a speed, (k,): they have no gap.
        self.bounds_speed = ~np.asarray(mechanism.constraints.position_rows)[self._rows] & (
            self._side != 0.0
        )
        # of the sticking rows, (k, d − 1), the last of them repeated, which counts zero: contacts
        # with friction have two tangents, joints that stick those along which they move
        own = [slices[one.sticking or one.name] for one in self.one_sided]
        begin, end = np.array([(x.start, x.stop) for x in own], dtype=np.intp).reshape(-1, 2).T
        each = begin[:, None] + np.arange((end - begin).max(initial=2))
        self._tangents = np.minimum(each, end[:, None] - 1)
        self._rubs = (self._friction > 0.0)[:, None] & (self._tangents == each)
        # what presses joints that stick, while they slide and at most, (k,); NaN of others. Of loop
        # joints it is per force in them
        dry = [one.dry for one in self.one_sided]
        self._coulomb, self._static = (
            np.array([np.nan if d is None else (d.coulomb, d.static)[i] for d in dry])
            for i in range(2)
        )
        self._dry = np.isfinite(self._coulomb)
        # those whose friction is less once they slide, (k,)
        self._falls = (self._static > self._coulomb) | (self._static_friction > self._friction)
        pins = mechanism.contact_friction.pins
        self._pinned = np.array([one.name in pins for one in self.one_sided], dtype=bool)
        # from the multipliers of all rows to the forces in loop joints that stick, (k, 3, m)
        self._load_map = np.zeros((len(self.one_sided), 3, len(mechanism.constraints)))
        for k in np.flatnonzero(self._pinned).tolist():
            self._load_map[k] = pins[self.one_sided[k].name]
        self._own = frozenset(name for one in self.one_sided for name in one.constraints)
        self._without: tuple[ActiveConstraints, ActiveConstraints] | None = None
        self.names = tuple(one.name for one in self.one_sided)
        # the two links of each contact
        self._between = {x.name: (x.parent.link, x.child.link) for x in mechanism.spec.contacts}
        # what teeth count, which the gaps of ratchets are from: a weighted sum of positions
        self._pitch, self._first = np.zeros((2, len(self.names)))
        self._sums = np.zeros((len(self.names), mechanism.model.nq))
        rows = {one.name: one.rows[0] for one in mechanism.constraints.constraints if one.rows}
        for k, (name, side) in enumerate(zip(self.names, self._side.tolist(), strict=True)):
            if isinstance(row := rows[name], JointRow) and row.pitch:
                self._pitch[k], self._first[k] = row.pitch, side * row.offset
                for term in row.terms:
                    self._sums[k, term.position] += side * term.coefficient
        # impulses of the last step, near the next
        self._last = np.zeros((len(self.names), 1 + self._tangents.shape[1]))
        self.tables = ContactTables(
            row=np.where(
                np.column_stack((self._side != 0.0, self._rubs)),
                np.column_stack((self._rows, self._tangents)),
                -1,
            ).astype(np.int64),
            part=np.column_stack((self._side / self._scale[self._rows], self._rubs)),
            friction=self._friction.copy(),
            static_friction=self._static_friction.copy(),
            restitution=self._restitution.copy(),
            poisson=self._poisson,
            gap=np.where(self.bounds_speed, 0.0, self._side / self._scale[self._rows]),
            pitch=self._pitch,
            load=np.nan_to_num(np.column_stack((self._coulomb, self._static))),
            in_loop=self._pinned.astype(np.int64),
            load_map=self._load_map,
            close=CLOSE,
            resting=RESTING,
            impulse=self._last,
            slip=np.zeros(self._tangents.shape),
        )

    def teeth(self, q: Array) -> Array:
        """Numbers of the teeth that ratchets have passed at a configuration, (k,)."""
        passed = self._sums @ q - self._first + CLOSE
        return np.floor_divide(passed, self._pitch, out=0.0 * passed, where=self._pitch > 0.0)

    def places(self, state: State, teeth: Array | None = None) -> Places:
        """Gaps, their rates, and velocities of sliding, closed or not.

        Gaps of ratchets are from given teeth, (k,); without, from those passed at this state.
        """
        rows, scale = self._evaluated(state), self._scale[self._rows]
        gap = np.where(self.bounds_speed, 0.0, self._side) * rows.residual[self._rows] / scale
        if self._pitch.any():
            behind = self._pitch * (self.teeth(state.q) if teeth is None else teeth)
            gap = np.where(self._pitch > 0.0, self._sums @ state.q - self._first - behind, gap)
        return Places(
            gap,
            self._side * rows.rate[self._rows] / scale,
            rows.rate[self._tangents] * self._rubs,
        )

    def nearest_features(self, state: State) -> HeldFeatures:
        """Of convex hulls; those that are held and still nearest keep their points."""
        if self._hulls:
            self._known = None
            self._workspace.update_positions(state.q)
        every = (rows.features(self._workspace, self.features) for rows in self._hulls)
        return {pair: features for found in every for pair, features in found.items()}

    def _evaluated(self, state: State) -> ConstraintTerms:
        at, known = (state.t, state.q.tobytes(), state.v.tobytes()), self._known
        if known is None or known[0] != at or known[1] is not self.features:
            self._workspace.update(state.q, state.v)
            self._workspace.features = self.features
            rows = self._mechanism.constraints.evaluate(self._workspace, state.t, state.q, state.v)
            self._known = known = at, self.features, rows
        return known[2]

    def closed(self, active: ActiveConstraints) -> list[int]:
        """Indices of those that touch, joints that stick or could included."""
        return [
            k
            for k, one in enumerate(self.one_sided)
            if one.dry is not None or one.name in active.names
        ]

    def without(self, active: ActiveConstraints) -> ActiveConstraints:
        """The constraints that are on for other reasons; of the same ones the same object."""
        known = self._without
        if known is None or known[0] is not active:
            names = active.names - self._own
            known = active, replace(active, names=names, sliding={}, distinct=frozenset())
            self._without = known
        return known[1]

    def loads(self, multipliers: Array) -> tuple[Array, Array]:
        """Normal forces, (k,), and forces of sticking, (k, d − 1), in N or N·m, of λ.

        Of loop joints that stick the first is the force in them.
        """
        normal = self._side * multipliers[self._rows] * self._scale[self._rows]
        if self._pinned.any():
            pressing = np.linalg.norm(self._load_map @ multipliers, axis=1)
            normal = np.where(self._pinned, pressing, normal)
        return normal, multipliers[self._tangents] * self._rubs

    def contacts_at(
        self, places: Places, forces: Array, unique: Flags, sliding: Container[str] = ()
    ) -> Iterator[Contact]:
        """Contacts, stops and ropes with forces, (k, d), and whether these are unique, (k,)."""
        gap, rate = places.gap.tolist(), places.rate.tolist()
        for k, one in enumerate(self.one_sided):
            if one.dry is None:
                slides = one.name in sliding or norm(places.slip[k]) > SLOW
                mu = one.friction if slides else one.static_friction
                told = forces[k, :3], mu, bool(unique[k]), one.name in sliding
                yield Contact(one.name, gap[k], rate[k], places.slip[k, :2], *told)

    def _impulses(
        self,
        rows: ClosedRows,
        closed: NDArray[np.intp],  # which they are of
        speeds: Array,  # velocities before, (nv,)
        free: Array,  # velocities after it without impulses, (nv,)
        stuck: Flags,  # which of all stuck before, (k,)
        h: float,  # for how long forces act, in s
        multipliers: Array,  # of all rows with none of them, times the step, (m,)
    ) -> tuple[ConeSolution, Array]:
        """Impulses of closed constraints, their motion, and velocities after them, (nv,)."""
        friction = np.where(stuck, self._static_friction, self._friction)[closed]
        law = ImpactLaw(self._restitution[closed], friction, self._poisson, RESTING)
        loads = np.where(stuck, self._static, self._coulomb) * np.where(self._pinned, 1.0, h)
        pressing = Pressing(
            loads[closed], self._load_map[closed], self._pinned[closed], multipliers
        )
        found, v = law.impulses(rows, speeds, free, pressing, self._last[closed])
        self._last[:] = 0.0
        self._last[closed] = found.forces
        return found, v

    def _modes(
        self,
        active: ActiveConstraints,
        closed: NDArray[np.intp],
        directions: Mapping[int, Array],
        found: ConeSolution,
        still: float,  # what moves less does not
    ) -> ActiveConstraints:
        mode, slip = np.zeros(len(self.names), dtype=np.int64), np.zeros(self._tangents.shape)
        for k, motion in zip(closed.tolist(), found.motion, strict=True):
            slip[k] = directions.get(k, motion[1:])
            if motion[0] <= still:
                sticks = self._rubs[k, 0] and k not in directions and norm(slip[k]) <= still
                mode[k] = STICKS if sticks else SLIPS
        return self._acting(active, mode, slip)

    def _names(self, base: ActiveConstraints, mode: NDArray[np.int64]) -> frozenset[str]:
        """Constraints that act in these modes, (k,)."""
        found = set(base.names)
        for one, does in zip(self.one_sided, mode.tolist(), strict=True):
            if does == STICKS:
                found.update(one.constraints)
            elif does == SLIPS and one.dry is None:
                found.add(one.name)
        return frozenset(found)

    def _acting(
        self, base: ActiveConstraints, mode: NDArray[np.int64], slip: Array
    ) -> ActiveConstraints:
        """What acts in these modes, (k,), at velocities along the tangents, (k, d − 1)."""
        slides = np.flatnonzero((mode == SLIPS) & self._rubs[:, 0]).tolist()
        sliding = {self.names[k]: slip[k] / norm(slip[k]) for k in slides}
        return replace(base, names=self._names(base, mode), sliding={**base.sliding, **sliding})

    def at_samples(
        self,
        found: MotionSegment,
        instants: Instants,
        longest: float,  # step of it, in s
        active: ActiveConstraints,  # what was closed before it
    ) -> Iterator[tuple[slice, ActiveConstraints]]:
        """What is closed, sticks and slides at samples of steps in C, those alike together."""
        assert found.modes is not None
        steps = np.append(0, np.cumsum(steps_between(instants.when, longest)))
        steps = steps[instants.sample > 0.0][: len(found.q)]
        modes, base = found.modes[steps], self.without(active)
        slides = (steps > 0) & ((modes == SLIPS) & self._rubs[:, 0]).any(axis=1)
        others = slides[1:] | slides[:-1] | (modes[1:] != modes[:-1]).any(axis=1)
        for first, end in pairwise([0, *(np.flatnonzero(others) + 1).tolist(), len(steps)]):
            as_before = not slides[first] and (modes[first] == found.modes[0]).all()
            at_first = modes[first], found.slips[first]
            yield slice(first, end), active if as_before else self._acting(base, *at_first)

    def _normal_rows(self, state: State) -> tuple[Array, Array]:
        rows, part = self._evaluated(state), self._side / self._scale[self._rows]
        return part[:, None] * rows.A[self._rows], part * rows.bias[self._rows]

    def _prepare(
        self,
        state: State,
        inputs: Inputs,
        active: ActiveConstraints,
        closed: NDArray[np.intp],
        directions: Mapping[int, Array],  # of those whose force is that of sliding, (d − 1,)
    ) -> ClosedRows:
        """Rows of some one-sided constraints, and the mechanism without any of them."""
        rows, nv = self._evaluated(state), len(state.v)
        directions_of = np.column_stack((self._rows, self._tangents))[closed]
        part = self.tables.part[closed]
        jacobian, offset = part[:, :, None] * rows.A[directions_of], part * rows.bias[directions_of]
        force = jacobian.copy()
        for i, k in enumerate(closed.tolist()):
            if k in directions:
                force[i, 0] -= self._friction[k] * directions[k] @ jacobian[i, 1:]
                jacobian[i, 1:], offset[i, 1:], force[i, 1:] = 0.0, 0.0, 0.0
        return ClosedRows(
            self._dynamics.prepare(state, replace(inputs, active=active)).factorization,
            jacobian.reshape(-1, nv),
            force.reshape(-1, nv).T,
            offset.ravel(),
            part.shape[1],
        )

    def _multipliers(self, motion: Solution) -> Array:
        """Of all rows in a motion, (m,); zeros where no loop joint that sticks asks for them."""
        return motion.joint_multipliers if self._pinned.any() else np.zeros(self._load_map.shape[2])
