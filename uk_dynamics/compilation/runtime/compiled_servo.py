"""The servo law of some tasks in C."""

from __future__ import annotations

import numpy as np

from uk_dynamics.compilation.build.library import servo_library_of
from uk_dynamics.compilation.emit.servo_layout import ServoLayout
from uk_dynamics.compilation.runtime.compiled_solution import CompiledSolution
from uk_dynamics.compilation.runtime.compiled_structure import CompiledStructure
from uk_dynamics.compilation.runtime.servo_call import ServoCall
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.core.servo.servo_law import ServoSolution
from uk_dynamics.mechanism.dynamics.servo_evaluation import (
    Demand,
    References,
    ServoEvaluator,
    ServoOutcome,
    TrackingErrors,
)
from uk_dynamics.mechanism.resolution.state import Array, Inputs, State
from uk_dynamics.mechanism.tasks import Tasks


class CompiledServo:
    """Terms, task rows and closed form in C; see :class:`ServoEvaluator`.

    References are sampled here, and C follows them. States where the mass matrix is singular or
    something has no value are left to another evaluator.
    """

    def __init__(self, tasks: Tasks, otherwise: ServoEvaluator, *, friction: bool = True) -> None:
        """Load the library; compile it when it is not in the cache.

        Args:
            tasks: Their rows and references.
            otherwise: Answers what C does not.
            friction: Whether friction and damping are fed forward.

        Raises:
            CompilationError: Some part cannot be compiled, or there is no compiler.
        """
        library = servo_library_of(tasks)
        layout = ServoLayout(tasks)
        self._tasks = tasks
        self._otherwise = otherwise
        self._layout = layout
        self._call = ServoCall(library, layout)
        self._structure = CompiledStructure(tasks.mechanism, layout, self._call.memory)
        self._resistance = None if friction else tasks.mechanism.passive.resistance
        nothing = np.zeros(layout.task_rows)
        self._nothing = ReferenceSample(nothing, nothing, nothing)
        begin = layout.decision.start
        names = ("efforts", "shortfall", "controllable", "reachable", "size", "map", "wanted")
        parts = (layout[name] for name in (*names, "response"))
        self._parts = tuple(slice(part.start - begin, part.stop - begin) for part in parts)
        self._ranks = tuple(layout[name].start - begin for name in ("motor_rank", "task_rank"))
        self._qdd = layout["qdd"]
        self._decided: ServoSolution | None = None
        self._map_shape = (layout.task_rows, layout.motors)
        self._response_shape = (-1, layout.motors)

    def loop_closure_error(self, state: State, inputs: Inputs) -> float:
        """Largest residual of the structure."""
        if self._layout.followed:
            self._structure.follow(state.t, inputs)
        elif inputs.references:
            return self._otherwise.loop_closure_error(state, inputs)
        return self._call.loop_closure_error(state)

    def errors(self, state: State, references: References | None = None) -> TrackingErrors:
        """Residuals and rates of the task rows."""
        found = self._call.errors(state, self._followed(state, references))
        rows = self._layout.task_rows
        return TrackingErrors(found[:rows], found[rows:])

    def evaluate(
        self, state: State, demand: Demand, references: References | None = None
    ) -> ServoOutcome:
        """The closed form."""
        self._decided = None
        if self._layout.followed:
            self._structure.follow(state.t, demand.inputs)
        elif demand.inputs.references:  # of constraints whose file has none
            return self._otherwise.evaluate(state, demand, references)
        answers = self._call.servo(
            state,
            self._followed(state, references),
            None if self._resistance is None else -self._resistance(state.v),
            demand.pull,
            demand.weights,
            demand.preload,
        )
        if answers is None:
            return self._otherwise.evaluate(state, demand, references)
        free = CompiledSolution(answers[0][self._qdd], answers[0], self._structure)
        response = answers[1][self._parts[-1]].reshape(self._response_shape)
        self._decided = self._solution(answers[1])
        return ServoOutcome(self._decided, free, free.qdd, response.dot)

    def allocate(
        self, servo: ServoSolution, demand: Demand, lower: Array, upper: Array
    ) -> tuple[Array, bool]:
        """Efforts within limits."""
        found = None
        if servo is self._decided:  # what C knows
            found = self._call.allocate(lower, upper)
        if found is None:
            return self._otherwise.allocate(servo, demand, lower, upper)
        return found[:-1], bool(found[-1])

    def forget(self) -> None:
        """Forget where the last search ended."""
        self._call.forget()
        self._otherwise.forget()

    def _followed(self, state: State, references: References | None) -> ReferenceSample:
        return self._tasks.sample(state.t, references) or self._nothing

    def _solution(self, decision: Array) -> ServoSolution:
        efforts, residual, controllable, reachable, size, map_, wanted, _ = self._parts
        rank, task_rank = self._ranks
        return ServoSolution(
            efforts=decision[efforts],
            residual=decision[residual],
            rank=int(decision[rank]),
            task_rank=int(decision[task_rank]),
            controllable=decision[controllable] != 0.0,
            reachable=decision[reachable] != 0.0,
            size=decision[size],
            map=decision[map_].reshape(self._map_shape),
            wanted=decision[wanted],
        )
