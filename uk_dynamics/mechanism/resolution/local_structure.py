# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Large mechanisms whose loops are local: where A is sparse and M need not be written out."""

from __future__ import annotations

from typing import NamedTuple

from uk_dynamics.constraints.rows import ConstraintSet, SparseConstraintSet
from uk_dynamics.core.tree import Clusters, Tree
from uk_dynamics.mechanism.files.solver_specification import SolverSpec
from uk_dynamics.mechanism.resolution.hierarchy import Hierarchy
from uk_dynamics.model import RobotModel
from uk_dynamics.model.kinematics import TreeWorkspace

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
    if hierarchy.switchable or not hierarchy.rigid.all() or solver.measured:
        return None
    local = SparseConstraintSet(constraints.constraints, model.ancestry, model.nq, length)
    clusters = Clusters(Tree(model.velocity_parents), local.supports)
    if clusters.largest > _LARGEST_CLUSTER:
        return None
    return LocalStructure(local, clusters)
