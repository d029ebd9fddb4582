# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The terms of M q̈ = F + Q_c and A q̈ = b of a mechanism, and the factorisation of M and A."""

from typing import Any

import numpy as np

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.constraints.rows import ConstraintTerms
from uk_dynamics.core import (
    Factorization,
    SingularMassError,
    UndeterminedCoordinatesError,
    factorize,
)
from uk_dynamics.core.linalg import EXACTLY_DEPENDENT, mass_factor
from uk_dynamics.core.tree import TreeInertia
from uk_dynamics.mechanism.resolution import DynamicsTerms, Inputs, ResolvedMechanism
from uk_dynamics.model.kinematics import Workspace


class StructuralRows:
    """Rows as the inputs of an evaluation leave them.

    A constraint that is off has rows of zeros: 0 q̈ = 0 holds, and other rows keep their numbers.
    """

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        local = mechanism.local
        # all structural constraints; their A is sparse where loops are local
        self.constraints = mechanism.constraints if local is None else local.constraints
        self.hierarchy = mechanism.hierarchy  # which of them can be switched
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
        workspace.features = {} if inputs.active is None else inputs.active.features
        rows = self.constraints.evaluate(workspace, t, q, v, self.reference(t, inputs))
        mask = self.hierarchy.mask(inputs.active)
        if mask is None:
            return rows
        return ConstraintTerms(rows.A * mask[:, None], *(part * mask for part in rows[1:]))

    def position(
        self, workspace: Workspace, t: float, q: Array, inputs: Inputs
    ) -> tuple[Array, Array]:
        """A, (m, nv), and residual, (m,), at rest; the workspace knows q."""
        workspace.features = {} if inputs.active is None else inputs.active.features
        A, residual = self.constraints.position(workspace, t, q, self.reference(t, inputs))
        mask = self.hierarchy.mask(inputs.active)
        if mask is None:
            return A, residual
        return A * mask[:, None], residual * mask


class EquationTerms:
    """Evaluates them in the memory of a workspace."""

    def __init__(
        self, mechanism: ResolvedMechanism, workspace: Workspace, rows: StructuralRows
    ) -> None:
        self._workspace, self._rows = workspace, rows
        self._gains = rows.constraints.damping, rows.constraints.stiffness
        # Without stabilisation nothing but its spring and damper holds a compliant row.
        compliant = ~mechanism.hierarchy.rigid
        self._compliant_gains = tuple(gain * compliant for gain in self._gains)
        self._passive = mechanism.passive if mechanism.passive.active else None
        self._forces = mechanism.forces if mechanism.forces.active else None
        self._dry = {  # of joints of the tree
            one.name: (one.dry.velocity, one.dry.coulomb)
            for one in mechanism.one_sided
            if one.dry is not None and one.dry.velocity is not None
        }

    def evaluate(
        self, t: float, q: Array, v: Array, inputs: Inputs
    ) -> tuple[DynamicsTerms, ConstraintTerms]:
        """The terms at a state, and the rows behind A and b."""
        workspace = self._workspace
        workspace.update(q, v)
        rows = self._rows.evaluate(workspace, t, q, v, inputs)
        damping, stiffness = self._gains if inputs.stabilize else self._compliant_gains
        b = rows.right_hand_side(damping, stiffness)
        force = self._force(t, q, v, inputs.tau)
        if self._dry and inputs.active is not None:
            for name, direction in inputs.active.sliding.items():
                if name in self._dry:
                    velocity, coulomb = self._dry[name]
                    force[velocity] -= coulomb * direction[0]
        return DynamicsTerms(workspace.mass, force, rows.A, b), rows

    def _force(self, t: float, q: Array, v: Array, tau: Array | None) -> Array:
        """F: all forces but those of the constraints, (nv,), fresh."""
        bias = self._workspace.bias
        force: Array = -bias if tau is None else tau - bias
        if self._passive is not None:
            force += self._passive.force(q, v)
        if self._forces is not None:
            self._forces.add_to(force, self._workspace, t, q, v)
        return force


class Solver:
    """Factors M and A with the method, tolerances and levels of a mechanism.

    Its errors name joints, and the method that the file asks for.
    """

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        spec = mechanism.spec.solver
        self.rank_tolerance = spec.rank_tolerance  # of the mechanism file
        self._natural_scale = mechanism.natural_scale
        self._slices = mechanism.constraints.slices
        self._file = mechanism.spec.file
        self._velocity_names = mechanism.model.velocity_names
        part = {"method": spec.method, "pseudoinverse": spec.pseudoinverse}
        hierarchy = mechanism.hierarchy
        self._all = part | {"levels": hierarchy.levels, "clearance": hierarchy.clearance}
        # Levels change nothing about a projection.
        self._part = part | ({"method": "auto"} if spec.method == "hierarchical" else {})

    def tolerance(self, inputs: Inputs) -> float | Array:
        """The rank tolerance of the file, or of each row, (m,), where contacts are distinct."""
        if inputs.active is None or not inputs.active.distinct:
            return self.rank_tolerance
        found = np.full(len(self._natural_scale), self.rank_tolerance)
        for name in inputs.active.distinct:
            found[self._slices[name]] = EXACTLY_DEPENDENT
        return found

    def factorize(self, mass: Array, A: Array, inputs: Inputs) -> Factorization:
        """For accelerations: all rows, (m, nv), in their levels; raises as :func:`factorize`."""
        return self._factored(mass, A, self._natural_scale, self.tolerance(inputs), self._all)

    def factorize_part(
        self,
        mass: Array,  # M, (nv, nv)
        A: Array,  # the chosen rows, (k, nv)
        rank_tolerance: float | Array,  # instead of that of the file; of all rows, (m,)
        chosen: Indices | None = None,  # which rows these are, (k,); None: all
    ) -> Factorization:
        """For projections: rows that hold exactly, all on one level; raises likewise."""
        scale = self._natural_scale if chosen is None else self._natural_scale[chosen]
        if chosen is not None and isinstance(rank_tolerance, np.ndarray):
            rank_tolerance = rank_tolerance[chosen]
        return self._factored(mass, A, scale, rank_tolerance, self._part)

    def _factored(
        self,
        mass: Array | TreeInertia,
        A: Array,
        scale: Array,
        tolerance: float | Array,
        options: dict[str, Any],
    ) -> Factorization:
        try:
            inertia = mass if isinstance(mass, TreeInertia) else mass_factor(mass)
            return factorize(inertia, A, natural_scale=scale, rank_tolerance=tolerance, **options)
        except SingularMassError as error:
            raise error.located(file=self._file, place="solver.method") from None
        except UndeterminedCoordinatesError as error:
            raise error.named(self._velocity_names) from None
