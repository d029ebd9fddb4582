/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The closed-form servo law in the dynamics that the structure has constrained already: u of least
 * u^T W u with C u = b_t - A_t a_s, C = A_t N S, and its part toward the preload; see core/servo/servo_law.py.
 * All in coordinates of the admissible motions, which the reflections of solve_lanes.c lead to. */
#pragma once

#include "allocate.c"
#include "admit.c"
#include "uk_distribution.h"
#include "uk_task_rows.h"

/* Which rows the motors can give anything: what is left of them by the range of C is rounding. */
static void uk_controllable(uk_memory *m, const uk_admitted_rows *x, const double *norm,
                            const uk_basis *range, int motor_rank) {
  double unserved[UK_MT];
  for (int r = 0; r < UK_MT; ++r) unserved[r] = 0.0;
  if (motor_rank < UK_MT)
    for (int i = 0; i < x->n; ++i) {
      double column[UK_MT];
      for (int r = 0; r < UK_MT; ++r) column[r] = x->task[r * x->n + i];
      uk_orthogonal_part(range, column);
      for (int r = 0; r < UK_MT; ++r) unserved[r] += column[r] * column[r];
    }
  for (int r = 0; r < UK_MT; ++r) {
    const double size = norm[r] > 1e-300 ? norm[r] : 1e-300;
    m->controllable[r] = sqrt(unserved[r]) <= UK_MET * size;
  }
}

/* Acceleration that the scaled effort of a motor causes, (UK_NV). */
static void uk_effect(const uk_memory *m, const uk_admitted_rows *x, int j, double *turned) {
  memset(turned, 0, sizeof(double) * UK_NV);
  memcpy(turned + UK_NV - x->n, x->motor + j * x->n, sizeof(double) * x->n);
  uk_admitted(m, UK_NV - x->n, turned);
}

#if UK_GAUSS || UK_BY_MOTION

/* Efforts u that give the rows T, (UK_MT, n), what is wanted of T X u by the least |X u|; motor j causes
 * row j of X, (UK_NU, n). Bases are room to work in. As least_motion_efforts of core/servo. */
static UK_APART void uk_least_motion(uk_basis *basis, uk_basis *range, const double *X, const double *T,
                                     int n, const double *wanted, double *u) {
  double seen[UK_MT * UK_NU], moved[UK_NU * UK_NU], size[UK_MT], turned[UK_NV], least[UK_NU];
  const double own[UK_NU] = {0.0}; /* each row is as large as it is */
  basis->n = n, basis->count = UK_NU;
  memcpy(basis->rows, X, sizeof(double) * UK_NU * n);
  uk_factor_rows(basis, NULL, UK_TASK_RANK_TOLERANCE);
  const int rank = basis->rank;
  for (int r = 0; r < UK_MT; ++r) {
    size[r] = sqrt(uk_squares(T + r * n, 0, n));
    memcpy(turned, T + r * n, sizeof(double) * n);
    uk_rotate(basis, turned);
    memcpy(seen + r * rank, turned, sizeof(double) * rank);
  }
  for (int j = 0; j < UK_NU; ++j) {
    memcpy(turned, X + j * n, sizeof(double) * n);
    uk_rotate(basis, turned);
    for (int k = 0; k < rank; ++k) moved[k * UK_NU + j] = turned[k];
  }
  uk_least_solution(basis, range, seen, UK_MT, rank, size, UK_TASK_RANK_TOLERANCE, wanted, least);
  uk_least_solution(basis, range, moved, rank, UK_NU, own, 0.0, least, u);
}

#endif

/* Efforts at the inputs in the memory; 0, or why there are none, as uk_evaluate says. Without
 * `answers` only what a command needs is sure to be there. */
static int uk_law(uk_memory *m, int answers) {
  uk_admitted_rows x;
  const int failed = uk_admit(m, answers || UK_BY_MOTION, &x), n = x.n;
  if (failed) return failed;
  double C[UK_MT][UK_NU], root[UK_NU], norm[UK_MT], attainable[UK_MT];
  double largest = 0.0, strength = 0.0;
  for (int r = 0; r < UK_MT; ++r) {
    norm[r] = sqrt(uk_squares(x.task + r * n, 0, n));
    if (x.size[r] > largest) largest = x.size[r];
  }
  for (int r = 0; r < UK_MT; ++r) { /* what the structure holds by itself is rounding here */
    const int held = norm[r] <= UK_ZERO_ROW * largest;
    for (int i = held ? 0 : n; i < n; ++i) x.task[r * n + i] = 0.0;
  }
  for (int j = 0; j < UK_NU; ++j) {
    const double inverse = 1.0 / (root[j] = sqrt(m->weights[j]));
    for (int i = 0; i < n; ++i) x.motor[j * n + i] *= inverse;
    strength += uk_squares(x.motor + j * n, 0, n);
  }
  strength = sqrt(strength);
  uk_basis_room first, second;
  uk_basis basis = uk_basis_in(&first), range = uk_basis_in(&second);
#if UK_RELAXED
  double share[UK_MT];
  uk_task_share(m->q, share);
#endif
  for (int r = 0; r < UK_MT; ++r) {
    attainable[r] = norm[r] * strength;
    m->wanted[r] = m->desired[r] - m->bias_t[r];
    m->size[r] = fabs(m->wanted[r]) + UK_NEGLIGIBLE_ACCELERATION;
    for (int i = 0; i < UK_NV; ++i) {
      const double part = m->A_t[r * UK_NV + i] * m->qdd[i];
      m->wanted[r] -= part;
      m->size[r] += fabs(part);
    }
#if UK_RELAXED
    m->wanted[r] *= share[r];
#endif
    for (int j = 0; j < UK_NU; ++j) {
      double sum = 0.0;
      for (int i = 0; i < n; ++i) sum += x.task[r * n + i] * x.motor[j * n + i];
      C[r][j] = sum;
      m->map[r * UK_NU + j] = sum * root[j];
    }
  }
  double u[UK_NU], free[UK_NU], asked[UK_MT];
  memcpy(asked, m->wanted, sizeof asked);
#if UK_BY_MOTION /* some rows have the acceleration of least norm that serves their feedback */
  double motion[UK_NU * UK_NV], spread[UK_MT], more[UK_NU];
  for (int r = 0; r < UK_MT; ++r) {
    spread[r] = uk_by_motion[r] ? m->feedback[r] : 0.0;
#if UK_RELAXED
    spread[r] *= share[r];
#endif
    asked[r] -= spread[r];
  }
  for (int j = 0; j < UK_NU; ++j) uk_effect(m, &x, j, motion + j * UK_NV);
  uk_least_motion(&basis, &range, motion, m->A_t, UK_NV, spread, more);
#endif
#if UK_GAUSS
  double by_metric[UK_NU];
  uk_least_motion(&basis, &range, x.motor, x.task, n, asked, by_metric);
#endif
  uk_least_solution(&basis, &range, &C[0][0], UK_MT, UK_NU, attainable, UK_TASK_RANK_TOLERANCE,
                    asked, u);
#if UK_GAUSS
  memcpy(u, by_metric, sizeof u);
#endif
#if UK_BY_MOTION
  for (int j = 0; j < UK_NU; ++j) u[j] += more[j];
#endif
  m->motor_rank = basis.rank;
  for (int j = 0; j < UK_NU; ++j) free[j] = root[j] * m->preload[j];
  uk_orthogonal_part(&basis, free);
  for (int j = 0; j < UK_NU; ++j) u[j] += free[j], m->efforts[j] = u[j] / root[j];

  m->task_rank = m->motor_rank;
  if (m->motor_rank < UK_MT) { /* else tasks have full rank as well */
    uk_basis_room third;
    uk_basis tasks = uk_basis_in(&third);
    tasks.n = n, tasks.count = UK_MT;
    memcpy(tasks.rows, x.task, sizeof(double) * UK_MT * n);
    uk_factor_rows(&tasks, x.size, UK_TASK_RANK_TOLERANCE);
    m->task_rank = tasks.rank;
  }
  if (m->motor_rank == m->task_rank)
    for (int r = 0; r < UK_MT; ++r) m->controllable[r] = 1.0;
  else
    uk_controllable(m, &x, norm, &range, basis.rank);
  double sum = 0.0;
  for (int r = 0; r < UK_MT; ++r) {
    if (norm[r] <= UK_ZERO_ROW * largest) m->controllable[r] = 1.0;
    m->shortfall[r] = m->wanted[r];
    for (int j = 0; j < UK_NU; ++j) m->shortfall[r] -= C[r][j] * u[j];
    m->reachable[r] = m->controllable[r] != 0.0 && fabs(m->shortfall[r]) <= UK_MET * m->size[r];
    sum += m->shortfall[r];
  }
  for (int j = 0; j < UK_NU; ++j) sum += m->efforts[j];
  for (int j = 0; answers && j < UK_NU; ++j) { /* N S */
    double turned[UK_NV];
    uk_effect(m, &x, j, turned);
    for (int i = 0; i < UK_NV; ++i) m->response[i * UK_NU + j] = turned[i] * root[j];
  }
  return isfinite(sum) ? 0 : 2;
}

UK_EXPORT int uk_servo(uk_memory *m) { return uk_law(m, 1); }

/* How far the tasks are from being done: residuals and rates. */
UK_EXPORT int uk_errors(uk_memory *m) {
  uk_task_errors(m->t, m->q, m->v, m->task_followed UK_P, m->tracking_error, m->tracking_rate);
  return 0;
}

/* Efforts within limits at the state of the last uk_servo. 0, or 1: none. */
UK_EXPORT int uk_allocate(uk_memory *m) {
  const uk_allocation asked = {
      UK_LEVELS, UK_MT,     uk_level, m->weights, m->lower,   m->upper,     m->efforts,
      m->map,    m->wanted, m->last,  &m->warm,   m->limited, &m->finished,
  };
  return uk_allocate_efforts(&asked);
}
