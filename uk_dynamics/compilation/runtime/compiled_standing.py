# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The servo law with standing contacts in C.

Forces of contacts are further motors, which push along the rows of the contacts, and that these
stand are rows before those of the tasks. C has the law of the mechanism with so many motors more;
what a row asks for, and what a force costs, are numbers that come with each state.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from uk_dynamics.compilation.build.library import library_of
from uk_dynamics.compilation.runtime.compiled_servo import CompiledServo
from uk_dynamics.compilation.verification import Comparison, Trial, compare, each, trials, verify
from uk_dynamics.core.servo import NEVER, ServoSolution
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
from uk_dynamics.mechanism.resolution import Array, Indices, Inputs, State

_Answers = Callable[[Trial], dict[str, Array]]


class _NoAnswer(Exception):
    """C leaves the state to Python."""


class _Nobody:
    """Takes what C does not answer."""

    def __getattr__(self, _: str) -> Callable[..., None]:
        def refuse(*_: object, **__: object) -> None:
            raise _NoAnswer

        return refuse


class CompiledStanding:
    """See :class:`ServoEvaluator`; what C does not answer, another evaluator does."""

    def __init__(
        self,
        tasks: Tasks,  # with contacts that stand
        rows: Tasks,  # what :func:`with_contact_rows` made of them
        otherwise: ServoEvaluator,  # the law of the tasks in Python
        *,
        friction: bool = True,  # whether friction and damping are fed forward
        # on which C works, of the tasks with contact rows; None: a fresh one
        memory: Array | None = None,
        # as of :class:`CompiledServo`
        periods: Callable[[CompiledServo], Iterable[Comparison]] | None = None,
        verified: bool = False,  # as of :class:`CompiledServo`
    ) -> None:
        """Load the library, or compile it; errors are those of :class:`CompiledServo`."""
        assert tasks.standing is not None
        self._contacts, self._otherwise = tasks.standing, otherwise
        nobody: ServoEvaluator = _Nobody()  # type: ignore[assignment]
        # in C, with rows and forces of all contacts
        self.law = CompiledServo(rows, nobody, friction=friction, memory=memory, verified=True)
        memory, layout = self.law.call.memory, self.law.layout
        self._asked, self._most = memory[layout["asked"]], memory[layout["contact_most"]]
        for name, values in tasks.standing.settings.items():
            memory[layout[name]] = values
        self._count = rows.spec.contact_rows

        def comparisons() -> Iterator[Comparison]:
            yield from self._comparisons(tasks)
            yield from periods(self.law) if periods else ()

        if not verified:
            verify(library_of(rows), f"the servo law of {tasks.mechanism.name}", comparisons)

    def loop_closure_error(self, state: State, inputs: Inputs) -> float:
        """Largest residual of the structure."""
        return self.law.loop_closure_error(state, inputs)

    def errors(self, state: State, references: References | None = None) -> TrackingErrors:
        """Residuals and rates of the task rows."""
        found = self.law.errors(state, references)
        return TrackingErrors(found.residual[self._count :], found.rate[self._count :])

    def evaluate(
        self, state: State, demand: Demand, references: References | None = None
    ) -> ServoOutcome:
        """The closed form."""
        standing, count = demand.standing, self._count
        assert standing is not None
        own = (3 * standing.points[:, None] + np.arange(3)).ravel()
        nothing = np.zeros(count)
        self._asked[:count] = 0.0
        self._asked[own] = 1.0
        self._asked[count:] = standing.asked
        cost = np.full(count, NEVER)
        cost[own] = np.repeat(self._contacts.weight / standing.share**2, 3)
        given = demand._replace(
            feedback=np.append(nothing, demand.desired * standing.asked),
            approach=None,
            weights=np.append(demand.weights, cost),
            preload=None if demand.preload is None else np.append(demand.preload, nothing),
            standing=None,
        )
        try:
            outcome = self.law.evaluate(state, given, references)
        except _NoAnswer:  # and the law has decided nothing
            return self._otherwise.evaluate(state, demand, references)
        self._most[standing.points] = standing.most
        self.law.decided = servo = of_standing(outcome.servo, standing.points, count)
        self._own = motors = _places(outcome.servo, standing.points, count)[1]

        def response(efforts: Array) -> Array:
            all_of_them = np.zeros(len(outcome.servo.efforts))
            all_of_them[motors] = efforts
            return outcome.response(all_of_them)

        return outcome._replace(servo=servo, response=response)

    def allocate(
        self, servo: ServoSolution, demand: Demand, lower: Array, upper: Array
    ) -> tuple[Array, bool]:
        """Efforts and forces within limits."""
        try:
            found, settled = self.law.allocate(servo, demand, lower, upper)
        except _NoAnswer:
            return self._otherwise.allocate(servo, demand, lower, upper)
        return found[self._own], settled

    def _comparisons(self, tasks: Tasks) -> Iterable[Comparison]:
        """Compare it with the law in Python where all contacts stand, and where some do."""
        k, rows = len(self._contacts.names), len(tasks.constraints)
        limits = tasks.mechanism.actuators.effort_limits
        for points in (np.arange(k), np.arange(0, k, 2)):
            share = np.linspace(0.2, 1.0, len(points))
            standing = Standing(points, share, self._contacts.limits(points, share), np.ones(rows))

            def answer(law: ServoEvaluator, standing: Standing = standing) -> _Answers:
                def answered(trial: Trial) -> dict[str, Array]:
                    errors = law.errors(trial.state)
                    feedback = -40.0 * errors.rate - 400.0 * errors.residual
                    weights = tasks.allocation.weights
                    demand = Demand(feedback, None, weights, None, Inputs(), standing=standing)
                    servo = law.evaluate(trial.state, demand).servo
                    within, _ = law.allocate(servo, demand, -limits, limits)
                    return {
                        "largest residual of loops": np.array(
                            [law.loop_closure_error(trial.state, Inputs())]
                        ),
                        "efforts and contact forces": servo.efforts,
                        "efforts and contact forces within limits": within,
                        "shortfall of tasks and contacts": servo.residual,
                    }

                return answered

            given = trials(tasks.mechanism, InterpretedDynamics(tasks.mechanism))
            yield from compare(tasks.mechanism, answer(self._otherwise), each(answer(self)), given)


def _places(servo: ServoSolution, points: Indices, count: int) -> tuple[Indices, Indices]:
    """Rows and efforts where some contacts stand, among those of all, which have count rows."""
    own = (3 * points[:, None] + np.arange(3)).ravel()
    rows, motors = servo.map.shape
    motors -= count
    return (np.append(own, np.arange(count, rows)), np.append(np.arange(motors), motors + own))


def of_standing(servo: ServoSolution, points: Indices, count: int) -> ServoSolution:
    """The law of the points that stand, of that with ``count`` rows of all contacts."""
    if 3 * len(points) == count:
        return servo
    rows, motors = _places(servo, points, count)
    return replace(
        servo,
        efforts=servo.efforts[motors],
        map=servo.map[np.ix_(rows, motors)],
        **{
            name: getattr(servo, name)[rows]
            for name in ("residual", "controllable", "reachable", "size", "wanted")
        },
    )
