# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Geometry of loops from redundant encoders, or from a tracker: places of pins, encoder offsets."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from uk_dynamics.control.estimation import EstimationStatus, StateCompletion
from uk_dynamics.exceptions import AssemblyError, InputError, expect_names
from uk_dynamics.identification.identifiability import Identifiability, identifiability
from uk_dynamics.identification.linear_parameters import matching
from uk_dynamics.mechanism.files import EstimatesSpec
from uk_dynamics.mechanism.resolution import Array, Indices
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import Trajectory
from uk_dynamics.whole_file import require_regular

PLACES = ("constraints.*.parent.*", "constraints.*.child.*", "encoders.*")
_GEOMETRY = ("constraints.", "joints.")
_ROUNDS = 8
_SETTLED = 1e-10  # m or rad
_STEP = 1e-5  # m or rad, of differences: Newton's method leaves 1e-11
_TOLD = 1e-4  # of the largest singular value
_MIXED = 0.01  # part of a parameter in directions that are not told
_SAMPLES = 60  # of each recording that are used; a third of them to check
_LOOSE = 10.0  # m or rad: misfits are what is looked for


@dataclass(frozen=True)
class Tracked:
    """Positions of a link that a tracker measured, in world axes."""

    link: str  # whose origin it is
    t: Array  # times of the recording, (K,), in s
    positions: Array  # (K, 3), in m
    deviation: float = 1e-3  # standard deviation, in m


def read_tracker(file: str, link: str, deviation: float = 1e-3) -> Tracked:
    """Positions of a link from a CSV file with the columns t, x, y, z; InputError: no such file."""
    require_regular(Path(file))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an empty file
            table = np.genfromtxt(file, delimiter=",", names=True, encoding="utf-8")
        columns = [np.atleast_1d(table[name]) for name in ("t", "x", "y", "z")]
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=file) from None
    except (ValueError, IndexError):
        raise InputError("expected the columns t, x, y, z", file=file) from None
    if len(columns[0]) < 2 or not np.isfinite(columns).all():
        raise InputError("expected finite numbers in at least two lines", file=file)
    return Tracked(link, columns[0], np.column_stack(columns[1:]), deviation)


@dataclass(frozen=True)
class Placement:
    """A coordinate of the geometry after calibration."""

    name: str  # such as ``constraints.pin.parent.x`` or ``encoders.crank``
    unit: str  # m or rad
    before: float  # in the files
    value: float  # estimated
    deviation: float  # standard deviation of what the data tell
    determined: bool  # whether they determine it by itself


@dataclass(frozen=True, eq=False)
class Calibration:
    """Geometry that agrees best with measurements."""

    mechanism: Mechanism  # as its files have it
    placements: tuple[Placement, ...]  # what was estimated
    covariance: Array  # of the values, in directions that are told, (p, p)
    # what these measurements tell: combinations, and coordinates without effect
    limits: Identifiability
    before: float  # root mean square of the misfit of joints and tracker, weighted, in m or rad
    after: float  # the same with the estimates
    held_out_before: float  # of samples that were not used
    held_out: float  # the same with the estimates

    def __getitem__(self, name: str) -> Placement:
        """A coordinate by its name."""
        return {placement.name: placement for placement in self.placements}[name]

    @property
    def values(self) -> dict[str, float]:
        """New values for ``Mechanism.with_parameters``."""
        return {x.name: x.value for x in self.placements if not x.name.startswith("encoders.")}

    def to_file(
        self,
        recordings: Sequence[str],  # names of the files
        date: str,  # in ISO 8601
    ) -> EstimatesSpec | None:
        """What the measurements tell, for a mechanism file; None if nothing."""
        at = [k for k, x in enumerate(self.placements) if x.determined]
        values = {self.placements[k].name: self.placements[k].value for k in at}
        if not values:
            return None
        covariance = self.covariance[np.ix_(at, at)]
        return EstimatesSpec.made("calibrate", recordings, date, values, covariance)

    @property
    def offsets(self) -> dict[str, float]:
        """What encoders show beyond the joint position, by joint, in m or rad."""
        of_encoders = (x for x in self.placements if x.name.startswith("encoders."))
        return {x.name.removeprefix("encoders."): x.value for x in of_encoders}


def calibrate(
    mechanism: Mechanism,  # as its files have it
    # positions of the measured joints; of a machine with more encoders than it needs, or with a
    # tracker
    recordings: Sequence[Trajectory],
    *,
    # names, in which ``*`` stands for anything: ``constraints.NAME.parent.x``,
    # ``joints.NAME.origin.x``, ``encoders.JOINT`` for the offset of an encoder
    estimate: Sequence[str] = PLACES,
    # joints with an encoder; None: those of the mechanism file
    measured: Sequence[str] | None = None,
    tracked: Tracked | None = None,  # what a tracker measured during the first recording
    # called with the part of the work that was done since the last call; the parts sum up to 1 at
    # most
    progress: Callable[[float], object] | None = None,
) -> Calibration:
    """Find the geometry for which the loops agree with the measurements, by Gauss–Newton.

    For each geometry the loops are closed on the measured joints in the sense of least squares;
    what they do not allow is the misfit. Directions that change no misfit stay as in the files.

    Raises:
        UnknownNameError: A name does not exist.
        InputError: There is nothing to calibrate with, or loops do not close near the measurements.
    """
    names = _names(mechanism, estimate, measured)
    problem = _Problem(mechanism, recordings, names, measured, tracked, progress)
    values = problem.before.copy()
    told = reduced = np.zeros((0, len(names)))
    check = slice(2, None, 3)
    used = np.ones(problem.count, dtype=bool)
    used[check] = False
    first, jacobian = problem.misfit(values), np.zeros((0, len(names)))
    left = first
    for _ in range(_ROUNDS):
        jacobian = problem.slopes(values, left)[used].reshape(-1, len(names))
        _, sizes, right = np.linalg.svd(jacobian, full_matrices=False)
        told = right[sizes > _TOLD * sizes[0]] if len(sizes) else right[:0]
        reduced = jacobian @ told.T
        step = told.T @ np.linalg.lstsq(reduced, -left[used].reshape(-1), rcond=None)[0]
        values = values + step
        left = problem.misfit(values)
        if np.abs(step).max(initial=0.0) < _SETTLED:
            break
    rows = max(1, left[used].size - len(told))
    variance = float((left[used] ** 2).sum()) / rows
    covariance = variance * told.T @ np.linalg.inv(reduced.T @ reduced) @ told
    unseen = 1.0 - (told**2).sum(axis=0)
    limits = identifiability(jacobian, names, np.ones(len(names)), _TOLD)
    placements = tuple(
        Placement(
            name=name,
            unit=unit,
            before=float(b),
            value=float(v),
            deviation=float(np.sqrt(max(covariance[k, k], 0.0))),
            determined=bool(unseen[k] < _MIXED),
        )
        for k, (name, unit, b, v) in enumerate(
            zip(names, problem.units, problem.before, values, strict=True)
        )
    )
    return Calibration(
        mechanism,
        placements,
        covariance,
        limits,
        before=_rms(first[used]),
        after=_rms(left[used]),
        held_out_before=_rms(first[check]),
        held_out=_rms(left[check]),
    )


def _spread(count: int) -> Indices:
    """Numbers of the samples that are used, of so many."""
    return np.linspace(0, count - 1, min(_SAMPLES, count)).astype(np.intp)


def _rms(values: Array) -> float:
    return float(np.sqrt((values**2).mean())) if values.size else 0.0


def _names(
    mechanism: Mechanism, patterns: Sequence[str], measured: Sequence[str] | None
) -> tuple[str, ...]:
    encoders = measured if measured is not None else mechanism.measured.names
    geometry = [
        name
        for name, x in mechanism.parameters.items()
        if name.startswith(_GEOMETRY) and x.unit == "m" and name.split(".")[-1] in "xyz"
    ]
    known = [*geometry, *(f"encoders.{name}" for name in encoders)]
    return matching(patterns, known, PLACES, "coordinate")


class _Problem:
    """Misfits of measurements as a function of the geometry."""

    def __init__(
        self,
        mechanism: Mechanism,
        recordings: Sequence[Trajectory],
        names: Sequence[str],
        measured: Sequence[str] | None,
        tracked: Tracked | None,
        progress: Callable[[float], object] | None,
    ) -> None:
        self._mechanism, self._names, self._measured = mechanism, names, measured
        completion = StateCompletion(mechanism, measured, largest_misfit=_LOOSE)
        if not completion.redundant and tracked is None:
            raise InputError(
                f"found as many encoders as degrees of freedom"
                f" ({', '.join(completion.encoders.names)});"
                " geometry needs more of them, or a tracker",
                place="measured",
            )
        self._encoders = completion.encoders.names
        self._weights = 1.0 / completion.encoders.deviations
        self._readings: list[Array] = []
        for recording in recordings:
            expect_names("joint", self._encoders, recording.names.positions)
            columns = [recording.names.positions.index(name) for name in self._encoders]
            self._readings.append(recording.q[_spread(len(recording.t))][:, columns])
            if not np.isfinite(self._readings[-1]).all():
                raise InputError("some positions are not finite", place=recording.name)
        self._tracked = tracked
        if tracked is not None:  # during the first recording, (samples, 3)
            t = recordings[0].t[_spread(len(recordings[0].t))]
            seen = [np.interp(t, tracked.t, column) for column in tracked.positions.T]
            self._points = np.column_stack(seen)
            mechanism.model.frame_index(tracked.link)
        self.count = sum(map(len, self._readings))
        known, of_joints = mechanism.parameters, mechanism.model.units
        self.before = np.array([known[n].value if n in known else 0.0 for n in names])
        self.units = [
            known[n].unit if n in known else of_joints[n.removeprefix("encoders.")] for n in names
        ]
        # misfits at first, and in each round of the values and of a step of each
        self._part = 1.0 / (self.count * (1 + _ROUNDS * (1 + len(names))))
        self._progress = progress

    def misfit(self, values: Array) -> Array:
        """Misfits of each sample, (samples, joints and tracker coordinates), if loops close."""
        given = dict(zip(self._names, values.tolist(), strict=True))
        offsets = np.array([given.get(f"encoders.{name}", 0.0) for name in self._encoders])
        geometry = {name: x for name, x in given.items() if name in self._mechanism.parameters}
        machine = self._mechanism.with_parameters(geometry)
        try:
            completion = StateCompletion(machine, self._measured, largest_misfit=_LOOSE)
        except AssemblyError as error:
            raise InputError(f"the calibrated loops do not close: {error}") from None
        found = []
        for part, readings in enumerate(self._readings):
            completion.reset()
            for k, reading in enumerate(readings):
                state = completion.complete(reading - offsets)
                if state.status is EstimationStatus.LOST:
                    raise InputError(
                        f"the loops do not close near sample {k} of recording {part + 1}",
                        place=", ".join(state.joints),
                    )
                row = state.misfit * self._weights
                if self._tracked is not None:
                    place, _ = machine.pose(self._tracked.link, state.q)
                    off = self._points[k] - place if part == 0 else np.zeros(3)
                    row = np.concatenate([row, off / self._tracked.deviation])
                found.append(row)
                if self._progress is not None:
                    self._progress(self._part)
        return np.array(found)

    def slopes(self, values: Array, here: Array) -> Array:
        """Change of the misfits per m or rad, (samples, misfits, p)."""
        columns = []
        for k in range(len(values)):
            ahead = values.copy()
            ahead[k] += _STEP
            columns.append((self.misfit(ahead) - here) / _STEP)
        return np.stack(columns, axis=-1)


def facts(found: Calibration) -> Mapping[str, object]:
    """What was estimated, and how well, as dicts and lists."""
    return {
        "mechanism": found.mechanism.name,
        "coordinates": {
            x.name: {
                "value": x.value,
                "deviation": x.deviation,
                "file": x.before,
                "unit": x.unit,
                "determined": x.determined,
            }
            for x in found.placements
        },
        "combinations": [dict(x.terms) for x in found.limits.base],
        "no_effect": list(found.limits.without_effect),
        "encoder_offsets": found.offsets,
        "misfit_before": found.before,
        "misfit_after": found.after,
        "held_out_before": found.held_out_before,
        "held_out_after": found.held_out,
        "covariance": {
            "coordinates": [x.name for x in found.placements],
            "matrix": found.covariance.tolist(),
        },
    }
