"""The references of all rows of a constraint set at one instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from uk_dynamics.constraints.references import Reference, ReferenceSample
from uk_dynamics.exceptions import StateError, UnknownNameError


@dataclass(frozen=True)
class ReferenceSet:
    """References by name of their constraint; a constraint without one shall be zero.

    Attributes:
        role: What errors call a constraint: ``constraint`` or ``task``.
        rows: Number of rows of each constraint, in declared order.
        references: What some of the constraints follow.
    """

    role: str
    rows: Mapping[str, int]
    references: Mapping[str, Reference]

    def sample(
        self, t: float, live: Mapping[str, ReferenceSample] | None = None
    ) -> ReferenceSample | None:
        """References of all rows, (m,) each; None where every one is zero.

        Args:
            t: Time, in s.
            live: Samples that replace the declared references, by constraint name.

        Raises:
            UnknownNameError: A live sample is for a constraint that does not exist.
            StateError: A live sample has the wrong size.
        """
        live = live or {}
        if live:
            self._check(live)
        elif not self.references:
            return None
        samples = [self._one(name, count, t, live) for name, count in self.rows.items()]
        if len(samples) == 1:
            return samples[0]
        return ReferenceSample(*map(np.concatenate, zip(*samples, strict=True)))

    def _one(
        self, name: str, count: int, t: float, live: Mapping[str, ReferenceSample]
    ) -> ReferenceSample:
        if name in live:
            return live[name]
        if name in self.references:
            return self.references[name].sample(t)
        return ReferenceSample(*np.zeros((3, count)))

    def _check(self, live: Mapping[str, ReferenceSample]) -> None:
        for name, sample in live.items():
            if name not in self.rows:
                raise UnknownNameError(self.role, name, tuple(self.rows))
            shape = (self.rows[name],)
            if any(np.shape(part) != shape for part in sample):
                raise StateError(
                    f"expected value, rate and acceleration of shape {shape}", place=name
                )
