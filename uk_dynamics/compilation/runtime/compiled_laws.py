# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Laws of control in C that are in the library of the mechanism: see joint_space.c and others."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

import numpy as np

from uk_dynamics.compilation.runtime.compiled_motion import CompiledMotion
from uk_dynamics.compilation.runtime.reference_table import reference_table
from uk_dynamics.mechanism.dynamics import EffortQueue, Law
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism

_PLACES = 64  # commands under way; beyond, Python decides and makes room


class ForesightCall(ctypes.Structure):
    """``uk_foresight`` of motion.h."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("memory", "motion", "law", "controller")),
        *((name, ctypes.c_double) for name in ("delay", "longest")),
        ("places", ctypes.c_longlong),
        *((name, ctypes.c_void_p) for name in ("count", "sent")),
    )


class LimitsCall(ctypes.Structure):
    """``uk_limits`` of limits.c."""

    _fields_ = tuple(
        (name, ctypes.c_void_p)
        for name in ("effort", "power", "step", "commanded", "known", "lower", "upper")
    )


class JointSpaceCall(ctypes.Structure):
    """``uk_joint_space`` of joint_space.c."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("memory", "structure")),
        *((name, ctypes.c_double) for name in ("stiffness", "damping")),
        *((name, ctypes.c_longlong) for name in ("holds", "held")),
        *((name, ctypes.c_void_p) for name in ("position", "active", "weights", "preload")),
        *((name, ctypes.c_void_p) for name in ("named", "added", "unit")),
        ("limits", LimitsCall),
        *((name, ctypes.c_void_p) for name in ("warm", "last")),
    )


class TransferCall(ctypes.Structure):
    """``uk_transfer`` of transfer.c."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("law", "controller")),
        *((name, ctypes.c_longlong) for name in ("under_way", "begun")),
        *((name, ctypes.c_double) for name in ("begin", "duration")),
        *((name, ctypes.c_void_p) for name in ("from", "offset", "sent", "known")),
        ("limits", LimitsCall),
    )


class CompiledLimits:
    """Limits of the motors in C, with the last command."""

    def __init__(self, motors: int) -> None:
        names = ("effort", "power", "step", "commanded", "lower", "upper")
        self._arrays = {name: np.zeros(motors) for name in names} | {"known": np.zeros(1)}
        places = {name: array.ctypes.data for name, array in self._arrays.items()}
        self.call = LimitsCall(**places)

    def load(self, effort: Array, power: Array, step: Array, last: Array | None) -> None:
        """Set limits, and the efforts from which rates count; None: unknown."""
        arrays = self._arrays
        arrays["effort"][:], arrays["power"][:], arrays["step"][:] = effort, power, step
        arrays["known"][:] = last is not None
        arrays["commanded"][:] = 0.0 if last is None else last

    @property
    def last(self) -> Array | None:
        """Efforts from which rates count, fresh; None: unknown."""
        return self._arrays["commanded"].copy() if self._arrays["known"][0] else None


class CompiledJointSpace:
    """``uk_stand``: gravity compensation and hold.

    Attributes:
        law: What C calls.
        limits: Of the motors.
        position: Which is held, (nq,).
    """

    def __init__(self, motion: CompiledMotion, mechanism: ResolvedMechanism) -> None:
        velocities, motors = motion.sizes
        self._mechanism, self._motion = mechanism, motion
        self.limits = CompiledLimits(motors)
        self.position = np.zeros(mechanism.model.nq)
        rows = max(len(mechanism.constraints), 1)
        self._arrays = {
            "active": np.ones(rows),
            "weights": np.ones(motors),
            "preload": np.zeros(motors),
            "warm": np.zeros(velocities + 1),
            "last": np.zeros((velocities + 1, motors)),
        }
        self._kept: tuple[Array, ...] = ()  # live as long as C may read them
        places = {name: array.ctypes.data for name, array in self._arrays.items()}
        self._call = JointSpaceCall(
            memory=motion.memory_address,
            position=self.position.ctypes.data,
            limits=self.limits.call,
            **places,
        )
        names = mechanism.actuators.names
        self.law = Law(
            motion.address_of("stand"),
            ctypes.addressof(self._call),
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

    def load(
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
        mechanism, call, arrays = self._mechanism, self._call, self._arrays
        mask = mechanism.hierarchy.mask(inputs.active)
        arrays["active"][:] = 1.0 if mask is None else mask
        arrays["weights"][:] = weights
        arrays["preload"][:] = 0.0 if preload is None else preload
        given = {name: np.array(values, dtype=float) for name, values in (internal or {}).items()}
        for name in ("named", "added", "unit"):
            setattr(call, name, given[name].ctypes.data if given else None)
        table = None
        if mechanism.follows_references:
            captured = mechanism.hierarchy.captured(inputs.active)
            table = reference_table(mechanism.references, {**(inputs.references or {}), **captured})
        call.structure = None if table is None else table.ctypes.data
        self._kept = (*given.values(), *(() if table is None else (table,)))

    def hold(self, gains: tuple[float, float], position: Array | None) -> None:
        """Hold a position with damping and stiffness; None: the next one that is measured."""
        self._call.holds = 1
        self._call.damping, self._call.stiffness = gains
        self._call.held = position is not None
        if position is not None:
            self.position[:] = position

    @property
    def held(self) -> bool:
        """Whether there is a position."""
        return bool(self._call.held)

    def forget(self) -> None:
        """Forget where searches ended."""
        self._arrays["warm"][:] = 0.0


class CompiledTransfer:
    """``uk_hand_over`` around another law.

    Attributes:
        law: What C calls.
        limits: Of the sum.
        sent: Efforts of the last command, (motors,).
        known: 1 where there was one, (1,).
    """

    def __init__(self, motion: CompiledMotion, inner: Law) -> None:
        motors = motion.sizes[1]
        self.limits = CompiledLimits(motors)
        self._from, self._offset, self.sent = np.zeros((3, motors))
        self.known = np.zeros(1)
        places = {"from": self._from.ctypes.data}
        self.call = TransferCall(
            law=inner.function,
            controller=inner.controller,
            offset=self._offset.ctypes.data,
            sent=self.sent.ctypes.data,
            known=self.known.ctypes.data,
            limits=self.limits.call,
            **places,
        )
        self.law = Law(
            motion.address_of("hand_over"),
            ctypes.addressof(self.call),
            inner.flags,
            (self, motion, inner),
        )

    def load(self, begins_at: Array | None, begin: float | None, offset: Array) -> None:
        """Set efforts to begin at (None: no transfer), when it began, and what fades since."""
        call = self.call
        call.under_way, call.begun = begins_at is not None, begin is not None
        call.begin = begin or 0.0
        if begins_at is not None:
            self._from[:] = begins_at
        if begin is not None:
            self._offset[:] = offset

    @property
    def offset(self) -> Array:
        """What fades, fresh, (motors,)."""
        return self._offset.copy()


class CompiledForesight:
    """``uk_foresee`` around another law.

    Attributes:
        law: What C calls.
    """

    def __init__(self, motion: CompiledMotion, inner: Law, queue: EffortQueue) -> None:
        self._motion, self._queue = motion, queue
        velocities, motors = motion.sizes
        self._sent = EffortQueue(motors, _PLACES)
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
        self._sent.take(self._queue)
        call, sent = self._call, self._sent
        self.set_delay(delay, longest)
        call.places = len(sent.rows)
        call.count, call.sent = sent.count.ctypes.data, sent.rows.ctypes.data

    def store(self) -> None:
        """Take over the commands that C has sent."""
        self._queue.take(self._sent)

    def set_delay(self, delay: float, longest: float) -> None:
        """Set how late efforts act, and how much may be predicted, as :meth:`load` does."""
        self._call.delay, self._call.longest = delay, longest
