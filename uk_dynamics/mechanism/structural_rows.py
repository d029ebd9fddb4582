"""The structural rows of a mechanism with what they follow, and which of them act."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uk_dynamics.constraints.constraint_set import ConstraintTerms
from uk_dynamics.constraints.product_rows import ProductRows
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.mechanism.state import Array, Inputs
from uk_dynamics.model.workspace import Workspace

if TYPE_CHECKING:
    from uk_dynamics.mechanism.mechanism import Mechanism


class StructuralRows:
    """Rows as the inputs of an evaluation leave them.

    A constraint that is off has rows of zeros: 0 q̈ = 0 holds, and nobody else is renumbered.

    Attributes:
        constraints: All structural constraints; their A is sparse where loops are local.
        hierarchy: Which of them can be switched.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        local = mechanism.local
        self.constraints = mechanism.constraints if local is None else local.constraints
        self.hierarchy = mechanism.hierarchy
        self._references = mechanism.references

    def reference(self, t: float, inputs: Inputs) -> ReferenceSample | None:
        """What rows follow at time t, in s: captured poses, given samples, those of the file."""
        live = inputs.references
        if not live and inputs.active is None and not self._references.references:
            return None
        if inputs.active is not None and inputs.active.captured:
            live = {**(live or {}), **self.hierarchy.captured(inputs.active)}
        return self._references.sample(t, live)

    def evaluate(
        self, workspace: Workspace, t: float, q: Array, v: Array, inputs: Inputs
    ) -> ConstraintTerms:
        """All rows at a state; the workspace is up to date there."""
        rows = self.constraints.evaluate(workspace, t, q, v, self.reference(t, inputs))
        mask = self.hierarchy.mask(inputs.active)
        if mask is None:
            return rows
        return ConstraintTerms(rows.A * mask[:, None], *(part * mask for part in rows[1:]))

    def products(self, workspace: Workspace) -> ProductRows | None:
        """The quick evaluation of all rows, where no input can change what they follow.

        Inputs with references or switched constraints still need :meth:`evaluate`.
        """
        if self._references.references or self.hierarchy.mask(None) is not None:
            return None
        return self.constraints.products(workspace)

    def position(
        self, workspace: Workspace, t: float, q: Array, inputs: Inputs
    ) -> tuple[Array, Array]:
        """A, (m, nv), and residual, (m,), at rest; the workspace knows q."""
        A, residual = self.constraints.position(workspace, t, q, self.reference(t, inputs))
        mask = self.hierarchy.mask(inputs.active)
        if mask is None:
            return A, residual
        return A * mask[:, None], residual * mask
