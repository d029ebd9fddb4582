# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Checks whether a state can follow the one before it, whatever time has passed in between."""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.model import RobotModel
from uk_dynamics.ros.parameters.parameter import Parameters
from uk_dynamics.ros.servo.fault_reactions import Fault
from uk_dynamics.ros.topics.inputs import StateInput

_WINDOW = 0.5  # s over which integrated velocities are compared with positions
_LOOKS = 0.05  # s; a process that runs looks more often than that
_PAUSE = 3.5  # periods without a state that are a pause
_SHORTEST_PAUSE = 0.02  # s
_SLOWEST = 1e-100  # m/s or rad/s; smaller limits are zero
# s from the first joint state to the first base that goes with it; discovery takes its time
_DISCOVERY = 5.0
_LONG = 0.5  # of state_timeout; what a longer pause is followed by is blamed on it


class Doubt(NamedTuple):
    """Why a state is not trusted: the fault, and what was measured."""

    fault: Fault
    reason: str


class StateGuard:
    """Compares each state with those before it, with the clock, and with the joints' limits.

    A pause is no fault as long as the machine is where it can be: two velocities and a largest
    acceleration a between them leave the position after a time h open by a h²/4. Where a joint is
    too fast or jumps soon after a long pause, in which the last efforts acted on and after which
    stamps may be wrong, the pause is the fault.
    """

    def __init__(
        self,
        model: RobotModel,  # names, sizes and velocity limits
        settings: Parameters,  # parameters of servo_controller
        *,
        # largest accelerations, (nv,), at a position (nq,) and velocity (nv,); it is called where a
        # position is not explained by velocities alone. None: zero
        reach: Callable[[Array, Array], Array] | None = None,
        # stamps are those of ``/clock``, which may stand still or run fast
        simulated: bool = False,
        clock: Callable[[], float] = time.monotonic,  # real time in s
    ) -> None:
        """Prepare."""
        self._reach = reach
        self._names, self._model = model.velocity_names, model
        self._speed_limit = model.velocity_limit
        self._slowness = 1.0 / np.maximum(model.velocity_limit, _SLOWEST)
        self._settings, self._simulated, self._clock = settings, simulated, clock
        self._q, self._v = np.zeros(model.nq), np.zeros(model.nv)
        self._expected = np.zeros(model.nq)  # where velocities led from the begin of the window
        self.forget()

    def forget(self) -> None:
        """The next state has no predecessor."""
        self._stamp: int | None = None
        self._advanced = False
        self._fresh: float | None = None
        self._looked = self._clock()
        self._pause: tuple[float, float] | None = None  # when it ended, and how long it was

    @property
    def longest(self) -> float:
        """Real time without a state that is a fault, in s."""
        return float(self._settings["state_timeout"])

    def silence(self) -> Doubt | None:
        """The fault when no state comes, or stamps stand still; None when there is none.

        To be called more often than every 50 ms, so that a pause of this process is known as such.
        Stamps may stand still until they have advanced once, as in a simulation that is paused.
        """
        now = self._clock()
        idle, self._looked = now - self._looked, now
        if self._fresh is None:
            return None
        age, longest = now - self._fresh, self.longest
        if age <= longest:
            return None
        if idle > max(0.5 * longest, _LOOKS):
            return Doubt(Fault.PAUSE, f"this process did not run for {idle:.3g} s")
        return Doubt(Fault.STALE_STATE, f"no usable joint_states for {age:.3g} s")

    def check(self, stamp: int, q: Array, v: Array) -> Doubt | None:
        """The fault of a state, None when there is none; ``stamp`` in ns, q (nq,), v (nv,)."""
        now = self._clock()  # once: the process may be suspended anywhere in here
        doubt = self.silence()
        paused = self._note_pause(stamp, now)
        doubt = doubt or self._check_speed(v)
        if self._stamp is None:
            self._start_window(stamp, q)
        elif doubt is None:
            doubt = self._check_stamp(stamp, self._stamp, now)
            doubt = doubt or self._check_motion(stamp, q, v, paused=paused)
        self._advanced |= self._stamp is not None and stamp != self._stamp
        if stamp != self._stamp or not self._advanced or self._simulated:
            self._fresh = now
        self._stamp = stamp
        self._q[:], self._v[:] = q, v
        return doubt

    def _check_speed(self, v: Array) -> Doubt | None:
        factor = self._settings["speed_factor"]
        share = v * self._slowness
        if share.dot(share) <= factor**2:  # the usual case, and fast; false for nan
            return None
        fastest = factor * self._speed_limit
        if not (np.abs(v) > fastest).any():
            return None
        joint = int(np.argmax(np.abs(v) / fastest))
        reason = f"{self._names[joint]} moves at {v[joint]:.3g}, its limit is {fastest[joint]:.3g}"
        return self._blamed(Fault.OVER_SPEED, reason)

    def _check_stamp(self, stamp: int, last: int, now: float) -> Doubt | None:
        elapsed = (stamp - last) * 1e-9
        if elapsed < 0.0:
            return Doubt(Fault.TIME_BACKWARDS, f"time went back by {-elapsed:.6g} s")
        passed = now - (self._fresh or 0.0)
        if not self._simulated and elapsed > passed + self._settings["state_timeout"]:
            return Doubt(Fault.TIME_JUMP, f"time went on by {elapsed:.6g} s within {passed:.3g} s")
        return None

    def _note_pause(self, stamp: int, now: float) -> bool:
        """Remember a time without states, by their stamps and, in real time, by their arrival."""
        if self._stamp is None or self._fresh is None:
            return False
        elapsed = (stamp - self._stamp) * 1e-9
        length = elapsed if self._simulated else max(elapsed, now - self._fresh)
        rate = self._settings["update_rate"]
        paused = bool(length > max(_PAUSE / rate if rate else 0.0, _SHORTEST_PAUSE))
        if paused:
            self._pause = now, length
        return paused

    def _check_motion(self, stamp: int, q: Array, v: Array, *, paused: bool) -> Doubt | None:
        elapsed = (stamp - (self._stamp or 0)) * 1e-9
        # the mean of both velocities leaves an error of third order in the elapsed time
        step = v + self._v
        step *= 0.5 * elapsed
        self._expected = self._model.integrate(self._expected, step)
        jump = self._model.difference(self._q, q)
        jump -= step
        allowed = self._settings["position_jump"]
        if _exceeds(jump, allowed):
            error = np.abs(jump)
            reach = 0.0 if self._reach is None else self._reach(self._q, self._v)
            beyond = error - 0.25 * elapsed**2 * reach
            if (beyond > allowed).any():
                return self._jump(error * (beyond > allowed), "jumped by", elapsed)
            paused = True  # as long as one
        if paused:  # its step is not exact enough to be added up
            self._start_window(stamp, q)
            return None
        since = (stamp - self._window_start) * 1e-9
        # encoders that stand still while velocities go on
        drift = self._model.difference(self._expected, q)
        if _exceeds(drift, allowed):
            return self._jump(np.abs(drift), "differs from its integrated velocity by", since)
        if since > _WINDOW:
            self._start_window(stamp, q)
        return None

    def _jump(self, error: Array, what: str, elapsed: float) -> Doubt:
        joint = int(np.argmax(error))
        for base in self._model.bases:
            if base.velocity.start <= joint < base.velocity.stop:
                reason = f"{base.name} {what} {error[joint]:.3g} m or rad within {elapsed:.3g} s"
                return self._blamed(Fault.BASE_JUMP, reason)
        reason = f"{self._names[joint]} {what} {error[joint]:.3g} within {elapsed:.3g} s"
        return self._blamed(Fault.POSITION_JUMP, reason)

    def _blamed(self, fault: Fault, reason: str) -> Doubt:
        """The fault, or the pause that was shortly before and is the likely cause."""
        if self._pause is None:
            return Doubt(fault, reason)
        since, length = self._clock() - self._pause[0], self._pause[1]
        if since >= _WINDOW or length < _LONG * self._settings["state_timeout"]:
            return Doubt(fault, reason)
        reason = f"{reason}; a pause of {length:.3g} s ended {since:.2g} s before"
        return Doubt(Fault.PAUSE, reason)

    def _start_window(self, stamp: int, q: Array) -> None:
        """Integrate velocities from here."""
        self._window_start = stamp
        self._expected = q.copy()


def silence(guard: StateGuard, states: StateInput, *, begun: bool) -> Doubt | None:
    """The fault when no state comes, which the base of a floating machine may be the reason of.

    ``begun``: whether a state has been answered.
    """
    doubt = guard.silence()
    if not begun:
        reason = states.base_problem(_DISCOVERY)
        return Doubt(Fault.BASE_MISSING, reason) if reason else doubt
    if doubt is None or doubt.fault is not Fault.STALE_STATE:
        return doubt
    reason = states.base_problem(0.5 * guard.longest)
    return Doubt(Fault.BASE_STALE, reason) if reason else doubt


def _exceeds(values: Array, allowed: float) -> bool:
    """Whether some number is further from zero than allowed; quick where their norm is not."""
    return bool(values.dot(values) > allowed**2 and (np.abs(values) > allowed).any())
