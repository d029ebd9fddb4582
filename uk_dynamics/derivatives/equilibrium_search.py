# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Where a mechanism rests, and on which contacts: statics by Newton's method through the loops."""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from uk_dynamics.arrays import Flags, Values, largest
from uk_dynamics.core import factorize
from uk_dynamics.core.linalg import mass_factor, null_basis
from uk_dynamics.derivatives.motion_derivatives import MotionDerivatives
from uk_dynamics.exceptions import AssemblyError, InputError, expect_names
from uk_dynamics.mechanism.analysis import Equilibrium
from uk_dynamics.mechanism.assembly import assemble, closed_configuration
from uk_dynamics.mechanism.contact import (
    CLOSE,
    TOUCHES,
    Contact,
    ContactReactions,
    contact_patches,
)
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import (
    ActiveConstraints,
    Array,
    DynamicsTerms,
    Inputs,
    ResolvedMechanism,
    State,
)

_ITERATIONS = 200
_BALANCED = 1e-9  # of the forces that act, what may be left
_ROUNDING = 1e-14  # of them, which no step makes smaller
_LONGEST_STEP = 0.3  # m or rad
_SLIGHT = 1e-6  # of the largest curvature
_HALVINGS = 10
_RANK = 1e-9  # of singular values
_STILL = 1e-8  # of the accelerations that cancel: less is rounding


def equilibrium(
    mechanism: ResolvedMechanism,
    guess: Values | None = None,
    *,
    hold: Iterable[str] = (),
    efforts: Values | None = None,
    stable: bool = False,
    t: float = 0.0,
    derivatives: MotionDerivatives | None = None,
    progress: Callable[[float], object] | None = None,
) -> Equilibrium:
    """Find an equilibrium near a configuration.

    Forces balance where virtual work vanishes in all admissible motions that leave the held joints
    where they are: F(q) + Aᵀλ + Eᵀμ = 0 with closed loops (d'Alembert; review, section 2). Newton's
    method on q, λ and μ with exact derivatives, closing the loops after each step. Contacts, stops
    and ropes that touch there, or that it comes upon, carry it within their cones of friction.
    Joints that stick hold it where it begins, if they can; else they count as free.

    Args:
        mechanism: Which one.
        guess: Where to begin: positions by joint name, or (nq,); None is the initial guess.
        hold: Joints that stay where they are, whatever force that takes.
        efforts: Motor efforts that act, by name or (motors,), in N or N·m; None: none.
        stable: Go where the forces drive it, to an equilibrium that attracts. Otherwise any will
            do, an upright pendulum too.
        t: Time for which forces and constraints hold, in s.
        derivatives: Of the mechanism, where there are some already.
        progress: Called with the part of the longest search that was done since the last call.

    Raises:
        UnknownNameError: A held joint does not exist.
        InputError: No equilibrium was found, with the joint that is most out of balance or the
            contacts that would slide; or the mechanism has no derivatives; or wrong sizes.
        AssemblyError: The loops do not close at the guess.
    """
    names, nv = mechanism.model.velocity_names, mechanism.model.nv
    held = list(dict.fromkeys(hold))
    expect_names("joint", held, names)
    E = np.eye(nv)[[names.index(name) for name in held]]
    given = mechanism.inputs(efforts=efforts)
    evaluator = derivatives or MotionDerivatives(mechanism)
    dynamics = InterpretedDynamics(mechanism)
    q = _close(mechanism, mechanism.configuration(guess), held, t)
    unbalanced, left = np.zeros(nv), np.inf
    resting = RestingContacts(mechanism) if mechanism.one_sided else None
    off = np.zeros(len(mechanism.constraints))
    for _ in range(_ITERATIONS):
        state = State(t, q, np.zeros(nv))
        if resting is not None:
            off = resting.close(state)
            given = replace(given, active=resting.active)
        terms = dynamics.terms(state, given)
        force, A = terms.F.copy(), terms.A.copy()
        reactions = np.vstack([A, E])
        loads = np.linalg.lstsq(reactions.T, -force, rcond=None)[0].astype(float)
        unbalanced = force + reactions.T @ loads
        size = float(np.abs(force).max(initial=0.0))
        before, left = left, max(largest(unbalanced) / (1.0 + size), largest(off))
        # Newton's method squares what is left until rounding stops it
        if left <= _ROUNDING or before / 2 < left <= _BALANCED:
            contacts: dict[str, Contact] = {}
            if resting is not None:
                found = resting.forces(state, terms, E)
                if found is None:
                    left = np.inf
                    continue
                pressed, contacts = found
                others = np.vstack([np.delete(A, resting.rows(), axis=0), E])
                loads = np.linalg.lstsq(others.T, -force - pressed, rcond=None)[0].astype(float)
            loads_held = loads[len(loads) - len(E) :]
            tau = (given.tau if given.tau is not None else np.zeros(nv)) + E.T @ loads_held
            holding = dict(zip(held, map(float, loads_held), strict=True))
            patches = contact_patches(mechanism, q, contacts) if contacts else {}
            return Equilibrium(state, holding, replace(given, tau=tau), contacts, patches)
        fixed = np.append(mechanism.constraints.position_rows, np.ones(len(E), dtype=bool))
        fixed[resting.rows() if resting is not None else []] = True
        step = _step(evaluator, state, reactions, fixed, loads, unbalanced, off, stable)
        q = _follow(mechanism, state, step, held)
        if resting is not None and (part := resting.way(state, q)) < 1.0:
            q = _follow(mechanism, state, part * step, held)
        if progress is not None:
            progress(1.0 / _ITERATIONS)
    worst = int(np.argmax(np.abs(unbalanced)))
    problem = f"{names[worst]} is out of balance by {abs(unbalanced[worst]):.3g} N or N·m"
    if resting is not None and resting.pulling:
        problem = f"{resting.pulling} would have to pull"
    raise InputError(
        f"no equilibrium found near the guess; {problem}; give another guess, or hold joints",
        place=mechanism.name,
    )


def _step(
    evaluator: MotionDerivatives,
    state: State,
    reactions: Array,
    fixed: Flags,  # which of them positions follow; others take loads alone
    loads: Array,
    unbalanced: Array,
    off: Array,  # residuals of closed contacts, (m,)
    stable: bool,
) -> Array:
    """One step of Newton's method, shortened, along the motions that stay possible, (nv,)."""
    nv, rows = len(unbalanced), len(off)
    by = evaluator.equations(state, np.zeros(nv), loads[:rows])
    free = null_basis(reactions[fixed], _RANK)
    stiffness, force = -free.T @ by.motion[:, :nv] @ free, free.T @ unbalanced
    if stable:  # downhill, as far as the curvature says, whichever sign it has
        values, vectors = np.linalg.eigh(0.5 * (stiffness + stiffness.T))
        size = np.maximum(np.abs(values), _SLIGHT * np.abs(values).max(initial=_SLIGHT))
        step = free @ (vectors @ (vectors.T @ force / size))
    else:
        step = free @ np.linalg.lstsq(stiffness, force, rcond=None)[0]
    if off.any():
        missing = np.append(off, np.zeros(len(loads) - rows))[fixed]
        step = step - np.linalg.lstsq(reactions[fixed], missing, rcond=_RANK)[0]
    longest = float(np.abs(step).max(initial=0.0))
    shortened: Array = step * min(1.0, _LONGEST_STEP / longest) if longest else step
    return shortened


def _follow(mechanism: ResolvedMechanism, state: State, step: Array, held: Sequence[str]) -> Array:
    """Positions after a step, with closed loops; a step that breaks them is halved."""
    model = mechanism.model
    for _ in range(_HALVINGS):
        with contextlib.suppress(AssemblyError):
            return _close(mechanism, model.integrate(state.q, step), held, state.t)
        step = 0.5 * step
    return state.q


def _close(mechanism: ResolvedMechanism, q: Array, held: Sequence[str], t: float) -> Array:
    return closed_configuration(mechanism, assemble(mechanism, q, tuple(held), t, None))


class RestingContacts:
    """Contacts, stops, ropes and joints that hold it, by turns with the search; not for threads."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        self._mechanism, self._contacts = mechanism, ContactReactions(mechanism)
        self._base = self._contacts.without(mechanism.hierarchy.initial)
        self._parted: set[int] = set()  # those that touch and separate
        self.pulling = ""  # names of those that would have had to pull last
        self._sticks = np.array([one.dry is not None for one in mechanism.one_sided])
        self._closed = set(np.flatnonzero(self._sticks).tolist())

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
            Generalized force of all of them, (nv,), and each contact; None where some separate, or
            joints slide, which are open and free then.

        Raises:
            InputError: Some slide, which are named.
            StateError: One is inside its surface.
        """
        given = Inputs(active=self._base)
        found = self._contacts.reactions(state, given, self._base, 0.0 * state.v)
        A = terms.A.copy()
        A[self.rows()] = 0.0
        A = np.vstack((A, held))
        factorization = factorize(mass_factor(terms.M), A, rank_tolerance=_RANK)
        free = factorization.solve(terms.F, np.zeros(len(A)))
        sticks = {k for k in found.holding.tolist() if k in self._closed}
        closed = np.array([*found.closed.tolist(), *sorted(sticks)], dtype=np.intp)
        rows, solution = self._contacts.resting(
            state, given, self._base, closed, factorization, free
        )
        least = _STILL * (largest(rows.jacobian @ free.qdd) + 1e-3)
        moves = dict(zip(closed.tolist(), solution.motion, strict=True))
        slides = {k for k, u in moves.items() if np.linalg.norm(u[1:]) > least}
        parted = {k for k, u in moves.items() if u[0] > least and k in self._closed - sticks}
        self._closed -= parted
        self._parted |= parted
        if parted:
            self.pulling = ", ".join(self._contacts.names[k] for k in sorted(parted))
            return None
        if sticks and (slides or not solution.solved):  # contacts that slide may not without them
            self._closed -= slides & sticks or sticks
            return None
        if slides:
            names = ", ".join(self._contacts.names[k] for k in sorted(slides))
            raise InputError(
                f"no equilibrium near the guess: {names} would slide, since it takes more than"
                " their friction; give another guess, or more friction",
                place=self._mechanism.name,
            )
        forces, seen = solution.forces, factorization.admissible_coordinates(found.force)[0]
        own = forces[: len(found.closed), :3]
        return rows.force @ forces.ravel(), self._contacts.contacts(state, found, own, seen)

    def rows(self) -> list[int]:
        """Indices of the rows of closed contacts, which hold what sticks where it is."""
        slices, count = self._mechanism.constraints.slices, len(self._mechanism.constraints)
        names = [name for k in self._closed for name in self._contacts.one_sided[k].constraints]
        return [row for name in names for row in range(*slices[name].indices(count))]
