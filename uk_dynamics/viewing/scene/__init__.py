"""Shapes, arrows and marks of a mechanism."""

from uk_dynamics.viewing.scene.marks import Marker, Marks
from uk_dynamics.viewing.scene.stage import ArrowScale, stage

__all__ = [
    "ArrowScale",
    "Marker",
    "Marks",
    "stage",
]
