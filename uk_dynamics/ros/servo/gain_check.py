# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Warns of gains that the delay of the loop does not allow."""

from __future__ import annotations

from uk_dynamics.control.servo import HOLD, TASKS, ServoModes, largest_frequency
from uk_dynamics.ros.diagnostics.publisher import Report
from uk_dynamics.ros.parameters.parameter import Parameters


class GainCheck:
    """Compares the gains of the present mode with the largest frequency for the measured delay."""

    def __init__(self, modes: ServoModes, settings: Parameters) -> None:
        """Prepare; ``settings`` has the gains of mode hold."""
        self._modes = modes
        self._settings = settings
        self._checked: object = None
        self._warnings: tuple[str, ...] = ()

    def look(self, predicted: float, remaining: float) -> tuple[str, ...]:
        """Warnings, if gains, mode or delay have changed since the last call.

        Args:
            predicted: Delay that is predicted, in s.
            remaining: Delay that is not, in s.
        """
        gains = self._gains()
        # a delay that is measured differs a little every time
        key = gains, round(2.0 * predicted / remaining), round(1e4 * remaining)
        if key == self._checked:
            return ()
        self._checked = key
        self._warnings = tuple(self._compare(gains, predicted, remaining))
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

    def _compare(
        self,
        gains: tuple[tuple[str, float, float | None], ...],
        predicted: float,
        remaining: float,
    ) -> list[str]:
        warnings = []
        for name, frequency, damping_ratio in gains:
            largest = largest_frequency(damping_ratio, predicted, remaining)
            if frequency > largest:
                warnings.append(
                    f"{name} is {frequency:.3g} Hz, but with a delay of"
                    f" {1e3 * (predicted + remaining):.3g} ms, of which"
                    f" {1e3 * predicted:.3g} ms are predicted, at most {largest:.2g} Hz are safe:"
                    " lower it, or raise the rate"
                )
        return warnings
