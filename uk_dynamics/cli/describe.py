"""``uk_dynamics describe``: what a mechanism is and what its motors can do."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from uk_dynamics.cli.arguments import add_mechanism, add_start_on_tasks, count, start_state
from uk_dynamics.cli.table import table

if TYPE_CHECKING:
    from uk_dynamics.cli.extensions import Commands
    from uk_dynamics.mechanism.report import MechanismReport
    from uk_dynamics.mechanism.task_report import TaskReport

_ON_REFERENCE = 1e-9  # m or rad

_DESCRIPTION = """\
Read a mechanism, close its loops, and say what it is: links, joints, mobility, how many constraint
rows there are and which of them are redundant, whether its motors drive all its freedoms, and
which constraints are holonomic: equations between positions, not between velocities only.
"""

_EXAMPLES = """\
examples:
  uk_dynamics describe five_bar
  uk_dynamics describe five_bar --set crank=0          in another position
  uk_dynamics describe my_robot.yaml --tasks reach.yaml
  uk_dynamics describe five_bar --json | jq .mobility
"""


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "describe",
        help="links, joints, mobility, redundant rows, actuation",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_mechanism(parser)
    add_start_on_tasks(parser)
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    parser.add_argument(
        "--samples",
        type=count,
        default=5,
        metavar="N",
        help="states at which constraints are tested for being holonomic (default 5, 0: no test)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the report."""
    from uk_dynamics import Mechanism, Tasks
    from uk_dynamics.mechanism.report import report

    mechanism = Mechanism.from_file(arguments.file)
    tasks = Tasks.from_file(arguments.tasks, mechanism) if arguments.tasks else None
    if arguments.start_on_tasks:
        q = start_state(arguments, mechanism, tasks).q
    else:
        positions = dict(arguments.positions)
        q = mechanism.assemble(positions, hold=positions)
    facts = report(mechanism, q, tasks, samples=arguments.samples)
    if arguments.json:
        print(json.dumps(facts.to_dict(), indent=2, ensure_ascii=False))
    else:
        print(describe(facts))
    return 0


def describe(facts: MechanismReport) -> str:
    """Write a report as text for people."""
    rows: list[tuple[str, str]] = [
        ("links", _counted(facts.links)),
        ("joints", _counted(facts.joints)),
        ("constraints", _counted(_typed(facts.constraints))),
        ("rows", _rows(facts)),
        *_integrability(facts),
        ("mobility", f"{facts.mobility}  ({facts.velocities} velocities - rank {facts.rank})"),
        *([("friction in", ", ".join(facts.friction))] if facts.friction else []),
        *([("forces", _counted(_typed(facts.forces)))] if facts.forces else []),
        ("motors", _counted(facts.motors)),
        ("actuation", _actuation(facts)),
        ("method", _method(facts)),
    ]
    if facts.tasks is not None:
        rows += [
            ("tasks", _counted(facts.tasks.names)),
            ("task rows", _reach(facts.tasks)),
            ("task actuation", facts.tasks.actuation),
        ]
        if any(abs(error) > _ON_REFERENCE for error in facts.tasks.errors.values()):
            rows.append(("tasks off by", _errors(facts.tasks)))
        for name, norm in facts.tasks.missing.items():
            rows.append(("out of reach", f"{name} lacks {norm:.3g} m/s^2 or rad/s^2 at t = 0"))
        if facts.tasks.reason:
            rows.append(("servo control", _not_controllable(facts.tasks)))
    rows += [
        ("position", _position(facts)),
        *([("largest gap", f"{facts.largest_residual:.1e} m or rad")] if facts.rows else []),
        *((f"level {i + 1}", ", ".join(names)) for i, names in _levels(facts)),
        *(("switchable", f"{name}, {_on(on)}") for name, on in facts.switchable.items()),
        *(("limit", violation) for violation in facts.limit_violations),
        *(("warning", warning) for warning in facts.warnings),
    ]
    return f"{facts.name}\n{table(rows)}"


def _errors(tasks: TaskReport) -> str:
    errors = ", ".join(f"{row} {error:.4g}" for row, error in tasks.errors.items())
    return f"{errors} at t = 0  (m or rad; --start-on-tasks starts on the references)"


def _typed(kinds: dict[str, str]) -> list[str]:
    return [f"{name} ({kind})" for name, kind in kinds.items()]


def _rows(facts: MechanismReport) -> str:
    if not facts.rows:
        return "none"
    redundant = facts.rows - facts.rank
    if not redundant:
        return f"{facts.rows}, rank {facts.rank}, none redundant"
    names = ", ".join(facts.redundant_rows)
    return f"{facts.rows}, rank {facts.rank}, redundant {redundant}: {names}"


def _actuation(facts: MechanismReport) -> str:
    if not facts.mobility:
        return "none needed: the constraints leave no freedom"
    return f"{facts.actuation}  ({_freedoms(facts)})"


def _position(facts: MechanismReport) -> str:
    values = ", ".join(f"{name} {_short(q)}" for name, q in facts.configuration.items())
    return f"{values}  (rad or m)"


def _levels(facts: MechanismReport) -> list[tuple[int, tuple[str, ...]]]:
    """Levels, where there is more than one."""
    return list(enumerate(facts.levels)) if len(facts.levels) > 1 else []


def _on(on: bool) -> str:
    return "on at the start" if on else "off at the start: its rows are not counted"


def _counted(names: tuple[str, ...] | list[str]) -> str:
    return f"{len(names)}: {', '.join(names)}" if names else "none"


def _method(facts: MechanismReport) -> str:
    if not facts.method:
        return "none  (the motion is not determined)"
    if facts.pseudoinverse is not None:
        return f"{facts.method}, pseudoinverse by {facts.pseudoinverse}"
    if facts.requested_method != "auto":
        return facts.method
    reasons = {"nullspace": "the mass matrix is singular", "hierarchical": "there are clearances"}
    reason = reasons.get(facts.method, "the mass matrix is regular")
    return f"{facts.method}  (chosen by auto: {reason})"


def _integrability(facts: MechanismReport) -> Iterator[tuple[str, str]]:
    """What Lemma 1 of the review finds: constraints of the same nature together."""
    found = facts.integrability
    if found is None or not found.constraints:
        return
    groups: dict[str, list[str]] = {}
    for name, nature in found.constraints.items():
        words = f"{nature.verdict}, {'rheonomic' if nature.rheonomic else 'scleronomic'}"
        groups.setdefault(words, []).append(name)
    tested = f"tested at {found.samples} state{'s' * (found.samples != 1)}"
    if len(groups) == 1:
        yield "integrability", f"all {next(iter(groups))} ({tested})"
    else:
        parts = [f"{words}: {', '.join(names)}" for words, names in groups.items()]
        yield "integrability", f"{'; '.join(parts)} ({tested})"
    if found.bound_coordinates < found.bound_velocities:
        velocities = (
            "1 velocity" if found.bound_velocities == 1 else f"{found.bound_velocities} velocities"
        )
        most, least = ("", "") if found.complete else ("at most ", "at least ")
        for_good = f"{velocities}, {most}{found.bound_coordinates or 'none'} for good"
        left = facts.velocities - found.bound_coordinates
        dimensions = f"{left} dimension{'' if left == 1 else 's'}"
        yield "bound", f"{for_good}: configurations have {least}{dimensions}"


def _freedoms(facts: MechanismReport) -> str:
    motors = "1 motor drives" if len(facts.motors) == 1 else f"{len(facts.motors)} motors drive"
    return f"{motors} {facts.actuated_freedoms} of {facts.mobility} freedoms"


def _reach(tasks: TaskReport) -> str:
    reach = "the motors reach them all"
    missed = tasks.independent_rows - tasks.reachable_rows
    if missed:
        rows = ", ".join(tasks.unreachable)
        reach = f"the motors cannot reach {missed} of them (among {rows})"
    return f"{tasks.rows}, independent {tasks.independent_rows}; {reach}"


def _not_controllable(tasks: TaskReport) -> str:
    """What (34) of the servo paper comes to, and why."""
    ranks = f"rank {tasks.reachable_rows} of {tasks.independent_rows}"
    return f"not servo-controllable at acceleration level, {ranks}: {tasks.reason}"


def _short(value: float) -> str:
    return f"{round(value, 4) + 0.0:g}"  # + 0.0 turns -0 into 0
