# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a view shows at one instant, what is known about it, and what its buttons may ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from uk_dynamics.constraints.references import Followed
from uk_dynamics.core.equation import Solution
from uk_dynamics.mechanism.resolution import Array, Energy, Inputs, Residual, State
from uk_dynamics.viewing.scene.marks import Marks


@dataclass(frozen=True)
class Snapshot:
    """A state and what acts on the mechanism there."""

    state: State  # where the mechanism is
    inputs: Inputs  # what acts on it
    efforts: Array  # motor efforts, (motors,), in N or N·m
    message: str = ""  # what the user should know; empty when there is nothing
    mode: str = ""  # what goes on, such as ``running``, in a word or two
    # motors at limits and tasks that are not reached, one line each; None: unknown
    unreached: tuple[str, ...] | None = None
    task_time: float | None = None  # time of the tasks' references, in s; None: that of the state
    # what replaces references of the tasks file, by task name
    followed: Mapping[str, Followed] = field(default_factory=dict)


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

    @property
    def choice(self) -> str:
        """What is chosen by name among :attr:`motors`: what drives the motors, or a mode."""

    @property
    def motors(self) -> tuple[str, ...]:
        """What may drive the motors, see :mod:`motor_choices`; empty: not to be chosen here."""

    @property
    def driving(self) -> str:
        """Which of ``motors`` does."""

    def drive(self, choice: str) -> None:
        """Let another of ``motors`` drive them."""

    def control(self, action: str) -> None:
        """Do one of ``controls``."""

    def seek(self, t: float) -> None:
        """Go to a time of what is played back, in s."""

    def lead_joints(self, targets: Mapping[str, float]) -> None:
        """Lead joints to positions, in rad or m."""

    def lead_frame(self, link: str, target: Array) -> None:
        """Lead the origin of a link to a point in world axes, (3,), in m."""

    def frame(self, elapsed: float) -> Snapshot:
        """Advance by elapsed real time, in s, and return where the mechanism is."""


@dataclass(frozen=True)
class Instant:
    """Everything that is known about one instant."""

    snapshot: Snapshot  # state and inputs
    solution: Solution | None  # dynamics there; None where the motion is not determined
    residual: Residual  # of the structural constraints
    energy: Energy  # mechanical energy
    tracking_error: Array  # of each task row, (mt,), in m or rad
    marks: Marks  # forces of the loop joints, and frames
    centre: Array  # centre of mass, (3,), in m
    message: str  # what the user should know; empty when there is nothing
