"""Checks whether a state can follow the one before it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.model import RobotModel
from uk_dynamics.ros.parameters.parameter import Parameters
from uk_dynamics.ros.servo.faults import Fault

_WINDOW = 0.5  # s over which integrated velocities are compared with positions


class Doubt(NamedTuple):
    """Why a state is not trusted: the fault, and what was measured."""

    fault: Fault
    reason: str


class StateGuard:
    """Compares each state with those before it, with the clock, and with the joints' limits."""

    def __init__(
        self,
        model: RobotModel,
        settings: Parameters,
        *,
        simulated: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``simulated``: stamps are those of ``/clock``, which may stand still or run fast."""
        self._names = model.velocity_names
        self._speed_limit = model.velocity_limit
        self._settings = settings
        self._simulated = simulated
        self._clock = clock
        self._q, self._v = np.zeros(model.nq), np.zeros(model.nv)
        self._window_q, self._integral = np.zeros(model.nq), np.zeros(model.nv)
        self.forget()

    def forget(self) -> None:
        """The next state has no predecessor."""
        self._stamp: int | None = None
        self._advanced = False
        self._fresh: float | None = None

    def silence(self) -> Doubt | None:
        """The fault when no state comes, or stamps stand still; None when there is none.

        Stamps may stand still until they have advanced once, as in a simulation that is paused.
        """
        if self._fresh is None:
            return None
        age = self._clock() - self._fresh
        if age <= self._settings["state_timeout"]:
            return None
        return Doubt(Fault.STALE_STATE, f"no usable joint_states for {age:.3g} s")

    def check(self, stamp: int, q: Array, v: Array) -> Doubt | None:
        """The fault of a state, None when there is none; ``stamp`` in ns, q (nq,), v (nv,)."""
        now = self._clock()  # once: the process may be suspended anywhere in here
        doubt = self.silence() or self._check_speed(v)
        if self._stamp is None:
            self._start_window(stamp, q)
        elif doubt is None:
            doubt = self._check_stamp(stamp, self._stamp, now) or self._check_motion(stamp, q, v)
        self._advanced |= self._stamp is not None and stamp != self._stamp
        if stamp != self._stamp or not self._advanced or self._simulated:
            self._fresh = now
        self._stamp = stamp
        self._q[:], self._v[:] = q, v
        return doubt

    def _check_speed(self, v: Array) -> Doubt | None:
        fastest = self._settings["speed_factor"] * self._speed_limit
        if not (np.abs(v) > fastest).any():
            return None
        joint = int(np.argmax(np.abs(v) / fastest))
        reason = f"{self._names[joint]} moves at {v[joint]:.3g}, its limit is {fastest[joint]:.3g}"
        return Doubt(Fault.OVER_SPEED, reason)

    def _check_stamp(self, stamp: int, last: int, now: float) -> Doubt | None:
        elapsed = (stamp - last) * 1e-9
        if elapsed < 0.0:
            return Doubt(Fault.TIME_BACKWARDS, f"time went back by {-elapsed:.6g} s")
        passed = now - (self._fresh or 0.0)
        if not self._simulated and elapsed > passed + self._settings["state_timeout"]:
            return Doubt(Fault.TIME_JUMP, f"time went on by {elapsed:.6g} s within {passed:.3g} s")
        return None

    def _check_motion(self, stamp: int, q: Array, v: Array) -> Doubt | None:
        elapsed = (stamp - (self._stamp or 0)) * 1e-9
        # the mean of both velocities leaves an error of third order in the elapsed time
        step = 0.5 * elapsed * (v + self._v)
        self._integral += step
        doubt = self._compare(q - self._q - step, "jumped by", elapsed)
        since = (stamp - self._window_start) * 1e-9
        if doubt is None:  # encoders that stand still while velocities go on
            error = q - self._window_q - self._integral
            doubt = self._compare(error, "differs from its integrated velocity by", since)
        if since > _WINDOW:
            self._start_window(stamp, q)
        return doubt

    def _compare(self, error: Array, what: str, elapsed: float) -> Doubt | None:
        """The fault where positions differ too much from integrated velocities, (nv,)."""
        size = np.abs(error)
        if not (size > self._settings["position_jump"]).any():
            return None
        joint = int(np.argmax(size))
        reason = f"{self._names[joint]} {what} {size[joint]:.3g} within {elapsed:.3g} s"
        return Doubt(Fault.POSITION_JUMP, reason)

    def _start_window(self, stamp: int, q: Array) -> None:
        """Integrate velocities from here."""
        self._window_start = stamp
        self._window_q[:] = q
        self._integral[:] = 0.0
