# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How the law of some tasks does on machines that are drawn from what may differ from the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

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
from uk_dynamics.simulation import simulate
from uk_dynamics.simulation.plots import RESOLUTION, empty_figure
from uk_dynamics.whole_file import output_file

#: Laws that are compared: that without ``robust``; the same with the highest gains that the delay
#: allows; and the robust one.
LAWS = ("nominal", "feedback", "robust")
PICTURES = (".png", ".pdf", ".svg")
# What of the motion is left out, since efforts act from the first delay on, and errors that arise
# until then have to decay: so many time constants 1/k, and at least this part, but half at most.
_DECAYS, _SETTLED, _LEFT = 5.0, 0.1, 0.5
_LEAST = 0.05  # of the model: beyond what is declared, masses do not vanish
_HIGH = 20.0  # Hz: faster changes of the efforts are chatter


@dataclass(frozen=True)
class LawResult:
    """One law on all machines; a machine on which it failed has infinite errors."""

    errors: Array  # largest of each task row, (machines, rows), in m or rad
    efforts: Array  # largest of each motor in units of its limit, (machines, motors); 0: no limit
    chatter: Array  # root mean square of fast changes, in the same units, (machines, motors)
    failures: tuple[str, ...]  # what went wrong, once each

    def quantile(self, q: float) -> Array:
        """Of the errors of each row, (rows,)."""
        found: Array = np.quantile(self.errors, q, axis=0, method="higher")
        return found


@dataclass(frozen=True)
class Robustness:
    """What was found.

    Attributes:
        mechanism: Its name.
        rows: Names of the task rows.
        motors: Names of the motors.
        values: Parameters of the machines, by name, (machines,) each.
        laws: Results by the name of the law.
        promise: Of the robust law.
        kept: Part of the machines on which the robust law kept its bounds.
        not_drawn: What is uncertain, but the same on all machines.
    """

    mechanism: str
    rows: tuple[str, ...]
    motors: tuple[str, ...]
    values: Mapping[str, Array]
    laws: Mapping[str, LawResult]
    promise: Promise
    not_drawn: tuple[str, ...] = ()
    kept: float = field(init=False)

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
        backend: As of :class:`ServoController`.
        progress: Called after each motion.

    Raises:
        InputError: The tasks file has no intervals of parameters.
    """
    uncertainty = tasks.uncertainty
    if uncertainty is None or not uncertainty.spec.parameters:
        problem = "no interval of a parameter; machines are drawn from robust: parameters"
        raise InputError(problem, file=tasks.spec.file, place="robust")
    rng, known = np.random.default_rng(seed), mechanism.parameters
    values: dict[str, Array] = {}
    for name, (low, high) in uncertainty.spec.parameters:
        drawn = np.concatenate(([low, high], rng.uniform(low, high, machines)))[:machines]
        value = known[name].value
        values[name] = value + scale * (drawn - value)
        if scale > 1.0:
            values[name] = np.maximum(values[name], _LEAST * value)
    plain = Tasks(replace(tasks.spec, robust=None), mechanism)
    laws: dict[str, LawResult] = {}
    promise: Promise | None = None
    for law in LAWS:
        controller = ServoController(
            mechanism,
            tasks if law == "robust" else plain,
            control_period=control_period,
            backend=backend,
        )
        if law == "feedback":
            _raise_gains(controller, uncertainty.spec.delay + 0.5 * control_period)
        promise = controller.promise or promise
        runs = [
            _run(
                mechanism.with_parameters({name: x[k] for name, x in values.items()}),
                controller,
                (duration, control_period, uncertainty.spec.delay),
                encoders,
                progress,
            )
            for k in range(machines)
        ]
        errors, efforts, chatter = (
            np.stack([found[part] for found, _ in runs]) for part in range(3)
        )
        failures = dict.fromkeys(said for _, said in runs if said)
        laws[law] = LawResult(errors, efforts, chatter, tuple(failures))
    assert promise is not None
    spec = uncertainty.spec
    others = *(name for name, _ in spec.motors), *(force.name for force in spec.forces)
    motors = mechanism.actuators.names
    return Robustness(mechanism.name, tasks.row_names, motors, values, laws, promise, others)


def _raise_gains(controller: ServoController, delay: float) -> None:
    """The highest frequency of every task that the delay allows."""
    for task in controller.tasks.constraints.constraints:
        rows = controller.tasks.constraints.slices[task.name]
        ratio = controller.gains[task.name].damping_ratio
        position = controller.tasks.constraints.position_rows[rows].any()
        highest = largest_frequency(ratio if position else None, 0.0, delay)
        controller.gains.set(task.name, highest, ratio)


def _slowest(controller: ServoController) -> float:
    """Rate at which the errors of tasks decay at least, in 1/s."""
    gains = controller.gains.damping, controller.gains.stiffness
    rates = np.concatenate(surface_rates(*gains))
    return float(rates[rates > 0.0].min(initial=np.inf))


def _run(
    machine: Mechanism,
    controller: ServoController,
    times: tuple[float, float, float],
    encoders: EncoderSpec | None,
    progress: Callable[[], object] | None,
) -> tuple[tuple[Array, Array, Array], str]:
    """Errors, efforts and chatter of one motion, and what went wrong."""
    duration, period, delay = times
    motors = len(controller.mechanism.actuators)
    limits = controller.mechanism.actuators.effort_limits
    controller.reset()
    start = controller.mechanism.start(tasks=controller.tasks)
    said = ""
    try:
        run = simulate(
            *(machine, start, duration),
            controller=controller if encoders is None else EncoderFeedback(controller, encoders),
            control_period=period,
            sample_period=period,
            delay=delay,
        )
        settled = max(_SETTLED * duration, _DECAYS / _slowest(controller))
        first = round(min(settled, _LEFT * duration) / period)
        errors = np.abs(run.tracking_error[first:]).max(axis=0)
        parts = run.efforts[first:] / limits
        slow = max(round(1.0 / (_HIGH * period)), 1)
        kernel = np.full(slow, 1.0 / slow)
        smooth = np.stack([np.convolve(x, kernel, mode="valid") for x in parts.T], axis=1)
        fast = parts[(slow - 1) // 2 :][: len(smooth)] - smooth
        found = errors, np.abs(parts).max(axis=0), np.sqrt((fast**2).mean(axis=0))
    except UkDynamicsError as error:
        said = str(error)
        found = np.full(len(controller.row_names), np.inf), np.zeros(motors), np.zeros(motors)
    if progress is not None:
        progress()
    return found, said


def draw(found: Robustness, path: Path) -> None:
    """Draw errors of all machines by row and law, with the promised bounds.

    Raises:
        InputError: Matplotlib is missing, or the file cannot be written.
    """
    figure = empty_figure(path)
    rows = len(found.rows)
    figure.set_size_inches(2.0 + 1.6 * rows, 4.2)
    axis = figure.add_subplot(1, 1, 1)
    width = 0.8 / len(LAWS)
    for k, (law, colour) in enumerate(zip(LAWS, ON_PAPER, strict=False)):
        errors = found.laws[law].errors
        for row in range(rows):
            place = row + (k - 0.5 * (len(LAWS) - 1)) * width
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
