# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The results of C as a solution; all but the acceleration is extracted when first read.

The structural rows on the Python side of the memory, and the factorisation where C keeps none.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.emit.layout import Layout
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.core import Factorization
from uk_dynamics.core.equation import Method, Solution, Status
from uk_dynamics.mechanism.dynamics import Solver, StructuralRows
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism


class CompiledStructure:
    """The Python side of the structural rows in a memory."""

    def __init__(self, mechanism: ResolvedMechanism, layout: Layout, memory: Array) -> None:
        self.layout = layout
        self._model, self._local = mechanism.model, mechanism.local
        #: The form of the equation.
        self.method: Method = "udwadia_kalaba" if mechanism.local is None else "nullspace"
        self.rows = StructuralRows(mechanism)  # the structural rows with what they follow
        self._solver = Solver(mechanism)
        self._memory = memory
        self._mask: NDArray[np.bool_] | None = None

    def follow(self, t: float, inputs: Inputs) -> None:
        """Tell C what rows follow, and which of them act."""
        memory, layout = self._memory, self.layout
        sample = self.rows.reference(t, inputs)
        memory[layout["followed"]] = 0.0 if sample is None else np.concatenate(sample)
        mask = self.rows.hierarchy.mask(inputs.active)
        if mask is not self._mask:
            self._mask = mask
            memory[layout["active"]] = 1.0 if mask is None else mask

    def again(self, answers: Array) -> Factorization:
        """The factorisation at the state of some answers, for what C does not keep."""
        layout = self.layout
        t, q, v = float(answers[0]), answers[layout["q"]], answers[layout["v"]]
        local, model = self._local, self._model
        workspace = model.workspace() if local is None else local.workspace(model)
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
        self._answers = answers
        self._force = force
        self._owner = owner

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


#: What the numbers of C mean.
STATUSES = (Status.OK, Status.NEAR_SINGULAR, Status.INCONSISTENT)
_NO_ROWS: NDArray[np.intp] = np.empty(0, dtype=np.intp)


class CompiledSolution(Solution):
    """Fresh inputs and answers of one compiled evaluation."""

    def __init__(self, qdd: Array, answers: Array, owner: CompiledStructure) -> None:
        self.qdd = qdd
        self._answers = answers
        self._owner = owner

    def __getattr__(self, name: str) -> Any:
        """Results that have not been read yet."""
        find = _FINDERS.get(name)
        if find is None:
            raise AttributeError(name)
        found = find(self, self._owner.layout, self._answers)
        setattr(self, name, found)
        return found


def _offending(solution: CompiledSolution, layout: Layout, answers: Array) -> NDArray[np.intp]:
    if solution.status is Status.OK:
        return _NO_ROWS
    level = 2.0 if solution.status is Status.INCONSISTENT else 1.0
    return np.flatnonzero(answers[layout["offends"]] == level)


_FINDERS: dict[str, Callable[[Any, Layout, Array], Any]] = {
    "residual": lambda _, layout, answers: answers[layout["violation"]][: layout.rows],
    "status": lambda _, layout, answers: STATUSES[int(answers[layout["status"].start])],
    "offending": _offending,
    "coordinates": lambda _, layout, answers: answers[layout["ideal_force"]],
    "reactions": lambda solution, _, answers: CompiledReactions(
        answers, solution.coordinates, solution._owner
    ),
}
