"""A law of control in C that is given the states in which its efforts act."""

from __future__ import annotations

import ctypes

import numpy as np

from uk_dynamics.compilation.runtime.compiled_motion import CompiledMotion
from uk_dynamics.mechanism.dynamics import EffortQueue, Law
from uk_dynamics.mechanism.resolution import Inputs


class ForesightCall(ctypes.Structure):
    """``uk_foresight`` of motion.h."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("memory", "motion", "law", "controller")),
        *((name, ctypes.c_double) for name in ("delay", "longest")),
        ("places", ctypes.c_longlong),
        *((name, ctypes.c_void_p) for name in ("count", "sent")),
    )


class CompiledForesight:
    """``uk_foresee`` around another law.

    Attributes:
        law: What C calls.
    """

    def __init__(self, motion: CompiledMotion, inner: Law, queue: EffortQueue) -> None:
        self._motion, self._queue = motion, queue
        velocities, motors = motion.sizes
        self._nothing = np.zeros(motors), np.zeros(velocities)
        self._call = ForesightCall(
            memory=motion.memory_address,
            motion=motion.call_address,
            law=inner.function,
            controller=inner.controller,
        )
        self.law = Law(
            motion.address_of("foresee"),
            ctypes.addressof(self._call),
            inner.flags,
            (self, motion, inner),
        )

    def load(self, inputs: Inputs, delay: float, longest: float) -> None:
        """Set what acts on the machine, and how late efforts act.

        Args:
            inputs: Constraints that are on, and what they follow.
            delay: What is predicted, in s.
            longest: What may be predicted, in s; a longer delay has no efforts.

        Raises:
            ForeignReferenceError: A constraint follows an object of Python.
        """
        self._motion.act(inputs, *self._nothing)
        self._queue.leave_room()
        call, queue = self._call, self._queue
        call.delay, call.longest, call.places = delay, longest, len(queue.rows)
        call.count, call.sent = queue.count.ctypes.data, queue.rows.ctypes.data
