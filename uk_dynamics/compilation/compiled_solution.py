"""What C answered, as a solution: all but the acceleration is looked at when it is read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.compiled_reactions import CompiledReactions, Owner
from uk_dynamics.core.solution import Solution, Status
from uk_dynamics.mechanism.state import Array

_STATUS = (Status.OK, Status.NEAR_SINGULAR, Status.INCONSISTENT)
_NO_ROWS: NDArray[np.intp] = np.empty(0, dtype=np.intp)


class CompiledSolution(Solution):
    """Fresh inputs and answers of one compiled evaluation."""

    def __init__(self, qdd: Array, answers: Array, owner: Owner) -> None:
        """Keep the answers.

        Args:
            qdd: Acceleration, (nv,), part of the answers.
            answers: Inputs and answers, as the layout of the owner says.
            owner: Who evaluated.
        """
        self.qdd = qdd
        self._answers = answers
        self._owner = owner

    def __getattr__(self, name: str) -> Any:
        """What is not looked at yet."""
        find = _FINDERS.get(name)
        if find is None:
            raise AttributeError(name)
        found = find(self, self._owner, self._answers)
        setattr(self, name, found)
        return found


def _residual(solution: CompiledSolution, owner: Owner, answers: Array) -> Array:
    residual: Array = answers[owner.layout["violation"]][: owner.layout.rows]
    return residual


def _status(solution: CompiledSolution, owner: Owner, answers: Array) -> Status:
    return _STATUS[int(answers[owner.layout["status"].start])]


def _offending(solution: CompiledSolution, owner: Owner, answers: Array) -> NDArray[np.intp]:
    status = solution.status
    if status is Status.OK:
        return _NO_ROWS
    level = 2.0 if status is Status.INCONSISTENT else 1.0
    return np.flatnonzero(answers[owner.layout["offends"]] == level)


def _force(solution: CompiledSolution, owner: Owner, answers: Array) -> Array:
    force: Array = answers[owner.layout["ideal_force"]]
    return force


def _reactions(solution: CompiledSolution, owner: Owner, answers: Array) -> CompiledReactions:
    return CompiledReactions(answers, solution.coordinates, owner)


_FINDERS = {
    "residual": _residual,
    "status": _status,
    "offending": _offending,
    "coordinates": _force,
    "reactions": _reactions,
}
