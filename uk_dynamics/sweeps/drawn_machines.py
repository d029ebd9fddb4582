# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How the law of some tasks does on machines that are drawn from what may differ from the model."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from uk_dynamics.colours import ON_PAPER
from uk_dynamics.control import EncoderFeedback
from uk_dynamics.control.servo import Promise, ServoController, largest_frequency
from uk_dynamics.core.servo import surface_rates
from uk_dynamics.exceptions import InputError, UkDynamicsError
from uk_dynamics.mechanism import EncoderSpec, Tasks
from uk_dynamics.mechanism.dynamics import Backend
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import Trajectory, simulate_many
from uk_dynamics.simulation.plots import RESOLUTION, empty_figure
from uk_dynamics.whole_file import output_file

#: Laws that are compared: that without ``robust``; the same with the highest gains that the delay
#: allows; the robust one with declared sizes, and with learned ones (``leakage``); that with
#: declared sizes and estimates of parameters, and with an observer instead.
LAWS = ("nominal", "feedback", "robust", "leakage", "adaptive", "observer")
PICTURES = (".png", ".pdf", ".svg")
# What of the motion is left out, since efforts act from the first delay on, and errors that arise
# until then have to decay: so many time constants 1/k, and at least this part, but half at most.
_DECAYS, _SETTLED, _LEFT = 5.0, 0.1, 0.5
_LEAST = 0.05  # of the model: beyond what is declared, masses do not vanish
_HIGH = 20.0  # Hz: faster changes of the efforts are chatter
_OBSERVED = 2.0  # Hz, where the tasks file has no observer
_LEAKAGE = 1.0  # 1/s, where it has none
_TOGETHER = 64  # machines whose motions are in memory at once


@dataclass(frozen=True)
class LawResult:
    """One law on all machines; a machine on which it failed has infinite errors."""

    errors: Array  # largest of each task row, (machines, rows), in m or rad
    efforts: Array  # largest of each motor in units of its limit, (machines, motors); 0: no limit
    chatter: Array  # root mean square of fast changes, in the same units, (machines, motors)
    failures: tuple[str, ...]  # what went wrong, once each

    def quantile(self, q: float) -> Array:
        """Of the errors of each row, (rows,)."""
        return np.quantile(self.errors, q, axis=0, method="higher")


@dataclass(frozen=True)
class Robustness:
    """What was found."""

    mechanism: str  # its name
    rows: tuple[str, ...]  # names of the task rows
    motors: tuple[str, ...]  # their names
    values: Mapping[str, Array]  # parameters of the machines, by name, (machines,) each
    laws: Mapping[str, LawResult]  # by the name of the law
    promise: Promise  # of the robust law with declared sizes
    estimates: Mapping[str, Array]  # of the adaptive law in the end, by parameter, (machines,)
    highest: Mapping[str, float]  # natural frequencies that the delay allows, in Hz, by task
    not_drawn: tuple[str, ...] = ()  # what is uncertain, but the same on all machines
    kept: float = field(init=False)  # part of the machines on which the robust law kept its bounds

    def __post_init__(self) -> None:
        within = (self.laws["robust"].errors <= self.promise.error).all(axis=1)
        object.__setattr__(self, "kept", float(within.mean()))


def robustness(
    mechanism: Mechanism,
    tasks: Tasks,
    *,
    machines: int = 100,
    duration: float = 3.0,
    control_period: float = 0.001,
    encoders: EncoderSpec | None = None,
    scale: float = 1.0,
    seed: int = 0,
    among: Collection[str] = LAWS,
    settled: float | None = None,
    backend: Backend = "auto",
    progress: Callable[[], object] | None = None,
) -> Robustness:
    """Draw machines and let every law move each of them along the references.

    Args:
        mechanism: The model.
        tasks: With intervals of parameters.
        machines: How many; the first two have all parameters at one end.
        duration: Of each motion, in s.
        control_period: Efforts are held for this time, in s; they act after the delay of the file.
        encoders: What controllers know of their machine; None: the exact state.
        scale: Deviations are larger than declared by this; above 1, a twentieth of the model's
            value is left at least.
        seed: Of the draws.
        among: Names of the laws that are tried, ``robust`` among them.
        settled: Errors and efforts count from this time on, in s; None: when the first errors have
            decayed.
        backend: As of :class:`ServoController`.
        progress: Called after each motion.

    Raises:
        InputError: The tasks file has no intervals of parameters, or ``settled`` is not within the
            motion.
    """
    uncertainty = tasks.uncertainty
    if uncertainty is None or not uncertainty.spec.parameters:
        problem = "no interval of a parameter; machines are drawn from robust: parameters"
        raise InputError(problem, file=tasks.spec.file, place="robust")
    if settled is not None and not 0.0 <= settled < duration:
        raise InputError(f"expected a time before {duration:g} s, found {settled}", place="settled")
    rng, known = np.random.default_rng(seed), mechanism.parameters
    values: dict[str, Array] = {}
    for name, (low, high) in uncertainty.spec.parameters:
        drawn = np.concatenate(([low, high], rng.uniform(low, high, machines)))[:machines]
        value = known[name].value
        values[name] = value + scale * (drawn - value)
        if scale > 1.0:
            values[name] = np.maximum(values[name], _LEAST * value)
    spec = uncertainty.spec
    observed = tasks.spec.observer or tuple((task, _OBSERVED) for task in tasks.names)
    # one law with all of it, which is switched, and one that learns sizes
    learned = replace(spec, leakage=spec.leakage or _LEAKAGE, least_bandwidth=None)
    leaking = replace(tasks.spec, robust=learned, adaptive=(), observer=())
    every = tasks.spec.adaptive or tuple(n for n, x in spec.parameters if x[0] < x[1])
    declared = replace(spec, leakage=None)
    whole = replace(tasks.spec, robust=declared, adaptive=every, observer=observed)
    machine_of = [
        mechanism.with_parameters({name: x[k] for name, x in values.items()})
        for k in range(machines)
    ]
    groups = [
        _Group(
            [
                ServoController(mechanism, own, control_period=control_period, backend=backend)
                for own in (Tasks(law, mechanism),)
                for _ in range(min(machines, _TOGETHER))
            ],
            (duration, control_period, uncertainty.spec.delay),
            settled,
            encoders,
            backend,
            progress,
        )
        for law in (whole, *([leaking] if "leakage" in among else ()))
    ]
    full, learning = groups[0], groups[-1]
    laws: dict[str, LawResult] = {}
    highest: dict[str, float] = {}
    estimates: dict[str, Array] = {}
    for law in filter(among.__contains__, LAWS):
        group = learning if law == "leakage" else full
        for controller in group.controllers:
            controller.robust = law not in ("nominal", "feedback")
            controller.adaptive, controller.observer = law == "adaptive", law == "observer"
            highest = _gains(controller, uncertainty.spec.delay, raised=law == "feedback")
        found = group.moved(machine_of)
        errors, efforts, chatter = (
            np.stack(x) for x in zip(*(x.numbers for x in found), strict=True)
        )
        failures = tuple(dict.fromkeys(one.said for one in found if one.said))
        laws[law] = LawResult(errors, efforts, chatter, failures)
        if law == "adaptive":
            estimates = dict(zip(every, np.stack([one.estimates for one in found]).T, strict=True))
    promise = full.controllers[0].promise
    assert promise is not None
    return Robustness(
        *(mechanism.name, tasks.row_names, mechanism.actuators.names, values, laws, promise),
        estimates=estimates,
        highest=highest,
        not_drawn=(*(name for name, _ in spec.motors), *(force.name for force in spec.forces)),
    )


def _gains(controller: ServoController, delay: float, *, raised: bool) -> dict[str, float]:
    """Give the highest frequencies that the delay allows, or those of the file; the former."""
    found, total = {}, delay + 0.5 * (controller.control_period or 0.0)
    for task in controller.tasks.constraints.constraints:
        rows = controller.tasks.constraints.slices[task.name]
        ratio = task.damping_ratio
        position = controller.tasks.constraints.position_rows[rows].any()
        found[task.name] = largest_frequency(ratio if position else None, 0.0, total)
        controller.gains.set(task.name, found[task.name] if raised else task.frequency, ratio)
    return found


class _Moved(NamedTuple):
    """One motion."""

    numbers: tuple[Array, Array, Array]  # errors of the rows, efforts, chatter of the motors
    estimates: Array  # in the end, (p,)
    said: str  # what went wrong


@dataclass(frozen=True)
class _Group:
    """Controllers that move machines at the same time."""

    controllers: Sequence[ServoController]
    times: tuple[float, float, float]  # duration, control period and delay, in s
    settled: float | None  # s
    encoders: EncoderSpec | None
    backend: Backend
    progress: Callable[[], object] | None

    @cached_property
    def laws(self) -> Sequence[ServoController | EncoderFeedback]:
        """The controllers, behind their encoders."""
        if self.encoders is None:
            return self.controllers
        return [EncoderFeedback(one, self.encoders, self.backend) for one in self.controllers]

    def moved(self, machines: Sequence[Mechanism]) -> list[_Moved]:
        """Let them move all machines along the references."""
        found: list[_Moved] = []
        while len(found) < len(machines):
            found += self._some(machines[len(found) : len(found) + len(self.controllers)])
        return found

    def _some(self, machines: Sequence[Mechanism]) -> list[_Moved]:
        duration, period, delay = self.times
        controllers, laws = self.controllers[: len(machines)], self.laws[: len(machines)]
        for one, law in zip(controllers, laws, strict=True):
            one.reset()
            law.reset()
            assert one.corrections is not None
            one.corrections.forget()
        start = controllers[0].mechanism.start(tasks=controllers[0].tasks)
        try:
            runs = simulate_many(
                machines,
                [start] * len(machines),
                duration,
                controllers=laws,
                control_period=period,
                delay=delay,
                sample_period=period,
            )
        except UkDynamicsError as error:
            if len(machines) > 1:  # one of them fails: which?
                return [x for k in range(len(machines)) for x in self._some(machines[k : k + 1])]
            rows, motors = len(controllers[0].row_names), len(controllers[0].mechanism.actuators)
            nothing = np.full(len(controllers[0].estimates), np.nan)
            numbers = np.full(rows, np.inf), np.zeros(motors), np.zeros(motors)
            found = [_Moved(numbers, nothing, str(error))]
        else:
            found = [
                _Moved(self._numbers(run, one), np.array([x.value for x in one.estimates]), "")
                for run, one in zip(runs, controllers, strict=True)
            ]
        if self.progress is not None:
            for _ in found:
                self.progress()
        return found

    def _numbers(self, run: Trajectory, controller: ServoController) -> tuple[Array, Array, Array]:
        """Errors, efforts and chatter of a motion."""
        duration, period, _ = self.times
        gains = controller.gains.damping, controller.gains.stiffness
        rates = np.concatenate(surface_rates(*gains))  # at which errors of tasks decay, in 1/s
        slowest = float(rates[rates > 0.0].min(initial=np.inf))
        settled = max(_SETTLED * duration, _DECAYS / slowest)
        settled = min(settled, _LEFT * duration) if self.settled is None else self.settled
        first = round(settled / period)
        errors = np.abs(run.tracking_error[first:]).max(axis=0)
        parts = run.efforts[first:] / controller.mechanism.actuators.effort_limits
        slow = min(max(round(1.0 / (_HIGH * period)), 1), len(parts))
        kernel = np.full(slow, 1.0 / slow)
        smooth = np.stack([np.convolve(x, kernel, mode="valid") for x in parts.T], axis=1)
        fast = parts[(slow - 1) // 2 :][: len(smooth)] - smooth
        return errors, np.abs(parts).max(axis=0), np.sqrt((fast**2).mean(axis=0))


def draw(found: Robustness, path: Path) -> None:
    """Draw errors of all machines by row and law, with the promised bounds."""
    figure = empty_figure(path)
    rows = len(found.rows)
    figure.set_size_inches(2.0 + 1.6 * rows, 4.2)
    axis = figure.add_subplot(1, 1, 1)
    width = 0.8 / len(found.laws)
    for k, (law, colour) in enumerate(zip(found.laws, ON_PAPER, strict=False)):
        errors = found.laws[law].errors
        for row in range(rows):
            place = row + (k - 0.5 * (len(found.laws) - 1)) * width
            spread = np.linspace(-0.3 * width, 0.3 * width, len(errors))
            known = np.isfinite(errors[:, row]) & (errors[:, row] > 0.0)
            axis.plot(
                (place + spread)[known],
                errors[known, row],
                ".",
                color=colour,
                markersize=3,
                label=law if row == 0 else None,
            )
    for row, bound in enumerate(found.promise.error.tolist()):
        if math.isfinite(bound):
            label = "promised" if row == 0 else None
            axis.plot([row - 0.45, row + 0.45], [bound, bound], "k-", linewidth=1.5, label=label)
    axis.set_yscale("log")
    axis.set_xticks(range(rows), found.rows)
    axis.set_ylabel("largest error of a machine [m or rad]")
    count = len(next(iter(found.values.values())))
    axis.set_title(f"{found.mechanism}: {count} machines drawn")
    axis.grid(axis="y", alpha=0.3)
    axis.legend(loc="best", fontsize=8)
    with output_file(path) as unfinished:
        figure.savefig(unfinished, dpi=RESOLUTION)
