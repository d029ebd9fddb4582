"""Messages that are sent again and again keep their memory; their arrays are written in place."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

Array = NDArray[np.float64]


def zeros(size: int) -> array[float]:
    """Memory of a ``float64[]`` field."""
    return array("d", bytes(8 * size))


def view(values: array[float]) -> Array:
    """The same memory as an array; NumPy refuses empty buffers."""
    return np.frombuffer(values) if len(values) else np.zeros(0)


class JointStateMessage:
    """A JointState that is sent again and again.

    Attributes:
        message: What is sent.
        position, velocity, effort: Its fields, to be written in place; empty where not used.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        position: bool = False,
        velocity: bool = False,
        effort: bool = False,
    ) -> None:
        message = JointState(name=list(names))
        size = len(names)
        message.position = zeros(size * position)
        message.velocity = zeros(size * velocity)
        message.effort = zeros(size * effort)
        self.message = message
        self.position = view(message.position)
        self.velocity = view(message.velocity)
        self.effort = view(message.effort)


class EffortsMessage:
    """A Float64MultiArray that is sent again and again.

    Attributes:
        message: What is sent.
        efforts: Its data, to be written in place.
    """

    def __init__(self, size: int) -> None:
        self.message = Float64MultiArray()
        self.message.data = zeros(size)
        self.efforts = view(self.message.data)
