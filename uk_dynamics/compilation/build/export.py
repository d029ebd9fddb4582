"""A mechanism as C files for other programs: sources, headers, and examples that build."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from uk_dynamics.compilation.build.compilable import check, obstacles
from uk_dynamics.compilation.emit.layout import LoopTables, integrates
from uk_dynamics.escaping import c_comment, c_identifier, c_string
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.assembly import start
from uk_dynamics.mechanism.resolution import ResolvedMechanism
from uk_dynamics.whole_file import whole_file

# What other programs see.
_PUBLIC = (
    "evaluate|memory|evaluate_batch|batch|rollout|trajectories|width"
    "|servo|allocate|errors|closure_error|completion|complete|complete_start|loop_factors|controller"
    "|control|control_reset|track|propagate|close|rates"
)

_HEADER = """\
/* {name}: constrained accelerations of a mechanism with closed loops. Generated; double precision,
 * no allocation, no global state: one {id}_memory per thread, all zeros at first.
 *
 *   q, v, tau:   {joints}
 *   rows:        {rows}
 *
 * Set t, q, v, tau, stabilize and active (1 for rows that act), call {id}_evaluate, read qdd,
 * ideal_force, multipliers, rank, status. It returns 0; 1 where the mass matrix is singular, 2
 * where something is not finite: then there is no answer.
 */
#ifndef {guard}_H
#define {guard}_H

{declarations}
#ifdef __cplusplus
extern "C" {{
#endif

int uk_evaluate(uk_memory *memory);

#ifdef __cplusplus
}}
#endif

#endif
"""

_EXAMPLE = """\
/* One evaluation of {name}: cc -O2 {id}.c {id}_example.c -o {id}_example -lm && ./{id}_example */
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
  memory.stabilize = 1.0;
  const int failed = uk_evaluate(&memory);
  if (failed) return failed;
  printf("rank %g\\n", memory.rank);
  for (int i = 0; i < UK_NV; ++i) printf("%s %.17g\\n", names[i], memory.qdd[i]);
  return 0;
}}
"""


_BATCH_HEADER = """\
/* {name}: many states at once, one in each lane of the processor's vectors. Generated; C11 with the
 * vectors of GCC or Clang (-O3 -march=native for wide ones). Memory is allocated during a call; no
 * global state, so that threads may share the states of a batch among them.
 *
 * What is called returns 0, or 1 where there is no memory.
 */
#ifndef {guard}_BATCH_H
#define {guard}_BATCH_H

#include "{id}.h"

{batch_declarations}
#ifdef __cplusplus
extern "C" {{
#endif

int uk_evaluate_batch(const uk_batch *batch);
{prototype}
#ifdef __cplusplus
}}
#endif

#endif
"""

_BATCH_EXAMPLE = """\
/* {states} states of {name} that differ in their first force{title}:
 * cc -O3 -march=native {id}_batch.c {id}_batch_example.c -o {id}_batch_example -lm
 */
#include <stdio.h>

#include "{id}_batch.h"

#define STATES {states}
#define ROWS (UK_M > 0 ? UK_M : 1)

static double t[1], q[STATES][UK_NQ], v[STATES][UK_NV], tau[STATES][UK_NV], active[ROWS];
static double qdd[STATES][UK_NV], rank[STATES], status[STATES], failed[STATES];

int main(void) {{
  const double start_q[] = {{{q}}};
  const double start_v[] = {{{v}}};
  for (int k = 0; k < STATES; ++k) {{
    for (int i = 0; i < UK_NQ; ++i) q[k][i] = start_q[i];
    for (int i = 0; i < UK_NV; ++i) v[k][i] = start_v[i];
    tau[k][0] = 0.1 * k;
  }}
  for (int i = 0; i < ROWS; ++i) active[i] = 1.0;
  uk_batch batch = {{0}};
  batch.count = STATES;
  batch.stabilize = 1.0;
  batch.t = t, batch.q = &q[0][0], batch.v = &v[0][0], batch.tau = &tau[0][0];
  batch.active = active;
  batch.qdd = &qdd[0][0], batch.rank = rank, batch.status = status, batch.failed = failed;
  if (uk_evaluate_batch(&batch)) return 1;
  for (int k = 0; k < STATES; ++k) {{
    if (failed[k] != 0.0) return 2;
    printf("qdd");
    for (int i = 0; i < UK_NV; ++i) printf(" %.17g", qdd[k][i]);
    printf("\\n");
  }}
{rollout}  return 0;
}}
"""

_ROLLOUT_EXAMPLE = """\

  /* {steps} steps of 1 ms, of which start and end are kept */
  static double q_out[STATES][2][UK_NQ], v_out[STATES][2][UK_NV], stopped[STATES], reason[STATES];
  uk_trajectories runs = {{0}};
  runs.count = STATES, runs.steps = runs.every = {steps}, runs.dt = 1e-3, runs.project = 1;
  runs.q = batch.q, runs.v = batch.v, runs.tau = batch.tau, runs.tau_state = UK_NV;
  runs.active = active;
  runs.q_out = &q_out[0][0][0], runs.v_out = &v_out[0][0][0];
  runs.stopped = stopped, runs.reason = reason;
  if (uk_rollout(&runs)) return 1;
  for (int k = 0; k < STATES; ++k) {{
    if (stopped[k] != 0.0) return 3;
    printf("end");
    for (int i = 0; i < UK_NQ; ++i) printf(" %.17g", q_out[k][1][i]);
    printf("\\n");
  }}
"""

_INCLUDE = """\
#include <math.h>

#include "{header}"
"""

_STATES, _STEPS = 10, 100


def export(mechanism: ResolvedMechanism, directory: Path) -> tuple[Path, ...]:
    """Write ``NAME.c``, ``NAME.h``, ``NAME_example.c``, and for batches ``NAME_batch.c`` ….

    Args:
        mechanism: What to write.
        directory: Where to; it is made if need be.

    Returns:
        The files.

    Raises:
        CompilationError: Some part of the mechanism cannot be compiled.
        InputError: The directory cannot be written.
    """
    from uk_dynamics.compilation.emit import generate  # only those who export need it

    check(mechanism, straight=True)
    mechanism = mechanism.settled()
    identifier = c_identifier(mechanism.name)
    begin = start(mechanism)
    rolls = integrates(mechanism)
    words: dict[str, object] = {  # that templates have
        "name": c_comment(mechanism.name),
        "id": identifier,
        "guard": identifier.upper(),
        "q": ", ".join(map(repr, begin.q.tolist())),
        "v": ", ".join(map(repr, begin.v.tolist())),
        "names": ", ".join(map(c_string, mechanism.model.velocity_names)),
        "joints": _listed(mechanism.model.velocity_names),
        "rows": _listed(mechanism.row_names),
        "states": _STATES,
        "title": ", and where they move" if rolls else "",
    }
    parts = {
        "declarations": generate.declarations(mechanism),
        "batch_declarations": generate.batch_declarations(mechanism),
        "prototype": "int uk_rollout(const uk_trajectories *trajectories);\n" if rolls else "",
        "rollout": _ROLLOUT_EXAMPLE.format(steps=_STEPS) if rolls else "",
    }
    words |= {key: _named(text, identifier) for key, text in parts.items()}
    single, batch = generate.definitions(mechanism), generate.batch_definitions(mechanism)
    texts = {
        ".h": _named(_HEADER, identifier).format(**words),
        ".c": _INCLUDE.format(header=f"{identifier}.h") + _named(single, identifier),
        "_example.c": _named(_EXAMPLE, identifier).format(**words),
        "_batch.h": _named(_BATCH_HEADER, identifier).format(**words),
        "_batch.c": _INCLUDE.format(header=f"{identifier}_batch.h") + _named(batch, identifier),
        "_batch_example.c": _named(_BATCH_EXAMPLE, identifier).format(**words),
    }
    files = tuple(directory / f"{identifier}{suffix}" for suffix in texts)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with ExitStack() as written:  # all of them or none
            for file, text in zip(files, texts.values(), strict=True):
                temporary = written.enter_context(whole_file(file))
                temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        problem = f"cannot be written: {error.strerror}; give a directory of your own"
        raise InputError(problem, file=str(directory)) from None
    return files


_SERVO_HEADER = """\
/* {name}: joint states from measured joints, and the servo law of tasks. Generated; double
 * precision, no allocation, no global state: all zeros at first.
 *
 *   q, v:        {joints}
 *   measured:    {measured}
 *   motors:      {motors}
 *   task rows:   {rows}
 *
 * {id}_complete_start, then {id}_complete for measurements that follow one another, return
 * {guard}_COMPLETE, or why there is no state; {id}_control makes efforts for it.
 */
#ifndef {guard}_H
#define {guard}_H

{declarations}
#ifdef __cplusplus
extern "C" {{
#endif

double uk_closure_error(uk_memory *memory);
int uk_evaluate(uk_memory *memory);
int uk_errors(uk_memory *memory);
int uk_propagate(uk_memory *memory, double h, const double *efforts);
int uk_close(uk_memory *memory);
void uk_control_reset(uk_memory *memory, const double *efforts);
int uk_control(const void *controller, double t, const double *q, const double *v,
               double *efforts, double *flags);
int uk_complete(uk_completion *completion, double t, const double *measured, const double *rates);
int uk_complete_start(uk_completion *completion, double t, const double *measured,
                      const double *rates, int steps);
void uk_rates(const uk_completion *completion, const double *rates, double *v);

#ifdef __cplusplus
}}
#endif

#endif
"""


def servo_export(
    tasks: Tasks, tables: LoopTables, measured: Sequence[str], identifier: str
) -> tuple[str, str]:
    """Header and source of the servo law of tasks and of the joint-state estimation.

    Args:
        tasks: What the motors enforce.
        tables: Of the estimation.
        measured: The measured joints, in the order of the tables.
        identifier: Of C; the prefix of all names.

    Raises:
        InputError: Some part cannot be written as C.
    """
    from uk_dynamics.compilation.emit.c_text import defines, part
    from uk_dynamics.compilation.emit.completion_source import (
        completion_declarations,
        completion_definitions,
    )
    from uk_dynamics.compilation.emit.generate import closing
    from uk_dynamics.compilation.emit.reference_codes import BEYOND, KINDS
    from uk_dynamics.compilation.emit.servo_source import servo_declarations, servo_definitions
    from uk_dynamics.compilation.trace.terms import trace

    if found := obstacles(tasks):
        problem = f"cannot be written as C: {', '.join(found)}; leave it out"
        raise InputError(problem, file=tasks.spec.file)
    mechanism = tasks.mechanism
    structure = trace(mechanism)
    declarations = [
        servo_declarations(tasks),
        completion_declarations(tables),
        "/* What tables of references hold, as the source has it. */",
        *defines(KINDS | BEYOND),
        "",
    ]
    header = _named(_SERVO_HEADER, identifier).format(
        name=identifier,
        id=identifier,
        guard=identifier.upper(),
        joints=_listed(mechanism.model.velocity_names),
        measured=_listed(measured),
        motors=_listed(mechanism.actuators.names),
        rows=_listed(tasks.row_names),
        declarations=_named("\n".join(declarations), identifier),
    )
    source = "\n".join(
        [
            f'#include <math.h>\n\n#include "{identifier}.h"',
            servo_definitions(tasks, structure),
            *closing(mechanism),
            part("effect.c"),
            completion_definitions(structure, tables),
        ]
    )
    return header, _named(source, identifier)


_COMPLETION_HEADER = """\
/* {name}: joint states from measured joints. Generated; double precision, no allocation, no global
 * state: all zeros at first, but jump and singular_tolerance.
 *
 *   q, v:        {joints}
 *   measured:    {measured}
 *
 * {id}_complete_start, then {id}_complete for measurements that follow one another, return
 * {guard}_COMPLETE, or why there is no state.
 */
#ifndef {guard}_H
#define {guard}_H

{declarations}
#ifdef __cplusplus
extern "C" {{
#endif

int uk_complete(uk_completion *completion, double t, const double *measured, const double *rates);
int uk_complete_start(uk_completion *completion, double t, const double *measured,
                      const double *rates, int steps);
void uk_rates(const uk_completion *completion, const double *rates, double *v);

#ifdef __cplusplus
}}
#endif

#endif
"""


def completion_export(
    mechanism: ResolvedMechanism, tables: LoopTables, measured: Sequence[str], identifier: str
) -> tuple[str, str]:
    """Header and source of the joint-state estimation alone; arguments as of :func:`servo_export`.

    Raises:
        InputError: Some part cannot be written as C.
    """
    from uk_dynamics.compilation.emit.completion_source import (
        completion_declarations,
        completion_definitions,
    )
    from uk_dynamics.compilation.emit.generate import ATTRIBUTES
    from uk_dynamics.compilation.emit.mechanism_functions import SINE_AND_COSINE
    from uk_dynamics.compilation.trace.terms import trace

    if found := obstacles(mechanism):
        problem = f"cannot be written as C: {', '.join(found)}; leave it out"
        raise InputError(problem, file=mechanism.spec.file)
    declarations = f"#define UK_NV {mechanism.model.nv}\n{completion_declarations(tables)}"
    header = _named(_COMPLETION_HEADER, identifier).format(
        name=identifier,
        id=identifier,
        guard=identifier.upper(),
        joints=_listed(mechanism.model.velocity_names),
        measured=_listed(measured),
        declarations=_named(declarations, identifier),
    )
    source = "\n".join(
        [
            f'#include <math.h>\n#include <string.h>\n\n#include "{identifier}.h"',
            ATTRIBUTES,
            SINE_AND_COSINE,
            completion_definitions(trace(mechanism), tables),
        ]
    )
    return header, _named(source, identifier)


def _named(text: str, identifier: str) -> str:
    """Our names with that of the mechanism, so that two fit into one program.

    Before names of the mechanism come in: theirs stay as they are.
    """
    text = re.sub(rf"\buk_({_PUBLIC})\b", rf"{identifier}_\1", text)
    return re.sub(r"\bUK_", f"{identifier.upper()}_", text)


def _listed(names: Sequence[str]) -> str:
    return ",\n *                ".join(map(c_comment, names)) or "none"
