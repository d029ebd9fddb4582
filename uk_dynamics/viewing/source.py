"""Where a view gets its snapshots from, and what its buttons may ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.viewing.snapshot import Snapshot


class Source(Protocol):
    """Something that moves, or stands to be posed; all calls come from one thread."""

    @property
    def controls(self) -> tuple[str, ...]:
        """Which of ``play``, ``pause``, ``step``, ``reset`` there are."""

    @property
    def can_pose(self) -> bool:
        """Whether joints and frames can be led by hand."""

    @property
    def duration(self) -> float:
        """Length of what is played back, in s; 0: it has no end."""

    def control(self, action: str) -> None:
        """Do one of ``controls``."""

    def seek(self, t: float) -> None:
        """Go to a time of what is played back, in s."""

    def lead_joints(self, targets: Mapping[str, float]) -> None:
        """Lead joints to positions, in rad or m."""

    def lead_frame(self, link: str, target: Array) -> None:
        """Lead the origin of a link to a point in world axes, (3,), in m."""

    def frame(self, elapsed: float) -> Snapshot:
        """Go on by some real time and tell where the mechanism is now.

        Args:
            elapsed: Since the last call, in s.
        """
