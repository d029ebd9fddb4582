"""The ``Dynamics`` of a mechanism in C."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uk_dynamics.compilation.compiled_batch import Common, CompiledBatch, to_solution
from uk_dynamics.compilation.generate import layout_of
from uk_dynamics.compilation.layout import Layout
from uk_dynamics.compilation.library import batch_library_of, library_of
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.core.factorization import Factorization
from uk_dynamics.core.methods import Method
from uk_dynamics.core.solution import Solution, Status
from uk_dynamics.exceptions import StateError
from uk_dynamics.mechanism.batch import BatchSolution, States, evaluate_each, put, states
from uk_dynamics.mechanism.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import Array, Inputs, State

_NOTHING = Inputs()
_STATUS = (Status.OK, Status.NEAR_SINGULAR, Status.INCONSISTENT)
_NO_ROWS: NDArray[np.intp] = np.empty(0, dtype=np.intp)


class CompiledDynamics(InterpretedDynamics):
    """Evaluates in C what C knows; projections and everything else as its parent does.

    References and captured poses are sampled here, and C follows them. Inputs with non-ideal forces
    (and with references, if no constraint of the file has one), and states where the mass matrix
    is singular or something has no value, are left to the parent.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        """Load the mechanism's library; compile it when it is not in the cache.

        Raises:
            CompilationError: Some part cannot be compiled, or there is no compiler.
        """
        library = library_of(mechanism)
        super().__init__(mechanism)
        self._mechanism = mechanism
        layout = layout_of(mechanism)
        self.layout = layout
        self._function = _load(library)
        self._memory = np.zeros(layout.size)
        self._address = ctypes.c_void_p(self._memory.ctypes.data)
        self._answered = self._memory[: layout.answered]
        self._q, self._v = self._memory[layout["q"]], self._memory[layout["v"]]
        self._tau, self._active = self._memory[layout["tau"]], self._memory[layout["active"]]
        self._memory[layout["stabilize"]] = 1.0
        self._active[:] = 1.0
        self._mask: NDArray[np.bool_] | None = None
        self._status_at = layout["status"].start
        self._qdd_part, self._violation_part = layout["qdd"], layout["violation"]
        self._force_part = layout["ideal_force"]
        if not len(mechanism.constraints):
            self._violation_part = slice(0, 0)

    def evaluate(
        self, state: State, inputs: Inputs | None = None, out: Solution | None = None
    ) -> Solution:
        """Constrained acceleration and forces, fresh; see :class:`Dynamics`."""
        given = inputs or _NOTHING
        if given.nonideal is not None or (given.references and not self.layout.followed):
            return super().evaluate(state, given)
        if self.layout.followed:
            self._follow(state.t, given)
        memory = self._memory
        memory[0] = state.t
        memory[1] = given.stabilize
        try:
            self._q[:] = state.q
            self._v[:] = state.v
            self._tau[:] = 0.0 if given.tau is None else given.tau
        except ValueError:
            raise _wrong_sizes(state, given, self.layout) from None
        if self._function(self._address):
            return super().evaluate(state, given)
        answers = self._answered.copy()
        offending = _NO_ROWS
        status = _STATUS[int(answers[self._status_at])]
        if status is not Status.OK:
            level = 2.0 if status is Status.INCONSISTENT else 1.0
            offending = np.flatnonzero(answers[self.layout["offends"]] == level)
        force = answers[self._force_part]
        return Solution(
            answers[self._qdd_part],
            answers[self._violation_part],
            status,
            offending,
            CompiledReactions(answers, force, self),
            force,
        )

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
        shared = inputs or _NOTHING
        layout = self.layout
        counts = layout.fields["q"].count, layout.fields["v"].count
        given = states(*counts, t, q, v, tau, shared)
        if shared.nonideal is not None or (shared.references and not layout.followed):
            return evaluate_each(self, given, shared, forces=forces)
        common = self._common(given, shared)
        answers = self._batch.evaluate(given, common, forces=forces, threads=threads)
        solution = to_solution(answers)
        unanswered = np.flatnonzero(answers.failed)
        if len(unanswered):
            self._complete(solution, unanswered, given, shared)
        return solution

    @cached_property
    def _batch(self) -> CompiledBatch:
        return CompiledBatch(batch_library_of(self._mechanism), self.rows)

    def _common(self, given: States, inputs: Inputs) -> Common:
        """What the rows follow at the instants of a batch, and which of them act."""
        m = max(self.rows, 1)
        mask = self.hierarchy.mask(inputs.active)
        active = np.ones(m) if mask is None else mask.astype(float)
        if not self.layout.followed:
            return Common(inputs.stabilize, active, None)
        followed = np.zeros((len(given.t), 3 * m))
        for row, t in zip(followed, given.t, strict=True):
            sample = self._rows.reference(float(t), inputs)
            if sample is not None:
                row[:] = np.concatenate(sample)
        return Common(inputs.stabilize, active, followed)

    def _complete(
        self, solution: BatchSolution, missing: NDArray[np.intp], given: States, inputs: Inputs
    ) -> None:
        """Let the interpreted evaluator answer where C has none."""
        for k in missing:
            single = super().evaluate(*given.at(int(k), inputs))
            put(solution, int(k), single)

    def call(self) -> int:
        """The C function alone, on the inputs of the last evaluation; 0 when it has answers."""
        return self._function(self._address)

    def _follow(self, t: float, inputs: Inputs) -> None:
        """Tell C what rows follow, and which of them act."""
        sample = self._rows.reference(t, inputs)
        where = self.layout["followed"]
        self._memory[where] = 0.0 if sample is None else np.concatenate(sample)
        mask = self.hierarchy.mask(inputs.active)
        if mask is not self._mask:
            self._mask = mask
            self._active[:] = 1.0 if mask is None else mask

    def again(self, answers: Array) -> Factorization:
        """The factorisation at the state of some answers, for what C does not keep."""
        layout = self.layout
        t, q, v = float(answers[0]), answers[layout["q"]], answers[layout["v"]]
        workspace = self._model.workspace()
        workspace.update(q, v)
        reference = None
        if layout.followed:
            reference = ReferenceSample(*answers[layout["followed"]].reshape(3, layout.rows))
        active = answers[layout["active"]][: layout.rows]
        A = self._constraints.evaluate(workspace, t, q, v, reference).A * active[:, None]
        return self._solver.factorize_part(workspace.mass, A, self._solver.rank_tolerance)


class CompiledReactions:
    """Forces of one compiled evaluation; see :class:`uk_dynamics.core.solution.Reactions`.

    The coordinates of an ideal force are the force itself, (nv,).

    C keeps what most callers want; for more the state is factorised again.
    """

    __slots__ = ("_answers", "_force", "_owner")

    def __init__(self, answers: Array, force: Array, owner: CompiledDynamics) -> None:
        """Keep a copy of inputs and answers, as the layout of the owner says."""
        self._answers = answers
        self._force = force
        self._owner = owner

    @property
    def method(self) -> Method:
        """The compiled form."""
        return "udwadia_kalaba"

    @property
    def rank(self) -> int:
        """Number of independent rows."""
        return int(self._answers[self._owner.layout["rank"].start])

    @property
    def condition(self) -> float:
        """Condition number of the independent rows at unit norm."""
        return self._again().condition

    @property
    def determined(self) -> NDArray[np.bool_]:
        """Whether the multiplier of each row is unique, (m,)."""
        flags: NDArray[np.bool_] = self._of_rows("determined") != 0.0
        return flags

    def multipliers(self, coordinates: Array) -> Array:
        """Multipliers of minimum norm, (m,)."""
        if np.array_equal(coordinates, self._force):
            return self._of_rows("multipliers")
        there = self._again()
        # The force in the basis of the rows, as if it had to hold its opposite.
        return there.multipliers(there.holding(-coordinates))

    def ideal_force(self, coordinates: Array) -> Array:
        """The coordinates themselves."""
        return coordinates

    def nonideal_force(self, force: Array) -> Array:
        """Part of a given force that the constraints let through, (nv,)."""
        return self._again().nonideal_force(force)

    def holding(self, force: Array) -> Array:
        """Ideal force that keeps a given force from moving the rows, (nv,)."""
        there = self._again()
        return there.ideal_force(there.holding(force))

    def _of_rows(self, name: str) -> Array:
        layout = self._owner.layout
        return self._answers[layout[name]][: layout.rows]

    def _again(self) -> Factorization:
        return self._owner.again(self._answers)


def _load(path: Path) -> Callable[[ctypes.c_void_p], int]:
    function = ctypes.CDLL(str(path)).uk_evaluate
    function.argtypes = (ctypes.c_void_p,)
    function.restype = ctypes.c_int
    evaluate: Callable[[ctypes.c_void_p], int] = function
    return evaluate


def _wrong_sizes(state: State, inputs: Inputs, layout: Layout) -> StateError:
    expected = {name: layout.fields[name].count for name in ("q", "v", "tau")}
    tau = state.v if inputs.tau is None else inputs.tau
    found = {"q": np.shape(state.q), "v": np.shape(state.v), "tau": np.shape(tau)}
    wrong = [name for name, size in expected.items() if found[name] != (size,)]
    place = wrong[0] if wrong else "state"
    return StateError(
        f"expected shape ({expected.get(place)},), found {found.get(place)}", place=place
    )
