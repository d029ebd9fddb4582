"""The C files of a mechanism that go beyond one state: batches, and trajectories."""

from __future__ import annotations

from uk_dynamics.compilation.emit.generate import batch_declarations, batch_definitions
from uk_dynamics.compilation.emit.layout import integrates
from uk_dynamics.mechanism.assembly import start
from uk_dynamics.mechanism.resolution import ResolvedMechanism

_HEADER = """\
/* {name}: many states at once, one in each lane of the processor's vectors. Generated; C11 with the
 * vectors of GCC or Clang (-O3 -march=native for wide ones). Memory is allocated during a call; no
 * global state, so that threads may share the states of a batch among them.
 *
 * What is called returns 0, or 1 where there is no memory.
 */
#ifndef {guard}_BATCH_H
#define {guard}_BATCH_H

#include "{id}.h"

{declarations}
#ifdef __cplusplus
extern "C" {{
#endif

int uk_evaluate_batch(const uk_batch *batch);
{rollout}
#ifdef __cplusplus
}}
#endif

#endif
"""

_EXAMPLE = """\
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

_STATES, _STEPS = 10, 100


def batch_files(mechanism: ResolvedMechanism, identifier: str) -> dict[str, str]:
    """Texts of source, header and example, by the end of their names."""
    begin = start(mechanism)
    rolls = integrates(mechanism)
    return {
        "_batch.h": _HEADER.format(
            name=mechanism.name,
            id=identifier,
            guard=identifier.upper(),
            declarations=batch_declarations(mechanism),
            rollout="int uk_rollout(const uk_trajectories *trajectories);\n" if rolls else "",
        ),
        "_batch.c": f'#include <math.h>\n\n#include "{identifier}_batch.h"\n'
        + batch_definitions(mechanism),
        "_batch_example.c": _EXAMPLE.format(
            name=mechanism.name,
            id=identifier,
            states=_STATES,
            title=", and where they move" if rolls else "",
            q=", ".join(repr(float(x)) for x in begin.q),
            v=", ".join(repr(float(x)) for x in begin.v),
            rollout=_ROLLOUT_EXAMPLE.format(steps=_STEPS) if rolls else "",
        ),
    }
