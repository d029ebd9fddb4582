# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The references of all rows of a constraint set at one instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from uk_dynamics.constraints.references.references import Followed, Reference, ReferenceSample
from uk_dynamics.exceptions import StateError, UnknownNameError


@dataclass(frozen=True)
class ReferenceSet:
    """References by name of their constraint; a constraint without one is to be zero."""

    role: str  # what errors call a constraint: ``constraint`` or ``task``
    rows: Mapping[str, int]  # number of rows of each constraint, in declared order
    references: Mapping[str, Reference]  # what some of the constraints follow

    def sample(
        self, t: float, live: Mapping[str, Followed] | None = None
    ) -> ReferenceSample | None:
        """References of all rows, (m,) each; None where every one is zero.

        Args:
            t: Time, in s.
            live: Samples or functions of time that replace the declared references, by
                constraint name.

        Raises:
            UnknownNameError: A live sample is for a constraint that does not exist.
            StateError: A live sample has the wrong size.
        """
        live = live or {}
        if not live and not self.references:
            return None
        if unknown := [name for name in live if name not in self.rows]:
            raise UnknownNameError(self.role, unknown[0], tuple(self.rows))
        samples = [self.one(name, t, live.get(name)) for name in self.rows]
        if len(samples) == 1:
            return samples[0]
        return ReferenceSample(*map(np.concatenate, zip(*samples, strict=True)))

    def one(self, name: str, t: float, live: Followed | None = None) -> ReferenceSample:
        """Reference of one constraint, (rows,) each."""
        shape = (self.rows[name],)
        if live is None:
            if name in self.references:
                return self.references[name].sample(t)
            return ReferenceSample(*np.zeros((3, *shape)))
        sample = live if isinstance(live, ReferenceSample) else live.sample(t)
        if any(np.shape(part) != shape for part in sample):
            raise StateError(f"expected value, rate and acceleration of shape {shape}", place=name)
        return sample
