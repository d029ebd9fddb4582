# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The derivatives of the acceleration as C files, with the functions that planners call."""

from collections.abc import Sequence

import numpy as np

from uk_dynamics.compilation.build.c_header import USE, header_and_source, marked, named
from uk_dynamics.compilation.build.compilable import check, writing
from uk_dynamics.compilation.emit.layout import rolls
from uk_dynamics.escaping import c_comment, c_identifier, c_string
from uk_dynamics.mechanism.assembly import start
from uk_dynamics.mechanism.resolution import ResolvedMechanism

_TEXT = """\
{use}

Set t, q, v, tau, stabilize and active (1 for rows that act), then call uk_differentiate. It
returns 0; 1 where the mass matrix is singular, 2 where something is not finite. qdd_derivatives
holds a row for each acceleration, with the derivatives by q, by v and by t, and from column
UK_STRIDE on those by tau. Those by q are per change of the velocity coordinates. In the list of
qdd above, x marks the derivatives by q | v | tau that may differ from zero.

{forces} Derivatives of multipliers by q and v where rows are redundant hold along changes of the
state that keep the constraints. Entries of the force are zero wherever those of qdd are."""

_PARAMETER_TEXT = """\
{use}

Set t, q, v, tau, p, stabilize and active (1 for rows that act), then call uk_differentiate. It
returns 0; 1 where the mass matrix is singular, 2 where something is not finite. qdd_derivatives
holds a row for each acceleration, with the derivatives by p in the order above, and from column
UK_STRIDE on those by tau. In the list of qdd above, x marks the derivatives by p that may differ
from zero. Parameters that are not listed are constants of the code.

{forces}

uk_exist(memory, exist) writes 1 for each parameter that has derivatives at this state, and 0 for
those that move redundant rows apart, as lengths may: their columns have a meaning only in sums
along which all rows keep holding."""

_FORCES = """\
uk_force_derivatives(memory, multipliers, force), called next, writes the derivatives at the same
state of the multipliers of least norm, (UK_M or 1, UK_STRIDE + UK_NV), and of the constraint force
A^T lambda, (UK_NV, UK_STRIDE + UK_NV), in N or N m per unit of the column, to arrays of the
caller. Their columns are those of qdd_derivatives. It cannot fail."""

_ODE = """

{id}_ode(x, u) -> xdot and its Jacobian have the interface of CasADi's external functions,
x = (q, v) and u the motor efforts; acados asks for {id}_expl_ode_fun, {id}_expl_vde_forw and
{id}_expl_vde_adj. Their memory is the work vector w, and they set all of it."""

_PROJECTION = """

uk_projection_derivatives(memory, derivatives) projects q and v onto the constraints, from closed
loops, and gives the derivatives of the projected q, then v, by q, v, t, row by row, (2 UK_NV, 2
UK_NV + 1); it changes qdd and multipliers. It returns 0; 1 or 2 as above; 3 where the loops are
open by more than UK_REACHED; 4 where redundant rows have no derivatives along the constraints.
uk_projection_batch does so for many states. The lists of q' and v' mark which by q | v | t may
differ from zero."""

_EXAMPLE = """\
/* Derivatives of the acceleration of {name}, by {by}:
 * cc -O2 {id}.c {id}_example.c -o {id}_example -lm && ./{id}_example
 */
#include <stdio.h>

#include "{id}.h"

static uk_memory memory;

int main(void) {{
  const double q[] = {{{q}}};
  const double v[] = {{{v}}};
  const char *const names[] = {{{names}}};
  for (int i = 0; i < UK_NQ; ++i) memory.q[i] = q[i];
  for (int i = 0; i < UK_NV; ++i) memory.v[i] = v[i];
  for (int i = 0; i < UK_M; ++i) memory.active[i] = 1.0;
{set}  memory.stabilize = 1.0;
  const int failed = uk_differentiate(&memory);
  if (failed) return failed;
  for (int i = 0; i < UK_NV; ++i) {{
    printf("%s", names[i]);
    const double *row = memory.qdd_derivatives + i * (UK_STRIDE + UK_NV);
    for (int k = 0; k < UK_DIRECTIONS; ++k) printf(" %.17g", row[k]);
    for (int k = 0; k < UK_NV; ++k) printf(" %.17g", row[UK_STRIDE + k]);
    printf("\\n");
  }}
  return 0;
}}
"""


_BATCH_TEXT = """\
Fill a uk_derivative_batch, call uk_differentiate_batch, and read qdd, acceleration and status.
Regular states are computed side by side in the lanes of the processor's vectors. A state whose
status is UK_ALONE has no numbers: it needs pivoting, so pass it to uk_differentiate. The return
value is 0, or 1 where memory could not be allocated. Needs the vectors of GCC or Clang: cc -O3
-march=native."""


_OF_THE_PROJECTION = """\
int uk_projection_derivatives(uk_memory *memory, double *derivatives);
int uk_projection_batch(uk_memory *memory, const uk_projected_states *projections);
"""


@writing()
def derivative_export(mechanism: ResolvedMechanism) -> dict[str, str]:
    """Texts of ``NAME_derivatives.c``, ``.h``, ``_example.c``, ``_batch.c``, ``_batch.h``.

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
    begin = start(mechanism)
    p = [] if varied is None else varied.values.tolist()
    example = named(_EXAMPLE, identifier).format(
        name=name,
        id=identifier,
        by=by,
        q=", ".join(map(repr, begin.q.tolist())),
        v=", ".join(map(repr, begin.v.tolist())),
        names=", ".join(map(c_string, names)),
        set="".join(f"  memory.p[{k}] = {x!r};\n" for k, x in enumerate(p)),
    )
    text = (_PARAMETER_TEXT if varied else _TEXT).format(use=USE, forces=_FORCES)
    lists: dict[str, Sequence[str]] = {"q, v, tau": names, "rows": mechanism.row_names}
    prototypes = (
        "int uk_differentiate(uk_memory *memory);\n"
        "void uk_force_derivatives(uk_memory *memory, double *multipliers, double *force);\n"
    )
    declarations = derivative_source.derivative_declarations(mechanism)
    definitions = derivative_source.derivative_definitions(mechanism)
    if varied:
        known = mechanism.parameters
        lists["p"] = [f"{x} [{known[x].unit}], {known[x].value!r}" for x in varied.names]
        columns = [(0, len(varied.names))]
        prototypes += "void uk_exist(uk_memory *memory, double *exist);\n"
    else:
        nv = len(names)
        columns = [(0, nv), (nv, 2 * nv), (2 * nv + 1, 3 * nv + 1)]
        if ode_source.is_ode(mechanism, traced):
            text += _ODE.format(id=plain)
            prototypes += "\n" + ode_source.ode_prototypes(plain)
            declarations += ode_source.INTEGERS
        if rolls(mechanism):
            text += _PROJECTION
            prototypes += "\n" + _OF_THE_PROJECTION
            declarations += part("projection_derivatives.h")
            definitions += "\n".join(derivative_source.projection_definitions(mechanism))
            patterns = np.split(projection_pattern(mechanism, traced), 2)
            by_state = [(0, nv), (nv, 2 * nv), (2 * nv, 2 * nv + 1)]
            for quantity, pattern in zip(("q'", "v'"), patterns, strict=True):
                lists[quantity] = marked(names, pattern, by_state)
    lists["qdd"] = marked(names, motion_patterns(mechanism, traced).acceleration, columns)
    files = header_and_source(
        identifier,
        declarations,
        definitions,
        title=f"{name}: derivatives of the constrained acceleration by {by}. Generated.",
        text=text,
        lists=lists,
        prototypes=prototypes,
    )
    of_batches = header_and_source(
        identifier,
        derivative_source.derivative_batch_declarations(),
        derivative_source.derivative_batch_definitions(mechanism),
        title=f"{name}: derivatives at many states, by {by}. Generated.",
        text=_BATCH_TEXT,
        prototypes="int uk_differentiate_batch(const uk_derivative_batch *batch);\n",
        before=declarations,
        suffix="_batch",
    )
    names_of_files = (f"{identifier}{end}" for end in (".h", ".c", "_batch.h", "_batch.c"))
    return dict(zip(names_of_files, (*files, *of_batches), strict=True)) | {
        f"{identifier}_example.c": example
    }
