/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The nearest state on the constraints in the metric of M: Newton steps of least d^T M d until
 * residuals are rounding, then the nearest velocity; as core/equation/projection.py. */
#pragma once

#include "configuration.c"
#include "evaluate.c"
#include "uk_projection.h"

#if UK_M > 0

/* Rows that act and are of a kind, eliminated: factors stand in the place of M, zeros in that of other
 * rows. 0, or as uk_evaluate. */
static int uk_eliminate_kind(uk_memory *m, const double *kind, double tolerance, int *rank) {
  double acts[UK_M], total = 0.0;
  for (int r = 0; r < UK_M; ++r) {
    acts[r] = kind[r] * m->active[r];
    for (int i = 0; acts[r] == 0.0 && i < UK_NV; ++i) m->A[r * UK_NV + i] = 0.0;
  }
  uk_lanes_factor_mass(m);
  if (m->singular) return 1;
  uk_lanes_whiten_rows(m, acts);
  for (int r = 0; r < UK_M; ++r) total += m->square[r];
  if (!isfinite(total)) return 2;
  uk_lanes_eliminate(m, tolerance);
  *rank = (int)m->rank;
  return 0;
}

/* The d of least d^T M d with A d = right, on the rows that act and are of a kind, at the terms in
 * the memory. Off the constraints a redundant row looks independent by about its violation: the
 * tolerance follows. 0, or as uk_evaluate. */
static int uk_correct(uk_memory *m, uk_kept *kept, const double *right, const double *kind,
                      double tolerance, double *d) {
  (void)kept;
#if UK_REGULAR
  if (UK_ALL_ROWS_HOLD && tolerance == UK_RANK_TOLERANCE) { /* as if at rest, and drawn there */
    const double stabilize = m->stabilize;
    double bias[UK_M], tau[UK_NV];
    memcpy(bias, m->bias, sizeof bias);
    memcpy(tau, m->tau, sizeof tau);
    for (int i = 0; i < UK_NV; ++i) m->tau[i] = -m->force[i]; /* forces may be constants there */
    for (int r = 0; r < UK_M; ++r) m->bias[r] = -right[r];
    m->stabilize = m->forces = 0.0;
    const int regular = uk_lanes_regular(m, kept);
    m->stabilize = stabilize;
    memcpy(m->bias, bias, sizeof bias);
    memcpy(m->tau, tau, sizeof tau);
    if (regular) {
      memcpy(d, m->qdd, sizeof(double) * UK_NV);
      return 0;
    }
  }
#endif
  double A[UK_M * UK_NV], M[UK_NV * UK_NV];
  memcpy(A, m->A, sizeof A);
  memcpy(M, m->H, sizeof M);
  int rank = 0;
  const int failed = uk_eliminate_kind(m, kind, tolerance, &rank);
  if (!failed) uk_lanes_correction(m, right, d);
  memcpy(m->A, A, sizeof A);
  memcpy(m->H, M, sizeof M);
  return failed;
}

#endif

#if UK_M > 0

/* Project q alone; see uk_project_there. M, A and residuals are those there. */
static int uk_project_place(uk_memory *m, uk_kept *kept) {
  double best[UK_NQ], right[UK_M], d[UK_NV], smallest = INFINITY;
  for (int step = 0;; ++step) {
    double size = 0.0, total = 0.0;
    uk_lanes_configure(m, kept);
    for (int r = 0; r < UK_M; ++r) {
      right[r] = -uk_position_row[r] * m->active[r] * m->residual[r];
      if (fabs(right[r]) > size) size = fabs(right[r]);
      total += right[r];
    }
    if (!isfinite(total)) {
      if (step == 0) return 2;
      size = INFINITY;
    }
    const int better = size < smallest;
    const int stalled = step > 0 && better && size > 0.5 * smallest && size <= UK_REACHED;
    const int away = !better && (smallest <= UK_REACHED || size > UK_DIVERGING * smallest);
    if (better) {
      smallest = size;
      memcpy(best, m->q, sizeof best);
    }
    if (stalled || away || smallest <= UK_ROUNDING || step == UK_NEWTON_STEPS) break;
    const double part = size / UK_LENGTH, loose = part < UK_LOOSEST ? part : UK_LOOSEST;
    const int failed = uk_correct(m, kept, right, uk_position_row,
                                  part > UK_RANK_TOLERANCE ? loose : UK_RANK_TOLERANCE, d);
    if (failed) return failed;
    uk_reach(m->q, 1.0, d, m->q);
  }
  if (!(smallest <= UK_REACHED)) return 3;
  if (memcmp(best, m->q, sizeof best)) {
    memcpy(m->q, best, sizeof best);
    uk_lanes_configure(m, kept);
  }
  return 0;
}

#endif

/* Project q and v in the memory, where `followed` is that of the time there; what is kept is then of
 * the configuration there. 0; 1 or 2 as
 * uk_evaluate, 3 where the loops stay open. */
static int uk_project_there(uk_memory *m, uk_kept *kept) {
#if UK_M > 0
  double right[UK_M], d[UK_NV];
  int failed = uk_project_place(m, kept);
  if (failed) return failed;
  uk_lanes_find_rates(m, kept);
  for (int r = 0; r < UK_M; ++r) right[r] = uk_motion_row[r] * m->active[r] * m->rate[r];
  failed = uk_correct(m, kept, right, uk_motion_row, UK_RANK_TOLERANCE, d);
  if (failed) return failed;
  for (int i = 0; i < UK_NV; ++i) m->v[i] -= d[i];
  double sum = 0.0;
  for (int i = 0; i < UK_NV; ++i) sum += m->v[i];
  return isfinite(sum) ? 0 : 2;
#else
  (void)kept;
  double sum = 0.0;
  for (int i = 0; i < UK_NV; ++i) sum += m->q[i] + m->v[i];
  return isfinite(sum) ? 0 : 2;
#endif
}

static inline int uk_project(uk_memory *m) {
  uk_kept kept;
  kept.known = 0;
  return uk_project_there(m, &kept);
}
