# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Settings of a servo controller that change while it is active, and what delays allow of them."""

from collections.abc import Callable
from itertools import compress

import numpy as np

from uk_dynamics.control import checked_internal_efforts
from uk_dynamics.control.servo import (
    GRAVITY_COMPENSATION,
    HOLD,
    TASKS,
    ServoModes,
    largest_frequency,
)
from uk_dynamics.exceptions import InputError
from uk_dynamics.ros.diagnostics.publisher import Report
from uk_dynamics.ros.parameters.parameter import (
    SWITCHES,
    TRAJECTORY,
    Parameter,
    Parameters,
    gain_parameters,
    motor_parameters,
    row_parameter,
    switch_parameter,
)


class LiveSettings:
    """Declares the parameters of tasks and motors, and applies every change.

    An invalid value is refused with the reason, and the previous one stays in force.
    """

    def __init__(self, settings: Parameters, modes: ServoModes) -> None:
        """Declare the parameters, and apply the values given at the start."""
        self._settings, self._modes = settings, modes
        self._motors = modes.mechanism.actuators.names
        self._by_trajectory = settings["command_mode"] == TRAJECTORY
        gains = {name: self._gains(name) for name in (modes.tasks.names if modes.tasks else ())}
        motors = self._motor_parameters()
        self._forces = dict(modes.tasks.allocation.internal_forces if modes.tasks else {})
        rows = [row_parameter(row, force) for row, force in self._forces.items()]
        rows += [switch_parameter(name) for name in self._switches]
        self._names = [p.name for group in (*gains.values(), motors, rows) for p in group]
        if problem := self._mode_problem(settings["mode"]):
            raise InputError(problem, place="parameter mode")
        settings.declare([*(p for group in gains.values() for p in group), *motors, *rows])
        settings.refuse("mode", self._mode_problem)

        for task, group in gains.items():
            for parameter in group:
                self._bind(parameter.name, lambda task=task: self._set_gains(task))
            if "robust" in self._switches and len(group) > 1:
                settings.refuse(
                    f"gains.{task}.damping_ratio",
                    lambda x: "" if x >= 1.0 else f"found {x:g}; a robust law needs 1 or more",
                )
        for name in self._switches:
            self._bind(name, lambda name=name: self._switch(name))
        for motor in self._motors:
            self._bind(f"limits.{motor}.effort", self._set_limits)
            self._bind(f"preload.{motor}", self._set_preload)
        for row in self._forces:
            settings.refuse(
                f"internal_forces.{row}",
                lambda force, row=row: self._internal_force_problem(row, force),
            )
            self._bind(
                f"internal_forces.{row}", lambda: modes.set_internal_forces(self._internal_forces())
            )
        for name in ("hold_frequency", "hold_damping_ratio"):
            self._bind(name, self._set_hold)
        self._bind("blend_time", self._set_blend_time)
        self._bind("mode", lambda: modes.select(settings["mode"]))
        self._bind("transfer_time", self._set_transfer_time)

    def destroy(self) -> None:
        """Undeclare the parameters of tasks and motors."""
        self._settings.refuse("mode", lambda mode: "")
        for name in ("hold_frequency", "hold_damping_ratio", "blend_time", "mode", "transfer_time"):
            self._settings.on_change(name, lambda: None)
        self._settings.forget(self._names)

    def _bind(self, name: str, apply: Callable[[], None]) -> None:
        apply()
        self._settings.on_change(name, apply)

    def _gains(self, task: str) -> tuple[Parameter, ...]:
        """Gains of a task; none for tasks on accelerations, which have no feedback."""
        constraints = self._modes.tasks.constraints
        rows = constraints.slices[task]
        if not constraints.motion_rows[rows].any():
            return ()
        return gain_parameters(
            task,
            self._modes.servo.gains[task],
            self._settings["update_rate"],
            damped=bool(constraints.position_rows[rows].any()),
        )

    def _motor_parameters(self) -> list[Parameter]:
        limits = self._modes.mechanism.actuators.effort_limits
        preload = self._modes.hold.preload  # that of all modes
        preload = np.zeros(len(limits)) if preload is None else preload
        values = zip(self._motors, limits.tolist(), preload.tolist(), strict=True)
        return [parameter for value in values for parameter in motor_parameters(*value)]

    def _set_gains(self, task: str) -> None:
        found = self._modes.servo.gains[task]
        ratio = f"gains.{task}.damping_ratio"
        self._modes.servo.gains.set(
            task,
            self._settings[f"gains.{task}.frequency"],
            self._settings[ratio] if ratio in self._names else found.damping_ratio,
        )
        self._modes.start_transfer()

    @property
    def _switches(self) -> tuple[str, ...]:
        """What the tasks file declares of what is switched while the law works."""
        tasks = self._modes.tasks
        if tasks is None:
            return ()
        declared = tasks.spec.robust is not None, tasks.adaptive > 0, tasks.observed.any()
        return tuple(compress(SWITCHES, declared))

    def _switch(self, name: str) -> None:
        setattr(self._modes.servo, name, self._settings[name])
        self._modes.start_transfer()

    def _set_limits(self) -> None:
        limits = [self._settings[f"limits.{motor}.effort"] for motor in self._motors]
        self._modes.restrict(np.array(limits))

    def _set_preload(self) -> None:
        preload = np.array([self._settings[f"preload.{motor}"] for motor in self._motors])
        self._modes.set_preload(preload if preload.any() else None)

    def _internal_forces(self) -> dict[str, float]:
        return {row: self._settings[f"internal_forces.{row}"] for row in self._forces}

    def _internal_force_problem(self, row: str, force: float) -> str:
        """Why a row cannot have this internal force; empty: it can."""
        try:
            checked_internal_efforts(self._modes.mechanism, self._internal_forces() | {row: force})
        except InputError as error:
            return str(error)
        return ""

    def _set_hold(self) -> None:
        settings = self._settings
        self._modes.hold.tune(settings["hold_frequency"], settings["hold_damping_ratio"])
        self._modes.start_transfer()

    def _set_blend_time(self) -> None:
        if self._modes.servo is not None:
            self._modes.servo.blend_time = self._settings["blend_time"]

    def _set_transfer_time(self) -> None:
        # the efforts sent to drives that follow a motion must belong to that motion
        self._modes.transfer_time = 0.0 if self._by_trajectory else self._settings["transfer_time"]

    def _mode_problem(self, mode: str) -> str:
        if mode == TASKS and self._modes.tasks is None:
            return "there are no tasks; clean up, name a file in the parameter tasks, and configure"
        if self._by_trajectory and mode == GRAVITY_COMPENSATION:
            return (
                "drives that follow trajectories hold positions; choose a command_mode of efforts"
            )
        return ""


class GainCheck:
    """Compares the gains of the present mode with the largest frequency for the measured delay."""

    def __init__(self, modes: ServoModes, settings: Parameters) -> None:
        """Prepare; ``settings`` has the gains of mode hold."""
        self._modes, self._settings = modes, settings
        self._checked: object = None
        self._warnings: tuple[str, ...] = ()

    def look(self, predicted: float, remaining: float) -> tuple[str, ...]:
        """Warnings, if gains, mode or the delay, predicted and remaining, in s, have changed."""
        gains = self._gains()
        # a delay that is measured differs a little every time
        key = gains, round(2.0 * predicted / remaining), round(1e4 * remaining)
        if key == self._checked:
            return ()
        self._checked = key
        delays = (
            f"a delay of {1e3 * (predicted + remaining):.3g} ms, of which {1e3 * predicted:.3g} ms"
            " are predicted"
        )
        self._warnings = tuple(
            f"{name} is {frequency:.3g} Hz, but with {delays}, at most {largest:.2g} Hz are safe:"
            " lower it, or raise the rate"
            for name, frequency, damping_ratio in gains
            if frequency > (largest := largest_frequency(damping_ratio, predicted, remaining))
        )
        return self._warnings

    def report(self, report: Report) -> None:
        """Repeat the warnings in force."""
        for warning in self._warnings:
            report.warn(warning)

    def _gains(self) -> tuple[tuple[str, float, float | None], ...]:
        """Parameter, frequency and damping ratio (None: order velocity) of each feedback."""
        modes = self._modes
        if modes.mode == HOLD:
            ratio = self._settings["hold_damping_ratio"]
            return (("hold_frequency", self._settings["hold_frequency"], ratio),)
        if modes.mode != TASKS or modes.tasks is None or modes.servo is None:
            return ()
        found: list[tuple[str, float, float | None]] = []
        rows = modes.tasks.constraints
        for task in modes.tasks.names:
            part = rows.slices[task]
            gains = modes.servo.gains[task]
            name = f"gains.{task}.frequency"
            if rows.position_rows[part].any():
                found.append((name, gains.frequency, gains.damping_ratio))
            elif rows.motion_rows[part].any():
                found.append((name, gains.frequency, None))
        return tuple(found)
