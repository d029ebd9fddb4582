# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Time integration of a plant, with fixed steps or with error control."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from uk_dynamics.compilation import announce
from uk_dynamics.core.integration import (
    ADAPTIVE_METHODS,
    FIXED_METHODS,
    PART_OF_A_STEP,
    SAME_TIME,
    AdaptiveMethod,
    AdaptiveStepper,
    ConfigurationSpace,
    Tolerances,
)
from uk_dynamics.mechanism.contact import ContactDynamics, ContactStepping
from uk_dynamics.mechanism.dynamics import Instants, MotionSegment
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.simulation.event_driven import EventDriven
from uk_dynamics.simulation.plant import Plant
from uk_dynamics.simulation.stiffness import chattering, creeping

_STEPS_IN_C = (*FIXED_METHODS, "moreau", "DOP853")
METHODS = (*ADAPTIVE_METHODS, *FIXED_METHODS, "moreau")

_PATIENCE = 500  # steps of Python, after which it is asked whether they creep
_AT_ONCE = 1000  # instants that C takes in a call: Ctrl-C and progress wait as long …
_STEPS_AT_ONCE = 5000  # … or fixed steps


@dataclass
class Advance:
    """Integrates the motion of a plant."""

    space: ConfigurationSpace
    plant: Plant
    method: str  # one of METHODS
    step: float  # fixed step, in s
    tolerances: Tolerances  # error control of the adaptive methods
    moved: Callable[[float], object] = float  # called with the time reached, in s, now and then
    steps: int = 0  # accepted steps so far
    rejected: int = 0  # steps that error control refused, as far as the method tells
    evaluations: int = 0  # evaluations of the acceleration so far
    largest_projection: float = 0.0  # of the end of a step, in m, rad or their rates
    # called with what contacts, stops and ropes change, the time, and the kinetic energy lost, in
    # J; in fixed steps what impulses take where something strikes, else NaN
    changed: Callable[[Mapping[str, bool], float, float], object] = lambda *_: None
    # called with a problem, its time, and details of it there
    warn: Callable[..., object] = lambda *_: None
    hints: dict[str, float] = field(default_factory=dict)  # why it creeps, and when that was seen
    _step_size: float | None = field(default=None, repr=False)
    _paused: State | None = field(default=None, repr=False)  # where C goes on
    _begun: bool = field(default=False, repr=False)
    _events: EventDriven | None = field(default=None, repr=False)

    def begin(self, state: State) -> State:
        """Let contacts strike, close, stick and slide under new efforts, before a first sample."""
        first, self._begun = not self._begun, True
        plant, located = self.plant, self.method in ADAPTIVE_METHODS
        if first and self.method == "moreau" and (hint := chattering(plant, state, self.step)):
            self.warn(hint, state.t)
        if plant.contacts is None or not (first or located):
            return state
        state = self._event_driven(plant.contacts).settle(state)
        if plant.active.features and not located:  # steps look for what is nearest
            plant.set_active(replace(plant.active, features={}))
        return state

    def _event_driven(self, contacts: ContactDynamics) -> EventDriven:
        if self._events is None:
            told = self.changed, self.warn, self.moved
            tolerance = float(np.max(self.tolerances.atol))
            self._events = EventDriven(self.plant, contacts, *told, tolerance)
        return self._events

    def run(self, state: State, stops: Array) -> Iterator[State]:
        """States at increasing times after the start, in s, the last of which is the end.

        Efforts are held, or those of a law that Python asks.
        """
        plant = self.plant
        if plant.contacts is not None and self.method in ADAPTIVE_METHODS:
            events = self._event_driven(plant.contacts)

            def stepper(state: State, end: float) -> AdaptiveStepper:
                return self._stepper(state, end, events)

            return events.run(state, stops, stepper, self._count)
        if plant.stepping is not None:
            return self._over_contacts(plant.stepping, state, stops)
        if self.fixed:
            return self._fixed(state, stops)
        if self.adapts_in_c and not (self.plant.continuous and self.plant.law is None):
            return self._adaptive_in_c(state, stops)
        return self._adaptive(state, stops)

    def run_in_python(self, state: State, stops: Array) -> Iterator[State]:
        """The same where C has failed; what C cannot do either is said by an error."""
        if self.plant.stepping is not None:
            return self.run(state, stops)
        return self._fixed(state, stops) if self.fixed else self._adaptive(state, stops)

    @property
    def fixed(self) -> bool:
        """Whether steps have a fixed size."""
        return self.method in FIXED_METHODS or self.method == "moreau"

    @property
    def needs_python(self) -> bool:
        """Whether contacts have not begun, or slide: laws in C do not know their friction."""
        plant = self.plant
        slides = plant.law is not None and bool(plant.active.sliding)
        return plant.stepping is not None and (not self._begun or slides)

    @property
    def longest(self) -> float:
        """Time that fixed steps may take in a call of C, in s."""
        return _STEPS_AT_ONCE * self.step

    def stop_after(self, first: int, when: Array) -> int:
        """Behind the instants that C may be given from one on; error control pauses by itself."""
        if not self.fixed:
            return len(when)
        reached = int(np.searchsorted(when, when[first] + self.longest, side="right"))
        return min(max(reached, first + 2), first + 1 + _AT_ONCE)

    def next_break(self, first: int, breaks: Array) -> int:
        """Number of the instant where the steps after one of them end."""
        if self.fixed:
            return first + 1
        ends = np.flatnonzero(breaks[first + 1 :])
        return first + 1 + int(ends[0]) if len(ends) else len(breaks) - 1

    @property
    def in_charge(self) -> bool:
        """Whether C takes all steps and asks the law of control."""
        return self.plant.in_charge and self.method in _STEPS_IN_C

    @property
    def adapts_in_c(self) -> bool:
        """Whether C has the method with error control."""
        return self.method == "DOP853" and self.plant.motion is not None

    def _fixed(self, state: State, stops: Array) -> Iterator[State]:
        one_step, cost = FIXED_METHODS[self.method]  # evaluations of a step
        for stop in stops:
            in_c = self.plant.motion is not None and self.method in _STEPS_IN_C
            if in_c and (reached := self._in_c(state, float(stop))):
                state = reached
                yield state
                continue
            count = max(1, int(np.ceil((stop - state.t) / self.step - PART_OF_A_STEP)))
            h = (stop - state.t) / count
            start = state.t
            for k in range(count):
                q, v = one_step(self.space, self.plant.acceleration, state.t, state.q, state.v, h)
                t = float(stop) if k == count - 1 else start + (k + 1) * h
                state = self.plant.project_step(state, State(t, q, v))
                self.steps += 1
                self.evaluations += cost
                self.moved(t)
            yield state

    def _over_contacts(
        self, contacts: ContactStepping, state: State, stops: Array
    ) -> Iterator[State]:
        """Steps over contacts, stops and ropes, whatever happens within them.

        Moreau's midpoint rule on velocities: events are not located, impulses of a step act
        together, and many contacts cost no more than few events would. Motions agree with
        event-driven ones to order one.
        """
        plant = self.plant
        for stop in stops.tolist():
            steps = max(1, int(np.ceil((stop - state.t) / self.step - PART_OF_A_STEP)))
            state, active = contacts.advance(
                state, stop, steps, plant.dynamics, plant.inputs, self.changed
            )
            plant.set_active(active)
            if problem := contacts.problem():
                what, details = problem
                self.warn(what, stop, details)
            self.moved(stop)
            self.steps += steps
            self.evaluations += steps
            yield state

    def _in_c(self, state: State, stop: float) -> State | None:
        """The state at a time, by steps in C; None: it has to be reached in Python."""
        if self.plant.continuous and self.plant.law is None:
            return None
        found = self.move(state, Instants.alone((state.t, stop)))
        return found.state if found.phase == "done" else None

    def move(self, state: State, instants: Instants) -> MotionSegment:
        """Steps in C through instants, with control and samples; see :class:`Motion`."""
        if self.fixed:
            found = self.plant.move(state, instants, step=self.step, method=self.method)
        else:
            found = self.plant.adapt(
                state,
                instants,
                tolerances=self.tolerances,
                first_step=self._step_size or 0.0,
                resume=state is self._paused,
            )
            self._paused = found.state if found.phase == "paused" else None
            self._step_size = found.next_step or None
            if found.phase == "paused":
                self._ask_why(found.state, found.next_step, float(instants.when[-1]))
        self.moved(found.state.t)
        self._count(found)
        return found

    def inputs_of(self, found: MotionSegment, instants: Instants) -> Iterator[tuple[slice, Inputs]]:
        """What acts at samples of steps in C through instants, before they are closed."""
        plant = self.plant
        if plant.stepping is None or found.modes is None:
            yield slice(None), plant.inputs
            return
        acting = plant.stepping.at_samples(found, instants, self.step, plant.active)
        for part, active in acting:
            yield part, replace(plant.inputs, active=active)

    def close(self, found: MotionSegment, when: Array) -> None:
        """Let contacts do from now on what they do after steps in C through some instants."""
        plant = self.plant
        if plant.stepping is None or found.modes is None:
            return
        active = plant.stepping.after(found, when, self.step, plant.active, self.changed)
        if active is not plant.active:
            plant.set_active(active)

    def _adaptive_in_c(self, state: State, stops: Array) -> Iterator[State]:
        when = np.append(state.t, stops)
        kept = np.ones(len(when))
        kept[0] = kept[-1] = 0.0
        nothing = np.zeros(len(when))
        first = 0
        while True:
            left = nothing[first:]
            found = self.move(state, Instants(when[first:], left, kept[first:], left))
            times = when[np.flatnonzero(kept)[: len(found.q)]]
            yield from map(State, times.tolist(), found.q, found.v)
            kept[: first + found.reached + 1] = 0.0
            state, first = found.state, first + found.reached
            if found.phase == "done":
                yield state
                return
            if found.phase != "paused":
                yield from self._adaptive(state, when[first + 1 :])
                return

    def _stepper(
        self, state: State, end: float, events: EventDriven | None = None
    ) -> AdaptiveStepper:
        """What takes steps with error control from a state, in Python."""

        def project(t: float, q: Array, v: Array) -> tuple[Array, Array]:
            reached = self.plant.project_step(State(*stepper.start), State(t, q, v))
            return reached.q, reached.v

        stepper = AdaptiveStepper(
            self.space,
            self.plant.acceleration,
            state.t,
            state.q,
            state.v,
            end,
            method="Radau" if events and events.implicit else cast(AdaptiveMethod, self.method),
            tolerances=self.tolerances,
            project=project,
            first_step=self._step_size,
            accelerations=self.plant.accelerations,
            slowest=None if events is None else events.slowest,
            names=self.plant.model.velocity_names,
        )
        return stepper

    def _adaptive(self, state: State, stops: Array) -> Iterator[State]:
        stepper = self._stepper(state, float(stops[-1]))
        for stop in stops:
            while stepper.t < stop - SAME_TIME:
                stepper.step()
                self.moved(stepper.t)
                if stepper.steps % _PATIENCE == 0:
                    self._ask_why(State(*stepper.start), stepper.step_size, float(stops[-1]))
            yield State(float(stop), *stepper.sample(float(stop)))
        self._step_size = stepper.step_size
        self._count(stepper)

    def _count(self, done: AdaptiveStepper | MotionSegment) -> None:
        self.steps += done.steps
        self.rejected += done.rejected
        self.evaluations += done.evaluations
        self.largest_projection = max(self.largest_projection, done.largest_projection)

    def _ask_why(self, state: State, step: float, end: float) -> None:
        """Say once why many steps are to come, where an implicit method would take few."""
        if self.method == "Radau" or self.hints:
            return
        if hint := creeping(self.plant, self.method, state, step, end):
            self.hints[hint] = state.t
            announce(f"t = {state.t:.4g} s: {hint}")
