# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics inverse-dynamics``: motor efforts and loop forces of a motion."""

import argparse

from uk_dynamics import Mechanism, inverse_dynamics
from uk_dynamics.cli.output.contacts import contact_facts, contact_lines
from uk_dynamics.cli.output.printing import show, table
from uk_dynamics.control import InverseDynamics
from uk_dynamics.exceptions import InputError


def run(arguments: argparse.Namespace) -> int:
    """Print efforts and forces."""
    mechanism = Mechanism.from_file(arguments.file)
    state = mechanism.start(dict(arguments.set), dict(arguments.velocity))
    if state.v.any() and not arguments.acceleration:
        raise InputError("velocities need accelerations; add --acceleration JOINT=VALUE")
    motion = inverse_dynamics(
        mechanism,
        state,
        dict(arguments.acceleration) or [0.0] * mechanism.model.nv,
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
