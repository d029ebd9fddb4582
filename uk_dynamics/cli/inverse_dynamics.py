"""``uk_dynamics inverse-dynamics``: efforts and loop forces that go with a motion."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from uk_dynamics.cli.arguments import add_file, assignment
from uk_dynamics.cli.table import table
from uk_dynamics.exceptions import InputError

if TYPE_CHECKING:
    from uk_dynamics.cli.extensions import Commands
    from uk_dynamics.control.inverse_dynamics import InverseDynamics

_DESCRIPTION = """\
Efforts of the motors and forces in the loops that go with a motion. Joints that are not named
follow from the loops; without any velocity and acceleration the machine stands still.
"""

_EXAMPLES = """\
examples:
  uk_dynamics inverse-dynamics five_bar                          what it takes to stand still
  uk_dynamics inverse-dynamics five_bar --velocity crank=1 --acceleration crank=2
  uk_dynamics inverse-dynamics parallel_2dof --preload motor_1=0.5 --weights equal
"""

_JOINTS = (
    ("--set", "positions", "this joint stands at VALUE (rad or m), the loops closed around it"),
    ("--velocity", "velocities", "this joint moves at VALUE (rad/s or m/s)"),
    ("--acceleration", "accelerations", "this joint accelerates with VALUE (rad/s^2 or m/s^2)"),
    ("--preload", "preload", "this motor gives VALUE (N m or N) where that changes no motion"),
)


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "inverse-dynamics",
        help="motor efforts and loop forces of a motion",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_file(parser)
    for option, name, help_text in _JOINTS:
        parser.add_argument(
            option,
            metavar="MOTOR=VALUE" if option == "--preload" else "JOINT=VALUE",
            type=assignment,
            action="append",
            default=[],
            dest=name,
            help=f"{help_text}; repeatable",
        )
    parser.add_argument(
        "--weights",
        choices=("limits", "equal"),
        default="limits",
        help="how redundant motors share the work: by their limits (default), or equally",
    )
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print efforts and forces."""
    from uk_dynamics import Mechanism, inverse_dynamics

    mechanism = Mechanism.from_file(arguments.file)
    state = mechanism.start(dict(arguments.positions), dict(arguments.velocities))
    if state.v.any() and not arguments.accelerations:
        raise InputError("a machine in motion needs accelerations; add --acceleration JOINT=VALUE")
    motion = inverse_dynamics(
        mechanism,
        state,
        dict(arguments.accelerations) or [0.0] * mechanism.model.nv,
        weights=arguments.weights,
        preload=dict(arguments.preload),
    )
    if arguments.json:
        facts = {
            "efforts": motion.by_motor(),
            "loop_forces": motion.by_row(),
            "actuation": motion.actuation,
            "missing": dict(motion.missing),
            "beyond_limits": list(motion.beyond_limits),
        }
        print(json.dumps(facts, indent=2))
    else:
        print(_text(motion))
    return 0


def _text(motion: InverseDynamics) -> str:
    rows = [(name, f"{effort:.6g} N m or N") for name, effort in motion.by_motor().items()]
    forces = zip(motion.by_row().items(), motion.determined.tolist(), strict=True)
    rows += [
        (
            name,
            f"{force:.6g} N m or N{'' if unique else '  (one of many: redundant rows share it)'}",
        )
        for (name, force), unique in forces
    ]
    rows.append(("actuation", motion.actuation))
    rows += [
        ("out of reach", f"{name} lacks {lack:.3g} m/s^2 or rad/s^2")
        for name, lack in motion.missing.items()
    ]
    rows += [("too weak", name) for name in motion.beyond_limits]
    return f"{motion.mechanism.name}\n{table(rows)}"
