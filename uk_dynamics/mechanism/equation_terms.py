"""The terms of M q̈ = F + Q_c and A q̈ = b of a mechanism, from Pinocchio and its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uk_dynamics.constraints.constraint_set import ConstraintTerms
from uk_dynamics.mechanism.state import Array, DynamicsTerms, Inputs
from uk_dynamics.mechanism.structural_rows import StructuralRows
from uk_dynamics.model.workspace import Workspace

if TYPE_CHECKING:
    from uk_dynamics.mechanism.mechanism import Mechanism

#: Of a ``DynamicsTerms``, without its names: for the calls that have to be short.
Terms = tuple[Array, Array, Array, Array]


class EquationTerms:
    """Evaluates them in the memory of a workspace."""

    def __init__(self, mechanism: Mechanism, workspace: Workspace, rows: StructuralRows) -> None:
        """Use the memory of an evaluator.

        Args:
            mechanism: Whose terms.
            workspace: Memory for its model.
            rows: Its structural rows.
        """
        self._workspace = workspace
        self._rows = rows
        self._damping = rows.constraints.damping
        self._stiffness = rows.constraints.stiffness
        self._stabilizes = bool(self._damping.any() or self._stiffness.any())
        rigid = mechanism.hierarchy.rigid
        self._soft = None if rigid.all() else ~rigid
        self._passive = mechanism.passive if mechanism.passive.active else None
        self._forces = mechanism.forces if mechanism.forces.active else None
        self._products = None if self._soft is not None else rows.products(workspace)

    def evaluate(
        self, t: float, q: Array, v: Array, inputs: Inputs, *, quick: bool = False
    ) -> Terms:
        """M, F, A and b at a state; M is a live view.

        Args:
            t: Time, in s.
            q: Configuration, (nq,).
            v: Velocity, (nv,).
            inputs: What acts.
            quick: Whether rounding of b may be that of all terms of the stabilisation, some 1e-16
                of ω times the speeds. By itself that is nothing, but a nearly singular matrix
                magnifies it; it leaves alone what cancels between A q̈ and 2ζω A v.
        """
        if self._products is None or inputs.references or inputs.active is not None:
            return self.with_rows(t, q, v, inputs)[0]
        return self.usual(t, q, v, inputs.tau, inputs.stabilize, quick=quick)

    def usual(
        self,
        t: float,
        q: Array,
        v: Array,
        tau: Array | None,
        stabilize: bool = True,
        *,
        quick: bool = False,
    ) -> Terms:
        """The same under the inputs that most evaluations have."""
        products = self._products
        if products is None:
            return self.evaluate(t, q, v, Inputs(tau, stabilize=stabilize))
        workspace = self._workspace
        workspace.update(q, v)
        if not (stabilize and self._stabilizes):
            A, b = products.equation()
        elif quick:
            A, b = products.equation(stabilize=True)
        else:
            A, b = products.equation()
            b -= self._damping * A.dot(v)
            b -= self._stiffness * products.residual()
        return workspace.mass, self._force(t, q, v, tau), A, b

    def with_rows(
        self, t: float, q: Array, v: Array, inputs: Inputs
    ) -> tuple[DynamicsTerms, ConstraintTerms]:
        """The terms, and the rows behind A and b; see :meth:`evaluate`."""
        workspace = self._workspace
        workspace.update(q, v)
        rows = self._rows.evaluate(workspace, t, q, v, inputs)
        if inputs.stabilize:
            b = rows.right_hand_side(self._damping, self._stiffness)
        else:
            b = -rows.bias
            if (soft := self._soft) is not None:  # nothing else holds compliant rows
                b -= soft * (self._damping * rows.rate + self._stiffness * rows.residual)
        return DynamicsTerms(workspace.mass, self._force(t, q, v, inputs.tau), rows.A, b), rows

    def _force(self, t: float, q: Array, v: Array, tau: Array | None) -> Array:
        """F: all forces but those of the constraints, (nv,), fresh."""
        bias = self._workspace.bias
        force: Array = -bias if tau is None else tau - bias
        if self._passive is not None:
            force += self._passive.force(q, v)
        if self._forces is not None:
            self._forces.add_to(force, self._workspace, t, q, v)
        return force
