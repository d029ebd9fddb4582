# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The servo law with standing contacts in C.

Forces of contacts are further motors, which push along the rows of the contacts, and that these
stand are rows before those of the tasks. C has the law of the mechanism with so many motors more;
what a row asks for, and what a force costs, are numbers that come with each state.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from uk_dynamics.compilation.build.library import library_of
from uk_dynamics.compilation.runtime.compiled_servo import CompiledServo
from uk_dynamics.compilation.verification import Comparison, Trial, compare, each, trials, verify
from uk_dynamics.constraints.kinds.frames import Frame
from uk_dynamics.core.servo import ServoSolution
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import (
    Demand,
    InterpretedDynamics,
    References,
    ServoEvaluator,
    ServoOutcome,
    Standing,
    TrackingErrors,
)
from uk_dynamics.mechanism.files import ActuatorSpec, ConstraintSpec
from uk_dynamics.mechanism.resolution import Array, Inputs, State

_Answers = Callable[[Trial], dict[str, Array]]

_NEVER = 1e30  # of a force that there is none of, in the sum that is least


def with_contact_rows(tasks: Tasks) -> Tasks | None:
    """Tasks whose first rows are those of the contacts, and whose last motors push along them.

    None: contacts of spheres or with other surfaces than planes, or a mechanism with other values
    than its files.
    """
    standing, mechanism = tasks.standing, tasks.mechanism
    assert standing is not None
    by_name = {contact.name: contact for contact in mechanism.spec.contacts}
    contacts = [by_name[name] for name in standing.names]
    if mechanism.varied is not None or any(c.radius or c.surface is not None for c in contacts):
        return None
    rows = [
        ConstraintSpec(
            f"contact {k}", Frame(("z", "x", "y")), contact.parent, contact.child, priority=0
        )
        for k, contact in enumerate(contacts)
    ]
    own = [replace(task, while_lifted=None) for task in tasks.spec.tasks]
    count = 3 * len(contacts)
    forces = [ActuatorSpec(f"force {k}", ()) for k in range(count)]
    spec = replace(tasks.spec, tasks=(*rows, *own), contacts=(), contact_rows=count)
    return Tasks(spec, mechanism.with_actuators((*mechanism.spec.actuators, *forces)))


class _NoAnswer(Exception):
    """C leaves the state to Python."""


class _Nobody:
    """Takes what C does not answer."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        def refuse(*_: object, **__: object) -> None:
            if name != "forget":
                raise _NoAnswer

        return refuse


class CompiledStanding:
    """See :class:`ServoEvaluator`; what C does not answer, another evaluator does."""

    def __init__(
        self, tasks: Tasks, rows: Tasks, otherwise: ServoEvaluator, *, friction: bool = True
    ) -> None:
        """Load the library; compile it when it is not in the cache.

        Args:
            tasks: With contacts that stand.
            rows: What :func:`with_contact_rows` made of them.
            otherwise: The law of the tasks in Python.
            friction: Whether friction and damping are fed forward.

        Raises:
            CompilationError, WrongLibraryError: As :class:`CompiledServo`.
        """
        assert tasks.standing is not None
        self._contacts, self._otherwise = tasks.standing, otherwise
        nobody: ServoEvaluator = _Nobody()  # type: ignore[assignment]
        self._law = CompiledServo(rows, nobody, friction=friction, verified=True)
        memory, layout = self._law.call.memory, self._law.layout
        self._asked, self._most = memory[layout["asked"]], memory[layout["contact_most"]]
        memory[layout["contact_friction"]] = self._contacts.friction
        self._decided: ServoSolution | None = None
        self._count = rows.spec.contact_rows
        self._motors = len(tasks.mechanism.actuators)
        verify(
            library_of(rows),
            f"the servo law of {tasks.mechanism.name}",
            lambda: self._comparisons(tasks),
        )

    def loop_closure_error(self, state: State, inputs: Inputs) -> float:
        """Largest residual of the structure."""
        return self._otherwise.loop_closure_error(state, inputs)

    def errors(self, state: State, references: References | None = None) -> TrackingErrors:
        """Residuals and rates of the task rows."""
        found = self._law.errors(state, references)
        return TrackingErrors(found.residual[self._count :], found.rate[self._count :])

    def evaluate(
        self, state: State, demand: Demand, references: References | None = None
    ) -> ServoOutcome:
        """The closed form."""
        self._decided = None
        standing, count = demand.standing, self._count
        assert standing is not None
        own = (3 * standing.points[:, None] + np.arange(3)).ravel()
        rates = self._law.errors(state, references).rate[:count]
        self._asked[:count] = 0.0
        self._asked[own] = 1.0
        self._asked[count:] = standing.asked
        held = -self._contacts.damping * rates * self._asked[:count]
        cost = np.full(count, _NEVER)
        cost[own] = np.repeat(self._contacts.weight / standing.share**2, 3)
        given = demand._replace(
            feedback=np.append(held, demand.desired * standing.asked),
            approach=None,
            weights=np.append(demand.weights, cost),
            preload=None if demand.preload is None else np.append(demand.preload, np.zeros(count)),
            standing=None,
        )
        try:
            outcome = self._law.evaluate(state, given, references)
        except _NoAnswer:
            return self._otherwise.evaluate(state, demand, references)
        self._most[standing.points] = standing.most
        self._own = motors = np.append(np.arange(self._motors), self._motors + own)
        if len(own) == count:
            self._decided = outcome.servo
            return outcome
        rows = np.append(own, np.arange(count, len(self._asked)))

        def response(efforts: Array) -> Array:
            all_of_them = np.zeros(self._motors + count)
            all_of_them[motors] = efforts
            return outcome.response(all_of_them)

        self._decided = _part(outcome.servo, rows, motors)
        return outcome._replace(servo=self._decided, response=response)

    def allocate(
        self, servo: ServoSolution, demand: Demand, lower: Array, upper: Array
    ) -> tuple[Array, bool]:
        """Efforts and forces within limits."""
        found = None
        if servo is self._decided:  # what C knows
            free = np.full(self._count, np.inf)
            found = self._law.call.allocate(np.append(lower, -free), np.append(upper, free))
        if found is None:
            return self._otherwise.allocate(servo, demand, lower, upper)
        return found[self._own], bool(found[-1])

    def forget(self) -> None:
        """Forget where the last search ended."""
        self._law.forget()
        self._otherwise.forget()

    def _comparisons(self, tasks: Tasks) -> Iterable[Comparison]:
        """Compare it with the law in Python where all contacts stand, and where some do."""
        k, rows = len(self._contacts.names), len(tasks.constraints)
        limits = tasks.mechanism.actuators.effort_limits
        for points in (np.arange(k), np.arange(0, k, 2)):
            share = np.linspace(0.2, 1.0, len(points))
            most = self._contacts.limits(points, share)
            standing = Standing(points, share, most, np.ones(rows))

            def answer(law: ServoEvaluator, standing: Standing = standing) -> _Answers:
                def answered(trial: Trial) -> dict[str, Array]:
                    errors = law.errors(trial.state)
                    feedback = -40.0 * errors.rate - 400.0 * errors.residual
                    weights = tasks.allocation.weights
                    demand = Demand(feedback, None, weights, None, Inputs(), standing=standing)
                    law.forget()
                    servo = law.evaluate(trial.state, demand).servo
                    within, _ = law.allocate(servo, demand, -limits, limits)
                    return {
                        "efforts and contact forces": servo.efforts,
                        "efforts and contact forces within limits": within,
                        "shortfall of tasks and contacts": servo.residual,
                    }

                return answered

            given = trials(tasks.mechanism, InterpretedDynamics(tasks.mechanism))
            yield from compare(tasks.mechanism, answer(self._otherwise), each(answer(self)), given)


def _part(servo: ServoSolution, rows: Array, motors: Array) -> ServoSolution:
    """The law of some rows and motors, where the others do nothing."""
    return replace(
        servo,
        efforts=servo.efforts[motors],
        map=servo.map[np.ix_(rows, motors)],
        **{
            name: getattr(servo, name)[rows]
            for name in ("residual", "controllable", "reachable", "size", "wanted")
        },
    )
