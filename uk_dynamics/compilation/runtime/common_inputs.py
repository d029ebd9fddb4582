"""Inputs that the states of a batch share, sampled for evaluators that know no references."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from uk_dynamics.mechanism.dynamics.structural_rows import StructuralRows
from uk_dynamics.mechanism.resolution.state import Array, Inputs


class CommonInputs(NamedTuple):
    """Inputs common to many states.

    Attributes:
        stabilize: Whether b contains the stabilisation.
        active: 1 for rows that act, (m,).
        followed: References of the rows: values, rates, accelerations, (1, 3 m) or (K, 3 m); None
            where the mechanism has none.
    """

    stabilize: bool
    active: Array
    followed: Array | None

    @classmethod
    def sample(
        cls, rows: StructuralRows, times: Array, inputs: Inputs, *, follows: bool
    ) -> CommonInputs:
        """References at some instants, and the rows that act.

        Args:
            rows: The structural rows.
            times: In s, (1,) or (K,).
            inputs: References, active constraints and stabilisation.
            follows: Whether rows may follow references.
        """
        m = max(len(rows.constraints), 1)  # C knows no empty arrays
        mask = rows.hierarchy.mask(inputs.active)
        active = np.ones(m) if mask is None else mask.astype(float)
        followed = None
        if follows:
            followed = np.zeros((len(times), 3 * m))
            for row, t in zip(followed, times, strict=True):
                sample = rows.reference(float(t), inputs)
                if sample is not None:
                    row[:] = np.concatenate(sample)
        return cls(inputs.stabilize, active, followed)
