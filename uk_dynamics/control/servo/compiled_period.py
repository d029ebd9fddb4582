# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Whole control periods of a servo controller in C.

The steps are those of :class:`ServoController`; ``compilation/c/control_period.c`` has them too.
What they remember from one period to the next goes to C before it takes over, and comes back
afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from uk_dynamics.compilation.runtime import CompiledControl, CompiledServo
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.control.internal_efforts import InternalEfforts
from uk_dynamics.control.limits.motor_limits import MotorLimits
from uk_dynamics.control.servo.bumpless_start import BumplessStart
from uk_dynamics.control.servo.prediction import Prediction
from uk_dynamics.control.servo.task_gains import TaskGains
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import ServoOutcome, TrackingErrors
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array


class Settings(NamedTuple):
    """What a caller may set between two periods; attributes of :class:`ServoController`."""

    weights: Array
    preload: Array | None
    internal: InternalEfforts | None
    control_period: float | None
    blend_time: float
    friction: str
    active: ActiveConstraints | None
    structure: Mapping[str, ReferenceSample]


class Steps(NamedTuple):
    """The steps that remember something or can be tuned."""

    gains: TaskGains
    limits: MotorLimits
    prediction: Prediction | None
    start: BumplessStart


class Decided(NamedTuple):
    """What C decided in its last period, besides the closed form."""

    errors: TrackingErrors
    interval: tuple[Array, Array]
    limited: Array
    settled: bool


class CompiledPeriod:
    """Control periods of a servo controller in C.

    Attributes:
        law: What C calls.
        tasks: Whose law it is.
    """

    def __init__(
        self, servo: CompiledServo, tasks: Tasks, steps: Steps, settings: Callable[[], Settings]
    ) -> None:
        self._servo = servo
        self._control = CompiledControl(servo, tasks)
        self.tasks = tasks
        self._steps, self._settings = steps, settings
        self._scale = tasks.constraints.reference_scale
        self.law = self._control.law

    def load(self) -> None:
        """Hand over settings and what the last periods left.

        Raises:
            ForeignReferenceError: Something follows an object of Python.
        """
        control, settings = self._control, self._settings()
        gains, limits, prediction, start = self._steps
        control.follow(settings.structure, settings.active)
        control["weights"] = settings.weights
        control["preload"] = 0.0 if settings.preload is None else settings.preload
        control["internal"] = settings.internal is not None
        if settings.internal is not None:
            control["internal_row"] = settings.internal.named
            control["internal_force"] = settings.internal.added
            control["internal_unit"] = settings.internal.unit
        control["period"] = settings.control_period or 0.0
        control["blend_time"] = settings.blend_time
        control["friction"] = settings.friction == "model"
        control["task_damping"], control["task_stiffness"] = gains.damping, gains.stiffness
        control["effort_limit"], control["power_limit"] = limits.effort, limits.power
        control["rate_step"] = limits.step
        control["commanded_known"] = limits.has_rate_limits and limits.last is not None
        control["commanded"] = 0.0 if limits.last is None else limits.last
        last = None if prediction is None else prediction.last
        qdd = None if prediction is None else prediction.qdd
        control["past_known"] = last is not None
        control["past_t"], control["past_v"] = last or (0.0, 0.0)
        control["acceleration_known"] = qdd is not None
        control["measured_qdd"] = 0.0 if qdd is None else qdd
        control["begun"] = start.begin is not None
        control["begin"], control["approach_time"] = start.begin or 0.0, start.duration
        if start.begin is not None:
            path = start.path.copy()
            of_rate = start.velocity_rows
            path[:4, of_rate], path[4:, of_rate] = start.rate_path[:, of_rate], 0.0
            control["approach"] = path.T.ravel()

    def store(self) -> None:
        """Take over what the last periods in C left."""
        control = self._control
        _, limits, prediction, start = self._steps
        if limits.has_rate_limits:
            limits.last = control["commanded"] if control["commanded_known"] else None
        if prediction is not None:
            known = bool(control["past_known"])
            prediction.last = (float(control["past_t"][0]), control["past_v"]) if known else None
            prediction.qdd = control["measured_qdd"] if control["acceleration_known"] else None
        start.begin = float(control["begin"][0]) if control["begun"] else None
        start.duration = float(control["approach_time"][0])
        start.path = control["approach"].reshape(-1, 6).T
        start.rate_path = start.path[:4]

    def last(self) -> tuple[ServoOutcome, Decided]:
        """The closed form of the last period, and what was decided with it."""
        control = self._control
        decided = Decided(
            TrackingErrors(control["tracking_error"], control["tracking_rate"]),
            (control["lower"], control["upper"]),
            control["limited"],
            bool(control["finished"]),
        )
        return self._servo.last_outcome(), decided

    def tracking_errors(self, t: Array, q: Array, v: Array) -> Array | None:
        """Errors of the task rows at K states, (K, mt), in m or rad; None: C has none."""
        errors = self._control.tracking_errors(t, q, v)
        return None if errors is None else errors / self._scale
