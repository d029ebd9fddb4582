# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics inverse-dynamics``: motor efforts and loop forces of a motion."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.output.contacts import contact_facts, contact_lines
from uk_dynamics.cli.output.printing import show, table
from uk_dynamics.exceptions import InputError

if TYPE_CHECKING:
    from uk_dynamics.control import InverseDynamics

_HELP = """\
compute motor efforts and loop forces of a motion

Compute the motor efforts and loop forces of a motion. Joints that are not named follow from the
loops; without velocities and accelerations the machine stands still.

examples:
  uk_dynamics inverse-dynamics five_bar                          static efforts
  uk_dynamics inverse-dynamics five_bar --velocity crank=1 --acceleration crank=2
  uk_dynamics inverse-dynamics parallel_2dof --preload motor_1=0.5 --weights equal
"""

_JOINTS = (
    ("--set", "positions", "position of this joint (rad or m); the loops are closed around it"),
    ("--velocity", "velocities", "velocity of this joint (rad/s or m/s)"),
    ("--acceleration", "accelerations", "acceleration of this joint (rad/s^2 or m/s^2)"),
    ("--preload", "preload", "preferred effort of this motor (N m or N)"),
)


def register(commands: common.Commands) -> None:
    """Add the command to the command line."""
    parser = common.add_command(commands, "inverse-dynamics", _HELP, run)
    common.add_file(parser)
    for option, dest, text in _JOINTS:
        of = "MOTOR" if option == "--preload" else "JOINT"
        common.add_joint_values(parser, option, dest, text, of=of)
    common.add_options(
        parser,
        "--friction-part PART=1  of the friction of contacts, which they may use\n"
        "--weights limits|equal=limits  how redundant motors share the effort: by their limits, or"
        " equally",
        PART=common.positive,
    )
    common.add_json(parser, "the facts")


def run(arguments: argparse.Namespace) -> int:
    """Print efforts and forces."""
    from uk_dynamics import Mechanism, inverse_dynamics

    mechanism = Mechanism.from_file(arguments.file)
    state = mechanism.start(dict(arguments.positions), dict(arguments.velocities))
    if state.v.any() and not arguments.accelerations:
        raise InputError("velocities need accelerations; add --acceleration JOINT=VALUE")
    motion = inverse_dynamics(
        mechanism,
        state,
        dict(arguments.accelerations) or [0.0] * mechanism.model.nv,
        weights=arguments.weights,
        preload=dict(arguments.preload),
        friction_part=arguments.friction_part,
    )
    facts = {
        "efforts": motion.by_motor(),
        "loop_forces": motion.by_row(),
        "actuation": motion.actuation,
        "missing": dict(motion.missing),
        "beyond_limits": list(motion.beyond_limits),
        "contacts": contact_facts(motion.contacts),
        "overtaxed": dict(motion.overtaxed),
    }
    show(arguments, facts, _text(motion))
    return 0


def _text(motion: InverseDynamics) -> str:
    rows = [(name, f"{effort:.6g} N m or N") for name, effort in motion.by_motor().items()]
    rows += contact_lines(motion.contacts)
    one_sided = motion.mechanism.hierarchy.one_sided
    for (name, force), unique in zip(motion.by_row().items(), motion.determined, strict=True):
        if name.rpartition(".")[0] in one_sided or name in one_sided:
            continue
        shared = "" if unique else "  (one of many: redundant rows share it)"
        rows.append((name, f"{force:.6g} N m or N{shared}"))
    rows.append(("actuation", motion.actuation))
    rows += [
        ("out of reach", f"{name} misses {lack:.3g} m/s^2 or rad/s^2")
        for name, lack in motion.missing.items()
    ]
    rows += [("beyond its limit", name) for name in motion.beyond_limits]
    rows += [
        ("beyond its cone", f"{name} would have to {x}") for name, x in motion.overtaxed.items()
    ]
    return f"{motion.mechanism.name}\n{table(rows)}"
