# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics simulate``: simulate a mechanism, freely or under control."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from uk_dynamics import DelayCompensation, GravityCompensation, Hold, Reality, ServoController
from uk_dynamics import simulate as run_simulation
from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.options.requirements import check_writable
from uk_dynamics.cli.options.values import finite
from uk_dynamics.cli.output.printing import TIME_BAR, log_on_stderr, progress_bar, show
from uk_dynamics.cli.output.simulation_summary import summarize, summary_table
from uk_dynamics.compilation import Selection, announce, select_backend
from uk_dynamics.compilation.build import CompilationError, side_by_side
from uk_dynamics.control import EncoderFeedback
from uk_dynamics.core.integration import ADAPTIVE_METHODS, FIXED_METHODS
from uk_dynamics.exceptions import InputError, UkDynamicsError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import Backend, workless
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import Controller, default_method


def run(arguments: argparse.Namespace) -> int:
    """Simulate, write the requested files, print the summary."""
    with log_on_stderr():
        return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    _check_control(arguments)
    check_writable(arguments.out, (".npz", ".mcap", ".csv"))
    check_writable(arguments.plot, (".png", ".pdf", ".svg"))
    mechanism = common.load_mechanism(arguments)
    held = arguments.control_period is not None
    options = _options(arguments, arguments.method or default_method(mechanism, held=held))
    tasks = common.load_tasks(arguments, mechanism)
    controller = _controller(arguments, mechanism, tasks)
    reality = Reality({}) if arguments.plant is None else Reality.from_file(arguments.plant)
    plant = reality.machine(mechanism)
    if reality.encoders is not None:
        if not isinstance(controller, ServoController) or arguments.control_period is None:
            problem = "encoders are for a servo controller: add --tasks and --control-period"
            raise InputError(problem, file=reality.file, place="encoders")
        controller = EncoderFeedback(controller, reality.encoders, arguments.backend)
    state = common.start_state(arguments, mechanism, tasks, dict(arguments.velocity))
    recording = None if arguments.out is None else Path(arguments.out)
    with _report_recording(recording), progress_bar(arguments.duration, "s", TIME_BAR) as bar:
        trajectory = run_simulation(
            plant,
            state,
            arguments.duration,
            controller=controller,
            control_period=arguments.control_period,
            delay=reality.delay or arguments.delay or 0.0,
            method=arguments.method,
            sample_period=arguments.sample_period,
            progress=lambda t: bar.update(t - bar.n),
            events=_switchings(arguments.switch),
            rtol=options.get("rtol", 1e-9),
            step=options.get("step"),
            backend=arguments.backend,
            recording=recording,
        )
    if arguments.plot:
        trajectory.plot(arguments.plot)
    undisturbed = (
        controller is None
        and mechanism.conservative
        and workless(mechanism)
        and not arguments.switch
    )
    summary = summarize(trajectory, conservative=undisturbed)
    show(arguments, summary, summary_table(summary))
    return 0


def _controller(
    arguments: argparse.Namespace, mechanism: Mechanism, tasks: Tasks | None
) -> Controller | None:
    """The controller, None for zero efforts; where both are compiled, beside the mechanism."""
    mode, period, delay = arguments.control, arguments.control_period, arguments.delay
    if mode and tasks is not None:
        raise InputError("--control gravity and --control hold exclude --tasks")

    def made() -> Controller | None:
        plain: GravityCompensation | Hold | ServoController
        if mode:
            kind = Hold if mode == "hold" else GravityCompensation
            plain = kind(mechanism, control_period=period)
        elif tasks is None:
            return None
        else:
            plain = _law(mechanism, tasks, period, arguments.backend)
        if not delay or period is None:
            return plain
        return DelayCompensation(plain, delay, control_period=period, longest=delay)

    if arguments.backend not in ("auto", "compiled"):
        return made()

    def ready() -> None:
        select_backend(mechanism, Selection(arguments.backend, unready="wait"))

    found, _ = side_by_side((made, ready))
    return found


def _law(
    mechanism: Mechanism, tasks: Tasks, period: float | None, backend: Backend
) -> ServoController:
    """The law of tasks with the backend of the mechanism; interpreted where it has no C."""
    known = Selection(backend, unready="wait")
    try:
        return ServoController(mechanism, tasks, control_period=period, backend=known)
    except CompilationError as error:
        announce(f"the law of tasks is interpreted: {error}")
    return ServoController(mechanism, tasks, control_period=period, backend="interpreted")


def _switchings(given: Sequence[Sequence[str]]) -> list[tuple[float, dict[str, bool]]]:
    """Read pairs of a time in s and ``constraint=on`` or ``constraint=off``."""
    events = []
    for time, change in given:
        name, _, value = change.partition("=")
        if not name or value not in ("on", "off"):
            raise InputError(f'--switch: "{change}" is not NAME=on or NAME=off, such as grip=on')
        try:
            events.append((finite(time), {name: value == "on"}))
        except argparse.ArgumentTypeError as error:
            raise InputError(f"--switch: {error}") from None
    return events


def _options(arguments: argparse.Namespace, chosen: str) -> dict[str, float]:
    """Options of the integrator that were given; one without effect is refused."""
    for option, methods in (("rtol", ADAPTIVE_METHODS), ("step", (*FIXED_METHODS, "moreau"))):
        if getattr(arguments, option) is not None and chosen not in methods:
            raise InputError(f"--{option} is for {' and '.join(methods)}, not for {chosen}")
    given = {option: getattr(arguments, option) for option in ("rtol", "step")}
    return {option: value for option, value in given.items() if value is not None}


def _check_control(arguments: argparse.Namespace) -> None:
    """Refuse options without effect."""
    if arguments.control_period is not None and not (arguments.tasks or arguments.control):
        raise InputError(
            "--control-period needs --tasks or --control: without them there is no control"
        )
    if arguments.delay and arguments.control_period is None:
        raise InputError("--delay needs --control-period: continuous control has none")


@contextmanager
def _report_recording(recording: Path | None) -> Iterator[None]:
    """After an error or Ctrl-C, say where the samples are."""
    before = _identity(recording)
    try:
        yield
    except (UkDynamicsError, KeyboardInterrupt) as end:
        if recording is not None and _identity(recording) != before:
            where = f"{recording} contains the motion so far"
            if isinstance(end, KeyboardInterrupt):
                raise KeyboardInterrupt(where) from None
            print(f"uk_dynamics: {where}", file=sys.stderr)
        raise


def _identity(file: Path | None) -> tuple[int, int] | None:
    """Time and size, which change when a file is written."""
    if file is None or not file.exists():
        return None
    state = file.stat()
    return state.st_mtime_ns, state.st_size
