"""The structural rows of a mechanism with what they follow, and which of them act."""

from __future__ import annotations

from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.constraints.rows.constraint_set import ConstraintTerms
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array, Inputs
from uk_dynamics.model.kinematics.workspace import Workspace


class StructuralRows:
    """Rows as the inputs of an evaluation leave them.

    A constraint that is off has rows of zeros: 0 q̈ = 0 holds, and other rows keep their numbers.

    Attributes:
        constraints: All structural constraints; their A is sparse where loops are local.
        hierarchy: Which of them can be switched.
    """

    def __init__(self, mechanism: ResolvedMechanism) -> None:
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

    def position(
        self, workspace: Workspace, t: float, q: Array, inputs: Inputs
    ) -> tuple[Array, Array]:
        """A, (m, nv), and residual, (m,), at rest; the workspace knows q."""
        A, residual = self.constraints.position(workspace, t, q, self.reference(t, inputs))
        mask = self.hierarchy.mask(inputs.active)
        if mask is None:
            return A, residual
        return A * mask[:, None], residual * mask
