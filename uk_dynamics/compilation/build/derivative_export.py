# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The derivatives of the acceleration as C files, with the functions that planners call."""

from collections.abc import Sequence

import numpy as np

from uk_dynamics.compilation.build.c_header import header_and_source, marked
from uk_dynamics.compilation.build.compilable import check, writing
from uk_dynamics.compilation.emit.layout import rolls
from uk_dynamics.escaping import c_comment, c_identifier
from uk_dynamics.mechanism.resolution import ResolvedMechanism


@writing()
def derivative_export(mechanism: ResolvedMechanism) -> dict[str, str]:
    """Texts of ``NAME_derivatives.c``, ``.h``, ``_batch.c``, ``_batch.h``.

    They are ``NAME_parameters.c`` … where the mechanism varies parameters: derivatives by these.

    Raises:
        CompilationError: Some part of the mechanism cannot be compiled.
    """
    # only those who export need them
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
    names_of_files = (f"{identifier}{end}" for end in (".h", ".c", "_batch.h", "_batch.c"))
    return dict(zip(names_of_files, (*files, *of_batches), strict=True))
