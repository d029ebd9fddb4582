# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Evaluation of the tree at a state: mass matrix, bias, Jacobians, frames."""

from uk_dynamics.model.kinematics.bodies import Ancestry, Body, BodyFrame
from uk_dynamics.model.kinematics.chart import floating_motion, floating_place, floating_rate
from uk_dynamics.model.kinematics.tree_workspace import TreeWorkspace
from uk_dynamics.model.kinematics.workspace import Workspace
