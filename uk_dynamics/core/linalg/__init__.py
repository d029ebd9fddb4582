"""Rank rule, row basis, mass factors, rotations, bounded least squares."""
