# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Joint measurements from several sources, merged joint by joint."""

import math
import time
from collections.abc import Sequence

import numpy as np
from sensor_msgs.msg import JointState

from uk_dynamics.mechanism.resolution import Array, Flags, Indices
from uk_dynamics.ros.topics.messages import LARGEST, NameIndex, view

_TURN = 2.0 * math.pi


class JointMeasurements:
    """The last measurement of each joint.

    A message may have some of the joints, and others that are not used. Joints whose position in it
    is not finite are skipped. Velocities that are missing or not finite, as joint_state_broadcaster
    writes where there is no sensor, are low-pass filtered differences of positions.
    """

    def __init__(self, names: Sequence[str], turning: Flags) -> None:
        """``turning``: which joints are continuous, so that encoders may count within one turn."""
        self.names = tuple(names)
        self._turning = turning
        self.index = NameIndex(names, complete=False)
        d = len(self.names)
        # last ones, (d,), in m or rad, per s, and in N or N·m, zero where not measured
        self.position, self.velocity, self.effort = np.zeros(d), np.zeros(d), np.zeros(d)
        self.stamps = np.zeros(d, dtype=np.int64)  # of the last measurements, in ns
        self.differentiated = np.zeros(d, dtype=bool)  # whose velocity is not measured
        self._arrival = np.zeros(d)
        self.has_effort = False  # whether efforts are measured at all
        self.went_back = False  # time, with the last message; all before is forgotten
        self.forget()

    def forget(self) -> None:
        """Forget all measurements."""
        self._seen, self._fresh, self._has_velocity = np.zeros((3, len(self.names)), dtype=bool)
        self.differentiated[:] = False

    @property
    def ages(self) -> Array:
        """Time since each joint was measured, (d,), in s of real time; infinite when never."""
        return np.where(self._seen, time.monotonic() - self._arrival, np.inf)

    @property
    def complete(self) -> bool:
        """Whether every joint has been measured again since :meth:`take`, velocities included."""
        return bool((self._fresh & self._has_velocity).all())

    def read(self, message: JointState, stamp: int, timeout: float, time_constant: float) -> str:
        """Take the valid measurements of a message, and return what is wrong with the others.

        ``stamp`` in ns; up to ``timeout`` s before the last one of a joint a message is late and
        ignored, further back time has been set back. ``time_constant`` is that of the low-pass
        filter of differences, in s.
        """
        self.went_back = False
        index = self.index
        if problem := index.check(message, ("position",), ("velocity", "effort")):
            return problem
        if not len(index.target):
            return ""
        position = view(message.position)[index.source]
        usable = np.abs(position) < LARGEST  # false for nan
        problem = ""
        if not usable.all():
            bad = int(np.argmin(usable))
            problem = f"position of {self.names[index.target[bad]]} is {position[bad]:g}"
        last = self.stamps[index.target]
        late = self._seen[index.target] & (stamp < last)
        if late.any():
            if int(last[late].max()) - stamp > timeout * 1e9:
                self.forget()
                self.went_back = True
            else:
                usable &= ~late
                name = self.names[index.target[int(np.argmax(late))]]
                problem = f"{name} is older than its last measurement"
        source, target = index.source[usable], index.target[usable]
        velocity = view(message.velocity)[source] if len(message.velocity) else None
        self._take_velocity(target, position[usable], velocity, stamp, time_constant)
        self.position[target] = position[usable]
        if len(message.effort):
            effort = view(message.effort)[source]
            self.effort[target] = np.where(np.abs(effort) < LARGEST, effort, 0.0)
            self.has_effort = True
        self.stamps[target] = stamp
        self._arrival[target] = time.monotonic()
        self._seen[target] = True
        self._fresh[target] = True
        return problem

    def take(self, longest: float) -> tuple[Array, int, str]:
        """Positions at the newest stamp; earlier ones are extrapolated by their velocities."""
        self._fresh[:] = False
        newest = int(self.stamps.max(initial=0))
        lag = (newest - self.stamps) * 1e-9
        problem = ""
        if lag.max(initial=0.0) > longest:
            name = self.names[int(lag.argmax())]
            problem = f"the stamp of {name} is {lag.max():.3g} s behind others"
        return self.position + lag * self.velocity, newest, problem

    def _take_velocity(
        self,
        target: Indices,
        position: Array,
        velocity: Array | None,
        stamp: int,
        time_constant: float,
    ) -> None:
        """Measured velocities, else differences to the positions before."""
        measured = np.zeros(len(target), dtype=bool)
        if velocity is not None:
            measured = np.abs(velocity) < LARGEST
            self.velocity[target[measured]] = velocity[measured]
            self._has_velocity[target[measured]] = True
        self.differentiated[target] = ~measured
        missing = target[~measured]
        if not len(missing):
            return
        duration = (stamp - self.stamps[missing]) * 1e-9
        known = self._seen[missing] & (duration > 0.0)
        missing, duration = missing[known], duration[known]
        step = position[~measured][known] - self.position[missing]
        step -= _TURN * np.round(step / _TURN) * self._turning[missing]
        rate = step / duration
        part = 1.0 - np.exp(-duration / time_constant) if time_constant > 0.0 else 1.0
        part = np.where(self._has_velocity[missing], part, 1.0)
        self.velocity[missing] += part * (rate - self.velocity[missing])
        self._has_velocity[missing] = True
