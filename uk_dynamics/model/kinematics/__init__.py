"""Evaluation of the tree at a state: mass matrix, bias, Jacobians, frames."""
