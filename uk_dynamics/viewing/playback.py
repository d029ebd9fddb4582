# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A recorded motion, played back."""

import numpy as np

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution import ActiveConstraints, Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import Trajectory
from uk_dynamics.viewing.source import Snapshot, Source


class Playback(Source):
    """Plays a trajectory in a loop."""

    def __init__(
        self, mechanism: Mechanism, trajectory: Trajectory, *, real_time_factor: float = 1.0
    ) -> None:
        """Stand at the first sample; InputError: the recording is of another mechanism."""
        names, model = trajectory.names, mechanism.model
        if names.positions != model.position_names or names.motors != mechanism.actuators.names:
            raise InputError(
                f"the recording is of {trajectory.name} with other joints or motors than"
                f" {mechanism.name}"
            )
        self._mechanism, self._trajectory = mechanism, trajectory
        self._factor, self._playing, self._t = real_time_factor, True, 0.0
        self.duration = float(trajectory.t[-1] - trajectory.t[0])  # of the recording, in s

    def control(self, action: str) -> None:
        """Play, pause, go to the next sample, or back to the first."""
        if action == "reset":
            self._t = 0.0
        elif action == "step":
            self._playing = False
            times = self._trajectory.t - self._trajectory.t[0]
            self._t = float(times[min(self._index() + 1, len(times) - 1)])
        else:
            self._playing = action == "play"

    def seek(self, t: float) -> None:
        """Pause at a time, in s."""
        self._playing = False
        self._t = float(np.clip(t, 0.0, self.duration))

    def frame(self, elapsed: float) -> Snapshot:
        """The last sample before the present time of the recording."""
        if self._playing:
            self._t += elapsed * self._factor
            if self._t > self.duration:
                self._t = 0.0
        recorded, k = self._trajectory, self._index()
        state = State(float(recorded.t[k]), recorded.q[k], np.nan_to_num(recorded.v[k]))
        tau = self._mechanism.actuators.matrix @ recorded.efforts[k]
        inputs = Inputs(tau=tau, active=self._active(state.t))
        mode = "recording" if self._playing else "recording, paused"
        return Snapshot(state, inputs, recorded.efforts[k], "", mode)

    def _index(self) -> int:
        t = self._trajectory.t
        return int(np.searchsorted(t, t[0] + self._t + 1e-9, side="right")) - 1

    def _active(self, t: float) -> ActiveConstraints | None:
        """Switchable constraints that were on; where they were closed is not recorded."""
        if not self._trajectory.switchings:
            return None
        names = set(self._mechanism.hierarchy.initial.names)
        for switching in self._trajectory.switchings:
            if switching.t <= t:
                on = {name for name, value in switching.changes.items() if value}
                names = (names - switching.changes.keys()) | on
        return ActiveConstraints(frozenset(names))
