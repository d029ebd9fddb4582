# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which forces contacts, stops, ropes and joints that stick can have in a motion that is given."""

from dataclasses import dataclass, replace

import numpy as np

from uk_dynamics.arrays import Array, Flags, Indices
from uk_dynamics.core.contact import ConeSolution
from uk_dynamics.core.equation import Factorization, Solution
from uk_dynamics.core.linalg import null_basis
from uk_dynamics.exceptions import StateError
from uk_dynamics.mechanism.contact.closed_contacts import ClosedContacts, Places
from uk_dynamics.mechanism.contact.contact import Contact
from uk_dynamics.mechanism.contact.impulses import ClosedRows, Pressing
from uk_dynamics.mechanism.resolution.state import ActiveConstraints, Inputs, State

#: m or rad, and per s: about the rounding of hand-written numbers.
TOUCHES = 1e-6
_SHARED = 1e-9  # of the largest singular value, and of a direction of unit length
_STILL = 1e-6  # of the accelerations that cancel: a contact that moves less does not


@dataclass(frozen=True, eq=False)
class Reactions:
    """Forces that may act in a motion."""

    closed: Indices  # contacts that stay closed, (k,)
    jacobian: Array  # their normal and tangential motions, (3k, nv)
    # generalized forces per unit force: normal, with the friction of sliding, and the tangents of
    # what sticks, (nv, 3k)
    force: Array
    friction: Array  # μ of what sticks, zero of what slides, (k,)
    drag: Array  # friction of what slides per unit normal force, (k, 2)
    holding: Indices  # joints that stick and do not move, (j,)
    held: tuple[Array, ...]  # generalized forces per unit force along the tangents of each, (nv, ·)
    most: Array  # those that they hold, (j,), in N or N·m, of loop joints per force in them
    # from the multipliers of all rows to these forces, (j, 3, m); zero: of the tree
    load_map: Array
    active: ActiveConstraints  # with the joints that slide

    def loads(self, factorization: Factorization, S: Array, multipliers: Array) -> Array:
        """Forces in joints that stick, of multipliers (m,), and per unit of S, (j, 3, 1 + n).

        Of joints of the tree, which nothing presses, one.
        """
        found = np.zeros((len(self.held), 3, 1 + S.shape[1]))
        pins = np.array([load_map.any() for load_map in self.load_map], dtype=bool)
        found[~pins, 0, 0] = 1.0
        if pins.any():
            per = [factorization.multipliers(factorization.holding(force)) for force in S.T]
            found[pins] = self.load_map[pins] @ np.column_stack((multipliers, *per))
        return found


class ContactReactions(ClosedContacts):
    """What may act on a mechanism in a motion that is given; not for threads."""

    def rows(self, state: State, active: ActiveConstraints) -> tuple[Array, Array]:
        """Rows of contacts that are closed and at rest, (3k, nv), and ψ̈ at no acceleration."""
        places = self.places(state)
        still = np.linalg.norm(places.slip, axis=1) <= self._slow(state)
        closed = np.flatnonzero(self._touching(state, places) & ~self._dry)
        found = self._prepare(state, Inputs(), self.without(active), closed, {})
        kept = np.ones((len(closed), found.width), dtype=bool)
        kept[:, 1:] = (still[closed])[:, None] & self._rubs[closed]
        return found.jacobian[kept.ravel()], found.bias[kept.ravel()]

    def reactions(
        self, state: State, inputs: Inputs, active: ActiveConstraints, qdd: Array
    ) -> Reactions:
        """What may act where the acceleration is q̈, (nv,).

        Raises:
            StateError: A contact is inside its surface, or the motion takes it there.
        """
        places = self.places(state)
        closed = np.flatnonzero(self._touching(state, places) & ~self._dry)
        rows = self._prepare(state, inputs, self.without(active), np.arange(len(self.names)), {})
        moves = rows.jacobian.reshape(-1, rows.width, len(qdd))[:, 1:]
        motion = (rows.jacobian @ qdd + rows.bias).reshape(-1, rows.width)
        size = np.abs(rows.jacobian) @ np.abs(qdd) + np.abs(rows.bias)
        least = _STILL * (size.reshape(-1, rows.width).max(axis=1) + 1e-3)
        for k in closed[motion[closed, 0] < -least[closed]].tolist():
            raise StateError(
                f"the accelerations take it into its surface, at {-motion[k, 0]:.3g} m/s²",
                place=self.names[k],
            )
        closed = closed[motion[closed, 0] <= least[closed]]
        directions = {}
        for k in (*closed.tolist(), *np.flatnonzero(self._dry).tolist()):
            for move, still in ((places.slip[k], self._slow(state)), (motion[k, 1:], least[k])):
                if self._rubs[k, 0] and (speed := float(np.linalg.norm(move))) > still:
                    directions[k] = move / speed
                    break
        rows = self._prepare(state, inputs, self.without(active), closed, directions)
        sliding = {self.names[k]: x for k, x in directions.items() if self._dry[k]}
        holding = [k for k in np.flatnonzero(self._dry).tolist() if k not in directions]
        drag, nv = np.zeros((len(closed), 2)), len(qdd)
        for i, k in enumerate(closed.tolist()):
            drag[i] = -self._friction[k] * directions.get(k, np.zeros(2))[:2]
        return Reactions(
            closed,
            rows.jacobian.reshape(-1, rows.width, nv)[:, :3].reshape(-1, nv),
            rows.force.reshape(nv, -1, rows.width)[:, :, :3].reshape(nv, -1),
            np.where(drag.any(axis=1), 0.0, self._static_friction[closed]),
            drag,
            np.array(holding, dtype=np.intp),
            tuple(moves[k, self._rubs[k]].T for k in holding),
            self._static[holding],
            self._load_map[holding],
            replace(self.without(active), sliding=sliding),
        )

    def resting(
        self,
        state: State,
        inputs: Inputs,
        active: ActiveConstraints,  # what is on for other reasons
        closed: Indices,
        factorization: Factorization,  # without them, with or without rows behind the mechanism's
        free: Solution,  # the motion without them, by this
    ) -> tuple[ClosedRows, ConeSolution]:
        """Forces of closed contacts and joints that stick, within their cones at rest."""
        rows = self._prepare(state, inputs, active, closed, {})
        rows, multipliers = rows._replace(factorization=factorization), free.joint_multipliers
        more = len(multipliers) - self._load_map.shape[2]
        load_map = np.pad(self._load_map[closed], ((0, 0), (0, 0), (0, more)))
        pressing = Pressing(self._static[closed], load_map, self._pinned[closed], multipliers)
        return rows, rows.solve(rows.jacobian @ free.qdd, self._static_friction[closed], pressing)

    def contacts(
        self,
        state: State,
        found: Reactions,
        forces: Array,  # of those that may act, (k, 3), in N or N·m
        seen: Array,  # motion per unit force, (n, 3k): which forces make none
    ) -> dict[str, Contact]:
        """Contacts with these forces."""
        places = self.places(state)
        full = np.zeros((len(self.names), 3))
        full[found.closed] = forces
        full[found.closed, 1:] += forces[:, :1] * found.drag
        shared = (np.abs(null_basis(seen, _SHARED)) > _SHARED).any(axis=1)
        unique = np.ones(len(self.names), dtype=bool)
        unique[found.closed] = ~(shared & found.force.any(axis=0)).reshape(-1, 3).any(axis=1)
        return {one.name: one for one in self.contacts_at(places, full, unique)}

    def multipliers(self, found: Reactions, forces: Array) -> Array:
        """Their forces (k, 3) as multipliers of the mechanism's rows, (m,)."""
        result = np.zeros(len(self._scale))
        rows = self._rows[found.closed]
        np.add.at(result, self._tangents[found.closed, :2], forces[:, 1:])
        result[rows] = self._side[found.closed] * forces[:, 0] / self._scale[rows]
        return result

    def _touching(self, state: State, places: Places) -> Flags:
        """Which contacts are closed and stay so at these velocities.

        Raises:
            StateError: One is inside its surface, or moves into it.
        """
        for values, least, what in (
            (places.gap, TOUCHES, "is {:.3g} m or rad inside its surface"),
            (places.rate, self._slow(state), "strikes its surface at {:.3g} m/s or rad/s"),
        ):
            near = (places.gap <= TOUCHES) & ~self._dry & (values < -least)
            for k in np.flatnonzero(near).tolist():
                raise StateError(what.format(-values[k]), place=self.names[k])
        return (places.gap <= TOUCHES) & (places.rate <= self._slow(state))

    @staticmethod
    def _slow(state: State) -> float:
        return TOUCHES * (1.0 + float(np.abs(state.v).max(initial=0.0)))
