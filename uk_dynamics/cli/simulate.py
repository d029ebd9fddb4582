"""``uk_dynamics simulate``: let a mechanism move, freely or under servo control."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from uk_dynamics.cli.arguments import (
    add_mechanism,
    add_start_on_tasks,
    assignment,
    check_writable,
    positive,
    start_state,
    switchings,
)
from uk_dynamics.cli.controllers import MODES, controller_maker
from uk_dynamics.cli.simulation_summary import summarize, summary_table
from uk_dynamics.exceptions import InputError, UkDynamicsError

if TYPE_CHECKING:
    from uk_dynamics.cli.extensions import Commands

# As uk_dynamics.simulation offers them; importing it for --help would take long.
ADAPTIVE = ("DOP853", "RK45", "RK23", "Radau")
FIXED_STEP = ("rk4", "semi_implicit_euler")

_DESCRIPTION = """\
Simulate a mechanism from rest: falling freely, or with a tasks file under servo control. The loops
are closed first; positions and velocities are projected onto them after every step.
"""

_EXAMPLES = """\
examples:
  uk_dynamics simulate five_bar --set crank=0.9 --duration 20 --plot fall.png
  uk_dynamics simulate five_bar --tasks five_bar_sweep --control-period 0.002 --out run.npz
  uk_dynamics simulate my_robot.yaml --tasks reach.yaml --start-on-tasks --control-period 0.002
  uk_dynamics simulate coordinated_robots --control hold --duration 1
  uk_dynamics simulate five_bar --method rk4 --step 0.001 --out run.csv
  uk_dynamics simulate five_bar --json | jq .largest_violation
"""


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "simulate",
        help="let it move, freely or under servo control",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_mechanism(parser)
    add_start_on_tasks(parser)
    parser.add_argument(
        "--velocity",
        metavar="JOINT=VALUE",
        type=assignment,
        action="append",
        default=[],
        dest="velocities",
        help="start with this joint moving at VALUE (rad/s or m/s); repeatable",
    )
    parser.add_argument(
        "--duration", metavar="S", type=positive, default=5.0, help="simulated time in s (5)"
    )
    parser.add_argument(
        "--control",
        choices=MODES,
        help="without tasks: motors carry the weight and nothing else, or hold the start",
    )
    parser.add_argument(
        "--control-period",
        metavar="S",
        type=positive,
        help="efforts are computed every S seconds and held between; left out: continuously",
    )
    parser.add_argument(
        "--sample-period",
        metavar="S",
        type=positive,
        default=0.01,
        help="time between samples of the result in s (0.01)",
    )
    parser.add_argument(
        "--switch",
        metavar=("S", "NAME=on|off"),
        nargs=2,
        action="append",
        default=[],
        help="switch a switchable constraint at time S; repeatable",
    )
    integration = parser.add_argument_group("integration")
    integration.add_argument(
        "--method",
        choices=ADAPTIVE + FIXED_STEP,
        help="adaptive (DOP853, RK45, RK23, Radau) or of fixed step (DOP853, but rk4 with"
        " --control-period)",
    )
    integration.add_argument(
        "--rtol", metavar="TOL", type=positive, help="relative tolerance of adaptive methods (1e-9)"
    )
    integration.add_argument(
        "--step",
        metavar="S",
        type=positive,
        help="step of the fixed-step methods in s (0.001 to 0.002)",
    )
    integration.add_argument(
        "--backend",
        choices=("auto", "cached", "interpreted", "compiled"),
        default="cached",
        help="what evaluates the mechanism: C if it was compiled before (cached), C if it can be"
        " compiled in about a minute (auto), C in any case, or Python",
    )
    output = parser.add_argument_group("output")
    output.add_argument(
        "--out", metavar="FILE", help="write all samples: .npz, .mcap (ROS 2 messages) or .csv"
    )
    output.add_argument("--plot", metavar="FILE", help="draw the motion: .png, .pdf or .svg")
    output.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Simulate, write the files asked for, print the summary."""
    from uk_dynamics import Mechanism, Tasks
    from uk_dynamics import simulate as run_simulation
    from uk_dynamics.mechanism.constraint_work import workless

    options = _options(arguments)
    check_writable(arguments.out, (".npz", ".mcap", ".csv"))
    check_writable(arguments.plot, (".png", ".pdf", ".svg"))
    mechanism = Mechanism.from_file(arguments.file)
    tasks = Tasks.from_file(arguments.tasks, mechanism) if arguments.tasks else None
    controller = controller_maker(mechanism, tasks, arguments.control, arguments.control_period)()
    state = start_state(arguments, mechanism, tasks, dict(arguments.velocities))
    recording = None if arguments.out is None else Path(arguments.out)
    with _told(recording), _progress(arguments.duration) as progress:
        trajectory = run_simulation(
            mechanism,
            state,
            arguments.duration,
            controller=controller,
            control_period=arguments.control_period,
            method=arguments.method,
            sample_period=arguments.sample_period,
            progress=progress,
            events=switchings(arguments.switch),
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
    print(json.dumps(summary, indent=2) if arguments.json else summary_table(summary))
    return 0


def _options(arguments: argparse.Namespace) -> dict[str, float]:
    """Options of the integrator that were given; one that would do nothing is refused."""
    chosen = arguments.method or ("DOP853" if arguments.control_period is None else "rk4")
    for option, methods in (("rtol", ADAPTIVE), ("step", FIXED_STEP)):
        if getattr(arguments, option) is not None and chosen not in methods:
            raise InputError(f"--{option} is for {' and '.join(methods)}, not for {chosen}")
    if arguments.control_period is not None and not (arguments.tasks or arguments.control):
        raise InputError(
            "--control-period needs --tasks or --control: without them there is no control"
        )
    given = {option: getattr(arguments, option) for option in ("rtol", "step")}
    return {option: value for option, value in given.items() if value is not None}


@contextmanager
def _told(recording: Path | None) -> Iterator[None]:
    """Name the recording that an error or Ctrl-C leaves behind."""
    before = _identity(recording)
    try:
        yield
    except (UkDynamicsError, KeyboardInterrupt):
        if recording is not None and _identity(recording) != before:
            print(f"uk_dynamics: {recording} holds the motion so far", file=sys.stderr)
        raise


def _identity(file: Path | None) -> tuple[int, int] | None:
    """What changes when a file is written."""
    if file is None or not file.exists():
        return None
    state = file.stat()
    return state.st_mtime_ns, state.st_size


@contextmanager
def _progress(duration: float) -> Iterator[Callable[[float], None]]:
    """Show a bar of simulated time on a terminal; elsewhere nothing."""
    from tqdm import tqdm

    shape = "{percentage:3.0f}% |{bar}| {n:.2f} of {total:g} s, {remaining} to go"
    with tqdm(total=duration, file=sys.stderr, disable=None, leave=False, bar_format=shape) as bar:

        def show(t: float) -> None:
            bar.update(t - bar.n)

        yield show
