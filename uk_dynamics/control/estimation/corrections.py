# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Corrections of a servo law by what it learns of its machine; see :mod:`correction_rule`.

The steps are those of ``correction.c``, on the same memory.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.core.servo import (
    Instant,
    Learned,
    Measurement,
    Watched,
    lag_share,
    learned,
    next_scale,
    observed,
    settled_gain,
    watched,
)
from uk_dynamics.exceptions import InputError, StateError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import ServoOutcome, TrackingErrors
from uk_dynamics.mechanism.files import EstimatesSpec
from uk_dynamics.mechanism.resolution import Array

_LEAST = 0.5  # P is 1 or more by its rule, and rounding
_UNDETERMINED = 0.5  # of the interval's half width: more is left open


class Estimate(NamedTuple):
    """One parameter as a law estimates it while its machine moves."""

    name: str  # as in ``mechanism.parameters``
    value: float  # in SI units
    deviation: float  # standard deviation
    determined: bool  # whether the data leave less than half of the interval


class Corrections:
    """Estimates of parameters, and what else acts, from period to period."""

    def __init__(self, tasks: Tasks, fields: Mapping[str, Array]) -> None:
        """Keep what is remembered in arrays on which C works too: fields of the layout."""
        rows, p = len(tasks.constraints), tasks.adaptive
        self.tasks, self._fields, self._adapts = tasks, fields, bool(p)
        fields["observer_rate"][:] = tasks.observed
        if (robust := tasks.spec.robust) is not None:
            fields["loop_delay"][0], fields["leakage"][0] = robust.delay, robust.leakage or 0.0
        self._observed = fields["observed"].reshape(2, rows)
        self._watched: Watched | None = None
        if tasks.watched.any():
            fields["watch_rate"][:] = tasks.watched
            kept = fields["watched"], fields["past_followed"]
            self._watched = Watched(*(x.reshape(3, rows) for x in kept))
        if p:
            shapes = {"information": (p, p), "filtered": (2, 2, rows)}
            shapes["filtered_regressor"] = (2, rows, p)
            names = Learned._fields
            self._learned = Learned(*(fields[x].reshape(shapes.get(x, (-1,))) for x in names))
            self._regressor = fields["regressor"].reshape(rows, p)
            self._explaining = fields["explaining"].reshape(rows, p)

    def after(
        self, errors: TrackingErrors, told: Measurement, followed: ReferenceSample | None
    ) -> tuple[TrackingErrors, Array]:
        """Errors with observed rates, and what to add to what the tasks ask for, (mt,).

        By what velocities tell, and references of the same time; None: these are zero.
        """
        fields, observes = self._fields, float(self._fields["observes"][0])
        past = (fields[name] for name in ("past_rate", "drift", "driven"))
        now = Instant(told, errors.rate, *past)
        # a state that is told again changes nothing, after a pause there are none
        fields["late_share"][:] = told.fresh * lag_share(told.elapsed, fields["loop_delay"])
        fields["late_efforts"][:] = now.begun(fields["late_efforts"])
        explained = np.zeros(len(errors.rate))
        if self._adapts:
            assert self.tasks.uncertainty is not None
            ends = self.tasks.uncertainty.ends()
            found = learned(now, self._learned, self._explaining, fields["push"], ends)
            for mine, new in zip(self._learned, found, strict=True):
                mine[:] = new
            explained = fields["adapts"] * (self._regressor @ self._learned.estimate)
            if (falls := self.tasks.uncertainty.gain_falls) is not None:
                known = found.information, fields["adapts"]
                fields["robust_gain"][:] = settled_gain(*falls, *known)
        if self.tasks.learns_size:
            scale, growth = fields["robust_scale"], fields["scale_growth"]
            scale[:] = next_scale(scale, growth, fields["leakage"], told.elapsed * told.differs)
        self._observed[:] = observed(now, self._observed, explained, fields["observer_rate"])
        rest = np.subtract(*self._observed)
        fields["added"][:] = told.differs * explained - observes * rest
        if self._adapts:
            cut = told.differs * (fields["reached"] - fields["driven"])
            fields["lacking"][:] = cut - fields["added"] - fields["adapts"] * rest
        if told.fresh[0]:
            fields["past_rate"][:] = errors.rate
        if self._watched is not None:
            aims = np.zeros((3, len(explained))) if followed is None else np.stack(followed)
            rates = fields["watch_rate"]
            seen = watched(now, self._watched, errors.residual, aims, explained, rates)
            for mine, new in zip(self._watched, seen, strict=True):
                mine[:] = new
            errors = errors._replace(rate=np.where(rates > 0.0, seen.state[1], errors.rate))
        return errors, fields["added"].copy()

    def note(self, outcome: ServoOutcome, efforts: Array) -> None:
        """Keep what the model says of the errors until the next period, with efforts, (motors,)."""
        assert outcome.drift is not None
        self._fields["drift"][:] = outcome.drift
        late = self._fields["late_efforts"]
        late += self._fields["late_share"] * (efforts - late)
        self._fields["driven"][:] = outcome.servo.map @ late
        self._fields["scale_growth"][0] = 0.0 if outcome.robust is None else outcome.robust.growth
        if outcome.regression is not None:
            kept = self._regressor, self._explaining, self._fields["push"], self._fields["reached"]
            for mine, new in zip(kept, outcome.regression, strict=True):
                mine[:] = new

    def estimates(self) -> tuple[Estimate, ...]:
        """Parameters that are estimated, as they are known now."""
        uncertainty = self.tasks.uncertainty
        if uncertainty is None or not self._adapts:
            return ()
        numbers = self._learned.estimate, self._learned.fitted, self._learned.information.ravel()
        values, spread = (x[0].tolist() for x in self.read(np.concatenate(numbers)[None]))
        units, names = uncertainty.units(), self.tasks.spec.adaptive
        return tuple(
            Estimate(name, value, x, bool(2.0 * x < _UNDETERMINED * unit))
            for name, value, x, unit in zip(names, values, spread, units, strict=True)
        )

    def read(self, learned: Array) -> tuple[Array, Array]:
        """Estimates and their standard deviations, (K, p) each, of memory of K instants.

        Raises:
            StateError: That is not what this law has left: information never falls below what the
                intervals tell, P ≥ 1.
        """
        assert self.tasks.uncertainty is not None
        p, units = self.tasks.adaptive, self.tasks.uncertainty.units()
        information = learned[:, 2 * p :].reshape(-1, p, p)
        known = np.isfinite(information).all()
        if not known or np.linalg.eigvalsh(information).min(initial=1.0) < _LEAST:
            names = ", ".join(self.tasks.spec.adaptive)
            raise StateError(
                f"the information on {names} is less than their intervals tell: something else has"
                " written to the memory of this law; forget() begins with the model again",
                place="information",
            )
        spread = np.sqrt(np.linalg.inv(information).diagonal(axis1=1, axis2=2))
        model = np.array(list(self.tasks.uncertainty.estimated(np.zeros(p)).values()))
        return model + units * learned[:, :p], units * spread

    def to_file(self, date: str) -> EstimatesSpec:
        """Parameters that data determine, as a mechanism file says it, with a date in ISO 8601."""
        uncertainty, found = self.tasks.uncertainty, self.estimates()
        places = [k for k, x in enumerate(found) if x.determined]
        if uncertainty is None or not places:
            problem = "the motion has determined no parameter yet; excite them, and try again"
            raise InputError(problem, file=self.tasks.spec.file, place="adaptive")
        units = uncertainty.units()
        covariance = np.linalg.inv(self._learned.information) * np.outer(units, units)
        values = {found[k].name: found[k].value for k in places}
        return EstimatesSpec.made("adapt", (), date, values, covariance[np.ix_(places, places)])

    def forget(self) -> None:
        """Know no more than the file."""
        if self.tasks.learns_size:
            self._fields["robust_scale"][:] = 0.0
        if self._adapts:
            self._learned.estimate[:] = self._learned.fitted[:] = 0.0
            self._learned.information[:] = np.eye(len(self._learned.estimate))
            self._learned.variance[:] = 0.0
