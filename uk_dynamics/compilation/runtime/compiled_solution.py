# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The results of C as a solution; all but the acceleration is extracted when first read.

The structural rows on the Python side of the memory, and the factorisation where C keeps none.
"""

from functools import cached_property
from typing import Any

import numpy as np

from uk_dynamics.compilation.emit.layout import Layout
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.core import Factorization
from uk_dynamics.core.equation import Instant, Method, Result, Solution, Status
from uk_dynamics.mechanism.dynamics import EquationTerms, Solver, StructuralRows
from uk_dynamics.mechanism.resolution import Array, Flags, Indices, Inputs, ResolvedMechanism
from uk_dynamics.model.kinematics import Workspace


class CompiledStructure:
    """The Python side of the structural rows in a memory."""

    def __init__(self, mechanism: ResolvedMechanism, layout: Layout, memory: Array) -> None:
        self.layout, self.qdd = layout, layout["qdd"]
        self._mechanism, self._model, self._local = mechanism, mechanism.model, mechanism.local
        #: The form of the equation.
        self.method: Method = "udwadia_kalaba" if mechanism.local is None else "nullspace"
        self.rows = StructuralRows(mechanism)  # the structural rows with what they follow
        self._solver = Solver(mechanism)
        self._memory = memory
        self._mask: Flags | None = None

    def follow(self, t: float, inputs: Inputs) -> None:
        """Tell C what rows follow, and which of them act."""
        memory, layout = self._memory, self.layout
        sample = self.rows.reference(t, inputs)
        memory[layout["followed"]] = 0.0 if sample is None else np.concatenate(sample)
        mask = self.rows.hierarchy.mask(inputs.active)
        if mask is not self._mask:
            self._mask = mask
            memory[layout["active"]] = 1.0 if mask is None else mask

    def read(self, result: Result[Any, Any], answers: Array) -> Any:
        """A result as solutions have it; C of clusters has no formulas."""
        if result.formula is not None and self._local is not None:
            return result.of_one(result.formula(self._instant(answers)))
        values = answers[self.layout[result.memory]]
        return result.of_one(values[: self.layout.rows] if result.size == "M" else values)

    def _instant(self, answers: Array) -> Instant:
        """The state of some answers with its solution, for formulas."""
        layout, workspace = self.layout, self._workspace()
        t = float(answers[0])
        names = ("q", "v", "tau", "qdd", "ideal_force")
        q, v, tau, qdd, force = (answers[layout[name]] for name in names)
        terms = EquationTerms(self._mechanism, workspace, self.rows)
        F = terms.evaluate(t, q, v, Inputs(tau))[0].F
        return Instant(t, q, v, F, workspace.bias, qdd, force)

    def _workspace(self) -> Workspace:
        return (
            self._model.workspace() if self._local is None else self._local.workspace(self._model)
        )

    def again(self, answers: Array) -> Factorization:
        """The factorisation at the state of some answers, for what C does not keep."""
        layout = self.layout
        t, q, v = float(answers[0]), answers[layout["q"]], answers[layout["v"]]
        workspace = self._workspace()
        workspace.update(q, v)
        reference = None
        if layout.followed:
            reference = ReferenceSample(*answers[layout["followed"]].reshape(3, layout.rows))
        A = self.rows.constraints.evaluate(workspace, t, q, v, reference).A
        if self.rows.hierarchy.switches:
            A = A * answers[layout["active"]][: layout.rows, None]
        return self._solver.factorize_part(workspace.mass, A, self._solver.rank_tolerance)


class CompiledReactions:
    """Forces of one compiled evaluation; see :class:`uk_dynamics.core.equation.solution.Reactions`.

    The coordinates of an ideal force are the force itself, (nv,).

    C keeps what most callers want; for more the state is factorised again.
    """

    __slots__ = ("_answers", "_force", "_owner")

    def __init__(self, answers: Array, force: Array, owner: CompiledStructure) -> None:
        self._answers, self._force, self._owner = answers, force, owner

    @property
    def method(self) -> Method:
        """The compiled form."""
        return self._owner.method

    @property
    def rank(self) -> int:
        """Number of independent rows."""
        return int(self._answers[self._owner.layout["rank"].start])

    @property
    def condition(self) -> float:
        """Condition number of the independent rows at unit norm."""
        return self._again().condition

    @property
    def determined(self) -> Flags:
        """Whether the multiplier of each row is unique, (m,)."""
        flags: Flags = self._of_rows("determined") != 0.0
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
        """Part of a given force that the constraints do not balance, (nv,)."""
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


_NO_ROWS: Indices = np.empty(0, dtype=np.intp)


class CompiledSolution(Solution):
    """Fresh inputs and answers of one compiled evaluation, filled by :func:`compiled_solution`."""

    _answers: Array
    _owner: CompiledStructure
    __init__ = object.__init__

    def _find(self, result: Result[Any, Any]) -> Any:
        return self._owner.read(result, self._answers)

    @cached_property
    def offending(self) -> Indices:  # type: ignore[override]
        """See :class:`Solution`."""
        if self.status is Status.OK:
            return _NO_ROWS
        level = 2.0 if self.status is Status.INCONSISTENT else 1.0
        return np.flatnonzero(self._answers[self._owner.layout["offends"]] == level)

    @cached_property
    def coordinates(self) -> Array:  # type: ignore[override]
        """See :class:`Solution`."""
        return self._answers[self._owner.layout["ideal_force"]]

    @cached_property
    def reactions(self) -> CompiledReactions:  # type: ignore[override]
        """See :class:`Solution`."""
        return CompiledReactions(self._answers, self.coordinates, self._owner)


def compiled_solution(answers: Array, owner: CompiledStructure) -> CompiledSolution:
    """The solution with these answers; an ``__init__`` of its own takes a twentieth of a call."""
    made: CompiledSolution = CompiledSolution()
    made.qdd, made._answers, made._owner = answers[owner.qdd], answers, owner
    return made
