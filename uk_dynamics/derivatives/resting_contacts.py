# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts, stops and ropes that a mechanism leans on where it rests."""

from dataclasses import replace

import numpy as np

from uk_dynamics.arrays import largest
from uk_dynamics.core.contact import ConeProblem, solve_cone_problem
from uk_dynamics.core.linalg import null_basis
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.contact import CLOSE, TOUCHES, Contact, ContactReactions
from uk_dynamics.mechanism.resolution import (
    ActiveConstraints,
    Array,
    DynamicsTerms,
    Inputs,
    ResolvedMechanism,
    State,
)

_STILL = 1e-8  # of the accelerations that cancel: less is rounding
_RANK = 1e-9  # of singular values


class RestingContacts:
    """Those that are closed, by turns with a search for the configuration; not for threads."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        self._mechanism, self._contacts = mechanism, ContactReactions(mechanism)
        self._base = self._contacts.without(mechanism.hierarchy.initial)
        self._closed: set[int] = set()
        self._parted: set[int] = set()  # those that touch and separate
        self.pulling = ""  # names of those that would have had to pull last
        self._sticks = np.array([one.dry is not None for one in mechanism.one_sided])

    @property
    def active(self) -> ActiveConstraints:
        """The constraints that act, those that hold what sticks among them."""
        held = (self._contacts.one_sided[k].constraints for k in self._closed)
        return replace(self._base, names=self._base.names.union(*held))

    def close(self, state: State) -> Array:
        """Close what touches or is inside; residuals of the rows that hold gaps, (m,)."""
        gap, tables = self._contacts.places(state).gap, self._contacts.tables
        inside = set(np.flatnonzero((gap < -CLOSE) & ~self._sticks).tolist())
        touching = set(np.flatnonzero((gap <= TOUCHES) & ~self._sticks).tolist())
        self._parted -= inside
        self._closed |= touching - self._parted
        found = np.zeros(len(self._mechanism.constraints))
        for k in self._closed:
            if tables.gap[k]:  # others bound a speed
                found[tables.row[k, 0]] = gap[k] / tables.gap[k]
        return found

    def way(self, state: State, q: Array) -> float:
        """Part of the way to a configuration, (nq,), on which open ones close at the earliest."""
        before, teeth = self._contacts.places(state).gap, self._contacts.teeth(state.q)
        after = self._contacts.places(replace(state, q=q), teeth).gap
        met = (after < -CLOSE) & (before > TOUCHES) & ~self._sticks
        met[list(self._closed)] = False
        return float(np.min(before[met] / (before - after)[met], initial=1.0))

    def forces(
        self, state: State, terms: DynamicsTerms, held: Array
    ) -> tuple[Array, dict[str, Contact]] | None:
        """Forces within the cones that keep it at rest.

        Args:
            state: At rest, where all that is closed touches.
            terms: There.
            held: Rows of what is held whatever force that takes, (h, nv).

        Returns:
            Generalized force of all of them, (nv,), and each of them; None where some separate,
            which are open then.

        Raises:
            InputError: Some slide, which are named.
            StateError: One is inside its surface.
        """
        given = Inputs(active=self._base)
        found = self._contacts.reactions(state, given, self._base, 0.0 * state.v)
        free = null_basis(np.vstack([self.others(terms.A), held]), _RANK)
        inverse = np.linalg.inv(free.T @ terms.M @ free)
        seen = found.jacobian @ free
        W, q = seen @ inverse @ seen.T, seen @ (inverse @ (free.T @ terms.F))
        solution = solve_cone_problem(ConeProblem(W, q, found.friction))
        least = _STILL * (largest(q) + 1e-3)
        moves = dict(zip(found.closed.tolist(), solution.motion, strict=True))
        parted = {k for k, u in moves.items() if u[0] > least and k in self._closed}
        self._closed -= parted
        self._parted |= parted
        if parted:
            self.pulling = ", ".join(self._contacts.names[k] for k in sorted(parted))
            return None
        slides = [k for k, u in moves.items() if np.hypot(*u[1:]) > least]
        if slides:
            names = ", ".join(self._contacts.names[k] for k in slides)
            raise InputError(
                f"no equilibrium near the guess: {names} would slide, since it takes more than"
                " their friction; give another guess, or more friction",
                place=self._mechanism.name,
            )
        force: Array = found.jacobian.T @ solution.forces.ravel()
        return force, self._contacts.contacts(state, found, solution.forces, seen.T)

    def others(self, A: Array) -> Array:
        """The rows of A, (m, nv), that are not those of closed contacts."""
        return np.delete(A, self.rows(), axis=0)

    def rows(self) -> list[int]:
        """Indices of the rows of closed contacts, which hold what sticks where it is."""
        slices, count = self._mechanism.constraints.slices, len(self._mechanism.constraints)
        names = [name for k in self._closed for name in self._contacts.one_sided[k].constraints]
        return [row for name in names for row in range(*slices[name].indices(count))]
