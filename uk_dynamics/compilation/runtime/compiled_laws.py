# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Laws of control in C that know no tasks, and what stands before a law: see joint_space.c, ….

What a law remembers is in a block of memory that Python works on as well.
"""

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from uk_dynamics.compilation.emit.c_text import structure
from uk_dynamics.compilation.emit.layout import (
    Block,
    EncoderLayout,
    JointSpaceLayout,
    Layout,
    TransferLayout,
)
from uk_dynamics.compilation.runtime.compiled_motion import CompiledMotion, address_of
from uk_dynamics.compilation.runtime.reference_table import structural_table
from uk_dynamics.mechanism.dynamics import EffortQueue, Law
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism

#: A law, of motion.h; it takes some microseconds, for which threads need not change.
LAW = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_double, *(ctypes.c_void_p,) * 4)


def flags(motors: Sequence[str], rows: Sequence[str]) -> tuple[str, ...]:
    """What the flags of a law mean, by names of the motors and of what they are to accelerate."""
    limits = (f"{name} is at its {what} limit" for what in ("power", "rate") for name in motors)
    return *limits, *(f"the motors cannot accelerate {row} as desired" for row in rows)


class _LawMemory:
    """A block of memory that a law in Python and one in C work on."""

    def __init__(self, layout: Block, call: str) -> None:
        numbers = layout.memory()
        self.fields = layout.views(numbers)  # of the block, by name
        # what C gets: the block, and what else there is
        self.call: Any = structure(call)(own=numbers.ctypes.data)
        # views of what one control period leaves for the next
        self.remembered: tuple[Array, ...] = (numbers,)


class JointSpaceMemory(_LawMemory):
    """What gravity compensation and hold are set to and remember; C works on it too."""

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        super().__init__(JointSpaceLayout(mechanism), "uk_joint_space")
        self._mechanism = mechanism
        self._table: Array | None = None  # lives as long as C may read it

    @property
    def position(self) -> Array | None:
        """The position that is held, (nq,); None: the next one that is measured."""
        return self.fields["position"] if self.fields["holding"][0] else None

    @position.setter
    def position(self, position: Array | None) -> None:
        self.fields["holding"][0] = position is not None
        if position is not None:
            self.fields["position"][:] = position

    def law(self, path: Path) -> Law:
        """What C calls, by a library."""
        mechanism, library = self._mechanism, ctypes.CDLL(str(path))
        memory = Layout(mechanism).memory()
        self.call.memory = memory.ctypes.data
        return Law(
            address_of(library, "joint_space_control"),
            ctypes.addressof(self.call),
            flags(mechanism.actuators.names, mechanism.model.velocity_names),
            (self, library, memory),
        )

    def set(
        self,
        inputs: Inputs,  # constraints that are on, and what they follow
        weights: Array,  # diagonal of W, (motors,)
        preload: Array | None,  # preferred efforts, (motors,), in N or N·m; None: zero
        # internal forces as ``uk_internal`` has them: row, force, unit
        internal: Mapping[str, Array] | None,
    ) -> None:
        """Set what acts, and how efforts are distributed; refuses foreign references."""
        mechanism, fields = self._mechanism, self.fields
        mask = mechanism.hierarchy.mask(inputs.active)
        fields["active"][:] = 1.0 if mask is None else mask
        fields["weights"][:] = weights
        fields["preload"][:] = 0.0 if preload is None else preload
        fields["internal"][0] = internal is not None
        for name, values in (internal or {}).items():
            fields[f"internal_{name}"][: len(values)] = values
        self._table = table = structural_table(mechanism, inputs.references, inputs.active)
        self.call.structure = None if table is None else table.ctypes.data


class TransferMemory(_LawMemory):
    """What a transfer between laws remembers; ``uk_hand_over`` works on it too."""

    def __init__(self, motors: int) -> None:
        super().__init__(TransferLayout(motors), "uk_transfer")

    @property
    def sent(self) -> Array | None:
        """Efforts of the last command, (motors,), in N or N·m; None: there was none."""
        return self.fields["sent"] if self.fields["known_sent"][0] else None

    @sent.setter
    def sent(self, efforts: Array | None) -> None:
        self.fields["known_sent"][0] = efforts is not None
        if efforts is not None:
            self.fields["sent"][:] = efforts

    def law(self, motion: CompiledMotion, inner: Law) -> Law:
        """What C calls in place of another law."""
        self.call.law, self.call.controller = inner.function, inner.controller
        address = motion.address_of("hand_over")
        keeps = self, motion, inner
        return Law(address, ctypes.addressof(self.call), inner.flags, keeps, inner.watched)


class EncoderMemory(_LawMemory):
    """What encoders told last, and with what they go on; ``uk_read_encoders`` works on it too."""

    def __init__(self, measured: int, velocities: int, noise: Array | None) -> None:
        """``noise``, (rows, measured), of the readings to come; None: there is none."""
        super().__init__(EncoderLayout(measured, velocities), "uk_encoders")
        self._noise = noise
        if noise is not None:
            self.call.noise, self.call.places = noise.ctypes.data, len(noise)

    def law(self, path: Path, inner: Law, jump: float, singular_tolerance: float) -> Law:
        """What C calls in place of another law, by a library; as :class:`StateCompletion`."""
        library = ctypes.CDLL(str(path))
        library.uk_completion_size.restype = ctypes.c_longlong
        room = np.zeros(-(-library.uk_completion_size() // 8))
        room[:2] = jump, singular_tolerance  # its first fields
        self.remembered = (*self.remembered[:1], room)
        self.call.room, self.call.law = room.ctypes.data, inner.function
        self.call.controller = inner.controller
        function, keeps = address_of(library, "read_encoders"), (self, library, inner)
        return Law(function, ctypes.addressof(self.call), inner.flags, keeps, inner.watched)


class CompiledDelayCompensation:
    """``uk_compensate_delay`` around another law, on the same queue of commands as Python."""

    def __init__(self, motion: CompiledMotion, inner: Law, queue: EffortQueue) -> None:
        self._motion, self._queue = motion, queue
        velocities, motors = motion.sizes
        self._nothing = np.zeros(motors), np.zeros(velocities)
        self._inputs: Inputs | None = None
        self._rows: Array | None = None
        self._times = 0.0, 0.0  # as in the structure
        self._call: Any = structure("uk_delay_compensation")(
            memory=motion.memory_address,
            motion=motion.call_address,
            law=inner.function,
            controller=inner.controller,
            count=queue.count.ctypes.data,
        )
        # what C calls
        address, keeps = motion.address_of("compensate_delay"), (self, motion, inner)
        self.law = Law(address, ctypes.addressof(self._call), inner.flags, keeps, inner.watched)

    def set(self, inputs: Inputs, delay: float, longest: float) -> None:
        """Set what acts on the machine, and how late efforts act, in s.

        Delays up to the longest are predicted; a longer one has no efforts.
        """
        if inputs is not self._inputs:
            self._motion.act(inputs, *self._nothing)
            self._inputs = inputs
        if (delay, longest) != self._times:
            self._times = self._call.delay, self._call.longest = delay, longest
        rows = self._queue.rows
        if rows is not self._rows:  # they have moved
            self._rows = rows
            self._call.places, self._call.sent = len(rows), rows.ctypes.data
