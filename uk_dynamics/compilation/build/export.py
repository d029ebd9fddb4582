# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism as C files for other programs: headers and sources."""

from uk_dynamics.compilation.build.c_header import header_and_source
from uk_dynamics.compilation.build.compilable import check, writing
from uk_dynamics.compilation.emit.layout import rolls
from uk_dynamics.escaping import c_comment, c_identifier
from uk_dynamics.mechanism.resolution import ResolvedMechanism


@writing()
def state_export(mechanism: ResolvedMechanism) -> dict[str, str]:
    """Texts of ``NAME.h``, ``NAME.c``, ``NAME_batch.h`` and ``NAME_batch.c``, by name.

    Raises:
        CompilationError: Some part of the mechanism cannot be compiled.
    """
    # only those who export need them
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
    names = (f"{identifier}{end}" for end in (".h", ".c", "_batch.h", "_batch.c"))
    return dict(zip(names, (*files, *of_batches), strict=True))
