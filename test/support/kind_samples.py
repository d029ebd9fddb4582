# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Random constraints of every kind, from what the kinds themselves declare."""

from __future__ import annotations

from typing import Any

import numpy as np

from uk_dynamics.constraints.kinds.kind import Kind, SampleRobot, Setting
from uk_dynamics.constraints.kinds.registry import kinds
from uk_dynamics.constraints.rows.row import Row
from uk_dynamics.model.robot_model import RobotModel

KINDS = tuple(kinds())


def sample(name: str, robot: SampleRobot, seed: int = 0) -> dict[str, Any]:
    """Own keys of a random constraint of a kind, with its type."""
    return {"type": name} | kinds()[name].sample(np.random.default_rng(seed), robot)


def rows_on(kind: Kind, model: RobotModel, **frames: str) -> tuple[Row, ...]:
    """Rows of a constraint between frames of a robot, given by role."""
    indices = {role: model.frame_index(name) for role, name in frames.items()}
    return kind.rows(Setting(model, indices, frames))
