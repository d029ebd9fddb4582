"""What a view shows at one instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.references.references import Followed
from uk_dynamics.mechanism.resolution.state import Inputs, State

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Snapshot:
    """A state and what acts on the mechanism there.

    Attributes:
        state: Where the mechanism is.
        inputs: What acts on it.
        efforts: Motor efforts, (motors,), in N or N·m.
        message: What the user should know; empty when there is nothing.
        mode: What goes on, such as ``running``, in a word or two.
        task_time: Time of the tasks' references, in s; None: that of the state.
        followed: What replaces references of the tasks file, by task name.
    """

    state: State
    inputs: Inputs
    efforts: Array
    message: str = ""
    mode: str = ""
    task_time: float | None = None
    followed: Mapping[str, Followed] = field(default_factory=dict)
