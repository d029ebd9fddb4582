# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Small plots of what happened in the last seconds."""

from collections import deque
from typing import Any

import numpy as np

from uk_dynamics.colours import ON_PAPER
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.viewing.machine_numbers import motor_power
from uk_dynamics.viewing.scene.stage import ViserServer
from uk_dynamics.viewing.source import Instant
from uk_dynamics.viewing.units import Units

NOTHING = "nothing"
_OF_JOINTS = {"joint angles": "rad", "joint travels": "m"}  # quantities, with their units
_SECONDS = 10.0
_MOST = 600  # samples
_HEIGHT = 190  # points of the page


class Curves:
    """A plot of one quantity over time, which the user chooses."""

    def __init__(
        self, server: ViserServer, mechanism: Mechanism, loops: tuple[str, ...], tasks: bool
    ) -> None:
        """Prepare; nothing is plotted until something is chosen."""
        self._gui, self._loops, self._mechanism = server.gui, loops, mechanism
        model = mechanism.model
        driven = np.any(mechanism.actuators.matrix != 0.0, axis=1)
        joints = list(model.joint_names) if model.position_names == model.joint_names else []
        joints.sort(key=lambda n: not driven[model.velocity_index(n)])
        self._joints = joints
        self.choices = [NOTHING]  # quantities there are
        found = {model.units[name] for name in joints}
        self.choices += [title for title, unit in _OF_JOINTS.items() if unit in found]
        if len(mechanism.actuators):
            self.choices += ["motor efforts", "motor power"]
        if loops:
            self.choices.append("loop forces")
        if tasks:
            self.choices.append("tracking errors")
        self.choices.append("energy")
        self._chosen, self._units = NOTHING, ""
        self._past: deque[tuple[float, Array]] = deque(maxlen=_MOST)
        self._plot: Any = None

    def choose(self, title: str) -> None:
        """Plot something else from now on."""
        self._chosen = title
        self._forget()

    def add(self, instant: Instant, units: Units, folder: Any) -> None:
        """Take in an instant and draw."""
        if self._chosen == NOTHING:
            return
        names, unit, values = self._values(instant, units)
        t = instant.snapshot.state.t
        if unit != self._units or (self._past and t < self._past[-1][0]):
            self._forget()
        if self._past and t == self._past[-1][0]:
            self._past.pop()  # posed
        self._units = unit
        self._past.append((t, values))
        while t - self._past[0][0] > _SECONDS:
            self._past.popleft()
        self._draw(names, unit, folder)

    def _forget(self) -> None:
        self._past.clear()
        if self._plot is not None:
            self._plot.remove()
            self._plot = None

    def _draw(self, names: list[str], unit: str, folder: Any) -> None:
        times = np.array([t for t, _ in self._past])
        values = np.array([v for _, v in self._past]).reshape(len(times), -1)
        data = (times, *(np.ascontiguousarray(column) for column in values.T))
        if self._plot is not None:
            self._plot.data = data
            return
        lines: list[Any] = [{"label": "t [s]"}]
        lines += [
            {"label": name, "stroke": ON_PAPER[k % len(ON_PAPER)], "width": 2}
            for k, name in enumerate(names)
        ]
        with folder:
            self._plot = self._gui.add_uplot(
                data,
                tuple(lines),
                title=f"{self._chosen} [{unit}]",
                scales={"x": {"time": False}},
                legend={"show": True},
                height=_HEIGHT,
            )

    def _values(self, instant: Instant, units: Units) -> tuple[list[str], str, Array]:
        """Names, unit and values of what is chosen."""
        motors, state = list(self._mechanism.actuators.names), instant.snapshot.state
        if self._chosen == "motor efforts":
            return motors, "N·m or N", np.array(instant.snapshot.efforts)
        if self._chosen == "motor power":
            return motors, "W", motor_power(self._mechanism, instant)
        if self._chosen == "loop forces":
            return list(self._loops), "N", np.array(np.linalg.norm(instant.marks.forces, axis=1))
        if self._chosen == "tracking errors":
            return ["all tasks"], "m and rad", np.array([np.linalg.norm(instant.tracking_error)])
        if self._chosen == "energy":
            energy = instant.energy
            return ["kinetic", "total"], "J", np.array([energy.kinetic, energy.total])
        model, of = self._mechanism.model, _OF_JOINTS[self._chosen]
        unit, per = units.of(of)
        names = [name for name in self._joints if model.units[name] == of]
        return names, unit, np.array([per * state.q[model.position_index(name)] for name in names])
