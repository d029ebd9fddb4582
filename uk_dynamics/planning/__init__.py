# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Mechanisms for programs that optimise motions: CasADi, crocoddyl."""

from uk_dynamics.planning.casadi_function import casadi_function
from uk_dynamics.planning.crocoddyl_model import crocoddyl_model

__all__ = ["casadi_function", "crocoddyl_model"]
