# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The motion of a machine from its recorded encoders: noise removed, derivatives, loops closed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.interpolate
import scipy.signal

from uk_dynamics.control.estimation import EstimationStatus, StateCompletion
from uk_dynamics.exceptions import InputError, UnknownNameError, expect_names
from uk_dynamics.identification.regressor import (
    UNSTABILIZED,
    HeldCommands,
    Motions,
    bound_acceleration,
    rms,
)
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Flags, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import Trajectory

_ORDER = 4
_ABOVE_NOISE = 30.0  # of the power density: where the motion ends and noise begins
_WIDER = 3.0  # cut-off above the motion, where 1e-4 of an amplitude is taken
_QUIET = 0.25  # of the sampling rate: only noise is expected above
_LARGEST = 0.1  # of the sampling rate: highest cut-off
_SETTLING = 3.0  # periods of the cut-off, at both ends: the filter has no past there
_SMEARED = 0.5  # periods of the cut-off: how far a jump of the acceleration is felt
_FEWEST = 50  # samples
_GAP = 3.5  # periods without a state: what a line between positions no longer replaces
_MOST = 100.0  # times as long as its samples: a recording with gaps, not wrong times
_AT_LIMIT = 0.97  # of an effort limit: three deviations of 1 % noise below it


@dataclass(frozen=True)
class MeasuredMotion:
    """A motion, and how it was obtained."""

    motions: Motions  # samples that agree with the loops
    measured: tuple[str, ...]  # joints with an encoder
    cutoff: float  # of the low-pass filter, in Hz
    # standard deviation of what the filter took from each measured joint, (d,), in m or rad
    noise: Array
    # what the loops do not allow of redundant measurements, root mean square, (d,), in m or rad
    misfit: Array
    # part of the samples where a motor was at its effort limit, of the motors that were; these
    # samples are left out, their efforts are NaN
    saturated: dict[str, float]
    lost: float = 0.0  # part of the time without states, which is left out too


def measured_motion(
    mechanism: Mechanism,  # that moved
    recording: Trajectory,  # positions of the measured joints and efforts of the motors
    *,
    # joints with an encoder; None: those of the mechanism file
    measured: Sequence[str] | None = None,
    # of the filter, in Hz; None: three times the frequency where noise begins
    cutoff: float | None = None,
    rate: float = 200.0,  # samples per second of the result, at most
    place: str = "recording",  # of the recording, for errors
    # called with the recorded time that has been treated since the last call, in s
    progress: Callable[[float], object] | None = None,
) -> MeasuredMotion:
    """Positions, velocities and accelerations of all joints, with the motor efforts.

    Measured positions pass a low-pass filter without phase (Butterworth, forwards and backwards)
    and are differentiated as quintic splines; other joints follow from the loops. Efforts hold
    until the next sample, as commands do, and are averaged around each instant. Where one is at its
    limit, command and effort differ: these samples are left out, and those without states.

    Raises:
        UnknownNameError: A measured joint or a motor is not in the recording.
        InputError: Too few samples, or too few below the effort limits; numbers that are not
            finite; joints with several freedoms; or the loops do not close on the measurements.
    """
    if not mechanism.model.is_euclidean:
        raise InputError(
            "floating and planar joints have no encoder to identify from", place=mechanism.name
        )
    completion = StateCompletion(mechanism, measured)
    names = completion.encoders.names
    t, positions, efforts = _columns(mechanism, recording, names, place)
    period = float(np.median(np.diff(t)))
    t, positions, efforts, lost = _regular(t, positions, efforts, period, place)
    frequency = _cutoff(positions, 1.0 / period) if cutoff is None else cutoff
    if frequency >= 0.5 / period:
        raise InputError(
            f"found a cut-off of {frequency:g} Hz; give one below half the sampling rate,"
            f" {0.5 / period:g} Hz",
            file=place,
        )
    if frequency * (t[-1] - t[0]) < 1.0:
        raise InputError(
            f"found a cut-off of {frequency:g} Hz; give one of which a period is in the recording",
            file=place,
        )
    filter_ = scipy.signal.butter(_ORDER, frequency, fs=1.0 / period, output="sos")
    smooth = scipy.signal.sosfiltfilt(filter_, positions, axis=0)
    curve = scipy.interpolate.make_interp_spline(t, smooth, k=5)
    half = max(1, round(0.5 / (rate * period)))
    margin = max(half, round(_SETTLING / (frequency * period)))
    chosen = np.arange(margin, len(t) - margin, 2 * half)
    if len(chosen) < _FEWEST:
        raise InputError(
            f"{len(chosen)} samples are left after filtering; record longer", file=place
        )
    limits = mechanism.actuators.effort_limits
    saturated = np.abs(efforts) >= _AT_LIMIT * np.where(limits > 0.0, limits, np.inf)
    smeared = max(1, round(_SMEARED / (frequency * period)))  # by the filter, to each side
    around = np.ones(2 * smeared + 1)
    lost = np.convolve(lost, around, mode="same") > 0.5
    jerked = np.convolve(saturated.any(axis=1), around, mode="same") > 0.5
    usable = ~(jerked | lost)
    commands, window = HeldCommands(t[0], period, efforts, usable), 2 * half * period
    mean = commands.mean(t[chosen], window)
    left_out = np.isnan(mean).any(axis=1)
    by_motor = zip(mechanism.actuators.names, saturated.mean(axis=0).tolist(), strict=True)
    parts = {name: part for name, part in by_motor if part > 0.0}
    if (~left_out).sum() < _FEWEST:
        motors = ", ".join(f"{motor} in {part:.0%}" for motor, part in parts.items()) or "none"
        raise InputError(
            f"{(~left_out).sum()} of {len(chosen)} samples can be used, expected at least"
            f" {_FEWEST}: motors at their effort limits: {motors}; without states:"
            f" {lost.mean():.0%}; record a slower motion, or check that the recording is of this"
            " mechanism",
            file=place,
        )
    closed, misfits = _closed(completion, curve, t[chosen], mean, place, progress)
    motions = replace(closed, window=window, commands=commands, highest=frequency / _WIDER)
    noise = (positions - smooth)[margin:-margin].std(axis=0)
    return MeasuredMotion(motions, names, frequency, noise, rms(misfits), parts, float(lost.mean()))


def _columns(
    mechanism: Mechanism, recording: Trajectory, names: Sequence[str], place: str
) -> tuple[Array, Array, Array]:
    """Times, measured positions and motor efforts, without repeated times."""
    expect_names("joint", names, recording.names.positions, file=place)
    motors, given = mechanism.actuators.names, recording.names.motors
    if set(motors) <= set(given):
        order = [given.index(name) for name in motors]
    elif len(given) == len(motors) and all(name.startswith("motor_") for name in given):
        order = list(range(len(motors)))  # topics alone have no names
    else:
        missing = next(name for name in motors if name not in given)
        raise UnknownNameError("motor", missing, given, file=place)
    t = recording.t
    if len(t) < _FEWEST:
        raise InputError(f"{len(t)} samples are too few; record longer", file=place)
    kept = np.append(np.diff(t) > 0.0, True)
    places = [recording.names.positions.index(name) for name in names]
    positions, efforts = recording.q[kept][:, places], recording.efforts[kept][:, order]
    if not (np.isfinite(positions).all() and np.isfinite(efforts).all()):
        raise InputError("some positions or efforts are not finite", file=place)
    return t[kept], positions, efforts


def _regular(
    t: Array, positions: Array, efforts: Array, period: float, place: str
) -> tuple[Array, Array, Array, Flags]:
    """Columns at equal intervals: positions along a line, efforts held; where states are lost."""
    if (t[-1] - t[0]) / period > _MOST * len(t):
        raise InputError(
            f"the times, {t[0]:g} to {t[-1]:g} s, are far longer than {len(t)} samples every"
            f" {period:g} s",
            file=place,
        )
    even = t[0] + period * np.arange(int((t[-1] - t[0]) / period + 1e-6) + 1)
    if np.abs(np.diff(t) - period).max() < 1e-6 * period:
        return even, positions[: len(even)], efforts[: len(even)], np.zeros(len(even), dtype=bool)
    held = np.clip(np.searchsorted(t, even + 1e-9 * period, side="right") - 1, 0, None)
    line = np.column_stack([np.interp(even, t, column) for column in positions.T])
    gaps = np.append(np.diff(t), 0.0) > _GAP * period
    return even, line, efforts[held], gaps[held]


def _cutoff(positions: Array, rate: float) -> float:
    """Where the spectrum of the motion has fallen to that of noise, times five, in Hz."""
    length = min(len(positions), int(8.0 * rate))
    still: Array = scipy.signal.detrend(positions, axis=0)
    frequency, power = scipy.signal.welch(
        still, rate, window="blackmanharris", nperseg=length, axis=0
    )
    floor = np.median(power[frequency > _QUIET * rate], axis=0)
    moving = (power > _ABOVE_NOISE * floor).any(axis=1)
    moving &= frequency <= _QUIET * rate
    # the first gap ends the motion: single lines above are disturbances
    ends = np.flatnonzero(~moving[1:])
    highest = frequency[ends[0]] if len(ends) else frequency[-1]
    return float(np.clip(_WIDER * highest, 8.0 * rate / len(positions), _LARGEST * rate))


def _closed(
    completion: StateCompletion,
    curve: scipy.interpolate.BSpline,
    times: Array,
    efforts: Array,
    place: str,
    progress: Callable[[float], object] | None,
) -> tuple[Motions, Array]:
    """All joints at some times, and misfits of the measured ones, (K, d)."""
    mechanism, encoders = completion.mechanism, completion.encoders
    dynamics = InterpretedDynamics(mechanism)
    measured, rates, accelerations = (curve(times, nu=order) for order in range(3))
    K, nv = len(times), mechanism.model.nv
    q, v, qdd = (np.zeros((K, nv)) for _ in range(3))
    misfit = np.zeros((K, len(encoders.names)))
    for k, t in enumerate(times.tolist()):
        found = completion.complete(measured[k], rates[k], t)
        if not found.usable or found.status is EstimationStatus.CONTRADICTING:
            raise InputError(
                f"at t = {t:.4g} s the loops do not close on the measured"
                f" {', '.join(found.joints)}, which are off by {np.abs(found.misfit).max():.3g}",
                file=place,
            )
        q[k], v[k], misfit[k] = found.q, found.v, found.misfit
        bound = bound_acceleration(dynamics.terms(State(t, q[k], v[k]), UNSTABILIZED))
        qdd[k] = bound + completion.sensitivity() @ (accelerations[k] - bound[encoders.columns])
        if progress is not None and k:
            progress(t - times[k - 1])
    return Motions(times, q, v, qdd, efforts), misfit
