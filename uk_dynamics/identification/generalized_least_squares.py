# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Parameters of a machine from recordings of its motion, by generalized least squares."""

from collections.abc import Callable, Sequence

import numpy as np
import scipy.ndimage
import scipy.signal
from numpy.typing import NDArray

from uk_dynamics.exceptions import InputError, expect
from uk_dynamics.identification.identifiability import identifiability, random_motions
from uk_dynamics.identification.identification import Fit, Identification
from uk_dynamics.identification.linear_parameters import DEFAULT, LinearParameter, linear_parameters
from uk_dynamics.identification.measured_motion import MeasuredMotion, measured_motion
from uk_dynamics.identification.possible_values import GENEROUS, estimates, possible_values
from uk_dynamics.identification.regressor import Equations, Motions, Regressor, rms
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import Trajectory

_TOLD = 10.0  # information of a direction, per its size squared: known to a third of the size
_ROUNDS = 5  # of weights and a delay from what is left
_HELD_OUT = 0.2  # of a recording
_ROUNDING = 1e-9
_TAPER = 0.1  # of a recording, at its ends
_PER_EQUATION = 4  # samples of a band, for its cross spectra
_DELAYS = -0.05, 0.25  # s, that are looked for
_BANDS, _NARROWEST = 16, 25  # of the spectrum of what is left: their number, and samples in each


def identify(
    mechanism: Mechanism,  # with the values of its files
    recordings: Sequence[Trajectory],  # positions of measured joints, efforts of motors
    *,
    # to check predictions on; without them, the last fifth of each recording is used
    held_out: Sequence[Trajectory] = (),
    estimate: Sequence[str] = DEFAULT,  # names of parameters, in which ``*`` stands for anything
    payload: str | None = None,  # a link that carries a body that is in no file, estimated as well
    # joints with an encoder; None: those of the mechanism file
    measured: Sequence[str] | None = None,
    cutoff: float | None = None,  # of the low-pass filter, in Hz; None: from the spectrum
    rate: float = 200.0,  # samples per second that are used, at most
    # of what motors do behind the recorded commands, in s; None: estimated
    delay: float | None = None,
    # called with the recorded time that has been treated since the last call, in s
    progress: Callable[[float], object] | None = None,
    # called with the part of the final fit that was done since the last call
    fitting: Callable[[float], object] | None = None,
) -> Identification:
    """Estimate parameters by weighted least squares; links stay bodies that can exist.

    What the data do not tell stays at the values of the files.

    Raises:
        UnknownNameError: A name does not exist, in the mechanism or in a recording.
        InputError: The recordings cannot be used, or nothing was chosen.
    """
    parameters = linear_parameters(mechanism, estimate, payload)
    if not parameters:
        raise InputError("no parameter was chosen", place="estimate")
    if not recordings:
        raise InputError("no recording was given", place="recordings")
    for recording in (*recordings, *held_out):
        expect("recordings", recording, Trajectory, 'Trajectory.load("run.npz")')
    regressor = Regressor(mechanism, parameters)

    def prepared(given: Sequence[Trajectory], kind: str) -> list[MeasuredMotion]:
        return [
            measured_motion(
                *(mechanism, x),
                measured=measured,
                cutoff=cutoff,
                rate=rate,
                place=f"{kind} {n}",
                progress=progress,
            )
            for n, x in enumerate(given, start=1)
        ]

    training = prepared(recordings, "recording")
    parts = [x.motions for x in training]
    if held_out:
        checked = [x.motions for x in prepared(held_out, "held-out recording")]
    else:
        ends = [round((1.0 - _HELD_OUT) * len(x.t)) for x in parts]
        checked = [x.part(slice(end, None)) for x, end in zip(parts, ends, strict=True)]
        parts = [x.part(slice(end)) for x, end in zip(parts, ends, strict=True)]
    return fit(regressor, parts, checked, tuple(training), delay=delay, fitting=fitting)


def fit(
    regressor: Regressor,
    training: Sequence[Motions],
    held_out: Sequence[Motions],
    motions: tuple[MeasuredMotion, ...] = (),
    *,
    delay: float | None = 0.0,
    fitting: Callable[[float], object] | None = None,
) -> Identification:
    """Estimates of the parameters of a regressor from motions; see :func:`identify`.

    Errors of accelerations grow with the frequency, those of efforts do not, and the error of one
    motor is in several equations: least squares over frequencies, the equations of each weighted
    together with the cross spectra of what the estimates leave there (generalized least squares).

    Source: Zellner: An efficient method of estimating seemingly unrelated regressions (1962).
    """
    parameters = regressor.parameters
    part = 1.0 / (len(training) + len(held_out) + _ROUNDS + 2)  # the last: what bodies can be

    def done(parts: int = 1) -> None:
        if fitting is not None:
            fitting(parts * part)

    first = regressor.equations(training[0])
    done()

    def further(motions: Motions) -> Equations:
        found = regressor.equations(motions, first.joints)
        done()
        return found

    rest = [further(x) for x in training[1:]]
    equations = [_Delayed(x, y) for x, y in zip([first, *rest], training, strict=True)]
    checked = [_Delayed(further(x), x) for x in held_out]
    estimate: Array | None = None
    behind, late = delay or 0.0, 0.0
    for _ in range(_ROUNDS):
        weighted = [_Spectrum(x, behind).weighted(estimate) for x in equations]
        effects, right_side, total, later = (np.concatenate(x) for x in zip(*weighted, strict=True))
        sizes = _sizes(effects, total, parameters)
        W, r = effects * sizes, right_side
        if delay is None and later.any():  # what a delay would do says nothing of the parameters
            unit = later / np.linalg.norm(later)
            W, r = W - np.outer(unit, unit @ W), r - unit * (unit @ r)
        information, directions = np.linalg.eigh(W.T @ W)
        told = information > max(_TOLD, _ROUNDING**1.5 * information[-1])
        along = directions[:, told]
        estimate = sizes * (along @ ((along.T @ (W.T @ r)) / information[told]))
        if delay is None and later.any():
            own = effects @ (sizes[:, None] * along)
            alone = later - own @ np.linalg.lstsq(own, later, rcond=None)[0]
            late = 1.0 / float(np.linalg.norm(alone))
            step = later @ (right_side - effects @ estimate) / (later @ later)
            behind = float(np.clip(behind + step, *_DELAYS))
        done()
    assert estimate is not None
    files = np.array([parameter.value for parameter in parameters])
    values = possible_values(parameters, files + estimate, sizes, along, information[told])
    done(2)
    known = (along / information[told]) @ along.T
    untold = directions[:, ~told] @ directions[:, ~told].T
    untold[np.abs(untold) < _ROUNDING] = 0.0
    covariance = (known + untold) * np.outer(sizes, sizes)
    around = training[0].q[len(training[0].q) // 2]
    random = regressor.equations(random_motions(regressor, around), first.joints)
    names, usual = [x.name for x in parameters], np.array([x.size for x in parameters])
    limits = identifiability(random.matrix.reshape(-1, len(parameters)), names, usual)
    held_out_fit = _fit([x.at(behind) for x in checked], values - files)
    deviations, trusted = np.sqrt(covariance.diagonal()), held_out_fit.trusted
    return Identification(
        mechanism=regressor.mechanism,
        estimates=estimates(parameters, values, deviations, sizes, limits, trusted=trusted),
        covariance=covariance,
        determined=int(told.sum()),
        limits=limits,
        training=_fit([x.at(behind) for x in equations], values - files),
        held_out=held_out_fit,
        motions=motions,
        delay=behind,
        delay_deviation=late,
    )


class _Delayed:
    """Equations of one recording, with efforts that lag behind commands."""

    def __init__(self, equations: Equations, motions: Motions) -> None:
        self._equations, self._motions = equations, motions
        self.period = float(np.median(np.diff(motions.t)))
        self.highest = motions.highest

    def at(self, delay: float) -> Equations:
        """The equations for a delay, in s."""
        if self._motions.commands is None or not delay:
            return self._equations
        return self._equations.changed(self._efforts(delay) - self._efforts(0.0))

    def slope(self, delay: float) -> Array:
        """What a longer delay takes from the efforts, per second, (K, k)."""
        if self._motions.commands is None:
            return np.zeros_like(self._equations.missing)
        step = 0.25 * self._motions.window
        rate = (self._efforts(delay - step) - self._efforts(delay + step)) / (2.0 * step)
        applied = self._equations.applied * self._equations.used[:, None, None]
        taken: Array = np.einsum("nkm,nm->nk", applied, np.nan_to_num(rate))
        return taken

    def _efforts(self, delay: float) -> Array:
        assert self._motions.commands is not None
        return self._motions.commands.mean(self._motions.t, self._motions.window, delay)


class _Spectrum:
    """Equations of one recording by frequency."""

    def __init__(self, delayed: _Delayed, delay: float) -> None:
        equations = delayed.at(delay)
        taper = scipy.signal.windows.tukey(len(equations.missing), _TAPER)
        root = np.sqrt(len(taper) / 2.0)

        def by_frequency(values: Array) -> NDArray[np.complex128]:
            shaped = taper.reshape(-1, *[1] * (values.ndim - 1)) * values
            found: NDArray[np.complex128] = np.fft.rfft(shaped, axis=0) / root
            return found

        self._matrix = by_frequency(equations.matrix)
        self._missing = by_frequency(equations.missing)
        self._efforts = by_frequency(equations.efforts)
        # noise of efforts would be the smaller, the more a delay lies between two commands
        slow = np.fft.rfftfreq(len(taper), delayed.period) < delayed.highest
        self._slope = by_frequency(delayed.slope(delay)) * slow[:, None]
        self._least = _ROUNDING * (1.0 + rms(equations.efforts))
        self._unknowns = equations.matrix.shape[2]

    def weighted(self, estimate: Array | None) -> tuple[Array, Array, Array, Array]:
        """Rows, right-hand sides, efforts and slopes, in units of what the estimates leave."""
        least = np.diag(self._least**2)
        if estimate is None:  # the values of the files leave what is to be found: no frequencies
            power = 0.5 * (np.abs(self._missing) ** 2).mean(axis=0)
            factors = np.diag(np.sqrt(power + self._least**2))[None]
        else:
            left = self._missing - self._matrix @ estimate
            width = max(_NARROWEST, _PER_EQUATION * left.shape[1], len(left) // _BANDS)
            pairs = np.einsum("fi,fj->fij", left, left.conj())
            power = scipy.ndimage.uniform_filter1d(
                pairs, min(width, len(left)), axis=0, mode="nearest"
            )
            factors = np.linalg.cholesky(0.5 * power + least)
        sides = np.stack([self._missing, self._efforts, self._slope], axis=2)
        both = np.concatenate([self._matrix, sides], axis=2)
        white = np.linalg.solve(factors, both).reshape(-1, self._unknowns + 3)
        white = np.concatenate([white.real, white.imag])
        return white[:, :-3], white[:, -3], white[:, -2], white[:, -1]


def _fit(equations: Sequence[Equations], change: Array) -> Fit:
    efforts = np.concatenate([x.efforts[x.used] for x in equations])
    before = np.concatenate([x.missing[x.used] for x in equations])
    after = before - np.concatenate([x.matrix[x.used] for x in equations]) @ change
    joints = equations[0].joints
    found = (dict(zip(joints, rms(x).tolist(), strict=True)) for x in (efforts, before, after))
    return Fit(*found)


def _sizes(effects: Array, total: Array, parameters: Sequence[LinearParameter]) -> Array:
    """What counts as large for each parameter, (p,)."""
    norms = np.linalg.norm(effects, axis=0)
    likely = GENEROUS * np.linalg.norm(total) / np.where(norms > 0.0, norms, np.inf)
    given = np.array([parameter.size for parameter in parameters])
    values = np.array([abs(parameter.value) for parameter in parameters])
    sizes: Array = np.where(given > 0.0, given, np.where(likely > 0.0, likely, values))
    return np.where(sizes > 0.0, sizes, 1.0)
