# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Laws of control in C that are in the library of the mechanism: see joint_space.c and others.

What a law remembers is in arrays and structures of C that Python works on as well.
"""

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from uk_dynamics.compilation.emit.c_text import structure
from uk_dynamics.compilation.runtime.compiled_motion import CompiledMotion
from uk_dynamics.compilation.runtime.reference_table import structural_table
from uk_dynamics.core.servo import LIMITS, PAST
from uk_dynamics.mechanism.dynamics import EffortQueue, Law
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism


def limit_arrays(motors: int) -> dict[str, Array]:
    """What ``uk_limits`` points to, by name."""
    limits, past = np.zeros((len(LIMITS), motors)), np.zeros((PAST, motors))
    lower, upper = np.zeros((2, motors))
    return {"limits": limits, "past": past, "known": np.zeros(1), "lower": lower, "upper": upper}


def _limits(arrays: Mapping[str, Array]) -> ctypes.Structure:
    return structure("uk_limits")(**{name: array.ctypes.data for name, array in arrays.items()})


def _bytes(call: ctypes.Structure) -> Array:
    """A view of a structure, to remember and restore."""
    return np.frombuffer(call, dtype=np.uint8)  # type: ignore[call-overload, no-any-return]


class JointSpaceMemory:
    """What gravity compensation and hold are set to and remember; C works on it too.

    Attributes:
        call: ``uk_joint_space``.
        remembered: Views of what one control period leaves for the next.
    """

    def __init__(self, mechanism: ResolvedMechanism, limits: Mapping[str, Array]) -> None:
        self._mechanism = mechanism
        motors, velocities = len(mechanism.actuators), mechanism.model.nv
        self._position = np.zeros(mechanism.model.nq)
        self._arrays = {
            "active": np.ones(max(len(mechanism.constraints), 1)),
            "weights": np.ones(motors),
            "preload": np.zeros(motors),
            "warm": np.zeros(velocities + 1),
            "last": np.zeros((velocities + 1, motors)),
        }
        self._kept: tuple[Array, ...] = ()  # live as long as C may read them
        self._limits = limits
        places = {name: array.ctypes.data for name, array in self._arrays.items()}
        self.call: Any = structure("uk_joint_space")(
            position=self._position.ctypes.data, limits=_limits(limits), **places
        )
        self.remembered = (_bytes(self.call), self._position, *limits.values())

    @property
    def position(self) -> Array | None:
        """The position that is held, (nq,); None: the next one that is measured."""
        return self._position if self.call.held else None

    @position.setter
    def position(self, position: Array | None) -> None:
        self.call.held = position is not None
        if position is not None:
            self._position[:] = position

    def law(self, motion: CompiledMotion) -> Law:
        """What C calls; the evaluation is in the memory of a motion."""
        self.call.memory = motion.memory_address
        mechanism, names = self._mechanism, self._mechanism.actuators.names
        return Law(
            motion.address_of("joint_space_control"),
            ctypes.addressof(self.call),
            (
                *(f"{name} is at its power limit" for name in names),
                *(f"{name} is at its rate limit" for name in names),
                *(
                    f"the motors cannot accelerate {name} as desired"
                    for name in mechanism.model.velocity_names
                ),
            ),
            (self, motion),
        )

    def set(
        self,
        inputs: Inputs,
        weights: Array,
        preload: Array | None,
        internal: Mapping[str, Array] | None,
    ) -> None:
        """Set what acts, and how efforts are distributed.

        Args:
            inputs: Constraints that are on, and what they follow.
            weights: Diagonal of W, (motors,).
            preload: Preferred efforts, (motors,), in N or N·m; None: zero.
            internal: Internal forces as ``uk_internal`` has them: named, added, unit.

        Raises:
            ForeignReferenceError: A constraint follows an object of Python.
        """
        mechanism, call, arrays = self._mechanism, self.call, self._arrays
        mask = mechanism.hierarchy.mask(inputs.active)
        arrays["active"][:] = 1.0 if mask is None else mask
        arrays["weights"][:] = weights
        arrays["preload"][:] = 0.0 if preload is None else preload
        given = {name: np.array(values, dtype=float) for name, values in (internal or {}).items()}
        for name in ("named", "added", "unit"):
            setattr(call, name, given[name].ctypes.data if given else None)
        table = structural_table(mechanism, inputs.references, inputs.active)
        call.structure = None if table is None else table.ctypes.data
        self._kept = (*given.values(), *(() if table is None else (table,)))

    def forget(self) -> None:
        """Forget where searches ended."""
        self._arrays["warm"][:] = 0.0


class TransferMemory:
    """What a transfer between laws remembers; ``uk_hand_over`` works on it too.

    Attributes:
        call: ``uk_transfer``.
        origin: Efforts to begin at, (motors,).
        offset: What is added at the begin, (motors,).
        remembered: Views of what one control period leaves for the next.
    """

    def __init__(self, limits: Mapping[str, Array]) -> None:
        self.origin, self.offset, self._sent = np.zeros((3, len(limits["lower"])))
        self._known, self._limits = np.zeros(1), limits
        places = {"from": self.origin.ctypes.data}
        self.call: Any = structure("uk_transfer")(
            offset=self.offset.ctypes.data,
            sent=self._sent.ctypes.data,
            known=self._known.ctypes.data,
            limits=_limits(limits),
            **places,
        )
        arrays = (self.origin, self.offset, self._sent, self._known)
        self.remembered = (_bytes(self.call), *arrays, *limits.values())

    @property
    def sent(self) -> Array | None:
        """Efforts of the last command, (motors,), in N or N·m; None: there was none."""
        return self._sent if self._known[0] else None

    @sent.setter
    def sent(self, efforts: Array | None) -> None:
        self._known[0] = efforts is not None
        if efforts is not None:
            self._sent[:] = efforts

    def law(self, motion: CompiledMotion, inner: Law) -> Law:
        """What C calls in place of another law."""
        self.call.law, self.call.controller = inner.function, inner.controller
        address = motion.address_of("hand_over")
        return Law(address, ctypes.addressof(self.call), inner.flags, (self, motion, inner))


class CompiledDelayCompensation:
    """``uk_compensate_delay`` around another law, on the same queue of commands as Python.

    Attributes:
        law: What C calls.
    """

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
        self.law = Law(
            motion.address_of("compensate_delay"),
            ctypes.addressof(self._call),
            inner.flags,
            (self, motion, inner),
        )

    def set(self, inputs: Inputs, delay: float, longest: float) -> None:
        """Set what acts on the machine, and how late efforts act.

        Args:
            inputs: Constraints that are on, and what they follow.
            delay: What is predicted, in s.
            longest: What may be predicted, in s; a longer delay has no efforts.

        Raises:
            ForeignReferenceError: A constraint follows an object of Python.
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
