# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics describe``: mobility, redundant rows and actuation of a mechanism."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.output.contacts import standing_facts, standing_lines
from uk_dynamics.cli.output.printing import progress_bar, show, table

if TYPE_CHECKING:
    from uk_dynamics import Mechanism
    from uk_dynamics.arrays import Array
    from uk_dynamics.control.servo import ObserverMargin, Promise
    from uk_dynamics.mechanism import Tasks
    from uk_dynamics.mechanism.analysis import MechanismReport, TaskReport

_ON_REFERENCE = 1e-9  # m or rad
_SWITCHED = {True: "initially on", False: "initially off: its rows are not counted"}


def run(arguments: argparse.Namespace) -> int:
    """Print the report."""
    from uk_dynamics.mechanism.analysis import report

    mechanism = common.load_mechanism(arguments)
    tasks = common.load_tasks(arguments, mechanism)
    if arguments.start_on_tasks:
        q = common.start_state(arguments, mechanism, tasks).q
    else:
        positions = dict(arguments.set)
        q = mechanism.assemble(positions, hold=positions)
    with progress_bar(arguments.samples, "state") as bar:
        facts = report(mechanism, q, tasks, samples=arguments.samples, progress=bar.update)
    told: dict[str, Any] = {}
    lines: list[tuple[str, str]] = []
    if tasks is not None and tasks.uncertainty is not None:
        from uk_dynamics.control.servo import promise

        promised = promise(tasks, arguments.control_period)
        told = {"robust": promised.to_dict(tasks.row_names)}
        lines += _promised(promised, tasks)
    if tasks is not None and tasks.corrected:
        from uk_dynamics.control.servo import observer_margins

        margins = observer_margins(tasks, arguments.control_period)
        lines += _corrected(tasks, margins)
        told["observer"] = {
            x.row: {
                "bandwidth": x.bandwidth,
                "velocity_bandwidth": x.velocity,
                "phase_margin": x.with_observer.phase,
                "phase_margin_without": x.without.phase,
                "delay_margin": x.with_observer.delay,
                "delay_margin_without": x.without.delay,
            }
            for x in margins
        }
    stands: list[tuple[str, str]] = []
    if mechanism.one_sided:
        told["standing"], stands = _standing(mechanism, q)
    show(arguments, facts.to_dict() | told, describe(facts, lines, stands))
    return 0


def _promised(found: Promise, tasks: Tasks) -> Iterator[tuple[str, str]]:
    """What a robust law promises, and what it rests on."""
    rows = tasks.row_names
    pairs = zip(rows, found.error.tolist(), strict=True)
    if not found.failing:
        errors = ", ".join(f"{name} {error:.3g}" for name, error in pairs)
        yield "promised errors", f"{errors}  (m or rad; {found.seconds:g} s of the references)"
        gain = found.known.gain[0] / math.tau
        if tasks.adaptive:
            pairs = zip(rows, found.adapting.tolist(), strict=True)
            told = ", ".join(f"{name} {error:.3g}" for name, error in pairs)
            yield "with estimates", f"{told}  (which may be wrong at first)"
        least = tasks.spec.robust and tasks.spec.robust.least_bandwidth
        falls = f" ({least:.3g} Hz once estimates are known)" if least else ""
        yield "robust term", f"up to {gain:.3g} Hz{falls}, with {1e3 * found.delay:.3g} ms of delay"
    if tasks.spec.robust is not None and (sees := tasks.spec.robust.encoders) is not None:
        told = "half a step and three deviations of the noise" if sees.noise else "half a step"
        yield "encoders", f"read within {sees.largest:.3g} rad or m, {told}"
    for sentence in found.failing:
        yield "nothing promised", sentence
    shares = sorted(found.parts.items(), key=lambda pair: -pair[1])
    yield "uncertain", ", ".join(f"{name} {part:.0%}" for name, part in shares)
    for motor, part in found.overloaded.items():
        yield "too weak", f"{motor} needs up to {part:.2f} of its effort limit against all of it"


def _corrected(tasks: Tasks, margins: Iterable[ObserverMargin]) -> Iterator[tuple[str, str]]:
    """What the law learns while it works, and what that costs."""
    if tasks.spec.adaptive:
        yield "adaptive", ", ".join(tasks.spec.adaptive)
    for x in margins:
        old, new = x.without, x.with_observer
        if new.delay <= 0.0:
            yield "observer", f"{x.row} {x} is unstable with this delay; lower it"
            continue
        delays = f"{1e3 * new.delay:.3g} ms more delay tolerated, {1e3 * old.delay:.3g} ms without"
        phases = f"{math.degrees(new.phase):.0f}° and {math.degrees(old.phase):.0f}°"
        yield "observer", f"{x.row} {x}: {delays}  (phase margins {phases})"


def _standing(
    mechanism: Mechanism, q: Array
) -> tuple[dict[str, Any] | None, list[tuple[str, str]]]:
    """Whether it stands where something touches, as facts and as lines."""
    from uk_dynamics import UkDynamicsError, standing

    try:
        found = standing(mechanism, mechanism.state(q))
    except UkDynamicsError as error:
        return None, [("standing", f"not examined: {error}")]
    motion = found.motion
    if not motion.overtaxed and not any(one.force[0] > 0.0 for one in motion.contacts.values()):
        return None, []
    return standing_facts(found), list(standing_lines(found))


def describe(
    facts: MechanismReport,
    promised: Sequence[tuple[str, str]] = (),
    stands: Sequence[tuple[str, str]] = (),
) -> str:
    """A report as text, with lines of what a robust law promises, and of whether it stands."""
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
        rows += _shortcomings(facts.tasks)
        rows += promised
    levels = list(enumerate(facts.levels, start=1)) if len(facts.levels) > 1 else []
    rows += [
        ("position", _position(facts)),
        *([("largest residual", f"{facts.largest_residual:.1e} m or rad")] if facts.rows else []),
        *((f"level {i}", ", ".join(names)) for i, names in levels),
        *(("one-sided", f"{name}, {what}") for name, what in facts.one_sided.items()),
        *stands,
        *(("switchable", f"{name}, {_SWITCHED[on]}") for name, on in facts.switchable.items()),
        *(
            (x["by"], f"{name} {x['value']:.6g} ± {x['deviation']:.2g}  ({x['date']})")
            for name, x in facts.identified.items()
        ),
        *(("limit", violation) for violation in facts.limit_violations),
        *(("warning", warning) for warning in facts.warnings),
    ]
    return f"{facts.name}\n{table(rows)}"


def _shortcomings(tasks: TaskReport) -> Iterator[tuple[str, str]]:
    """Where tasks are off their references, or the motors cannot serve them, and why ((34))."""
    if any(abs(error) > _ON_REFERENCE for error in tasks.errors.values()):
        errors = ", ".join(f"{row} {error:.4g}" for row, error in tasks.errors.items())
        remedy = "(m or rad; --start-on-tasks starts on the references)"
        yield "tracking errors", f"{errors} at t = 0  {remedy}"
    for name, norm in tasks.missing.items():
        yield "out of reach", f"{name} misses {norm:.3g} m/s^2 or rad/s^2 at t = 0"
    if tasks.reason:
        ranks = f"rank {tasks.reachable_rows} of {tasks.independent_rows}"
        problem = f"not servo-controllable at acceleration level, {ranks}: {tasks.reason}"
        yield "servo control", problem


def _typed(kinds: dict[str, str]) -> list[str]:
    return [f"{name} ({kind})" for name, kind in kinds.items()]


def _rows(facts: MechanismReport) -> str:
    if not facts.rows:
        return "none"
    parts = [f"{facts.rows}, rank {facts.rank}"]
    if facts.vanishing_rows:
        count, names = len(facts.vanishing_rows), ", ".join(facts.vanishing_rows)
        parts.append(f"{count} vanish{'es' * (count == 1)} here: {names}")
    if facts.redundant_rows:
        parts.append(f"redundant {len(facts.redundant_rows)}: {', '.join(facts.redundant_rows)}")
    return ", ".join(parts if parts[1:] else [*parts, "none redundant"])


def _actuation(facts: MechanismReport) -> str:
    if not facts.mobility:
        return "none needed: the constraints leave no degree of freedom"
    motors = "1 motor drives" if len(facts.motors) == 1 else f"{len(facts.motors)} motors drive"
    freedoms = f"{facts.actuated_freedoms} of {facts.mobility} degrees of freedom"
    return f"{facts.actuation}  ({motors} {freedoms})"


def _position(facts: MechanismReport) -> str:
    return ", ".join(
        f"{name} {round(q, 4) + 0.0:g} {facts.units[name]}".rstrip()  # + 0.0 turns -0 into 0
        for name, q in facts.configuration.items()
    )


def _counted(names: tuple[str, ...] | list[str]) -> str:
    return f"{len(names)}: {', '.join(names)}" if names else "none"


def _method(facts: MechanismReport) -> str:
    if not facts.method:
        return "none  (the motion is undetermined)"
    if facts.pseudoinverse is not None:
        return f"{facts.method}, pseudoinverse by {facts.pseudoinverse}"
    if facts.requested_method != "auto":
        return facts.method
    reasons = {"nullspace": "the mass matrix is singular", "hierarchical": "there are clearances"}
    reason = reasons.get(facts.method, "the mass matrix is regular")
    return f"{facts.method}  (chosen by auto: {reason})"


def _integrability(facts: MechanismReport) -> Iterator[tuple[str, str]]:
    """Result of Lemma 1 of the review; constraints of the same nature are grouped."""
    found = facts.integrability
    if found is None or not found.constraints:
        return
    groups: dict[str, list[str]] = {}
    for name, nature in found.constraints.items():
        words = f"{nature.verdict}, {'rheonomic' if nature.rheonomic else 'scleronomic'}"
        groups.setdefault(words, []).append(name)
    tested = f"tested at {found.samples} state{'s' * (found.samples != 1)}"
    parts = [f"{words}: {', '.join(names)}" for words, names in groups.items()]
    shown = f"all {next(iter(groups))}" if len(groups) == 1 else "; ".join(parts)
    yield "integrability", f"{shown} ({tested})"
    if found.bound_coordinates < (bound := found.bound_velocities):
        velocities = "1 velocity" if bound == 1 else f"{bound} velocities"
        most, least = ("", "") if found.complete else ("at most ", "at least ")
        integrable = f"{velocities}, {most}{found.bound_coordinates or 'none'} integrably"
        left = facts.velocities - found.bound_coordinates
        dimensions = f"{left} dimension{'' if left == 1 else 's'}"
        yield "constrained", f"{integrable}: configurations have {least}{dimensions}"


def _reach(tasks: TaskReport) -> str:
    reach = "the motors reach them all"
    missed = tasks.independent_rows - tasks.reachable_rows
    if missed:
        rows = ", ".join(tasks.unreachable)
        reach = f"the motors cannot reach {missed} of them (among {rows})"
    return f"{tasks.rows}, independent {tasks.independent_rows}; {reach}"
