# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The servo law of some tasks in C."""

import ctypes
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from uk_dynamics.compilation.build.library import library_of
from uk_dynamics.compilation.emit.layout import ROBUST_KNOWN, ServoLayout
from uk_dynamics.compilation.runtime.cluster_tables import ClusterTables, attached
from uk_dynamics.compilation.runtime.compiled_solution import CompiledStructure, compiled_solution
from uk_dynamics.compilation.verification import Comparison, servo_answers, verify
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.core.servo import ServoSolution
from uk_dynamics.exceptions import StateError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import (
    Demand,
    InterpretedDynamics,
    References,
    Regression,
    RobustDemand,
    Robustness,
    ServoEvaluator,
    ServoOutcome,
    TrackingErrors,
)
from uk_dynamics.mechanism.resolution import Array, Inputs, State


class ServoCall:
    """The memory of a compiled servo law with what evaluates it; see :class:`CompiledCall`."""

    def __init__(
        self,
        path: Path,
        layout: ServoLayout,
        tables: ClusterTables | None = None,
        memory: Array | None = None,
    ) -> None:
        library = ctypes.CDLL(str(path))
        names = ("uk_closure_error", "uk_errors", "uk_servo", "uk_allocate")
        functions = [getattr(library, name) for name in names]
        for function in functions:
            function.argtypes, function.restype = (ctypes.c_void_p,), ctypes.c_int
        library.uk_closure_error.restype = ctypes.c_double
        self._closure_error, self._errors, self._servo, self._allocate = functions
        #: Whole control periods and their tracking errors; None: C knows no whole period.
        self.periods: tuple[Any, Any] | None = None
        if hasattr(library, "uk_control"):
            self.periods = library.uk_control, library.uk_track
        self._layout = layout
        self.memory = layout.memory() if memory is None else memory
        self._clusters = attached(library, tables, self.memory, layout)
        self._address = ctypes.c_void_p(self.memory.ctypes.data)

    def loop_closure_error(self, state: State) -> float:
        """Largest residual of a structural row that acts."""
        self._fill(state)
        return float(self._closure_error(self._address))

    def errors(self, state: State, followed: ReferenceSample) -> Array:
        """Residuals, then rates of the task rows, fresh, (2 mt,)."""
        self._fill(state, followed)
        self._errors(self._address)
        return self.memory[self._layout.errors].copy()

    def servo(
        self, state: State, followed: ReferenceSample, tau: Array | None, demand: Demand
    ) -> tuple[Array, Array] | None:
        """Answers of the mechanism and of the law, fresh, as the layout has them; None: none."""
        self._fill(state, followed)
        memory, layout = self.memory, self._layout
        for name, value in (
            ("tau", tau),
            ("desired", demand.desired),
            ("feedback", demand.feedback),
            ("weights", demand.weights),
            ("preload", demand.preload),
        ):
            memory[layout[name]] = 0.0 if value is None else value
        if "friction_v" in layout.fields:
            smooth = None if demand.robust is None else demand.robust.friction_v
            memory[layout["friction_v"]] = state.v if smooth is None else smooth
        if layout.uncertain:
            self._against(demand.robust)
        if self._servo(self._address):
            return None
        return memory[: layout.answered].copy(), memory[layout.decision].copy()

    def _against(self, robust: RobustDemand | None) -> None:
        memory, layout = self.memory, self._layout
        memory[layout["robust"]] = robust is not None and robust.acts
        if robust is not None:
            if layout.adaptive:
                for name, given in (
                    ("added", robust.added),
                    ("lacking", robust.lacking),
                    ("estimate", robust.estimate),
                    ("adapts", robust.adapts),
                ):
                    memory[layout[name]] = 0.0 if given is None else given
            memory[layout["surface"]] = robust.surface
            for name, value in zip(ROBUST_KNOWN, robust.known, strict=True):
                memory[layout[name]] = value

    def repeat(self, past: "PastPeriod") -> tuple[Array, Array]:
        """Answers of :meth:`servo` at the inputs of a control period."""
        memory, layout = self.memory, self._layout
        memory[: layout.answered], memory[layout.law] = past
        self._servo(self._address)
        return memory[: layout.answered].copy(), memory[layout.decision].copy()

    def allocate(self, lower: Array, upper: Array) -> Array | None:
        """Efforts within limits at the last state of :meth:`servo`, then 1 where they are optimal.

        Fresh, (motors + 1,); None: the search failed.
        """
        memory, layout = self.memory, self._layout
        memory[layout["lower"]] = lower
        memory[layout["upper"]] = upper
        memory[layout["pushed"]] = 0.0  # a command alone depends on its state alone
        return None if self._allocate(self._address) else memory[layout.allocation].copy()

    def _fill(self, state: State, followed: ReferenceSample | None = None) -> None:
        memory, layout = self.memory, self._layout
        memory[0] = state.t
        for name, value in (("q", state.q), ("v", state.v)):
            expected = (layout.fields[name].count,)
            if np.shape(value) != expected:
                found = np.shape(value)
                raise StateError(f"expected shape {expected}, found {found}", place=name)
            memory[layout[name]] = value
        if followed is not None:
            memory[layout["task_followed"]] = np.concatenate(followed)


class PastPeriod(NamedTuple):
    """What C had in its memory after a control period, fresh."""

    answers: Array  # inputs and answers of the mechanism
    law: Array  # the same of the law, see :class:`ServoLayout`


class CompiledServo:
    """Terms, task rows and closed form in C; see :class:`ServoEvaluator`.

    References are sampled here, and C follows them. States where the mass matrix is singular or
    something has no value are left to another evaluator.
    """

    def __init__(
        self,
        tasks: Tasks,  # their rows and references
        otherwise: ServoEvaluator,  # answers what C does not
        *,
        friction: bool = True,  # whether friction and damping are fed forward
        # on which C works, as :class:`ServoLayout` has it; None: a fresh one
        memory: Array | None = None,
        # compares control periods of this law as well, before the library is used
        periods: "Callable[[CompiledServo], Iterable[Comparison]] | None" = None,
        # whether the library is known to answer rightly, or about to be tried
        verified: bool = False,
    ) -> None:
        """Load the library; compile it when it is not in the cache; try it, unless verified."""
        library = library_of(tasks)
        layout = ServoLayout(tasks)
        self._tasks, self._otherwise = tasks, otherwise
        self.layout = self._layout = layout
        tables = None if tasks.mechanism.local is None else ClusterTables(tasks.mechanism)
        self.call = self._call = ServoCall(library, layout, tables, memory)
        self._parts_of_call = library, layout, tables
        self._again: ServoCall | None = None
        self._lock = threading.Lock()  # of its memory
        self._structure = CompiledStructure(tasks.mechanism, layout, self._call.memory)
        self._resistance = None if friction else tasks.mechanism.passive.resistance
        nothing = np.zeros(layout.task_rows)
        self._nothing = ReferenceSample(nothing, nothing, nothing)
        begin = layout.decision.start
        names = ("efforts", "shortfall", "controllable", "reachable", "size", "map", "wanted")
        parts = (layout[name] for name in (*names, "response"))
        self._parts = tuple(slice(part.start - begin, part.stop - begin) for part in parts)
        self._ranks = tuple(layout[name].start - begin for name in ("motor_rank", "task_rank"))
        #: The closed form at which C knows efforts within limits; None: it knows none.
        self.decided: ServoSolution | None = None
        self._map_shape = (layout.task_rows, layout.motors)
        self._response_shape = (-1, layout.motors)
        reference = InterpretedDynamics(tasks.mechanism)
        name = f"the servo law of {tasks.mechanism.name}"

        def comparisons() -> Iterator[Comparison]:
            yield from servo_answers(tasks, reference, otherwise, self)
            yield from periods(self) if periods else ()

        if not verified:
            verify(library, name, comparisons)

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
        self.decided = None
        if demand.inputs.active is not None and demand.inputs.active.beyond_rows:
            return self._otherwise.evaluate(state, demand, references)
        if self._layout.followed:
            self._structure.follow(state.t, demand.inputs)
        elif demand.inputs.references:  # of constraints whose file has none
            return self._otherwise.evaluate(state, demand, references)
        answers = self._call.servo(
            state,
            self._followed(state, references),
            demand.inputs.tau if self._resistance is None else -self._resistance(state.v),
            demand,
        )
        if answers is None:
            return self._otherwise.evaluate(state, demand, references)
        outcome = self._outcome(*answers)
        self.decided = outcome.servo
        return outcome

    def past(self) -> PastPeriod:
        """The control period that C has computed last."""
        memory, layout = self._call.memory, self._layout
        return PastPeriod(memory[: layout.answered].copy(), memory[layout.law].copy())

    def told(self, past: PastPeriod, name: str) -> Array:
        """What a field of the law was then."""
        return self._behind(past, self._layout[name])

    def _behind(self, past: PastPeriod, field: slice) -> Array:
        begin = self._layout.law.start
        return past.law[field.start - begin : field.stop - begin]

    def solution_of(self, past: PastPeriod) -> ServoSolution:
        """The closed form of a control period."""
        return self._solution(self._behind(past, self._layout.decision))

    def robustness_of(self, past: PastPeriod) -> Robustness:
        """The robust term of a control period."""
        return self.robustness(self._behind(past, self._layout.decision))

    def outcome_of(self, past: PastPeriod) -> ServoOutcome:
        """The same with what efforts do not depend on, which periods leave out; in any thread."""
        with self._lock:
            if self._again is None:
                self._again = ServoCall(*self._parts_of_call)  # with a memory of its own
            found = self._outcome(*self._again.repeat(past))
        return found._replace(servo=self.solution_of(past))  # internal forces are in it alone

    def _outcome(self, answers: Array, decision: Array) -> ServoOutcome:
        free = compiled_solution(answers, self._structure)
        response = decision[self._parts[-1]].reshape(self._response_shape)
        told = None
        if self._layout.uncertain and self._call.memory[self._layout["robust"]]:
            told = self.robustness(decision)
        drift = regression = None
        memory, layout = self._call.memory, self._layout
        if layout.corrected:
            drift = memory[layout["free_drift"]].copy()
        if layout.adaptive:
            names = ("regressor", "explaining", "push", "reached")
            shapes = (2 * ((layout.task_rows, -1),)) + 2 * ((-1,),)
            kept = zip(names, shapes, strict=True)
            regression = Regression(*(memory[layout[x]].reshape(y).copy() for x, y in kept))
        return ServoOutcome(
            *(self._solution(decision), free, free.qdd, response.dot, told, drift),
            regression=regression,
        )

    def robustness(self, decision: Array) -> Robustness:
        """The robust term of the answers of the law."""
        place = self._layout["robust_term"]
        begin = self._layout.decision.start
        *term, size = decision[place.start - begin : place.stop - begin].tolist()
        factor, bound, authority, growth = term
        return Robustness(size, bound, authority, factor, growth)

    def allocate(
        self, servo: ServoSolution, demand: Demand, lower: Array, upper: Array
    ) -> tuple[Array, bool]:
        """Efforts within limits."""
        found = self._call.allocate(lower, upper) if servo is self.decided else None
        if found is None:
            return self._otherwise.allocate(servo, demand, lower, upper)
        return found[:-1], bool(found[-1])

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
            side=self._tasks.side,
        )
