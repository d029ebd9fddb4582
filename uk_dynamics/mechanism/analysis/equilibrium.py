# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A state at rest as data, and rows that are zero in one state and not around it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import compress

import numpy as np

from uk_dynamics.core.linalg import ZERO_ROW
from uk_dynamics.mechanism.contact import Contact, Patch
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array, Inputs, State


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A state at rest that stays at rest.

    Attributes:
        state: Loops closed, velocities zero.
        holding: Force that each held joint needs, by name, in N or N·m.
        inputs: Under which it rests: the given forces and the holding ones, and what is closed.
        contacts: What contacts, stops and ropes do, with forces within their cones, by name.
        patches: Points of one link on one surface together: their centre of pressure, and how far
            it is from where they tip.
    """

    state: State
    holding: dict[str, float]
    inputs: Inputs
    contacts: Mapping[str, Contact] = field(default_factory=dict)
    patches: Mapping[str, Patch] = field(default_factory=dict)


_NEARBY = 0.1  # rad, m and their rates


def vanishing_rows(mechanism: ResolvedMechanism, q: Array, v: Array) -> tuple[str, ...]:
    """Names of acting rows that are zero at a state and not near it.

    A row across the plane of a planar loop is zero everywhere, and redundant; a row quadratic in
    velocities is zero at rest only, where it says nothing of the motion that begins.
    """
    step = np.random.default_rng(0).uniform(-_NEARBY, _NEARBY, (2, mechanism.model.nv))
    here = _norms(mechanism, q, v)
    near = _norms(mechanism, mechanism.model.integrate(q, step[0]), v + step[1])
    vanishing = (here <= ZERO_ROW * near) & (near > 0.0) & mechanism.hierarchy.acting()
    return tuple(compress(mechanism.row_names, vanishing))


def _norms(mechanism: ResolvedMechanism, q: Array, v: Array) -> Array:
    workspace = mechanism.model.workspace()
    workspace.update(q, v)
    rows = mechanism.constraints.evaluate(workspace, 0.0, q, v, mechanism.references.sample(0.0))
    norms: Array = np.linalg.norm(rows.A, axis=1)
    return np.where(norms > ZERO_ROW * norms.max(initial=0.0), norms, 0.0)
