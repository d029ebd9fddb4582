# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Modes of a linearised mechanism, shown moving around its equilibrium."""

import numpy as np

from uk_dynamics.mechanism.analysis import Equilibrium, LinearSystem, Mode
from uk_dynamics.mechanism.kinematics import LoopMotion
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.viewing.source import Snapshot, Source

_FASTEST = 0.5  # Hz that is shown; what is faster is slowed down
_AMPLITUDE = 0.25  # rad, or part of the machine's size, of the joint that moves most
_LEAST_AMPLITUDE = 1e-3
_NAMED = 3  # joints that move most
_LEAST_SHARE = 0.05


class ModeMotion(Source):
    """Moves a mechanism along one of its modes, as large as can be seen, with closed loops.

    Numbers in the view are those of the displaced mechanism at rest.
    """

    controls = ("play", "pause", "reset")
    choice = "mode"

    def __init__(
        self,
        mechanism: Mechanism,
        at_rest: Equilibrium,
        system: LinearSystem,
        *,
        playing: bool = True,
    ) -> None:
        """Begin with the slowest mode that oscillates, else with the first."""
        self._mechanism, self._rest = mechanism, at_rest
        self._modes = dict(zip(_titles(system.modes()), system.modes(), strict=True))
        self.motors = tuple(self._modes)  # slowest first
        self._playing = playing
        self._efforts = np.linalg.pinv(mechanism.actuators.matrix) @ (
            at_rest.inputs.tau if at_rest.inputs.tau is not None else 0.0 * at_rest.state.v
        )
        oscillating = [title for title, mode in self._modes.items() if mode.frequency]
        self.drive((oscillating or [*self.motors, ""])[0])

    def drive(self, choice: str) -> None:
        """Show another mode, from where it moves fastest."""
        self.driving = choice
        self._phase, self._amplitude = 0.0, 0.0
        # factor: how many times slower than in truth it is shown
        self.factor, self._rate, self._shape = 1.0, 0.0, np.zeros(self._mechanism.model.nv)
        if choice not in self._modes:
            return
        mode = self._modes[choice]
        self._rate = min(mode.frequency or _FASTEST, _FASTEST)
        self.factor = max(1.0, mode.frequency / _FASTEST)
        self._shape = np.array([mode.shape[n] for n in self._mechanism.model.velocity_names])
        unit = LoopMotion(self._mechanism).unit
        self._amplitude = _AMPLITUDE / float(np.abs(self._shape / unit).max(initial=1e-300))

    def control(self, action: str) -> None:
        """Play, pause, or go back to the equilibrium."""
        if action == "reset":
            self._phase = 0.0
        self._playing = action == "play"

    def frame(self, elapsed: float) -> Snapshot:
        """The mechanism at the present phase; smaller where the loops do not close so far away."""
        if self._playing:
            self._phase += 2.0 * np.pi * self._rate * elapsed
        rest, model = self._rest.state, self._mechanism.model
        turned = np.real(-1j * np.exp(1j * self._phase) * self._shape)
        q = rest.q
        while self._amplitude > _LEAST_AMPLITUDE:
            closed = self._mechanism.assembly(model.integrate(rest.q, self._amplitude * turned))
            if closed.closed:
                q = closed.q
                break
            self._amplitude *= 0.5
        state = State(rest.t, q, np.zeros_like(rest.v))
        slower = f", shown {self.factor:.3g} times slower" if self.factor > 1.0 else ""
        paused = "" if self._playing else ", paused"
        return Snapshot(
            state, self._rest.inputs, self._efforts, "", f"{self.driving}{slower}{paused}"
        )


def _titles(modes: tuple[Mode, ...]) -> list[str]:
    """Number, frequency or time constant, and the joints that move most, of each mode."""
    titles = []
    for number, mode in enumerate(modes, start=1):
        joints = sorted(mode.shape, key=lambda name: -abs(mode.shape[name]))
        moving = [name for name in joints[:_NAMED] if abs(mode.shape[name]) > _LEAST_SHARE]
        titles.append(f"{number}: {_pace(mode)} ({', '.join(moving)})")
    return titles


def _pace(mode: Mode) -> str:
    if mode.frequency:
        return f"{mode.frequency:.4g} Hz"
    if abs(mode.eigenvalue) < 1e-6:
        return "neutral"
    return (
        f"{'grows' if mode.eigenvalue.real > 0.0 else 'decays'} in {1 / abs(mode.eigenvalue):.3g} s"
    )
