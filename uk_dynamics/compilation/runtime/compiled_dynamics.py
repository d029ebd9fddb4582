# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The ``Dynamics`` of a mechanism in C."""

import math
import threading
from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from uk_dynamics.compilation.build.compiler import CompilationError
from uk_dynamics.compilation.build.library import Library, announce, library_of
from uk_dynamics.compilation.emit.layout import Layout, integrates, rolls
from uk_dynamics.compilation.runtime.batch_call import (
    CommonInputs,
    beyond_compiled,
    beyond_projection,
)
from uk_dynamics.compilation.runtime.cluster_tables import ClusterTables
from uk_dynamics.compilation.runtime.compiled_batch import (
    CompiledBatch,
    ContactRollouts,
    StateBatch,
)
from uk_dynamics.compilation.runtime.compiled_call import CompiledCall
from uk_dynamics.compilation.runtime.compiled_motion import CompiledMotion
from uk_dynamics.compilation.runtime.compiled_solution import CompiledStructure, compiled_solution
from uk_dynamics.compilation.runtime.fallback import Fallback
from uk_dynamics.compilation.runtime.reference_table import ForeignReferenceError
from uk_dynamics.compilation.verification import (
    Comparison,
    WrongLibraryError,
    batch_answers,
    motion_answers,
    state_answers,
    verify,
)
from uk_dynamics.core.equation import Solution, formulas
from uk_dynamics.mechanism.dynamics import (
    Backend,
    Dynamics,
    InterpretedDynamics,
    evaluate_each,
    goes_over_contacts,
    put,
    roll_smoothly,
    sample_each,
)
from uk_dynamics.mechanism.resolution import (
    Array,
    BatchSolution,
    Inputs,
    Plan,
    ResolvedMechanism,
    Rollout,
    Samples,
    State,
    States,
)

_NOTHING = Inputs()


class CompiledDynamics(Fallback):
    """Evaluates and projects in C what C knows; everything else is interpreted.

    References and captured poses are sampled here, and C follows them. Inputs with non-ideal forces
    (and with references, if no constraint of the file has one), and states where the mass matrix
    is singular or something has no value, are left to the interpreted evaluator.
    """

    backend: Backend = "compiled"

    def __init__(
        self, mechanism: ResolvedMechanism, fallback: Dynamics | None = None, *, strict: bool = True
    ) -> None:
        """Load the mechanism's library; compile it when it is not in the cache.

        Args:
            mechanism: What to evaluate.
            fallback: Its interpreted evaluator; None: one of its own.
            strict: Whether a library that answers wrongly, and is loaded later, is an error; else
                the interpreted evaluator answers in its place, and the log says so.

        Raises:
            CompilationError: Some part cannot be compiled, or there is no compiler.
            WrongLibraryError: What was compiled answers otherwise than the interpreted evaluator.
        """
        if mechanism.local is not None:
            mechanism = mechanism.settled()  # values are in tables, the code has none
        library = library_of(mechanism)
        super().__init__(fallback or InterpretedDynamics(mechanism))
        self._mechanism = mechanism
        layout = Layout(mechanism)
        self.layout = layout
        self._clusters = None if mechanism.local is None else ClusterTables(mechanism)
        self._call = CompiledCall(library, layout, self._clusters)
        # Looked up once: of the quickest calls, attributes are a good part.
        self._evaluate, self._accelerate = self._call.evaluate, self._call.acceleration
        self._followed = layout.followed
        self._structure = CompiledStructure(mechanism, layout, self._call.memory)
        self._lock = threading.Lock()  # of what takes two calls on one memory
        self._strict = strict
        verify(
            library,
            mechanism.name,
            lambda: state_answers(mechanism, self.fallback, self._for_verification),
        )

    def _for_verification(self, state: State, given: Inputs) -> dict[str, Array] | None:
        """What C alone answers; None: it has no answer."""
        if self._followed:
            self._structure.follow(state.t, given)
        accelerate = self._call.acceleration_any if self._followed else self._accelerate
        answers = self._answers(state, given)
        qdd = accelerate(state.t, state.q, state.v, given.tau)
        if answers is None or qdd is None:
            return None
        found = compiled_solution(answers, self._structure)
        return {"evaluate": found.qdd, "forces": found.constraint_force, "acceleration": qdd}

    def evaluate(self, state: State, inputs: Inputs | None = None) -> Solution:
        """Constrained acceleration and forces, fresh; see :meth:`Dynamics.evaluate`."""
        given = inputs or _NOTHING
        if given.nonideal is not None or given.references or self._followed:
            if beyond_compiled(given, self.layout):
                return self.fallback.evaluate(state, given)
            with self._lock:
                self._structure.follow(state.t, given)
                answers = self._answers(state, given)
        else:
            answers = self._evaluate(state.t, given.stabilize, state.q, state.v, given.tau)
            if answers is NotImplemented:
                answers = self._answers(state, given)
        if answers is None:
            solution = self.fallback.evaluate(state, given)
            self._note_fallback()
            return solution
        return compiled_solution(answers, self._structure)

    def _answers(self, state: State, given: Inputs) -> Any:
        return self._call.evaluate_any(state.t, given.stabilize, state.q, state.v, given.tau)

    def acceleration(self, q: Array, v: Array, tau: Array | None = None, t: float = 0.0) -> Array:
        """Constrained acceleration alone; see :meth:`Dynamics.acceleration`."""
        if self._followed:
            with self._lock:
                self._structure.follow(t, _NOTHING)
                found: Any = self._call.acceleration_any(t, q, v, tau)
        else:
            found = self._accelerate(t, q, v, tau)
            if found is NotImplemented:
                found = self._call.acceleration_any(t, q, v, tau)
        if found is None:
            qdd = self.fallback.acceleration(q, v, tau, t)
            self._note_fallback()
            return qdd
        answer: Array = found
        return answer

    def evaluate_states(
        self, given: States, inputs: Inputs, *, forces: bool, threads: int | None
    ) -> BatchSolution:
        """Many states at once; see :meth:`Dynamics.evaluate_batch`."""
        if beyond_compiled(inputs, self.layout) or self._batch is None:
            return evaluate_each(self, given, inputs, forces=forces)
        return self._by_batch(self._batch, given, inputs, forces=forces, threads=threads)

    def _by_batch(
        self,
        batch: CompiledBatch,
        given: States,
        inputs: Inputs,
        *,
        forces: bool,
        threads: int | None = 1,
    ) -> BatchSolution:
        common = CommonInputs.sample(self._structure.rows, self.layout, given.t, inputs)
        solution, failed = batch.evaluate(given, common, forces=forces, threads=threads)
        for k in failed:  # where C has no answer
            put(solution, int(k), self.fallback.evaluate(*given.at(int(k), inputs)))
        if forces and self._clusters is not None and formulas():
            for k in range(len(given.q)):  # which C of clusters does not have
                put(solution, k, self.evaluate(*given.at(k, inputs)))
        return solution

    def roll(self, given: Plan, inputs: Inputs, threads: int | None) -> Rollout:
        """Many trajectories at once; see :meth:`Dynamics.rollout`."""
        if goes_over_contacts(self._mechanism, given):
            return self._over_contacts.roll(self, given, inputs, threads)
        if beyond_compiled(inputs, self.layout) or self._batch is None or not self._batch.rolls:
            return roll_smoothly(self._mechanism, self, given, inputs)
        return self._roll_by(self._batch, given, inputs, threads)

    def _roll_by(
        self, batch: CompiledBatch, given: Plan, inputs: Inputs, threads: int | None = 1
    ) -> Rollout:
        common = CommonInputs.of_steps(self._structure.rows, self.layout, given, inputs)
        return batch.roll(given, common, threads)

    def project(self, state: State, inputs: Inputs | None = None) -> State:
        """The nearest state on the constraints in the metric of M; see :meth:`Dynamics.project`."""
        given = inputs or _NOTHING
        answers = math.isfinite(state.t) and not beyond_projection(given, self.layout)
        if self._projection is None or not answers:
            return self.fallback.project(state, given)
        with self._lock:
            if self.layout.followed:
                self._projection.follow_sample(
                    self._structure.rows.reference(state.t, given),
                    self._structure.rows.hierarchy.mask(given.active),
                )
            found = self._projection.project(state.t, state.q, state.v)
        if found is None:  # the other one says why
            return self.fallback.project(state, given)
        return State(state.t, *found)

    def motion(self) -> CompiledMotion | None:
        """What moves one state at fixed steps in C; see :meth:`Dynamics.motion`."""
        if not integrates(self._mechanism) or self._moving is None:
            return None
        return CompiledMotion(self._moving, self._mechanism, self.layout, self._clusters)

    def samples(self, given: States, inputs: Inputs) -> Samples:
        """What recordings hold of many states; see :meth:`Dynamics.samples`."""
        try:
            if self._moving is not None and not beyond_compiled(inputs, self.layout):
                found = self._one_by_one.samples(
                    given, inputs, lambda k: self.evaluate(*given.at(k, inputs))
                )
                if found is not None:
                    return found
        except ForeignReferenceError:
            pass
        return sample_each(self, given, inputs)

    def load(self) -> None:
        """Load now what is otherwise loaded, or compiled, with the first batch or projection."""
        _ = self._projection, self._batch, self._moving

    @cached_property
    def _projection(self) -> CompiledMotion | None:
        return self.motion()

    @cached_property
    def _over_contacts(self) -> ContactRollouts:
        return ContactRollouts(self._mechanism, self.motion)

    @cached_property
    def _one_by_one(self) -> StateBatch:
        assert self._moving is not None
        return StateBatch(self._moving, self._mechanism, self.layout.parameters, self._clusters)

    @cached_property
    def _moving(self) -> Path | None:
        """The library that moves one state; of clusters, it is compiled when it is first needed."""
        try:
            path = library_of(self._mechanism, Library.MOTION)
            verify(path, self._mechanism.name, lambda: self._moved_by(path), part="motion")
        except CompilationError as error:
            self._not_compiled("motions", error)
            return None
        return path

    def _moved_by(self, path: Path) -> Iterator[Comparison]:
        """Compare motions of a library with those of the interpreted evaluator."""
        if integrates(self._mechanism):
            motion = CompiledMotion(path, self._mechanism, self.layout, self._clusters)

            def project(state: State) -> tuple[Array, Array] | None:
                if self.layout.followed:
                    sample = self._structure.rows.reference(state.t, _NOTHING)
                    motion.follow_sample(sample, self._mechanism.hierarchy.mask(None))
                return motion.project(state.t, state.q, state.v)

            yield from motion_answers(self._mechanism, self.fallback, motion, project)

    def _not_compiled(self, what: str, error: CompilationError) -> None:
        """Say why the interpreted evaluator answers; WrongLibraryError where it is not to."""
        reason = error.unless(strict=self._strict and isinstance(error, WrongLibraryError))
        announce(f"{what} are not compiled: {reason}")

    @cached_property
    def _batch(self) -> CompiledBatch | None:
        """Compiled when it is first needed; None where that fails."""
        many = rolls(self._mechanism)
        try:
            path = library_of(self._mechanism, Library.BATCH)
            batch = CompiledBatch(path, self.rows, rolls=many, tables=self._clusters)
            verify(path, self._mechanism.name, lambda: self._answered_by(batch))
        except CompilationError as error:
            self._not_compiled("batches", error)
            return None
        return batch

    def _answered_by(self, batch: CompiledBatch) -> Iterator[Comparison]:
        """Compare answers of a library with those of the interpreted evaluator."""

        def evaluate(given: States, inputs: Inputs, forces: bool) -> BatchSolution:
            return self._by_batch(batch, given, inputs, forces=forces)

        roll = partial(self._roll_by, batch) if batch.rolls else None
        return batch_answers(self._mechanism, self.fallback, batch.width, evaluate, roll)

    def _note_fallback(self) -> None:
        """Say once that C has no answer where the interpreted evaluator has one."""
        announce(
            f"{self._mechanism.name}: the mass matrix is singular, which the compiled code does not"
            " solve: such states are interpreted, and slower than without compilation; a mass for"
            " each link, or an armature for its joint, makes it regular"
        )

    def call(self) -> int:
        """The C function alone, on the inputs of the last evaluation; 0 when it has answers."""
        return self._call.run()
