# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The servo law of tasks, and the joint-state estimation, as C for other programs."""

from collections.abc import Sequence

from uk_dynamics.compilation.build.c_header import header_and_source, marked
from uk_dynamics.compilation.build.compilable import obstacles, straight_obstacles, writing
from uk_dynamics.compilation.build.contact_rows import counted
from uk_dynamics.compilation.emit.layout import EffortLayout, LoopTables, integrates
from uk_dynamics.core.servo import Known
from uk_dynamics.escaping import c_comment
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import ResolvedMechanism

_OF_THE_LAW = """\
double uk_closure_error(uk_memory *memory);
int uk_evaluate(uk_memory *memory);
int uk_errors(uk_memory *memory);
int uk_predict_effect(uk_memory *memory, double delay, double *sent, long long *count);
void uk_send(double when, const double *efforts, long long places, double *sent, long long *count);
void uk_control_start(uk_memory *memory, double period);
void uk_control_reset(uk_memory *memory, const double *efforts);
int uk_control(const void *controller, double t, const double *q, const double *v,
               double *efforts, double *flags);
"""
_OF_THE_ESTIMATION = """\
int uk_complete(uk_completion *completion, double t, const double *measured, const double *rates);
int uk_complete_start(uk_completion *completion, double t, const double *measured,
                      const double *rates, int steps);
void uk_rates(const uk_completion *completion, const double *rates, double *v);
"""
_TEXT = """\
Double precision, no allocation, no global state: all memory is the caller's, zeros at first."""
_LAW = """

uk_control_start sets what the files say into a memory; uk_control makes efforts for a state. A
uk_controller has a memory and tables of references, one copy for each controller."""
_STANDING = """

Which contacts stand is as the tasks file says; set contact_closed (1 for those that are closed) in
each period where some stand while they are detected. After uk_control, limited has the efforts, and
behind them the forces of the contacts: normal, along x, along y. A contact that does not stand has
none. While uk_predict_effect predicts, active has to be 1 for the rows of contacts that stand, and
efforts for uk_send have zeros for forces of contacts."""
_ESTIMATION = """

Call uk_complete_start for the first measurement and uk_complete for those that follow. Both return
UK_COMPLETE, or why there is no state."""


@writing()
def servo_export(
    tasks: Tasks,
    identifier: str,
    tables: LoopTables | None = None,
    measured: Sequence[str] = (),
    known: Known | None = None,
) -> tuple[str, str]:
    """Header and source of the servo law of tasks.

    Args:
        tasks: What the motors enforce.
        identifier: Of C; the prefix of all names.
        tables: Of the joint-state estimation; None: without it.
        measured: The measured joints, in the order of the tables.
        known: What a robust law knows of the uncertainty.

    Raises:
        InputError: Some part cannot be written as C.
    """
    from uk_dynamics.compilation.emit.c_text import defines, part
    from uk_dynamics.compilation.emit.completion_source import (
        completion_declarations,
        completion_definitions,
    )
    from uk_dynamics.compilation.emit.generate import closing, effort_limits, jumps
    from uk_dynamics.compilation.emit.layout import BEYOND_TIMES, REFERENCE_KINDS
    from uk_dynamics.compilation.emit.servo_source import (
        control_start,
        servo_declarations,
        servo_definitions,
    )
    from uk_dynamics.compilation.trace.terms import trace

    mechanism, standing = tasks.mechanism, tasks.standing
    rows, names = counted(tasks), () if standing is None else standing.names
    found = [*obstacles(tasks), *straight_obstacles(mechanism, standing=names)]
    if standing is not None and rows is tasks:
        found.append("contacts that stand, of spheres or with values of with_parameters")
    if not integrates(mechanism):
        found.append("constraints that are not linear in velocities")
    _refuse(list(dict.fromkeys(found)), tasks.spec.file)
    structure = trace(mechanism)
    declarations = [servo_declarations(rows)]
    lists = {
        "q, v": mechanism.model.velocity_names,
        "motors": mechanism.actuators.names,
        "task rows": tasks.row_names,
    }
    if standing is not None:
        lists |= {"contacts": standing.names, "rows": mechanism.row_names}
    if tables is not None:
        declarations.append(completion_declarations(tables))
        lists["measured"] = tuple(measured)
    declarations += [
        "/* What tables of references hold, as the source has it. */",
        *defines(REFERENCE_KINDS | BEYOND_TIMES),
        "",
    ]
    source = [
        servo_definitions(rows, structure),
        *closing(mechanism),
        jumps(mechanism),
        effort_limits(rows.mechanism),
        part("propagation.c"),
        control_start(tasks, known),
        "" if tables is None else completion_definitions(structure, tables),
    ]
    return header_and_source(
        identifier,
        "\n".join(declarations),
        "\n".join(source),
        title=f"{c_comment(mechanism.name)}: the servo law of tasks. Generated.",
        text=_TEXT + _LAW + _STANDING * bool(names) + (_ESTIMATION if tables is not None else ""),
        lists=lists,
        prototypes=_OF_THE_LAW + (_OF_THE_ESTIMATION if tables is not None else ""),
    )


_EFFORTS = """
Set t, q, v, task_followed: values, rates, accelerations of the task rows, and what else
uk_effort_start has not set; call uk_effort_derivatives, read limited, the efforts within lower and
upper, and effort_derivatives, row by row: by {columns}. Columns
of q are those of the velocities, t is alone while references are held, and the others have a column
for each task row. held marks motors at a limit. It
returns 0; 1 where the mass matrix is singular, 2 where something is not finite, 3 where the search
within limits fails; 4 where the rank changes, 5 where efforts are a compromise between tasks, 6
where a motor is about to reach a limit, or to leave one: there are no derivatives then, and
effort_derivatives are not numbers. Where rows of the structure are redundant they mean something
along motions, the first `allowed` rows, alone. uk_effort_derivatives_batch does so for many
states. The lists of motors mark which columns of each group may differ from zero."""

_OF_THE_EFFORTS = """\
void uk_effort_start(uk_memory *memory);
int uk_effort_derivatives(uk_memory *memory);
int uk_effort_derivatives_batch(uk_memory *memory, const uk_effort_batch *batch);
"""


@writing()
def effort_export(tasks: Tasks, identifier: str) -> tuple[str, str]:
    """Header and source of the derivatives of the efforts; arguments as of :func:`servo_export`.

    tasks: Of a mechanism that varies no parameters.

    Raises:
        InputError: Some part cannot be written as C.
    """
    from uk_dynamics.compilation.derivatives.patterns import effort_pattern
    from uk_dynamics.compilation.emit.servo_source import (
        effort_declarations,
        effort_definitions,
        effort_start,
    )

    mechanism = tasks.mechanism
    _refuse(obstacles(tasks), tasks.spec.file)
    groups = EffortLayout(tasks).groups
    places = [(x.start, x.stop) if isinstance(x, slice) else (x, x + 1) for x in groups.values()]
    return header_and_source(
        identifier,
        effort_declarations(tasks),
        f"{effort_definitions(tasks)}\n{effort_start(tasks)}",
        title=f"{c_comment(mechanism.name)}: derivatives of the servo law's efforts. Generated.",
        text=_TEXT + _EFFORTS.format(columns=" | ".join(groups)),
        lists={
            "q, v": mechanism.model.velocity_names,
            "motors": marked(mechanism.actuators.names, effort_pattern(tasks), places),
            "task rows": tasks.row_names,
        },
        prototypes=_OF_THE_EFFORTS,
    )


@writing()
def completion_export(
    mechanism: ResolvedMechanism, tables: LoopTables, measured: Sequence[str], identifier: str
) -> tuple[str, str]:
    """Header and source of the joint-state estimation alone; arguments as of :func:`servo_export`.

    Raises:
        InputError: Some part cannot be written as C.
    """
    from uk_dynamics.compilation.emit.c_text import header
    from uk_dynamics.compilation.emit.completion_source import (
        completion_declarations,
        completion_definitions,
    )
    from uk_dynamics.compilation.emit.constants import config
    from uk_dynamics.compilation.trace.terms import trace

    _refuse(obstacles(mechanism), mechanism.spec.file)
    size = header("uk_mechanism.h", f"#define UK_NV {mechanism.model.nv}")
    return header_and_source(
        identifier,
        size + completion_declarations(tables),
        f"{config()}\n{completion_definitions(trace(mechanism), tables)}",
        title=f"{c_comment(mechanism.name)}: joint states from measured joints. Generated.",
        text=_TEXT + " Only jump and singular_tolerance have to be set." + _ESTIMATION,
        lists={"q, v": mechanism.model.velocity_names, "measured": tuple(measured)},
        prototypes=_OF_THE_ESTIMATION,
    )


def _refuse(found: Sequence[str], file: str) -> None:
    if found:
        raise InputError(f"cannot be written as C: {', '.join(found)}; leave it out", file=file)
