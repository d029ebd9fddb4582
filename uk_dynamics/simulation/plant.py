# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The plant of a simulation: a mechanism with its forces and its controller."""

from collections.abc import Mapping
from contextlib import suppress
from itertools import compress

import numpy as np

from uk_dynamics.compilation import shared_backend
from uk_dynamics.core.integration import Tolerances
from uk_dynamics.core.servo import AT_LIMIT
from uk_dynamics.exceptions import InputError, SimulationError, StateError, UndeterminedMotionError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.contact import ContactDynamics, ContactStepping
from uk_dynamics.mechanism.dynamics import (
    Backend,
    EffortQueue,
    Instants,
    InterpretedDynamics,
    MotionSegment,
    Switched,
    Told,
    project_step,
    switch,
)
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, Inputs, State, States
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.controller import (
    Controller,
    TellsWhatItKnows,
    TracksActiveConstraints,
    announce_steps_in_python,
    law_in_c,
)
from uk_dynamics.simulation.singular_passages import acceleration_along

# m, rad and their rates: beyond any motion, and its square does not overflow.
_HUGE = 1e50


class Plant:
    """A mechanism under a constant force and its motor efforts."""

    def __init__(
        self,
        mechanism: Mechanism,
        tau: Array | None,  # constant generalized force, (nv,), in N or N·m; None is zero
        controller: Controller | None,  # computes the motor efforts; None: they are zero
        *,
        continuous: bool,  # whether control is continuous
        # from a state until the efforts computed from it act, in s; not with continuous control
        delay: float = 0.0,
        same: float = 0.0,  # instants that are nearer to one another are one, in s
        backend: Backend = "auto",  # evaluator of the mechanism
        over_contacts: bool = False,  # whether fixed steps go over contacts, by Moreau's rule
    ) -> None:
        """Start with zero motor efforts."""
        # one evaluator from the first step to the last: the numbers must not change midway
        self.dynamics = shared_backend(mechanism, backend)
        self.continuous = continuous and controller is not None
        self._actuators = mechanism.actuators
        self.mechanism, self.model = mechanism, mechanism.model
        self._controller = controller
        inner: object = controller
        while not isinstance(inner, TellsWhatItKnows) and hasattr(inner, "controller"):
            inner = inner.controller  # a law around another
        self._tells = inner if isinstance(inner, TellsWhatItKnows) else None
        self._tau = np.zeros(mechanism.model.nv) if tau is None else tau
        self.active = mechanism.hierarchy.initial  # switchable constraints that are on
        self._rank: int | None = None  # of the rows, at the last evaluation
        # of the last command: motors at their limits, unreachable tasks
        self.problems: tuple[str, ...] = ()
        self._delay, self._same = delay, same
        self._coming = EffortQueue(len(mechanism.actuators))
        # C knows no other way over contacts
        located = bool(mechanism.one_sided) and not over_contacts
        self.motion = None if located else self.dynamics.motion()  # None: step by step in Python
        if self.motion is None and not (located or isinstance(self.dynamics, InterpretedDynamics)):
            announce_steps_in_python(mechanism)
        # the controller in C; None: it is asked in Python
        self.law = None if self.motion is None else law_in_c(mechanism, controller)
        # problems that C may note, in its order
        self.flags = tuple(f"{name} is at its effort limit" for name in mechanism.actuators.names)
        if self.motion is not None and self.law is not None:
            self.motion.control_by(self.law.law, continuous=self.continuous)
            self.motion.delay_by(delay, same, self._coming)
            self.flags += self.law.law.flags
        # what contacts, stops and ropes do to it, by events and in fixed steps
        self.contacts = ContactDynamics(mechanism) if mechanism.one_sided else None
        self.stepping = ContactStepping(mechanism) if mechanism.one_sided else None
        self._apply(np.zeros(len(mechanism.actuators)))

    @property
    def task_rows(self) -> tuple[str, ...]:
        """Names of the controller's task rows, (mt,)."""
        return () if self._controller is None else self._controller.row_names

    @property
    def tasks(self) -> Tasks | None:
        """The tasks whose rows these are; None for other rows."""
        for follower in (self._controller, getattr(self._controller, "controller", None)):
            tasks = getattr(follower, "tasks", None)
            if isinstance(tasks, Tasks) and tasks.row_names == self.task_rows:
                return tasks
        return None

    def control(self, state: State) -> None:
        """Compute a command; its efforts, once checked, act after the delay, see :meth:`act`."""
        if self._controller is None:
            return
        if self.motion is not None and self.law is not None and not self.active.sliding:
            self.set_law()
            found = self.motion.control(state.t, state.q, state.v)
            if found is not None:
                self._driven(found)
                return
        command = self._controller.command(state)
        limits = self._actuators.effort_limits
        efforts = np.clip(self._actuators.efforts(command.efforts), -limits, limits)
        saturated = compress(self._actuators.names, np.abs(efforts) >= (1.0 - AT_LIMIT) * limits)
        self.problems = (
            *(f"{name} is at its effort limit" for name in saturated),
            *(
                f"{name} is at its {limit} limit"
                for name, limit in command.limited_by.items()
                if limit != "effort"
            ),
            *(f"the motors cannot accelerate {row} as desired" for row in command.unreachable),
        )
        if self._delay > 0.0:
            self._coming.append(state.t + self._delay, efforts)
            self._coming.leave_room()
            if self.motion is not None and self.law is not None:
                self.motion.delay_by(self._delay, self._same, self._coming)
        else:
            self._apply(efforts)

    def act(self, t: float) -> None:
        """Apply the efforts that have taken effect by a time, in s."""
        if not len(self._coming):
            return
        come = [efforts for when, efforts in self._coming.items() if when <= t + self._same]
        if come:
            self._coming.leave_first(len(come))
            self._apply(come[-1])

    def move(self, state: State, instants: Instants, *, step: float, method: str) -> MotionSegment:
        """Move in C from the first of some instants to the last; see :class:`Motion`."""
        assert self.motion is not None
        self.set_law()
        over = None if self.stepping is None else self.stepping.over(self.active)
        waits = over is not None and self.law is not None
        found = self.motion.move(state, instants, step=step, method=method, over=over, waits=waits)
        self._driven(found.efforts)
        return found

    def adapt(
        self,
        state: State,
        instants: Instants,
        *,
        tolerances: Tolerances,
        first_step: float,
        resume: bool,
    ) -> MotionSegment:
        """The same with error control; see :meth:`Motion.adapt`."""
        assert self.motion is not None
        self.set_law()
        found = self.motion.adapt(
            state, instants, tolerances=tolerances, first_step=first_step, resume=resume
        )
        self._driven(found.efforts)
        return found

    @property
    def in_charge(self) -> bool:
        """Whether C moves it, and knows the law of control if there is one."""
        return self.motion is not None and (self.law is not None or self._controller is None)

    @property
    def first_problems(self) -> dict[str, float]:
        """When C first met what :attr:`problems` speaks of, in s."""
        if self.motion is None:
            return {}
        found = zip(self.flags, self.motion.seen.tolist(), strict=False)
        return {flag: t for flag, t in found if t < np.inf}

    def set_law(self) -> None:
        """Tell C what the controller is set to: before it moves or integrates."""
        if self.law is not None:
            self.law.set()

    def forces(self, efforts: Array) -> Array:
        """Generalized forces of motor efforts, (K, motors), and the constant ones, (K, nv)."""
        return self._tau + efforts @ self._actuators.matrix.T

    def acceleration(self, t: float, q: Array, v: Array) -> Array:
        """Constrained acceleration, (nv,); NaN if a trial step diverges.

        Integrators with error control respond to NaN with a smaller step.
        """
        if not _bounded(q, v):
            return np.full(len(v), np.nan)
        in_c = self.motion if self.contacts is None else None
        if in_c is not None and (self.law is not None or not self.continuous):
            found = in_c.acceleration(t, q, v)
            if found is not None:
                return found
        state = State(t, q, v)
        try:
            if self.continuous:
                self.control(state)
            found, self._rank = acceleration_along(self.dynamics, state, self.inputs, self._rank)
            return found
        except StateError:
            raise
        except InputError:  # finite, but it overflows
            return np.full(len(v), np.nan)

    def accelerations(self, t: float, q: Array, v: Array) -> Array:
        """The same at many states, (K, nv); compiled, in one call."""
        if not self.continuous:
            given = Inputs(stabilize=False, active=self.inputs.active)
            forces = np.tile(self.forces(self.efforts[None]), (len(v), 1))
            states = States(np.full(len(v), t), q, v, forces)
            with suppress(InputError, UndeterminedMotionError):
                return self.dynamics.samples(states, given).qdd
        return np.array([self.acceleration(t, *state) for state in zip(q, v, strict=True)])

    def project(self, state: State) -> State:
        """A state projected onto the constraints; SimulationError: the loops cannot be closed."""
        return self.dynamics.project(state, self.inputs)

    def project_step(self, start: State, end: State) -> State:
        """The end of a step on the constraints; SimulationError: they jump, or motion diverged."""
        if not _bounded(end.q, end.v):
            raise SimulationError("the motion has become infinite; take smaller steps", end.t)
        try:
            return project_step(self.mechanism, self.dynamics, start, end, self.inputs)
        except InputError as error:
            raise SimulationError(str(error), end.t) from None

    def switch(self, state: State, changes: Mapping[str, bool]) -> Switched:
        """Switch constraints on or off, and inform the controller; errors: see :func:`switch`."""
        switched = switch(self.mechanism, self.dynamics, state, changes, self.inputs)
        self.set_active(switched.active)
        return switched

    def set_active(self, active: ActiveConstraints) -> None:
        """Let constraints act, contacts stick and slide from now on, and inform the controller."""
        self.active, self._rank = active, None
        follower: object = self._controller
        if isinstance(follower, TracksActiveConstraints):
            follower.active = self.mechanism.for_control(active)
        self._apply(self.efforts)

    def tracking_error(self, state: State) -> Array:
        """Error of each task row, (mt,), in m or rad."""
        error: Array = self.tracking_errors(np.array([state.t]), state.q[None], state.v[None])[0]
        return error

    def tracking_errors(self, t: Array, q: Array, v: Array) -> Array:
        """The same at K states, (K, mt)."""
        if self._controller is None:
            return np.zeros((len(t), 0))
        found = None if self.law is None else self.law.tracking_errors(t, q, v)
        if found is None:
            places = map(State, t.tolist(), q, v)
            found = np.array([self._controller.tracking_error(place) for place in places])
        return found

    @property
    def estimated(self) -> tuple[str, ...]:
        """Names of the parameters that the controller estimates, (p,)."""
        return () if self._tells is None else self._tells.estimated

    def told(self, count: int, watched: Array | None = None) -> Told:
        """What the controller tells at K samples; without what C kept, at one sample: now."""
        if self._tells is None or (watched is not None and not watched.size):
            found = Told.nothing(count, len(self.task_rows), len(self.estimated))
            if self._tells is not None:  # bounds do not change along the way
                found.bounds[:] = self._tells.told(None).bounds
            return found
        return self._tells.told(watched)

    def _driven(self, efforts: Array) -> None:
        """Take over what C did."""
        assert self.motion is not None
        self.problems = tuple(compress(self.flags, self.motion.raised))
        self._set(efforts)

    def _apply(self, efforts: Array) -> None:
        self._set(efforts)
        if self.motion is not None:
            self.motion.act(self.inputs, efforts, self._tau)

    def _set(self, efforts: Array) -> None:
        self.efforts = efforts
        tau = self._tau + self._actuators.matrix @ efforts
        self.inputs = Inputs(tau=tau, stabilize=False, active=self.active)


def _bounded(q: Array, v: Array) -> bool:
    return bool(q.dot(q) < _HUGE**2 and v.dot(v) < _HUGE**2)  # NaN is not
