# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""C files for other programs: a mechanism, its derivatives, the servo law, joint-state estimation.

What writes them is imported when somebody exports.
"""

from collections.abc import Sequence

import numpy as np

from uk_dynamics.compilation.build.c_header import header_and_source, marked
from uk_dynamics.compilation.build.compilable import check, obstacles, straight_obstacles, writing
from uk_dynamics.compilation.build.contact_rows import counted
from uk_dynamics.compilation.emit.layout import EffortLayout, LoopTables, integrates, rolls
from uk_dynamics.core.servo import Known
from uk_dynamics.escaping import c_comment, c_identifier
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import ResolvedMechanism


@writing()
def state_export(mechanism: ResolvedMechanism) -> dict[str, str]:
    """Texts of ``NAME.h``, ``NAME.c``, ``NAME_batch.h`` and ``NAME_batch.c``, by name."""
    from uk_dynamics.compilation.emit import generate
    from uk_dynamics.compilation.emit.c_text import part

    check(mechanism, straight=True, moves=True)
    mechanism = mechanism.settled()
    identifier, name = c_identifier(mechanism.name), c_comment(mechanism.name)
    declared = "\n".join(
        [generate.declarations(mechanism), *generate.contact_declarations(mechanism)]
    )
    one_sided = bool(mechanism.one_sided)
    definitions = [generate.definitions(mechanism), *generate.contact_step(mechanism)]
    batch = generate.batch_declarations(mechanism)
    files = header_and_source(
        identifier,
        declared,
        "\n".join(definitions),
        title=f"{name}: constrained accelerations of a mechanism with closed loops. Generated.",
        lists={"q, v, tau": mechanism.model.velocity_names, "rows": mechanism.row_names},
        functions=part("state_functions.h") + part("contact_step_functions.h") * one_sided,
    )
    of_batches = header_and_source(
        identifier,
        batch,
        generate.batch_definitions(mechanism),
        title=f"{name}: many states at once, one in each lane of a vector. Generated.",
        functions=part("batch_functions.h") + part("rollout_functions.h") * rolls(mechanism),
        before=declared,
        suffix="_batch",
    )
    return _named(identifier, files, of_batches)


@writing()
def derivative_export(mechanism: ResolvedMechanism) -> dict[str, str]:
    """Texts of ``NAME_derivatives.c``, ``.h``, ``_batch.c``, ``_batch.h``.

    They are ``NAME_parameters.c`` … where the mechanism varies parameters: derivatives by these.
    """
    from uk_dynamics.compilation.derivatives.equation_derivatives import equation_derivatives
    from uk_dynamics.compilation.derivatives.patterns import motion_patterns, projection_pattern
    from uk_dynamics.compilation.emit import derivative_source, ode_source
    from uk_dynamics.compilation.emit.c_text import part

    check(mechanism, straight=True)
    varied = mechanism.varied
    plain = c_identifier(mechanism.name)
    identifier = f"{plain}_{'parameters' if varied else 'derivatives'}"
    name, names = c_comment(mechanism.name), mechanism.model.velocity_names
    by = "parameters" if varied else "state, time and forces"
    traced = equation_derivatives(mechanism)
    lists: dict[str, Sequence[str]] = {"q, v, tau": names, "rows": mechanism.row_names}
    functions = part("derivative_functions.h")
    declarations = derivative_source.derivative_declarations(mechanism)
    definitions = derivative_source.derivative_definitions(mechanism)
    if varied:
        known = mechanism.parameters
        lists["p"] = [f"{x} [{known[x].unit}], {known[x].value!r}" for x in varied.names]
        columns = [(0, len(varied.names))]
    else:
        nv = len(names)
        columns = [(0, nv), (nv, 2 * nv), (2 * nv + 1, 3 * nv + 1)]
        if ode_source.is_ode(mechanism, traced):
            declarations += part("casadi_integer.h")
            functions += ode_source.ode_prototypes(plain)
        if rolls(mechanism):
            functions += part("projection_functions.h")
            declarations += part("projection_derivatives.h")
            definitions += "\n".join(derivative_source.projection_definitions(mechanism))
            patterns = np.split(projection_pattern(mechanism), 2)
            by_state = [(0, nv), (nv, 2 * nv), (2 * nv, 2 * nv + 1)]
            for quantity, pattern in zip(("q'", "v'"), patterns, strict=True):
                lists[quantity] = marked(names, pattern, by_state)
    lists["qdd"] = marked(names, motion_patterns(mechanism).acceleration, columns)
    files = header_and_source(
        identifier,
        declarations,
        definitions,
        title=f"{name}: derivatives of the constrained acceleration by {by}. Generated.",
        lists=lists,
        functions=functions,
    )
    of_batches = header_and_source(
        identifier,
        part("derivatives_batch.h"),
        derivative_source.derivative_batch_definitions(mechanism),
        title=f"{name}: derivatives at many states, by {by}. Generated.",
        functions=part("derivative_batch_functions.h"),
        before=declarations,
        suffix="_batch",
    )
    return _named(identifier, files, of_batches)


@writing()
def servo_export(
    tasks: Tasks,  # what the motors enforce
    identifier: str,  # of C; the prefix of all names
    tables: LoopTables | None = None,  # of the joint-state estimation; None: without it
    measured: Sequence[str] = (),  # the measured joints, in the order of the tables
    known: Known | None = None,  # what a robust law knows of the uncertainty
) -> tuple[str, str]:
    """Header and source of the servo law of tasks; InputError where some part cannot be C."""
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
        lists=lists,
        functions=part("servo_functions.h") + part("completion_functions.h") * (tables is not None),
    )


@writing()
def effort_export(tasks: Tasks, identifier: str) -> tuple[str, str]:
    """Header and source of the derivatives of the efforts, where no parameters are varied."""
    from uk_dynamics.compilation.derivatives.patterns import effort_pattern
    from uk_dynamics.compilation.emit.c_text import part
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
        lists={
            "q, v": mechanism.model.velocity_names,
            "columns": tuple(groups),
            "motors": marked(mechanism.actuators.names, effort_pattern(tasks), places),
            "task rows": tasks.row_names,
        },
        functions=part("effort_functions.h"),
    )


@writing()
def completion_export(
    mechanism: ResolvedMechanism, tables: LoopTables, measured: Sequence[str], identifier: str
) -> tuple[str, str]:
    """Header and source of the joint-state estimation; arguments as of :func:`servo_export`."""
    from uk_dynamics.compilation.emit.c_text import header, part
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
        lists={"q, v": mechanism.model.velocity_names, "measured": tuple(measured)},
        functions=part("completion_functions.h"),
    )


def _refuse(found: Sequence[str], file: str) -> None:
    if found:
        raise InputError(f"cannot be written as C: {', '.join(found)}; leave it out", file=file)


def _named(identifier: str, one: tuple[str, str], of_batches: tuple[str, str]) -> dict[str, str]:
    """Header and source of one state and of batches by the names of their files."""
    names = (f"{identifier}{end}" for end in (".h", ".c", "_batch.h", "_batch.c"))
    return dict(zip(names, (*one, *of_batches), strict=True))
