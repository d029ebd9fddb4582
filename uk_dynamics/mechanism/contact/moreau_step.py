# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts, stops, ropes and joints that stick over fixed steps, whatever happens within them."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.arrays import largest
from uk_dynamics.core.equation import Solution, project_along, projection
from uk_dynamics.core.integration import steps_between
from uk_dynamics.exceptions import SimulationError
from uk_dynamics.mechanism.contact.closed_contacts import CLOSE, RESTING, ClosedContacts
from uk_dynamics.mechanism.dynamics import (
    SLIPS,
    STICKS,
    ContactEffort,
    ContactTables,
    Dynamics,
    Instants,
    Motion,
    MotionSegment,
)
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import ActiveConstraints, Array, Inputs, State

# What the balance leaves at least of the smaller kinetic energy, before a step or after it, as it
# is left of what it adds to; and what of the potential energy is rounding.
BALANCE = {"PART": 0.5, "ROUNDING": 1e-14}

# Is told of changes by name, a time in s, and the energy lost, in J.
Seen = Callable[[Mapping[str, bool], float, float], object]


class ContactStepping(ClosedContacts):
    """Moves a mechanism with contacts in fixed steps; not for threads."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        super().__init__(mechanism)
        # what a step left of the conditions of its contacts, relative to their motion, if too much
        self._unsolved = 0.0
        self.effort = ContactEffort()  # of all steps so far
        # energy lost in the last step, of those that struck in it; NaN of others, (k,)
        self._struck = np.full(len(self.names), np.nan)
        self._in_c: tuple[Dynamics, Motion] | None = None
        self._no_efforts = np.zeros(len(mechanism.actuators))
        self._stuck = {one.sticking for one in self.one_sided}
        self._reached = max(projection.REACHED, mechanism.closure_tolerance)

    def advance(
        self,
        state: State,
        end: float,
        steps: int,
        dynamics: Dynamics,
        inputs: Inputs,
        seen: Seen = lambda *_: None,
    ) -> tuple[State, ActiveConstraints]:
        """Steps of equal size, each as :meth:`step`; in C as far as it solves them.

        Args:
            state: Before them.
            end: Of the last one, in s.
            steps: How many.
            dynamics: Evaluator of the mechanism.
            inputs: What acts, and what is closed before them.
            seen: Is told of each step in which contacts strike, or the constraints that act change:
                whether these act after it, by name, its end in s, and what energy impulses took, in
                J; NaN where nothing strikes.

        Returns:
            As :meth:`step`.

        Raises:
            SimulationError: The loops cannot be closed.
        """
        active = inputs.active or self._mechanism.hierarchy.initial
        in_python = inputs.nonideal is not None or inputs.references
        motion = None if in_python else self._motion(dynamics)
        while steps:
            h = (end - state.t) / steps
            if motion is not None:
                tau = np.zeros_like(state.v) if inputs.tau is None else inputs.tau
                smooth = replace(inputs, active=self.without(active), stabilize=False)
                motion.act(smooth, self._no_efforts, tau)
                when = np.append(state.t + h * np.arange(steps), end)
                given = state, Instants.alone(when)
                over = self.over(active)
                found = motion.move(*given, step=np.inf, method="moreau", over=over)
                active, state = self.after(found, when, np.inf, active, seen), found.state
                steps -= found.reached
                if not steps:
                    break
            before = active.names
            state, active = self.step(state, h, dynamics, replace(inputs, active=active))
            steps -= 1
            self._tell(seen, state.t, before, active.names, self._struck)
        return State(end, state.q, state.v), active

    def begin(
        self, state: State, dynamics: Dynamics, inputs: Inputs
    ) -> tuple[State, ActiveConstraints]:
        """Where steps begin that nothing is known of before.

        Args:
            state: Positions and velocities, which are projected onto the loops and what rests.
            dynamics: Evaluator of the mechanism.
            inputs: Constraints that act besides one-sided ones, and what they follow.

        Returns:
            The state, and what is closed, sticks and slides there: what touches without a velocity
            along its normal is closed, and sticks where it has none in its plane. What strikes does
            so within the first step, which also knows what is pulled apart.

        Raises:
            SimulationError: Something is inside of its surface, or the loops cannot be closed.
        """
        base = self.without(inputs.active or self._mechanism.hierarchy.initial)
        state = dynamics.project(state, replace(inputs, active=base))
        gap, rate, slip = self.places(state)
        if (gap < -CLOSE * max(self._mechanism.size, 1.0)).any():
            k = int(np.argmin(gap))
            raise SimulationError(
                f"{self.names[k]} is {-gap[k]:.3g} m or rad inside; begin outside", state.t
            )
        rests = (gap <= CLOSE) & (np.abs(rate) <= RESTING)  # zero both of joints that stick
        sticks = rests & (self._friction > 0.0) & (np.linalg.norm(slip, axis=1) <= RESTING)
        active = self._acting(base, np.select([sticks, rests], [STICKS, SLIPS]), slip)  # 0: open
        return dynamics.project(state, replace(inputs, active=active)), active

    def over(self, active: ActiveConstraints) -> tuple[ContactTables, NDArray[np.int64]]:
        """What :meth:`Motion.move` is told of one-sided constraints."""
        return self.tables, self._mode(active)

    def after(
        self,
        found: MotionSegment,
        when: Array,
        longest: float,
        active: ActiveConstraints,
        seen: Seen = lambda *_: None,
    ) -> ActiveConstraints:
        """What is closed, sticks and slides after a motion in C.

        Args:
            found: What became of it.
            when: Its instants, in s.
            longest: Its longest step, in s.
            active: What was closed before it.
            seen: As of :meth:`advance`.
        """
        assert found.modes is not None
        self.effort = self.effort.plus(found.contact_effort)
        base, modes = self.without(active), found.modes
        changes = (modes[1:] != modes[:-1]).any(axis=1)
        changed, told = changes.any(), changes | np.isfinite(found.struck).any(axis=1)
        if told.any():
            instants = np.append(0, np.cumsum(steps_between(when, longest)))
            times = np.interp(np.arange(instants[-1] + 1), instants, when)
            for k in np.flatnonzero(told).tolist():
                # a joint that goes on sliding is told as one that does not act
                before, since = (self._names(base, mode) for mode in modes[k : k + 2])
                self._tell(seen, float(times[k + 1]), before, since, found.struck[k])
        if len(modes) == 1 or not (changed or base.sliding or SLIPS in modes[-1]):
            return active
        last = self._acting(base, modes[-1], self.tables.slip)
        return last if changed or last.sliding else active

    def _tell(
        self, seen: Seen, t: float, before: frozenset[str], after: frozenset[str], struck: Array
    ) -> None:
        strikes = np.flatnonzero(np.isfinite(struck)).tolist()
        names = (before ^ after).union(self.names[k] for k in strikes)
        if names:
            lost = float(struck[strikes[0]]) if strikes else np.nan
            seen({name: name in after for name in sorted(names)}, t, lost)

    def step(
        self, state: State, h: float, dynamics: Dynamics, inputs: Inputs
    ) -> tuple[State, ActiveConstraints]:
        """A step of h seconds by Moreau's midpoint rule, projected onto the loops.

        Impulses act at contacts that are closed in the middle of the step, or would end it inside
        of their surfaces. Those that rest are projected onto them, so that they do not sink, and
        positions of others out of them. Energy does not grow by more than the work of forces.

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
        there = dynamics.evaluate(middle, without)
        free, multipliers = state.v + h * there.qdd, h * self._multipliers(there)
        # Those that were closed may lift off with a velocity, not by the curvature of their way.
        closes = np.array([name in before.names for name in self.names], dtype=bool)
        teeth = self.teeth(state.q)
        gap, normal = self.places(middle, teeth).gap, self._normal_rows(middle)[0]
        closes |= gap <= CLOSE
        stuck = np.array([one.sticking in before.names for one in self.one_sided], dtype=bool)
        iterations, fell_back = 0, False
        closed, ready, v = np.flatnonzero(closes), None, state.v
        for turned in (False, True):
            if turned:
                turn = self._turn(middle, 0.5 * (state.v + v), without)
                free, multipliers = free + h * turn.qdd, multipliers + h * self._multipliers(turn)
            while True:
                ready = ready or self._prepare(middle, inputs, active, closed, {})
                found, v = self._impulses(ready, closed, state.v, free, stuck, h, multipliers)
                iterations += found.iterations
                fell_back |= found.fell_back
                closes |= gap + 0.5 * h * normal @ v <= CLOSE
                if closes.sum() == len(closed):
                    break
                closed, ready = np.flatnonzero(closes), None  # impulses may drive others in
        self.effort = self.effort.plus(ContactEffort(found.error, iterations, int(fell_back)))
        if not found.solved:
            self._unsolved = max(self._unsolved, found.error)
        rests = np.flatnonzero((found.motion[:, 0] <= RESTING) & (found.forces[:, 0] > 0.0))
        # what was open and approaches strikes; all impulses of the step take energy then
        assert ready is not None
        speeds = (ready.jacobian @ state.v).reshape(found.motion.shape)
        lost = 0.0 - 0.5 * float((found.forces * (speeds + found.motion)).sum())
        struck = (found.forces[:, 0] > 0.0) & (speeds[:, 0] < -RESTING) & ~self._dry[closed]
        self._struck[:] = np.nan
        self._struck[[k for k in closed[struck] if self.names[k] not in before.names]] = lost
        part = replace(found, motion=found.motion[rests])
        active = self._modes(active, closed[rests], {}, part, RESTING)
        work = self._work(middle, v, h, inputs)
        end = State(state.t + h, integrate(middle.q, 0.5 * h * v), v)
        ending = replace(inputs, active=active)
        along = self._along(middle, end, ending, teeth)
        end = self._projected(end, dynamics, ending, teeth) if along is None else along
        strikes = (found.forces[:, 0] > 0.0).sum() > len(rests)
        lasts = active.names == before.names and not active.sliding and not strikes
        return end if work is None else self._balanced(state, end, work, lasts), active

    def _work(self, middle: State, v: Array, h: float, inputs: Inputs) -> float | None:
        """Of forces without a potential in a step that ends with v, in J; None: it is not known.

        The workspace is that of the middle, whose velocity is that before the step.
        """
        mechanism = self._mechanism
        if not mechanism.balances or inputs.nonideal is not None or inputs.references:
            return None
        at = middle.t, middle.q, middle.v
        force = mechanism.forces.unstored(mechanism.passive, self._workspace, *at)
        if inputs.tau is not None:
            force = force + inputs.tau
        return 0.5 * h * float((middle.v + v) @ force)

    def _balanced(self, start: State, end: State, work: float, lasts: bool) -> State:
        """The end with velocities as fast as its energy is to be: by the work more than before.

        Where contacts change, slide or strike it may be less, by what they have lost.
        """
        before, now = map(self._dynamics.energy, (start, end))
        wanted = before.total + work - now.potential
        rounding = BALANCE["ROUNDING"] * (abs(before.potential) + abs(now.potential))
        if abs(wanted - now.kinetic) <= rounding or now.kinetic == 0.0:
            return end
        least = BALANCE["PART"] * min(before.kinetic, now.kinetic)
        most = now.kinetic / BALANCE["PART"] if lasts else now.kinetic
        part = min(max(wanted, least), most) / now.kinetic
        return replace(end, v=np.sqrt(part) * end.v)

    def _turn(self, middle: State, mean: Array, inputs: Inputs) -> Solution:
        """What Coriolis and centrifugal forces change with the mean velocity of a step, (nv,).

        They, and what rows need, are those of the velocity before it; friction and damping stay so.
        """
        found = []
        for v in (mean, middle.v):
            at = self._dynamics.prepare(replace(middle, v=v), inputs)
            found.append((at.workspace.bias.copy(), at.rows.bias))
        (h, rows), (h_before, rows_before) = found
        return at.factorization.solve(h_before - h, rows_before - rows)

    def _along(self, middle: State, end: State, inputs: Inputs, teeth: Array) -> State | None:
        """As :meth:`_projected`, along M⁻¹Aᵀ of the middle, as impulses; None: not found so."""
        held, hierarchy = inputs.active, self._mechanism.hierarchy
        assert held is not None
        if not (self._mechanism.of_places and hierarchy.rigid.all()):
            return None
        without = self.without(held)

        def reached(place: State, names: frozenset[str], *, moves: bool = False) -> State | None:
            active = replace(held, names=names if moves else names - self._stuck, sliding={})
            ready = self._dynamics.prepare(middle, replace(inputs, active=active, stabilize=False))
            acting, correction = hierarchy.acting(active), ready.factorization.correction
            if moves:
                A = acting[:, None] * self._evaluated(place).A
                still = projection.CHORDS["STILL"] * (1.0 + largest(place.v))
                way = place.v, correction, lambda v: A @ v, np.add, still
                v = project_along(*way, self._reached)
                return None if v is None else replace(place, v=v)
            q = project_along(
                place.q,
                correction,
                lambda q: acting * self._evaluated(replace(place, q=q)).residual,
                self._mechanism.model.integrate,
                projection.CHORDS["NEAR"],
                self._reached,
            )
            return None if q is None else replace(place, q=q)

        place, lifted = reached(end, held.names), frozenset[str]()
        while place and (inside := self._beyond(-self.places(place, teeth).gap) - lifted):
            lifted |= inside
            place = reached(place, without.names | lifted)
        if place:
            names = held.names - self._beyond(self.places(place, teeth).gap) - set(held.sliding)
            place = reached(place, names) if lifted else place
        return reached(place, names, moves=True) if place else None

    def _projected(self, end: State, dynamics: Dynamics, inputs: Inputs, teeth: Array) -> State:
        """The end of a step on the rows that act; positions outside of all surfaces.

        Velocities of what slides turn by the impulses of the next step, which friction knows.
        """
        held = inputs.active
        assert held is not None
        without = self.without(held)
        try:
            reached = dynamics.project(end, inputs)
        except (
            SimulationError
        ):  # contacts that cannot all be closed, as those of two steps of a leg
            held = without
            reached = dynamics.project(end, replace(inputs, active=held))
        place, lifted = reached, frozenset[str]()  # what rests may be lifted
        while inside := self._beyond(-self.places(place, teeth).gap) - lifted:
            lifted |= inside
            names = without.names | lifted
            try:
                up = replace(inputs, active=replace(without, names=names))
                place = dynamics.project(replace(place, v=end.v), up)
            except SimulationError:
                place = reached
                break
        names = held.names - self._beyond(self.places(place, teeth).gap) - set(held.sliding)
        if place is reached and names == held.names:
            return reached
        return dynamics.project(
            replace(place, v=end.v), replace(inputs, active=replace(held, names=names))
        )

    def _beyond(self, distances: Array) -> frozenset[str]:
        """Names of those with a distance that is not just rounding."""
        return frozenset(np.array(self.names, dtype=object)[distances > CLOSE].tolist())

    def problem(self) -> tuple[str, str] | None:
        """What steps since the last call did not solve, and by how much; None: they solved all."""
        error, self._unsolved = self._unsolved, 0.0
        if not error:
            return None
        what = "forces of contacts do not fulfil their conditions"
        return what, f"; the nearest found miss {error:.1g} of their motion"

    def forget(self) -> None:
        """Look for the next impulses from none, not from those of the last step.

        Where several motions fulfil Coulomb's law, the one found depends on it.
        """
        self._last[:] = 0.0

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
