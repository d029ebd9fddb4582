# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The verification of exported C, as a program: states, and what the reference answers there."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from uk_dynamics.compilation.build.c_header import named
from uk_dynamics.compilation.verification.comparison import allowed, answered
from uk_dynamics.compilation.verification.trials import Trial, trials
from uk_dynamics.escaping import c_comment, c_identifier, c_string
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism

_COPIES = 8  # of the states in a batch, so that each is in every lane at some width

_TEXT = """\
/* Verifies compiled code of {name} on this processor: states, and accelerations and constraint
 * forces that Python computed there, each with the largest difference that rounding explains.
 * cc -O3 -march=native {id}.c {id}_batch.c {id}_check.c -o {id}_check -lm && ./{id}_check
 */
#include <math.h>
#include <stdio.h>

#include "{id}_batch.h"

#define STATES {states}
#define COPIES {copies}
#define ROWS (UK_M > 0 ? UK_M : 1)

static const double t[STATES] = {{{t}}};
static const double q[STATES][UK_NQ] = {{{q}}};
static const double v[STATES][UK_NV] = {{{v}}};
static const double tau[STATES][UK_NV] = {{{tau}}};
static const double qdd[STATES][UK_NV] = {{{qdd}}}, force[STATES][UK_NV] = {{{force}}};
static const double qdd_within[STATES] = {{{qdd_within}}};
static const double force_within[STATES] = {{{force_within}}};
static int wrong;

static void compare(const char *what, int k, const double *found, const double *expected,
                    double within) {{
  double off = 0.0;
  for (int i = 0; i < UK_NV; ++i) {{
    const double apart = fabs(found[i] - expected[i]);
    if (!(apart <= off)) off = apart; /* also where it is no number */
  }}
  if (off <= within) return;
  printf("%s: %s is off by %.2g at state %d\\n", {string}, what, off, k);
  wrong = 1;
}}

static uk_memory memory;
static double many_t[COPIES * STATES], many_q[COPIES * STATES][UK_NQ];
static double many_v[COPIES * STATES][UK_NV], many_tau[COPIES * STATES][UK_NV], active[ROWS];
static double many_qdd[COPIES * STATES][UK_NV], rank[COPIES * STATES], status[COPIES * STATES];
static double failed[COPIES * STATES];

int main(void) {{
  for (int i = 0; i < ROWS; ++i) active[i] = 1.0;
  for (int i = 0; i < UK_M; ++i) memory.active[i] = 1.0;
  memory.stabilize = 1.0;
  for (int k = 0; k < STATES; ++k) {{
    memory.t = t[k];
    for (int i = 0; i < UK_NQ; ++i) memory.q[i] = q[k][i];
    for (int i = 0; i < UK_NV; ++i) memory.v[i] = v[k][i], memory.tau[i] = tau[k][i];
    if (uk_evaluate(&memory)) return printf("%s: no answer at state %d\\n", {string}, k), 1;
    compare("the acceleration", k, memory.qdd, qdd[k], qdd_within[k]);
    compare("the constraint force", k, memory.ideal_force, force[k], force_within[k]);
  }}
  for (int n = 0; n < COPIES * STATES; ++n) {{
    const int k = n % STATES;
    many_t[n] = t[k];
    for (int i = 0; i < UK_NQ; ++i) many_q[n][i] = q[k][i];
    for (int i = 0; i < UK_NV; ++i) many_v[n][i] = v[k][i], many_tau[n][i] = tau[k][i];
  }}
  uk_batch batch = {{0}};
  batch.count = COPIES * STATES, batch.t_stride = 1, batch.stabilize = 1.0;
  batch.t = many_t, batch.q = &many_q[0][0], batch.v = &many_v[0][0], batch.tau = &many_tau[0][0];
  batch.active = active;
  batch.qdd = &many_qdd[0][0], batch.rank = rank, batch.status = status, batch.failed = failed;
  if (uk_evaluate_batch(&batch)) return printf("not enough memory\\n"), 1;
  for (int n = 0; n < COPIES * STATES; ++n)
    compare("the acceleration of a batch", n, many_qdd[n], qdd[n % STATES], qdd_within[n % STATES]);
  if (!wrong) printf("%s: right at %d states\\n", {string}, STATES);
  return wrong;
}}
"""


def check_program(mechanism: ResolvedMechanism) -> dict[str, str]:
    """Write a program that verifies exported C where it is to run, by its name.

    Args:
        mechanism: What was exported.

    Returns:
        Text by file name; empty where the reference has no answer, or rows follow references.
    """
    reference = InterpretedDynamics(mechanism)

    def answer(trial: Trial) -> dict[str, Array]:
        found = reference.evaluate(trial.state, Inputs(tau=trial.tau))
        return {"qdd": found.qdd, "force": found.ideal_force}

    rows = []
    for trial in trials(mechanism, reference):
        found, near = answered(answer, trial), answered(answer, trial.nearby(mechanism))
        if found is not None and near is not None:
            rows.append((trial, found, {name: allowed(found[name], near[name]) for name in found}))
    if not rows or mechanism.follows_references:
        return {}
    states = [trial.state for trial, _, _ in rows]
    identifier = c_identifier(mechanism.name)
    words = {
        "name": c_comment(mechanism.name),
        "id": identifier,
        "string": c_string(mechanism.name),
        "states": len(rows),
        "copies": _COPIES,
        "t": _listed(state.t for state in states),
        "q": _table(state.q for state in states),
        "v": _table(state.v for state in states),
        "tau": _table(trial.tau for trial, _, _ in rows),
    }
    for name in ("qdd", "force"):
        words[name] = _table(found[name] for _, found, _ in rows)
        words[f"{name}_within"] = _listed(within[name] for _, _, within in rows)
    return {f"{identifier}_check.c": named(_TEXT, identifier).format(**words)}


def _listed(numbers: Iterable[float]) -> str:
    return ", ".join(repr(float(x)) for x in numbers)


def _table(rows: Iterable[Array]) -> str:
    return ",\n    ".join(f"{{{_listed(np.asarray(row))}}}" for row in rows)
