/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What a servo law needs to know of its mechanism: the motions that the structure admits. */
#pragma once

#include "uk_admissible.h"
#include "uk_evaluation.h"
#include "uk_motors.h"
#include "uk_sizes.h"
#include "uk_task_rows.h"

/* What motors and task rows are in the admissible motions of a state: coordinates of both, row by row. */
typedef struct {
  int n;                 /* coordinates */
  double *task, *motor;  /* in the memory */
  double size[UK_MT];    /* of task rows, with what the structure holds */
} uk_admitted_rows;

/* Accelerations without motors, and the above; 0, or as uk_evaluate. Without `answers` rows need not be pivoted. */
static int uk_admit(uk_memory *m, int answers, uk_admitted_rows *x) {
  x->task = m->task_part, x->motor = m->motor_part;
  uk_task_terms(m->t, m->q, m->v, m->task_followed UK_P, m->A_t, m->bias_t);
#if UK_ADMISSIBLE
  if (!answers) {
    double sure[2];
    uk_lanes_terms(m->t, m->q, m->v, UK_FOLLOWED UK_P, m->H, m->force, m->A, m->bias, m->residual, m->rate);
    uk_admissible_terms(m->stabilize, m->tau, m->H, m->force, m->A, m->bias, m->residual, m->rate,
                        m->A_t, m->qdd, x->task, x->motor, x->size, sure);
    x->n = UK_ADMISSIBLE;
    m->rank = UK_NV - UK_ADMISSIBLE; /* else told below */
    if (sure[0] < UK_LOST_PIVOTS && sure[1] < 1.0) return 0;
  }
#endif
  const int failed = uk_answer(m, answers);
  if (failed) return failed;
  const int rank = (int)m->rank, n = x->n = UK_NV - rank;
  double turned[UK_NV];
  for (int k = 0; k < UK_MT + UK_NU; ++k) {
    const double *force = k < UK_MT ? m->A_t + k * UK_NV : uk_motors[k - UK_MT];
    memcpy(turned, force, sizeof turned);
    const double size = uk_admissible(m, rank, turned);
    if (k < UK_MT) x->size[k] = size;
    memcpy(k < UK_MT ? x->task + k * n : x->motor + (k - UK_MT) * n, turned + rank, sizeof(double) * n);
  }
  return 0;
}

/* Largest residual of a structural row that acts; not a number where one is none. */
UK_EXPORT double uk_closure_error(uk_memory *m) {
  double largest = 0.0;
#if UK_M > 0
  double residual[UK_M];
  uk_residuals(m, residual);
  for (int r = 0; r < UK_M; ++r) {
    const double size = fabs(residual[r]);
    if (m->active[r] != 0.0 && !(size <= largest)) largest = size;
  }
#else
  (void)m;
#endif
  return largest;
}
