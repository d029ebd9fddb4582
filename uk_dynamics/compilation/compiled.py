"""The ``Dynamics`` of a mechanism in C."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uk_dynamics.compilation.batch_call import Common
from uk_dynamics.compilation.compiled_batch import CompiledBatch, to_solution
from uk_dynamics.compilation.compiled_call import CompiledCall
from uk_dynamics.compilation.compiled_projection import CompiledProjection
from uk_dynamics.compilation.compiled_solution import CompiledSolution
from uk_dynamics.compilation.compiler import CompilationError
from uk_dynamics.compilation.layout import layout_of
from uk_dynamics.compilation.library import announce, batch_library_of, library_of
from uk_dynamics.compilation.limits import integrates
from uk_dynamics.compilation.structure import CompiledStructure
from uk_dynamics.core.solution import Solution
from uk_dynamics.mechanism.batch import (
    BatchSolution,
    States,
    evaluate_each,
    put,
    states,
    without_forces,
)
from uk_dynamics.mechanism.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.rollout import Plan, Rollout
from uk_dynamics.mechanism.state import Array, Inputs, State

_NOTHING = Inputs()


class CompiledDynamics(InterpretedDynamics):
    """Evaluates and projects in C what C knows; everything else as its parent does.

    References and captured poses are sampled here, and C follows them. Inputs with non-ideal forces
    (and with references, if no constraint of the file has one), and states where the mass matrix
    is singular or something has no value, are left to the parent.
    """

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        """Load the mechanism's library; compile it when it is not in the cache.

        Raises:
            CompilationError: Some part cannot be compiled, or there is no compiler.
        """
        library = library_of(mechanism)
        super().__init__(mechanism)
        self._mechanism = mechanism
        layout = layout_of(mechanism)
        self.layout = layout
        self._call = CompiledCall(library, layout)
        # Looked up once: of the quickest calls, attributes are a good part.
        self._evaluate, self._accelerate = self._call.evaluate, self._call.acceleration
        self._followed, self._qdd = layout.followed, layout["qdd"]
        self._structure = CompiledStructure(mechanism, layout, self._call.memory)

    def evaluate(
        self, state: State, inputs: Inputs | None = None, out: Solution | None = None
    ) -> Solution:
        """Constrained acceleration and forces, fresh; see :class:`Dynamics`."""
        given = inputs or _NOTHING
        if given.nonideal is not None or given.references or self._followed:
            if self._leaves(given):
                return super().evaluate(state, given)
            self._structure.follow(state.t, given)
        q, v = state.q, state.v
        answers = self._evaluate(state.t, given.stabilize, q, v, given.tau)
        if answers is NotImplemented:
            answers = self._call.evaluate_any(state.t, given.stabilize, q, v, given.tau)
        if answers is None:
            return super().evaluate(state, given)
        return CompiledSolution(answers[self._qdd], answers, self._structure)

    def acceleration(self, q: Array, v: Array, tau: Array | None = None, t: float = 0.0) -> Array:
        """Constrained acceleration alone; see :meth:`InterpretedDynamics.acceleration`."""
        if not self._followed:
            found: Any = self._accelerate(t, q, v, tau)
            if found is NotImplemented:
                found = self._call.acceleration_any(t, q, v, tau)
            if found is not None:
                answer: Array = found
                return answer
        return super().acceleration(q, v, tau, t)

    def evaluate_batch(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: ArrayLike = 0.0,
        inputs: Inputs | None = None,
        forces: bool = True,
        threads: int | None = None,
    ) -> BatchSolution:
        """Many states at once; see :meth:`InterpretedDynamics.evaluate_batch`."""
        shared = without_forces(inputs or _NOTHING)
        given = states(self._model.nq, self._model.nv, t, q, v, tau)
        if self._leaves(shared) or self._batch is None:
            return evaluate_each(self, given, shared, forces=forces)
        common = self._common(given.t, shared, stabilize=shared.stabilize)
        answers = self._batch.evaluate(given, common, forces=forces, threads=threads)
        solution = to_solution(answers)
        unanswered = np.flatnonzero(answers.failed)
        if len(unanswered):
            self._complete(solution, unanswered, given, shared)
        return solution

    def project(self, state: State, inputs: Inputs | None = None) -> State:
        """The nearest state on the constraints in the metric of M; see :class:`Dynamics`."""
        given = inputs or _NOTHING
        if self._compiled_projection is None or self._leaves(given):
            return super().project(state, given)
        if self.layout.followed:
            sample = self._rows.reference(state.t, given)
            self._compiled_projection.follow(sample, self.hierarchy.mask(given.active))
        found = self._compiled_projection.project(state.t, state.q, state.v)
        if found is None:  # the other one says why
            return super().project(state, given)
        return State(state.t, found[0], found[1])

    @cached_property
    def _compiled_projection(self) -> CompiledProjection | None:
        if self._batch is None or not self._batch.rolls:
            return None
        followed = self.layout.followed
        return CompiledProjection(self._batch, self._model.nv, self.rows, followed=followed)

    @cached_property
    def _batch(self) -> CompiledBatch | None:
        """Compiled when it is first needed; None where that fails."""
        rolls = integrates(self._mechanism)
        try:
            return CompiledBatch(batch_library_of(self._mechanism), self.rows, rolls=rolls)
        except CompilationError as error:
            announce(f"batches and projections are not compiled: {error}")
            return None

    def _roll(self, given: Plan, inputs: Inputs, threads: int | None) -> Rollout:
        if self._leaves(inputs) or self._batch is None or not self._batch.rolls:
            return super()._roll(given, inputs, threads)
        halves = given.t + 0.5 * given.dt * np.arange(2 * given.steps + 1, dtype=float)
        common = self._common(halves, inputs, stabilize=not given.project)
        return self._batch.roll(given, common, threads)

    def _leaves(self, inputs: Inputs) -> bool:
        """Whether inputs are beyond what is compiled."""
        return inputs.nonideal is not None or bool(inputs.references and not self.layout.followed)

    def _common(self, times: Array, inputs: Inputs, *, stabilize: bool) -> Common:
        """What the rows follow at some instants, and which of them act."""
        m = max(self.rows, 1)
        mask = self.hierarchy.mask(inputs.active)
        active = np.ones(m) if mask is None else mask.astype(float)
        if not self.layout.followed:
            return Common(stabilize, active, None)
        followed = np.zeros((len(times), 3 * m))
        for row, t in zip(followed, times, strict=True):
            sample = self._rows.reference(float(t), inputs)
            if sample is not None:
                row[:] = np.concatenate(sample)
        return Common(stabilize, active, followed)

    def _complete(
        self, solution: BatchSolution, missing: NDArray[np.intp], given: States, inputs: Inputs
    ) -> None:
        """Let the interpreted evaluator answer where C has none."""
        for k in missing:
            single = super().evaluate(*given.at(int(k), inputs))
            put(solution, int(k), single)

    def call(self) -> int:
        """The C function alone, on the inputs of the last evaluation; 0 when it has answers."""
        return self._call.run()
