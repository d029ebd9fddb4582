# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which derivatives of motion, projection and efforts vanish whatever the state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import ResolvedMechanism


def motion_sparsity(mechanism: ResolvedMechanism) -> tuple[NDArray[np.bool_], ...]:
    """Where derivatives of q̈, λ and Aᵀλ by q, v, t (or parameters), forces may differ from zero.

    See :func:`uk_dynamics.compilation.tangents.sparsity.motion_sparsity`.
    """
    from uk_dynamics.compilation.tangents import sparsity  # traces, which few need

    return sparsity.motion_sparsity(mechanism)


def projection_sparsity(mechanism: ResolvedMechanism) -> NDArray[np.bool_]:
    """Where derivatives of the projected q, then v, by q, v, t may differ from zero.

    See :func:`uk_dynamics.compilation.tangents.sparsity.projection_sparsity`.
    """
    from uk_dynamics.compilation.tangents import sparsity

    return sparsity.projection_sparsity(mechanism)


def effort_sparsity(tasks: Tasks) -> NDArray[np.bool_]:
    """Where derivatives of the servo law's efforts may differ from zero.

    See :func:`uk_dynamics.compilation.tangents.sparsity.effort_sparsity`.
    """
    from uk_dynamics.compilation.tangents import sparsity

    return sparsity.effort_sparsity(tasks)
