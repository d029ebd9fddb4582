"""Mechanisms for programs that optimise motions: CasADi."""

from uk_dynamics.planning.casadi_function import casadi_function

__all__ = ["casadi_function"]
