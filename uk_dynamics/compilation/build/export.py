# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism as C files for other programs: sources, headers, and examples that build."""

from pathlib import Path

from uk_dynamics.compilation.build.c_header import USE, header_and_source, named, write
from uk_dynamics.compilation.build.compilable import check, writing
from uk_dynamics.compilation.emit.layout import rolls
from uk_dynamics.escaping import c_comment, c_identifier, c_string
from uk_dynamics.mechanism.assembly import start
from uk_dynamics.mechanism.resolution import ResolvedMechanism

_TEXT = f"""\
{USE}

Set t, q, v, tau, stabilize and active (1 for rows that act), call uk_evaluate, and read qdd,
ideal_force, multipliers, rank and status. It returns 0, or 1 where the mass matrix is singular and
2 where something is not finite; then there is no answer."""
_CONTACT_TEXT = """

Contacts, stops and ropes: call uk_start_contacts once, and uk_step_contacts for each step of a
motion from t, q and v under tau, by Moreau's rule. Rows of those that are closed act at its end."""
_OF_CONTACTS = """\
void uk_start_contacts(uk_contact_state *contacts);
int uk_step_contacts(uk_memory *memory, uk_contact_state *contacts, double step);
"""
_BATCH_TEXT = """\
C11 with the vectors of GCC or Clang; -O3 -march=native for wide ones. Memory is allocated during a
call, and there is no global state, so threads may share the states of a batch among them. Functions
return 0, or 1 where memory could not be allocated."""

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
{acts}  for (int i = 0; i < UK_M; ++i) memory.active[i] = {act};
  memory.stabilize = 1.0;
  const int failed = uk_evaluate(&memory);
  if (failed) return failed;
  printf("rank %g\\n", memory.rank);
  for (int i = 0; i < UK_NV; ++i) printf("%s %.17g\\n", names[i], memory.qdd[i]);
{contacts}  return 0;
}}
"""

_CONTACT_EXAMPLE = """\

  /* {steps} steps of 1 ms over contacts, stops and ropes, which are open at first */
  static uk_contact_state contacts;
  uk_start_contacts(&contacts);
  for (int k = 0; k < {steps}; ++k)
    if (uk_step_contacts(&memory, &contacts, 1e-3)) return 3;
  for (int i = 0; i < UK_CONTACTS; ++i) printf("mode %lld\\n", contacts.mode[i]);
  for (int i = 0; i < UK_NQ; ++i) printf("end %.17g\\n", memory.q[i]);
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
{acts}  for (int i = 0; i < ROWS; ++i) active[i] = {act};
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

_STATES, _STEPS = 10, 100


@writing()
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

    check(mechanism, straight=True, moves=True)
    mechanism = mechanism.settled()
    identifier = c_identifier(mechanism.name)
    begin = start(mechanism)
    moves, one_sided = rolls(mechanism), bool(mechanism.one_sided)
    acts = mechanism.hierarchy.acting().astype(float).tolist()
    name = c_comment(mechanism.name)
    words: dict[str, object] = {  # that templates have
        "name": name,
        "id": identifier,
        "q": ", ".join(map(repr, begin.q.tolist())),
        "v": ", ".join(map(repr, begin.v.tolist())),
        "names": ", ".join(map(c_string, mechanism.model.velocity_names)),
        "states": _STATES,
        "title": ", and where they move" if moves else "",
        # rows of contacts do not act by themselves
        "acts": f"  const double acts[] = {{{', '.join(map(repr, acts))}}};\n" * one_sided,
        "act": "acts[i]" if one_sided else "1.0",
        "contacts": named(_CONTACT_EXAMPLE.format(steps=_STEPS), identifier) * one_sided,
        "rollout": named(_ROLLOUT_EXAMPLE.format(steps=_STEPS), identifier) if moves else "",
    }
    declared = "\n".join(
        [generate.declarations(mechanism), *generate.contact_declarations(mechanism)]
    )
    definitions = [generate.definitions(mechanism), *generate.contact_step(mechanism)]
    batch = generate.batch_declarations(mechanism)
    rollout = "int uk_rollout(const uk_trajectories *trajectories);\n" if moves else ""
    files = header_and_source(
        identifier,
        declared,
        "\n".join(definitions),
        title=f"{name}: constrained accelerations of a mechanism with closed loops. Generated.",
        text=_TEXT + _CONTACT_TEXT * one_sided,
        lists={"q, v, tau": mechanism.model.velocity_names, "rows": mechanism.row_names},
        prototypes="int uk_evaluate(uk_memory *memory);\n" + _OF_CONTACTS * one_sided,
    )
    of_batches = header_and_source(
        identifier,
        batch,
        generate.batch_definitions(mechanism),
        title=f"{name}: many states at once, one in each lane of a vector. Generated.",
        text=_BATCH_TEXT,
        prototypes=f"int uk_evaluate_batch(const uk_batch *batch);\n{rollout}",
        before=declared,
        suffix="_batch",
    )
    texts = dict(zip((".h", ".c", "_batch.h", "_batch.c"), (*files, *of_batches), strict=True))
    texts["_example.c"] = named(_EXAMPLE, identifier).format(**words)
    texts["_batch_example.c"] = named(_BATCH_EXAMPLE, identifier).format(**words)
    return write(directory, {f"{identifier}{suffix}": text for suffix, text in texts.items()})
