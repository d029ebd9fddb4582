/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What a servo law needs to know of its mechanism: the motions that the structure admits. */
#pragma once

#include "evaluate.c"
#include "row_basis.c"
#include "uk_task_rows.h"

/* What motors and task rows are in the admissible motions of a state: coordinates of both, row by row. */
typedef struct {
  int n;                                      /* coordinates */
  double task[UK_MT * UK_NV], motor[UK_NU * UK_NV];
  double size[UK_MT];                         /* of task rows, with what the structure holds */
} uk_admitted_rows;

/* Accelerations without motors, and the above; 0, or as uk_evaluate. Without `answers` rows need not be pivoted. */
static int uk_admit(uk_memory *m, int answers, uk_admitted_rows *x) {
  uk_lanes_terms(m->t, m->q, m->v, UK_FOLLOWED UK_P, m->H, m->force, m->A, m->bias, m->residual, m->rate);
  uk_task_terms(m->t, m->q, m->v, m->task_followed UK_P, m->A_t, m->bias_t);
#if UK_ADMISSIBLE
  if (!answers) {
    double sure[2];
    uk_admissible_terms(m->stabilize, m->tau, m->H, m->force, m->A, m->bias, m->residual, m->rate,
                        m->A_t, m->qdd, x->task, x->motor, x->size, sure);
    x->n = UK_ADMISSIBLE;
    m->rank = UK_NV - UK_ADMISSIBLE; /* else told below */
    if (sure[0] < UK_LOST_PIVOTS && sure[1] < 1.0) return 0;
  }
#endif
  const int failed = uk_answer_pivoted(m, answers);
  if (failed) return failed;
  const int rank = (int)m->rank, n = x->n = UK_NV - rank;
  double turned[UK_NV];
  for (int r = 0; r < UK_MT; ++r) {
    memcpy(turned, m->A_t + r * UK_NV, sizeof turned);
    x->size[r] = uk_admissible(m, rank, turned);
    memcpy(x->task + r * n, turned + rank, sizeof(double) * n);
  }
  for (int j = 0; j < UK_NU; ++j) {
    memcpy(turned, uk_motors[j], sizeof turned);
    uk_admissible(m, rank, turned);
    memcpy(x->motor + j * n, turned + rank, sizeof(double) * n);
  }
  return 0;
}

/* Largest residual of a structural row that acts; not a number where one is none. */
UK_EXPORT double uk_closure_error(uk_memory *m) {
  double largest = 0.0;
#if UK_M > 0
  double residual[UK_M];
  uk_closure_errors(m->t, m->q, m->v, UK_FOLLOWED UK_P, residual);
  for (int r = 0; r < UK_M; ++r) {
    const double size = fabs(residual[r]);
    if (m->active[r] != 0.0 && !(size <= largest)) largest = size;
  }
#else
  (void)m;
#endif
  return largest;
}
