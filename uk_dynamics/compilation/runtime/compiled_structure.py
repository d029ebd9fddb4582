"""What the structure of a compiled mechanism follows, and its factorisation where C keeps none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.emit.layout import Layout
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.core.factorization import Factorization
from uk_dynamics.mechanism.dynamics.solver import Solver
from uk_dynamics.mechanism.dynamics.structural_rows import StructuralRows
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array, Inputs


class CompiledStructure:
    """The Python side of the structural rows in a memory.

    Attributes:
        layout: Of the memory.
        rows: The structural rows with what they follow.
    """

    def __init__(self, mechanism: ResolvedMechanism, layout: Layout, memory: Array) -> None:
        """Prepare.

        Args:
            mechanism: What is compiled.
            layout: Of the memory.
            memory: Of the compiled functions.
        """
        self.layout = layout
        self._model = mechanism.model
        self.rows = StructuralRows(mechanism)
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
        workspace = self._model.workspace()
        workspace.update(q, v)
        reference = None
        if layout.followed:
            reference = ReferenceSample(*answers[layout["followed"]].reshape(3, layout.rows))
        active = answers[layout["active"]][: layout.rows]
        A = self.rows.constraints.evaluate(workspace, t, q, v, reference).A * active[:, None]
        return self._solver.factorize_part(workspace.mass, A, self._solver.rank_tolerance)
