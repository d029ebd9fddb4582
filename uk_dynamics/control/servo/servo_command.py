# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a command of the servo law says, whether its period was computed in Python or in C."""

from collections.abc import Mapping
from functools import partial
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from uk_dynamics.compilation.runtime import CompiledServo, PastPeriod
from uk_dynamics.control.command import Command
from uk_dynamics.control.limits.motor_limits import Bounds
from uk_dynamics.control.servo.compiled_period import CompiledPeriod, PeriodCommand
from uk_dynamics.control.servo.contact_schedule import Answer
from uk_dynamics.control.servo.servo_settings import ServoSettings
from uk_dynamics.core.servo import ServoSolution
from uk_dynamics.mechanism.dynamics import ServoOutcome, Standing, TrackingErrors
from uk_dynamics.mechanism.resolution import Array

_NOTHING_PROMISED: dict[str, Any] = {"error_bound": None, "beyond_bound": ()}


class _Past(NamedTuple):
    """What a command of a period in C is made of, when it is read."""

    law: CompiledServo
    past: PastPeriod
    efforts: Array  # that are sent, (motors,)
    flags: Array  # of motors at their power limits, and at their rate limits
    held: bool
    limit: Array  # of efforts, (motors,)
    promised: dict[str, Any]
    standing: Standing | None
    robust: bool  # whether the robust term acts


class ServoCommands(ServoSettings):
    """Makes commands of what the law has found; what it is set to decides on their contents."""

    def command_of(self, period: CompiledPeriod, efforts: Array, flags: Array) -> Command:
        """The command of the last period in C, by the efforts that are sent and its law's flags."""
        law, held = period.servo, bool(self.memory.fields["periods_held"][0])
        past, limit = law.past(), self.limits.effort.copy()
        promised = _NOTHING_PROMISED
        if self.promise is not None:
            promised = self._promised(self._relative(law, past))
        standing = None
        if self._plan is not None:
            standing = self._plan.stood(law.told(past, "asked"), law.told(past, "contact_most"))
        kept = _Past(
            law, past, efforts, flags.copy(), held, limit, promised, standing, self._robust
        )
        return PeriodCommand.of(efforts, partial(self._found, kept))

    def _decided(self, kept: _Past) -> tuple[ServoSolution, Array, dict[str, str], bool]:
        """Closed form of a period, its efforts, what limits them, and whether these are found."""
        law, past, flags, plan = kept.law, kept.past, kept.flags, self._plan
        servo = law.solution_of(past)
        if kept.held:
            found = kept.efforts if plan is None else law.told(past, "limited")
            return servo, found, {}, True
        bounds = Bounds(law.told(past, "lower"), law.told(past, "upper"), kept.limit, kept.limit)
        standing = kept.standing
        own = servo if plan is None or standing is None else plan.part(servo, standing)
        if self._serves(own, bounds, standing):
            return servo, servo.efforts, {}, True
        found, names = law.told(past, "limited"), self.mechanism.actuators.names
        limited = bounds.reasons(names, found[: len(names)])
        limited |= dict.fromkeys(compress(names, flags[: len(names)]), "power")
        limited |= dict.fromkeys(compress(names, flags[len(names) :]), "rate")
        return servo, found, limited, bool(law.told(past, "finished"))

    def _found(self, kept: _Past, name: str) -> dict[str, Any]:
        """Fields of a command that are found with one of them."""
        law, past, plan, standing = kept.law, kept.past, self._plan, kept.standing
        servo, found, limited, settled = self._decided(kept)
        if name in ("qdd", "free"):
            return caused_by(law.outcome_of(past), found)
        rows = len(self.tasks.constraints)
        errors = (law.told(past, f"tracking_{what}")[-rows:] for what in ("error", "rate"))
        stood = None
        if plan is not None and standing is not None:
            own = plan.part(servo, standing)
            own_efforts = own.efforts if found is servo.efforts else plan.of(found, standing)
            stood = plan.answer(own, own_efforts, standing)
            servo, found = stood.servo, stood.efforts
        told = self._told(servo, TrackingErrors(*errors), found, limited, stood, settled=settled)
        robust = law.robustness_of(past) if kept.robust else None
        own_fields = {"robust": robust, "efforts": kept.efforts, "held": kept.held}
        return told | kept.promised | own_fields

    def _told(
        self,
        servo: ServoSolution,
        errors: TrackingErrors,
        efforts: Array,
        limited: Mapping[str, str],
        stood: Answer | None,
        *,
        settled: bool,
    ) -> dict[str, Any]:
        """What the tasks get by efforts, which are those of the closed form or others."""
        residual, missing = servo.residual, dict[str, float]()
        unreachable: tuple[str, ...] = ()
        if efforts is not servo.efforts or not servo.fully_reachable or servo.crosses:
            residual, missed = servo.missed(efforts)
            missing = {
                name: float(np.linalg.norm(residual[rows]))
                for name, rows in self.tasks.constraints.slices.items()
                if missed[rows].any()
            }
            unreachable = tuple(compress(self.row_names, ~servo.reachable))
        return {
            "efforts": efforts,
            "requested": servo.efforts,
            "limited_by": limited if stood is None else {**limited, **stood.limited},
            "unreachable": unreachable,
            "missing": missing if stood is None else stood.missing | missing,
            "residual": residual,
            "tracking_error": self.tasks.lacking(errors.residual)
            / self.tasks.constraints.reference_scale,
            "tracking_rate": errors.rate / self.tasks.constraints.reference_scale,
            "servo": servo,
            "settled": settled,
            "contact_forces": {} if stood is None else stood.forces,
        }

    def _promised(self, errors: TrackingErrors) -> dict[str, Any]:
        """The promised bounds, and which rows are beyond."""
        if self.promise is None:
            return _NOTHING_PROMISED
        constraints, bound = self.tasks.constraints, self._bound()
        found = np.where(constraints.position_rows, errors.residual, errors.rate)
        beyond = np.abs(found / constraints.reference_scale) > bound
        return {"error_bound": bound, "beyond_bound": tuple(compress(self.row_names, beyond))}

    def _relative(self, law: CompiledServo, past: PastPeriod) -> TrackingErrors:
        """Errors of a period in C relative to the path of a blended start."""
        found = TrackingErrors(*(law.told(past, f"tracking_{what}") for what in ("error", "rate")))
        now = float(past.answers[0]) - 0.5 * (self.control_period or 0.0)
        return self.start.along(found, self.blend_time, now, now)[0]

    def _serves(
        self, servo: ServoSolution, bounds: Bounds, standing: Standing | None = None
    ) -> bool:
        """Whether the closed form is the answer, without a search."""
        if standing is not None:
            assert self._plan is not None
            within = bounds.contain(servo.efforts[: len(bounds.lower)])
            return within and self._plan.serves(servo, standing)
        conflict = servo.crosses or (self._ranked and not servo.fully_reachable)
        return bounds.contain(servo.efforts) and not conflict


def caused_by(outcome: ServoOutcome, efforts: Array) -> dict[str, Any]:
    """The motion that efforts cause, and that without them."""
    return {"qdd": outcome.qdd + outcome.response(efforts), "free": outcome.free}
