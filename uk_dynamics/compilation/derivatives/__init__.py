"""Derivatives of the equations of motion as numbers, and of the motion in C."""
