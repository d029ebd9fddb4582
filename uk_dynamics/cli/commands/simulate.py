# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics simulate``: simulate a mechanism, freely or under control."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.output.printing import TIME_BAR, log_on_stderr, progress_bar, show
from uk_dynamics.cli.output.simulation_summary import summarize, summary_table
from uk_dynamics.exceptions import InputError, UkDynamicsError

if TYPE_CHECKING:
    from uk_dynamics.mechanism.dynamics import Backend
    from uk_dynamics.mechanism_class import Mechanism
    from uk_dynamics.simulation import Controller

# Copied from uk_dynamics.simulation, which would take long to import for --help.
ADAPTIVE = ("DOP853", "RK45", "RK23", "Radau")
FIXED_STEP = ("rk4", "semi_implicit_euler", "gauss", "moreau")

_HELP = """\
simulate a mechanism, freely or under control

Simulate a mechanism, freely or, with a tasks file, under servo control. The loops are closed first;
positions and velocities are projected onto the constraints after every step.

examples:
  uk_dynamics simulate five_bar --set crank=0.9 --duration 20 --plot fall.png
  uk_dynamics simulate five_bar --tasks five_bar_sweep --control-period 0.002 --out run.npz
  uk_dynamics simulate my_robot.yaml --tasks reach.yaml --start-on-tasks --control-period 0.002
  uk_dynamics simulate coordinated_robots --control hold --duration 1
  uk_dynamics simulate five_bar --method rk4 --step 0.001 --out run.csv
  uk_dynamics simulate five_bar --json | jq .largest_violation
"""

_OPTIONS = """\
--control-period S  efforts are computed every S seconds and held in between (default: continuous)
--delay S  time from a state until the efforts computed from it act, in s; the controller knows it
    and predicts the state there (default: none)
--plant FILE  reality file: in which way the machine that moves differs from the model, which the
    controller keeps
--sample-period S=0.01  time between samples of the result in s
"""

_INTEGRATION = f"""\
--method {"|".join(ADAPTIVE + FIXED_STEP)}    with error control (DOP853, RK45, RK23, Radau) or
    fixed steps (default: DOP853; rk4 with --control-period; moreau with more than four contacts
    that have friction)
--rtol TOL  relative tolerance of adaptive methods (default: 1e-09)
--step S  step of fixed-step methods in s (default: 0.001 to 0.002)
--backend auto|cached|interpreted|compiled=auto  evaluator: compiled, at the first start for
    seconds, if that takes about a minute at most (auto), compiled only if it has been before
    (cached), compiled in any case, or interpreted
"""

_OUTPUT = """\
--out FILE  write all samples: .npz, .mcap (ROS 2 messages) or .csv
--plot FILE  plot the motion: .png, .pdf or .svg
"""


def register(commands: common.Commands) -> None:
    """Add the command to the command line."""
    parser = common.add_command(commands, "simulate", _HELP, run)
    common.add_mechanism(parser)
    common.add_start_on_tasks(parser)
    common.add_joint_values(
        parser, "--velocity", "velocities", "initial velocity of this joint (rad/s or m/s)"
    )
    common.add_options(parser, "--duration S=5  simulated time in s")
    common.add_control(parser)
    common.add_options(parser, _OPTIONS)
    parser.add_argument(
        "--switch",
        metavar=("S", "NAME=on|off"),
        nargs=2,
        action="append",
        default=[],
        help="switch a switchable constraint at time S; repeatable",
    )
    common.add_options(parser.add_argument_group("integration"), _INTEGRATION)
    output = parser.add_argument_group("output")
    common.add_options(output, _OUTPUT)
    common.add_json(output, "the summary")


def run(arguments: argparse.Namespace) -> int:
    """Simulate, write the requested files, print the summary."""
    with log_on_stderr():
        return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    from uk_dynamics import Reality, ServoController
    from uk_dynamics import simulate as run_simulation
    from uk_dynamics.control import EncoderFeedback
    from uk_dynamics.mechanism.dynamics import workless
    from uk_dynamics.simulation import default_method

    _check_control(arguments)
    common.check_writable(arguments.out, (".npz", ".mcap", ".csv"))
    common.check_writable(arguments.plot, (".png", ".pdf", ".svg"))
    mechanism = common.load_mechanism(arguments)
    held = arguments.control_period is not None
    options = _options(arguments, arguments.method or default_method(mechanism, held=held))
    tasks = common.load_tasks(arguments, mechanism)
    controller = _compiled_beside(
        mechanism,
        arguments.backend,
        common.controller_factory(
            *(mechanism, tasks, arguments.control, arguments.control_period, arguments.delay),
            arguments.backend,
        ),
    )
    reality = Reality({}) if arguments.plant is None else Reality.from_file(arguments.plant)
    plant = reality.machine(mechanism)
    if reality.encoders is not None:
        if not isinstance(controller, ServoController) or arguments.control_period is None:
            problem = "encoders are for a servo controller: add --tasks and --control-period"
            raise InputError(problem, file=reality.file, place="encoders")
        controller = EncoderFeedback(controller, reality.encoders, arguments.backend)
    state = common.start_state(arguments, mechanism, tasks, dict(arguments.velocities))
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
            events=common.switchings(arguments.switch),
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


def _compiled_beside(
    mechanism: Mechanism, backend: Backend, controller: Callable[[], Controller | None]
) -> Controller | None:
    """The controller; where both have to be compiled, the mechanism is at the same time."""
    if backend not in ("auto", "compiled"):
        return controller()
    from uk_dynamics.compilation import Selection, select_backend
    from uk_dynamics.compilation.build import side_by_side

    def ready() -> None:
        select_backend(mechanism, Selection(backend, unready="wait"))

    found, _ = side_by_side((controller, ready))
    return found


def _options(arguments: argparse.Namespace, chosen: str) -> dict[str, float]:
    """Options of the integrator that were given; one without effect is refused."""
    for option, methods in (("rtol", ADAPTIVE), ("step", FIXED_STEP)):
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
