# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motion with contacts, stops and ropes: smooth pieces between events that are located exactly.

Between events the closed contacts are rows like those of loops, and sliding ones have friction
that depends on their load. A piece ends where a gap closes, a force would pull, a force of sticking
leaves its cone, or a contact stops sliding. There velocities may jump, and the motion that follows
is chosen by :class:`ContactDynamics`.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from uk_dynamics.constraints.rows import HeldFeatures
from uk_dynamics.core.equation import Status
from uk_dynamics.core.integration import PART_OF_A_STEP, SAME_TIME, AdaptiveStepper
from uk_dynamics.exceptions import SimulationError
from uk_dynamics.mechanism.contact import ContactDynamics, ContactPoints
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.simulation.event_search import Event, first_event
from uk_dynamics.simulation.plant import Plant
from uk_dynamics.simulation.stiffness import creeps

# s: two events nearer than this are at one instant.
_SAME_INSTANT = 1e-12
# m/s: what slides more slowly when it turns round has stopped, or than the tolerance of velocities;
# nothing resolves its direction.
_STOPPED = 1e-8
_BEGINS = 1e-6  # m/s: what slides more slowly has just begun to
_JUST_BEGUN = 1e-9  # m/s: what slides more slowly has no direction yet but that in which it begins
_PATIENCE = 20  # explicit steps over what slides, after which it is asked whether they creep
_STEADY = 0.1  # part of a speed that changes in a step, while directions need shorter ones
# Impacts at one instant.
_MOST_IMPACTS = 100
# Part of a step that is tried where the whole one fails.
_SHORTER = 0.25
# So many events in so short a time, in s, or so many changes of mode in a longer one, are not
# followed one by one but stepped over, for a time that doubles where there are as many again soon
# after it, in steps up to the longest.
_MOST_EVENTS, _SHORT_TIME, _STEP_OVER, _LONGEST_OVER = 40, 1e-6, 1e-5, 1e-3
_CHANGES, _MOST_CHANGES, _SOON = ("opens", "slips", "stops"), 20, 1e-3
# So are so many steps in so short a time, in s, while something slides.
_MOST_STEPS, _NO_PROGRESS = 100, 1e-5
# So often the same, or two in turns, within such a time, in s: surfaces in line, of which rounding
# chooses one, or rows of which a singular configuration leaves too little to hold a contact.
_SAME_EVENTS, _NO_TIME = 3, 1e-10
# m or rad of a machine of 1 m: what is deeper inside is not there by errors of integration.
_INSIDE = 1e-6


@dataclass
class EventDriven:
    """Moves a plant whose mechanism has one-sided constraints."""

    plant: Plant
    contacts: ContactDynamics
    # called with what has changed its mode, the time, and the kinetic energy lost
    changed: Callable[[Mapping[str, bool], float, float], object]
    # called with a problem, its time, and details of it there
    warn: Callable[..., object]
    moved: Callable[[float], object]
    tolerance: float  # of velocities, in m/s
    _told: float = field(default=-np.inf, init=False)  # time of the last change, in s
    #: Whether an implicit method is to take steps: friction of what barely slides is stiff.
    implicit: bool = field(default=False, init=False)
    _explicit: int = field(default=0, init=False)  # such steps so far
    # end and length of the last time that is stepped over, in s
    _over: tuple[float, float] = field(default=(-np.inf, 0.0), init=False)
    _recent: deque[Event] = field(default_factory=lambda: deque(maxlen=_MOST_EVENTS), init=False)
    _changes: deque[Event] = field(default_factory=lambda: deque(maxlen=_MOST_CHANGES), init=False)
    _ends: deque[float] = field(default_factory=lambda: deque(maxlen=_MOST_STEPS), init=False)

    def run(
        self,
        state: State,
        stops: Array,  # increasing times after the start, in s
        stepper_from: Callable[[State, float], AdaptiveStepper],  # a state, and an end in s
        count: Callable[
            [AdaptiveStepper], object
        ],  # called with steppers that have done their part
    ) -> Iterator[State]:
        """States at the given times, from one that is settled."""
        pending = [float(stop) for stop in stops]
        self.implicit = self._begins_stiffly(state)
        while pending:
            if state.t < self._over[0] - _SAME_INSTANT:
                state = self._step_over(state, min(self._over[0], pending[0]) - state.t)
                if state.t >= pending[0] - SAME_TIME:
                    yield State(pending.pop(0), state.q, state.v)
                continue
            stepper = stepper_from(state, pending[-1])
            event = None
            while event is None and not stepper.finished:
                try:
                    stepper.step()
                    event = first_event(self.contacts, self.plant, stepper)
                except SimulationError:  # far beyond an event it may contradict what was closed
                    start, tried = State(*stepper.start), stepper.t - stepper.start[0]
                    if not tried > _SHORT_TIME:
                        raise
                    count(stepper)
                    stepper = stepper_from(start, start.t + _SHORTER * tried)
                    continue
                self.moved(stepper.t)
                reached = stepper.t if event is None else event.t
                while pending and pending[0] <= reached - SAME_TIME:
                    yield State(pending[0], *stepper.sample(pending[0]))
                    pending.pop(0)
                if event is None and (self._creeps(stepper) or self._stalls(stepper)):
                    break
            count(stepper)
            if event is None and stepper.t < pending[-1] - SAME_TIME:
                state = State(stepper.t, stepper.q, stepper.v)
                continue
            if event is None:
                yield State(pending.pop(0), stepper.q, stepper.v)
                return
            start = State(*stepper.start)
            while event.t > start.t + _SAME_INSTANT:
                # a step of its own is more accurate than the interpolant, and may see it earlier
                stepper, earlier = stepper_from(start, event.t), None
                while not (stepper.finished or earlier or self._stalls(stepper)):
                    stepper.step()
                    earlier = first_event(self.contacts, self.plant, stepper, located=True)
                count(stepper)
                if earlier is None or earlier.t > event.t - _SAME_INSTANT:
                    start = State(stepper.t, stepper.q, stepper.v)
                    break
                event, start = earlier, State(*stepper.start)
            self._recent.append(event)
            if event.what in _CHANGES:
                self._changes.append(event)
            state = self._settled_after(event, start)
            changes = self._changes
            many = len(changes) == _MOST_CHANGES and state.t - changes[0].t < _SOON
            if many or _too_many(self._recent, state.t):
                self._go_over(state.t)
            if pending and state.t >= pending[0] - SAME_TIME:
                yield State(pending.pop(0), state.q, state.v)

    def _begins_stiffly(self, state: State) -> bool:
        """Whether contacts that share a load begin to slide: errors turn directions of friction."""
        if not self.plant.active.sliding:
            return False
        if self._speeds(state).max() > _BEGINS:
            return False
        found = self.plant.dynamics.evaluate(state, self.plant.inputs)
        return found.status is Status.UNDETERMINED_LOAD

    def _speeds(self, state: State) -> Array:
        """Of what slides, (k,), in m/s."""
        slides = [self.contacts.names.index(x) for x in self.plant.active.sliding]
        found: Array = np.linalg.norm(self.contacts.places(state).slip[slides], axis=1)
        return found

    def slowest(self, q: Array, v: Array) -> float:
        """Speed of what slides most slowly, but for what has just begun to, in m/s."""
        speeds = self._speeds(State(0.0, q, v))
        return float(speeds[speeds > _JUST_BEGUN].min(initial=np.inf))

    def _creeps(self, stepper: AdaptiveStepper) -> bool:
        """Whether directions of friction turn faster than an explicit method steps, now and then.

        What barely slides does so; errors within the tolerances stop it in turns.
        """
        if self.implicit or not self.plant.active.sliding:
            return False
        self._explicit += 1
        if self._explicit % _PATIENCE:
            return False
        end = State(stepper.t, stepper.q, stepper.v)
        before, after = self._speeds(State(*stepper.start)), self._speeds(end)
        if (np.abs(after - before) > _STEADY * before).any():  # as before a stop
            return False
        self.implicit = creeps(self.plant, end, stepper.step_size)
        return self.implicit

    def _stalls(self, stepper: AdaptiveStepper) -> bool:
        """Whether steps over what slides get nowhere; it is stepped over."""
        self._ends.append(stepper.t)
        stalls = len(self._ends) == _MOST_STEPS and stepper.t - self._ends[0] < _NO_PROGRESS
        if stalls and self.plant.active.sliding:
            self._go_over(stepper.t)
            return True
        return False

    def _go_over(self, t: float) -> None:
        """Go on in fixed steps from a time in s."""
        before, length = self._over
        length = 2.0 * length if t - before < 10.0 * max(length, _SOON) else _STEP_OVER
        self._over = t + length, length
        for last in (self._recent, self._changes, self._ends):
            last.clear()

    def settle(
        self,
        state: State,
        leaving: Sequence[str] = (),
        sliding: dict[str, Array] | None = None,
        features: HeldFeatures | None = None,  # of convex hulls; None: those that are nearest
    ) -> State:
        """Impacts at a state, then the mode that begins there."""
        plant, contacts = self.plant, self.contacts
        before, lost, touched = plant.active, 0.0, set[str]()
        contacts.features = features or contacts.nearest_features(state)
        base = replace(contacts.without(before), features=contacts.features)
        gap = contacts.places(state).gap
        if (gap < -_INSIDE * max(plant.mechanism.size, 1.0)).any():
            worst = int(np.argmin(gap))
            raise SimulationError(
                f"{contacts.names[worst]} is {-gap[worst]:.3g} m or rad inside; begin outside",
                state.t,
            )
        for _ in range(_MOST_IMPACTS):
            impact = contacts.impact(state, plant.inputs, base)
            if impact is None:
                break
            state, lost = impact.state, lost + impact.energy_lost
            if not impact.solved:
                self.warn("no impulses fulfil all conditions (jammed)", state.t)
            touched.update(impact.struck)
        onset = contacts.onset(state, plant.inputs, base, leaving=leaving, sliding=sliding)
        for name, friction in onset.doubtful.items():
            points = ContactPoints(plant.mechanism, contacts.features)
            what, begins = points.paradox(name, friction, state.q, several=onset.solved)
            self.warn(what, state.t, begins)
        if onset.doubtful and not onset.solved:
            state, loss = contacts.stopped(state, plant.dynamics, plant.inputs, onset.doubtful)
            lost += loss
            onset = contacts.onset(state, plant.inputs, base)
        if not onset.solved:
            self.warn("no contact forces fulfil all conditions (jammed)", state.t)
        plant.set_active(onset.active)
        goes_on = self.implicit and before.sliding.keys() == onset.active.sliding.keys()
        self.implicit = goes_on or self._begins_stiffly(state)
        touched |= onset.active.names ^ before.names
        if touched:  # what strikes and bounces is open again
            changes = {name: name in onset.active.names for name in sorted(touched)}
            # what happens while others still bounce is told when they rest: in order
            self._told = max(self._told, state.t + onset.bouncing)
            self.changed(changes, self._told, lost)
        return plant.project(state)

    def _step_over(self, state: State, h: float) -> State:
        """The state after many events at almost one instant, by a fixed step of h seconds."""
        plant, contacts = self.plant, self.contacts
        if h <= _SAME_INSTANT:
            return state
        count = int(np.ceil(h / _LONGEST_OVER - PART_OF_A_STEP))
        size = f"one of {h:.2g} s" if count == 1 else f"{count} of {h / count:.2g} s"
        names = ", ".join(sorted(plant.active.sliding)) or "none slides"
        what = "too many events of contacts at almost one instant, which steps go over"
        self.warn(what, state.t, f" ({size}; {names})")
        before = plant.active.names
        assert plant.stepping is not None
        inputs, contacts.features = plant.inputs, {}
        if plant.active.features:  # steps know what is nearest, at other points perhaps
            inputs = replace(inputs, active=replace(contacts.without(plant.active), features={}))
        state, active = plant.stepping.advance(state, state.t + h, count, plant.dynamics, inputs)
        inside = {contacts.names[k] for k in np.flatnonzero(contacts.places(state).gap < 0.0)}
        closed = replace(active, names=active.names | inside)
        plant.set_active(closed)
        if closed.names != before:
            changes = {name: name in closed.names for name in sorted(closed.names ^ before)}
            self.changed(changes, state.t, 0.0)
        return self.settle(plant.project(state))

    def _settled_after(self, event: Event, state: State) -> State:
        if event.what == "opens":  # with those that did at this instant, too
            opened = {one.contact: one for one in self._recent if one.what == "opens"}
            leaving = [x for x, one in opened.items() if event.t - one.t <= _SAME_INSTANT]
            return self.settle(state, leaving=leaving)
        if event.what == "turns":
            return self.settle(state, features=event.features)
        if event.what == "stops":
            return self.settle(self._stopped(event.contact, state))
        if event.what == "slips":
            k = self.contacts.names.index(event.contact)
            solution = self.plant.dynamics.evaluate(state, self.plant.inputs)
            force = self.contacts.loads(solution.joint_multipliers)[1][k]
            return self.settle(state, sliding={event.contact: -force / np.linalg.norm(force)})
        return self.settle(state)

    def _stopped(self, contact: str, state: State) -> State:
        """The state with a contact at rest that is as good as at rest."""
        k = self.contacts.names.index(contact)
        if np.linalg.norm(self.contacts.places(state).slip[k]) > max(_STOPPED, self.tolerance):
            return state
        return self.contacts.stopped(state, self.plant.dynamics, self.plant.inputs, (contact,))[0]


def _too_many(recent: Sequence[Event], t: float) -> bool:
    """Whether the last events, up to a time in s, are more than there can be in earnest."""
    if len(recent) == _MOST_EVENTS and t - recent[0].t < _SHORT_TIME:
        return True
    for kinds in (1, 2):
        last = list(recent)[-kinds * _SAME_EVENTS :]
        few = len(last) == kinds * _SAME_EVENTS and len({one[1:3] for one in last}) <= kinds
        if few and last[-1].t - last[0].t < _NO_TIME:
            return True
    return False
