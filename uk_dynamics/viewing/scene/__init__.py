"""Shapes, arrows and marks of a mechanism."""
