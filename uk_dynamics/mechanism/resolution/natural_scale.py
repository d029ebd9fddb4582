# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How large a row can be, and large mechanisms whose loops are local, where A is sparse."""

from typing import NamedTuple

import numpy as np

from uk_dynamics.constraints.rows import ConstraintSet, SparseConstraintSet
from uk_dynamics.core.linalg import (
    LEAST_PART,
    ZERO_ROW,
    SingularMass,
    coordinate_scale,
    mass_factor,
)
from uk_dynamics.core.tree import Clusters, Tree
from uk_dynamics.mechanism.files import SolverSpec
from uk_dynamics.mechanism.resolution.hierarchy import Hierarchy
from uk_dynamics.mechanism.resolution.state import Array
from uk_dynamics.model import RobotModel
from uk_dynamics.model.kinematics import TreeWorkspace

_SAMPLES = 5


def natural_row_scale(
    model: RobotModel,
    constraints: ConstraintSet,
    guess: Array,
    solver: SolverSpec,
    *,
    length: float,
    whiten: bool,
) -> Array:
    """Largest norm of each row over some configurations, if nothing in it cancelled.

    A row that constrains what cannot move anyway (both frames on one body) is rounding against
    this scale, and a row smaller than the closure tolerance of the largest of its constraint is
    dependent: the axes of a measured machine are no closer to those it was built for.
    Rows are whitened where ``whiten`` and M is regular, else scaled by 1/√M_jj.
    """
    workspace = model.workspace()
    generator = np.random.default_rng(0)
    scale = np.zeros(len(constraints))
    typical = 0.0
    for sample in range(_SAMPLES):
        step = generator.uniform(-1.0, 1.0, model.nv) if sample else np.zeros(model.nv)
        q = model.integrate(guess, step)
        workspace.update(q, np.zeros(model.nv))
        rows = constraints.natural_scale(workspace, q)
        coordinates = coordinate_scale(workspace.mass.diagonal())
        with np.errstate(invalid="ignore"):  # what is not finite is refused in one line
            mass = mass_factor(workspace.mass) if whiten else None
        if mass is not None and not isinstance(mass, SingularMass):
            rows = mass.whiten(rows.T).T
        else:
            rows = rows * coordinates
        scale = np.maximum(scale, np.sqrt((rows * rows).sum(axis=1)))
        typical = max(typical, float(coordinates.max(initial=0.0)))
    part = solver.closure_tolerance / (LEAST_PART * solver.rank_tolerance)
    for own in constraints.slices.values():
        scale[own] = np.maximum(scale[own], part * scale[own].max(initial=0.0))
    typical = max(typical * min(length, 1.0), float(scale.max(initial=0.0)))
    return np.where(scale <= ZERO_ROW * typical, typical, scale)


#: Velocities from which on a mechanism is taken by clusters: code that is written out would take
#: minutes to compile.
LEAST_VELOCITIES = 61
#: The same where it can only be interpreted: the memory of dense matrices grows with the third
#: power. Its time would allow some 400.
LEAST_INTERPRETED = 201
_LARGEST_CLUSTER = 32


class LocalStructure(NamedTuple):
    """How the loops of a mechanism bind its joints together."""

    constraints: SparseConstraintSet  # The same rows as those of the mechanism, A sparse
    clusters: Clusters  # Joints that share a row

    def workspace(self, model: RobotModel) -> TreeWorkspace:
        """Fresh memory for evaluations."""
        return model.tree_workspace(self.clusters)


def local_structure(
    model: RobotModel,
    constraints: ConstraintSet,  # its rows
    hierarchy: Hierarchy,  # which of them yield or can be switched off
    solver: SolverSpec,  # what the file asks for
    length: float,  # declared length of the model, in m
    least: int = LEAST_VELOCITIES,  # number of velocities from which on it is worth it
) -> LocalStructure | None:
    """The clusters of a mechanism; None where dense matrices serve it better."""
    if model.nv < least or not model.has_single_freedoms or solver.method != "auto":
        return None
    if not SparseConstraintSet.expresses(constraints):
        return None
    if hierarchy.switchable or hierarchy.one_sided or not hierarchy.rigid.all() or solver.measured:
        return None
    local = SparseConstraintSet(constraints.constraints, model.ancestry, model.nq, length)
    clusters = Clusters(Tree(model.velocity_parents), local.supports)
    return None if clusters.largest > _LARGEST_CLUSTER else LocalStructure(local, clusters)
