"""What a view shows at one instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from uk_dynamics.constraints.references import Followed
from uk_dynamics.mechanism.resolution import Array, Inputs, State


@dataclass(frozen=True)
class Snapshot:
    """A state and what acts on the mechanism there."""

    state: State  # where the mechanism is
    inputs: Inputs  # what acts on it
    efforts: Array  # motor efforts, (motors,), in N or N·m
    message: str = ""  # what the user should know; empty when there is nothing
    mode: str = ""  # what goes on, such as ``running``, in a word or two
    task_time: float | None = None  # time of the tasks' references, in s; None: that of the state
    # what replaces references of the tasks file, by task name
    followed: Mapping[str, Followed] = field(default_factory=dict)
