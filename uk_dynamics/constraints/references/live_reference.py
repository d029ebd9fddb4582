"""References that come from outside while the mechanism runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uk_dynamics.constraints.references.references import Array, ReferenceSample


@dataclass(frozen=True)
class Live:
    """A slot: samples arrive through the inputs of an evaluation; until then the initial value.

    Attributes:
        value: Wanted value before the first sample, (m,), in m or rad.
    """

    value: Array

    def sample(self, t: float) -> ReferenceSample:
        """The initial value at rest."""
        zero = np.zeros_like(self.value)
        return ReferenceSample(self.value, zero, zero)
