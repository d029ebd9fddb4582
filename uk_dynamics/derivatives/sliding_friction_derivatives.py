# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of the friction of contacts that slide, which depends on their load.

The force c = −Σ μ λₖ Tₖᵀ dₖ, d = u/|u| and u = T v, is that of the tangential rows with the
multipliers −μ λ d. With q̈ and λ held these rows turn, and d by (1 − d dᵀ) ∂u/|u|; what the loads
change by is fed back, dc = −Σ μ Tₖᵀ dₖ dλₖ, which is a linear system of the size of the contacts.
"""

from collections.abc import Sequence

import numpy as np

from uk_dynamics.compilation import CompiledDerivatives
from uk_dynamics.compilation.derivatives import EquationValues
from uk_dynamics.core.equation import Factorization, Solution
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.dynamics import EquationDerivatives, StructuralRows
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism, State

_SLOW = 1e-9  # m/s: slower, a direction is rounding


class Sliding:
    """What contacts that slide add to the derivatives of a motion at one state."""

    def __init__(
        self,
        mechanism: ResolvedMechanism,
        equations: CompiledDerivatives | EquationValues,  # for all rows, whether they act or not
        state: State,
        inputs: Inputs,
        solution: Solution,
        held: EquationDerivatives,  # at the solution, without friction of what slides
        parameters: Sequence[str],  # names of what it is differentiated by; empty: by the state
    ) -> None:
        """Differentiate the friction of contacts, loads held; InputError: one begins to slide."""
        active = inputs.active
        slides = {} if active is None else mechanism.contact_friction.own(active.sliding)
        for name in slides.keys() & mechanism.contact_friction.pins.keys():
            raise InputError("friction of a loop joint that slides has no derivative", place=name)
        # as of :class:`EquationDerivatives`, with the friction of what slides, (nv, D)
        self.motion = held.motion
        self._rows, tangents, friction = mechanism.contact_friction.rows(slides)
        if not slides:
            return
        workspace = mechanism.model.workspace()
        workspace.update(state.q, state.v)
        rows = mechanism.constraints.evaluate(workspace, state.t, state.q, state.v)
        T, u = rows.A[tangents], rows.rate[tangents]
        speed = np.linalg.norm(u, axis=1)
        for name, one in zip(slides, speed.tolist(), strict=True):
            if one < _SLOW:
                problem = "has just begun to slide: the direction of its friction has no derivative"
                raise InputError(problem, place=name)
        began = np.array(list(slides.values()))
        turn = np.where((u * began).sum(axis=1) < 0.0, -1.0, 1.0) / speed
        d = turn[:, None] * u
        loads = solution.joint_multipliers[self._rows]
        most = friction * loads
        multipliers = solution.joint_multipliers.copy()
        multipliers[tangents] = -most[:, None] * d
        reference = StructuralRows(mechanism).reference(state.t, inputs)
        given = state, solution.qdd, multipliers, reference
        found = equations.at(*given, stabilize=inputs.stabilize)
        change = found.rates[tangents]
        along = (d[:, None] @ change)[:, 0]
        turned = -(most * turn)[:, None, None] * (change - d[:, :, None] * along[:, None])
        if parameters:
            own = [f"contacts.{name.partition('.')[0]}.friction" for name in slides]
            by = np.array([[x == name for x in parameters] for name in own])
            turned -= loads[:, None, None] * d[:, :, None] * by[:, None]
        self.motion = found.motion + np.einsum("kti,ktd->id", T, turned)
        self._turned = self.motion - held.motion
        self._force = -(friction[:, None] * (d[:, None] @ T)[:, 0]).T

    def follow(self, factors: Factorization, qdd: Array, multipliers: Array) -> Array | float:
        """Let friction follow its loads: change derivatives (nv, n) and (m, n) in place.

        Gives the derivative of the friction, (nv, n).
        """
        if not len(self._rows):
            return 0.0
        none = np.zeros(len(multipliers))
        found = [factors.solve(column.copy(), none.copy()) for column in self._force.T]
        response = np.column_stack([x.multipliers for x in found])
        left = np.eye(len(self._rows)) - response[self._rows]
        loads = np.linalg.solve(left, multipliers[self._rows])
        qdd += np.column_stack([x.qdd for x in found]) @ loads
        multipliers += response @ loads
        friction: Array = self._force @ loads
        friction[:, : self._turned.shape[1]] += self._turned
        return friction
