# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Parameters of a machine from recordings of its motion."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.ndimage
import scipy.signal
from numpy.typing import NDArray

from uk_dynamics.exceptions import InputError, expect
from uk_dynamics.identification.identifiability import (
    Identifiability,
    identifiability,
    random_motions,
)
from uk_dynamics.identification.linear_parameters import DEFAULT, LinearParameter, linear_parameters
from uk_dynamics.identification.measured_motion import MeasuredMotion, measured_motion
from uk_dynamics.identification.possible_values import (
    GENEROUS,
    Estimate,
    estimates,
    possible_values,
    whole_body,
)
from uk_dynamics.identification.regressor import Equations, Motions, Regressor, rms
from uk_dynamics.mechanism.files import EstimatesSpec
from uk_dynamics.mechanism.resolution import Array, link_values
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model import body_of_parameters, parameters_of_body
from uk_dynamics.simulation import Trajectory

_TOLD = 10.0  # information of a direction, per its size squared: known to a third of the size
_EXPLAINED = 0.2  # of the held-out efforts: left by estimates that are still trusted
_ROUNDS = 5  # of weights and a delay from what is left
_HELD_OUT = 0.2  # of a recording
_ROUNDING = 1e-9
_TAPER = 0.1  # of a recording, at its ends
_PER_EQUATION = 4  # samples of a band, for its cross spectra
_DELAYS = -0.05, 0.25  # s, that are looked for
_BANDS, _NARROWEST = 16, 25  # of the spectrum of what is left: their number, and samples in each


@dataclass(frozen=True)
class Fit:
    """How well efforts are predicted, root mean squares in N or N·m by coordinate."""

    efforts: dict[str, float]  # measured
    before: dict[str, float]  # not explained by the values of the files
    after: dict[str, float]  # not explained by the estimates

    @property
    def relative(self) -> float:
        """Part of the efforts that the estimates leave, root mean square over coordinates."""
        return self._part(self.after)

    @property
    def relative_before(self) -> float:
        """Part of the efforts that the values of the files leave."""
        return self._part(self.before)

    def _part(self, left: dict[str, float]) -> float:
        parts = [left[name] / self.efforts[name] for name in left if self.efforts[name]]
        return float(np.sqrt(np.mean(np.square(parts)))) if parts else 0.0


@dataclass(frozen=True, eq=False)
class Identification:
    """What recordings tell of the parameters of a mechanism."""

    mechanism: Mechanism  # with the values of its files
    estimates: tuple[Estimate, ...]  # of the chosen parameters
    covariance: Array  # of their values, (p, p), what the data do not tell with its size
    determined: int  # number of combinations that the data determine
    limits: Identifiability  # what any motion could tell
    training: Fit  # fit of the samples that were used
    held_out: Fit  # fit of those that were not
    motions: tuple[MeasuredMotion, ...]  # how the recordings were prepared
    delay: float = 0.0  # of what motors do behind the recorded commands, in s
    delay_deviation: float = 0.0  # its standard deviation; 0 where it was given

    def __getitem__(self, name: str) -> Estimate:
        """An estimate by the name of its parameter."""
        for estimate in self.estimates:
            if estimate.parameter.name == name:
                return estimate
        raise KeyError(name)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What speaks against the estimates, a line each."""
        found = [
            f"{motor} is at its limit in {part:.0%} of the samples of recording {n}, where a drive"
            " does less than it is asked for; they are left out"
            for n, motion in enumerate(self.motions, start=1)
            for motor, part in motion.saturated.items()
        ]
        found += [str(x) for x in self._bodies[1]]
        if not _trusted(self.held_out):
            found.append(
                f"{self.held_out.relative:.0%} of the held-out efforts are not explained: nothing"
                " is identified; look for parts that the files do not have, or another motion"
            )
        return tuple(found)

    def to_file(self, recordings: Sequence[str], date: str) -> EstimatesSpec | None:
        """What was estimated, for a mechanism file; None if nothing was.

        What only sums of parameters are told of, or nothing, is left out: the report has it.

        Args:
            recordings: Names of the files.
            date: In ISO 8601.
        """
        known = ("identified", "uncertain")
        at = [k for k, x in enumerate(self.estimates) if x.status in known]
        values = {x.parameter.name: x.value for x in self.estimates if x.status in known}
        if not values:
            return None
        covariance = self.covariance[np.ix_(at, at)]
        return EstimatesSpec.made("identify", recordings, date, values, covariance)

    @cached_property
    def _bodies(self) -> tuple[dict[str, float], tuple[InputError, ...]]:
        """New values of links, and what to raise for links that no body is like."""
        links: dict[str, dict[str, float]] = {}
        for x in self.estimates:
            if x.parameter.kind == "link" and x.parameter.name.startswith("links."):
                links.setdefault(x.parameter.owner, {})[x.parameter.part] = x.value
        found: dict[str, float] = {}
        impossible = []
        for link in self.mechanism.model.description.links:
            if link.name not in links:
                continue
            before = parameters_of_body(link.mass, link.center_of_mass, link.inertia)
            try:
                found |= link_values(link.name, whole_body(link.name, before, links[link.name]))
            except InputError as error:
                impossible.append(error)
        return found, tuple(impossible)

    @cached_property
    def values(self) -> dict[str, float]:
        """New values for ``Mechanism.with_parameters``.

        Raises:
            InputError: No body has the estimates of a link, and its other parameters of the files.
        """
        bodies, impossible = self._bodies
        if impossible:
            raise impossible[0]
        found = dict(bodies)
        groups: dict[str, dict[str, float]] = {}
        for estimate in self.estimates:
            parameter, value = estimate.parameter, estimate.value
            if parameter.kind in ("joint_spring", "force"):
                groups.setdefault(parameter.name.rpartition(".")[0], {})[parameter.part] = value
            elif parameter.kind in ("damping", "friction", "armature"):
                found[parameter.name] = value
        known = self.mechanism.parameters
        for place, parts in groups.items():
            if "damping" in parts:
                found[f"{place}.damping"] = parts["damping"]
            before = known[f"{place}.stiffness"].value
            stiffness = parts.get("stiffness", before)
            found[f"{place}.stiffness"] = stiffness
            rest = next(f"{place}.{x}" for x in ("rest", "length") if f"{place}.{x}" in known)
            # what was not estimated is the preload, which a new stiffness has at another length
            preload = parts.get("preload", before * known[rest].value)
            if stiffness and {"preload", "stiffness"} & set(parts):
                found[rest] = preload / stiffness
        return found

    @cached_property
    def payload(self) -> tuple[float, Array, Array] | None:
        """Mass in kg, centre in the link in m and moments about it in kg m² of the payload."""
        ten = [x.value for x in self.estimates if x.parameter.name.startswith("payload.")]
        return body_of_parameters(np.array(ten)) if ten else None

    @property
    def motor_gains(self) -> dict[str, float]:
        """What the efforts of motors are to be multiplied by, of those that were estimated."""
        return {x.parameter.owner: x.value for x in self.estimates if x.parameter.kind == "motor"}

    @cached_property
    def new_values(self) -> dict[str, float]:
        """All values of the mechanism that change, the payload included."""
        found = dict(self.values)
        if self.payload is not None:
            known = self.identified.parameters
            before = self.mechanism.parameters
            found |= {n: x.value for n, x in known.items() if x.value != before[n].value}
        return found

    @cached_property
    def identified(self) -> Mechanism:
        """The mechanism with the estimates, the payload on its link."""
        found = self.mechanism.with_parameters(self.values)
        if self.payload is not None:
            link = next(
                x.parameter.owner for x in self.estimates if x.parameter.name.startswith("payload.")
            )
            mass, center, inertia = self.payload
            found = found.with_payload(link, mass, center, inertia)
        return found


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
    deviations, trusted = np.sqrt(covariance.diagonal()), _trusted(held_out_fit)
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


def _trusted(held_out: Fit) -> bool:
    return held_out.relative <= _EXPLAINED
