# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Whether the structural constraints of a mechanism can do work."""

from __future__ import annotations

import numpy as np

from uk_dynamics.constraints.references import Constant
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism


def workless(mechanism: ResolvedMechanism) -> bool:
    """Whether ideal forces Aᵀλ do no work: every velocity the constraints admit fulfils A v = 0.

    That is so where rows neither drive nor yield: they do not depend on t, follow no moving
    reference, have no compliance, and are met at rest. What is not certain counts as work: rows of
    order acceleration and rows that are not linear in the rates.
    """
    constraints = mechanism.constraints
    if constraints.time_dependent or not constraints.linear_in_rates:
        return False
    if not (constraints.motion_rows.all() and mechanism.hierarchy.rigid.all()):
        return False
    references = mechanism.references
    if not all(isinstance(moved, Constant) for moved in references.references.values()):
        return False
    q, rest = mechanism.initial_guess, np.zeros(mechanism.model.nv)
    workspace = mechanism.model.workspace()
    workspace.update(q, rest)
    rows = constraints.evaluate(workspace, 0.0, q, rest, references.sample(0.0))
    return not rows.rate.any()
