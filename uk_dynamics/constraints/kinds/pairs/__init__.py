"""Kinematic pairs: how two bodies are joined."""

from uk_dynamics.constraints.kinds.pairs.hinge import Hinge
from uk_dynamics.constraints.kinds.pairs.point import Point
from uk_dynamics.constraints.kinds.pairs.weld import Weld

__all__ = [
    "Hinge",
    "Point",
    "Weld",
]
