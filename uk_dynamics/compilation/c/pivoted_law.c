/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The servo law of one state: in the order of its rows where servo_law.c has it, else with pivoted
 * factors of them, so that rows may depend on others, and motors serve some and not all. */
#pragma once

#include "limited_allocation.c"
#include "robust.c"

/* Which rows the motors can give anything: what is left of them by the range of C is rounding. */
static void uk_controllable(uk_memory *m, int n, const double *norm, const uk_basis *range, int motor_rank) {
  double unserved[UK_MT] = {0.0};
  if (motor_rank < UK_MT)
    for (int i = 0; i < n; ++i) {
      double column[UK_MT];
      for (int r = 0; r < UK_MT; ++r) column[r] = m->task_part[r * n + i];
      uk_orthogonal_part(range, column);
      for (int r = 0; r < UK_MT; ++r) unserved[r] += column[r] * column[r];
    }
  for (int r = 0; r < UK_MT; ++r) {
    const double size = norm[r] > 1e-300 ? norm[r] : 1e-300;
    m->controllable[r] = sqrt(unserved[r]) <= UK_MET * size;
  }
}

/* Acceleration that the scaled effort of a motor causes, (UK_NV). */
static void uk_motion_by(const uk_memory *m, int n, int j, double *turned) {
  memset(turned, 0, sizeof(double) * UK_NV);
  memcpy(turned + UK_NV - n, m->motor_part + j * n, sizeof(double) * n);
  uk_admitted(m, UK_NV - n, turned);
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
    size[r] = sqrt(uk_dot(T + r * n, T + r * n, n));
    memcpy(turned, T + r * n, sizeof(double) * n);
    uk_rotate(basis, turned);
    memcpy(seen + r * rank, turned, sizeof(double) * rank);
  }
  uk_rows_in_basis(basis, moved);
  uk_least_solution(basis, range, seen, UK_MT, rank, size, UK_TASK_RANK_TOLERANCE, wanted, least);
  uk_least_solution(basis, range, moved, rank, UK_NU, own, 0.0, least, u);
}

#endif

/* Efforts by pivoted rows, (n,) each; what they leave, and which rows motors serve. */
static UK_APART void uk_law_by_size(uk_memory *m, uk_law_rows *x, int n) {
  double attainable[UK_MT], u[UK_NU], free[UK_NU], asked[UK_MT];
  uk_basis_room first, second;
  uk_basis basis = uk_basis_in(&first), range = uk_basis_in(&second);
  for (int r = 0; r < UK_MT; ++r) {
    const double part = x->norm[r] > UK_ZERO_ROW * x->largest; /* else it is rounding: the structure holds it */
    const double serves = part * UK_EQUAL(r);
    for (int i = 0; i < n; ++i) m->task_part[r * n + i] *= serves;
    for (int j = 0; j < UK_NU; ++j)
      m->map[r * UK_NU + j] *= part, x->C[r][j] = serves * m->map[r * UK_NU + j] * m->inverse_root[j];
    attainable[r] = x->norm[r] * x->strength;
  }
  memcpy(asked, m->wanted, sizeof asked);
#if UK_BY_MOTION /* some rows have the acceleration of least norm that serves their feedback */
  double motion[UK_NU * UK_NV], spread[UK_MT], more[UK_NU];
#if UK_RELAXED
  double share[UK_MT];
  uk_lanes_task_share(m->q, share);
#endif
  for (int r = 0; r < UK_MT; ++r) {
    spread[r] = uk_by_motion[r] ? m->feedback[r] : 0.0;
#if UK_RELAXED
    spread[r] *= share[r];
#endif
    asked[r] -= spread[r];
  }
  for (int j = 0; j < UK_NU; ++j) uk_motion_by(m, n, j, motion + j * UK_NV);
  uk_least_motion(&basis, &range, motion, m->A_t, UK_NV, spread, more);
#endif
#if UK_GAUSS
  double by_metric[UK_NU];
  uk_least_motion(&basis, &range, m->motor_part, m->task_part, n, asked, by_metric);
#endif
  uk_least_solution(&basis, &range, &x->C[0][0], UK_MT, UK_NU, attainable, UK_TASK_RANK_TOLERANCE,
                    asked, u);
#if UK_GAUSS
  memcpy(u, by_metric, sizeof u);
#endif
#if UK_BY_MOTION
  for (int j = 0; j < UK_NU; ++j) u[j] += more[j];
#endif
  m->motor_rank = m->task_rank = basis.rank;
  for (int j = 0; j < UK_NU; ++j) free[j] = m->root[j] * m->preload[j];
  uk_orthogonal_part(&basis, free);
  for (int j = 0; j < UK_NU; ++j) m->efforts[j] = (u[j] += free[j]) * m->inverse_root[j];
  if (m->motor_rank < UK_MT && m->motor_rank < n) { /* else tasks have no higher rank */
    uk_basis_room third;
    uk_basis tasks = uk_basis_in(&third);
    tasks.n = n, tasks.count = UK_MT;
    memcpy(tasks.rows, m->task_part, sizeof(double) * UK_MT * n);
    uk_factor_rows(&tasks, m->task_size, UK_TASK_RANK_TOLERANCE);
    m->task_rank = tasks.rank;
  }
  if (m->motor_rank == m->task_rank)
    for (int r = 0; r < UK_MT; ++r) m->controllable[r] = 1.0;
  else
    uk_controllable(m, n, x->norm, &range, basis.rank);
  for (int r = 0; r < UK_MT; ++r) {
    if (x->norm[r] <= UK_ZERO_ROW * x->largest) m->controllable[r] = 1.0;
    m->shortfall[r] = m->wanted[r] - uk_dot(m->map + r * UK_NU, m->efforts, UK_NU);
    m->reachable[r] = m->controllable[r] != 0.0 && fabs(m->shortfall[r]) <= UK_MET * m->size[r];
    if (UK_EQUAL(r)) continue;
    double effect[UK_NU];
    for (int j = 0; j < UK_NU; ++j) effect[j] = m->map[r * UK_NU + j] * m->inverse_root[j];
    m->reachable[r] = m->controllable[r] = sqrt(uk_dot(effect, effect, UK_NU)) > UK_MET * attainable[r];
    if (UK_WITHIN(r, m->shortfall[r])) m->shortfall[r] = 0.0;
  }
}

#if UK_ROBUST
/* The robust term of a law that has its efforts; rows that motors do not serve are left alone. */
static void uk_add_robust(uk_memory *m, uk_law_rows *x, int n) {
  uk_nominal_law nominal;
  if (!UK_ADAPTIVE && m->robust == 0.0) return;
  double controllable[UK_MT], reachable[UK_MT];
  memcpy(controllable, m->controllable, sizeof controllable);
  memcpy(reachable, m->reachable, sizeof reachable);
  for (int r = 0; r < UK_MT; ++r) m->surface[r] *= m->controllable[r];
  uk_ask_against(m, x, &nominal);
  if (m->motor_rank < UK_MT || !uk_solve_against(m, x)) uk_law_by_size(m, x, n);
  uk_answer_against(m, m, &nominal, n);
  memcpy(m->controllable, controllable, sizeof controllable);
  memcpy(m->reachable, reachable, sizeof reachable);
}
#endif

#if UK_CONTACT_ROWS
/* Points of a foot that turns cannot all slow down alike: contacts ask for the nearest that some acceleration
 * has, as control/servo/interpreted_servo.py has it. */
static UK_APART void uk_ask_together(uk_memory *m) {
  double wanted[UK_CONTACT_ROWS], qdd[UK_NV], rows[UK_CONTACT_ROWS * UK_NV];
  int column[UK_NV], known[UK_NV] = {0}, n = 0; /* velocities that contacts have, and how many */
  uk_basis_room first, second;
  uk_basis basis = uk_basis_in(&first), range = uk_basis_in(&second);
  for (int s = 0; s < uk_task_support_start[UK_CONTACT_ROWS]; ++s) known[uk_task_support[s]] = 1;
  for (int i = 0; i < UK_NV; ++i)
    if (known[i]) column[n++] = i;
  for (int r = 0; r < UK_CONTACT_ROWS; ++r) { /* their velocities decay */
    double rate = 0.0;
    for (int i = 0; i < n; ++i) {
      rows[r * n + i] = m->A_t[r * UK_NV + column[i]];
      rate += rows[r * n + i] * m->v[column[i]];
    }
    wanted[r] = -m->contact_damping[r] * rate - m->bias_t[r];
  }
  uk_least_solution(&basis, &range, rows, UK_CONTACT_ROWS, n, NULL, UK_TASK_RANK_TOLERANCE, wanted, qdd);
  for (int r = 0; r < UK_CONTACT_ROWS; ++r) {
    m->desired[r] = m->bias_t[r] + uk_dot(rows + r * n, qdd, n);
  }
}
#endif

/* Efforts at the inputs in the memory; 0, or why there are none, as uk_evaluate says. Without
 * `answers` only what a command needs is sure to be there. */
static int uk_law(uk_memory *m, int answers) {
  uk_law_rows x;
  uk_weigh(m);
  uk_find_law_terms(m, m);
#if UK_CONTACT_ROWS
  uk_ask_together(m);
#endif
  const int n = uk_admit(m, m, answers || UK_BY_MOTION);
  if (m->failed != 0.0) return (int)m->failed;
  if (uk_law_in_order(m, m, &x, n)) {
    m->motor_rank = m->task_rank = UK_MT;
    for (int r = 0; r < UK_MT; ++r) m->controllable[r] = m->reachable[r] = 1.0;
  } else {
    uk_law_by_size(m, &x, n);
  }
#if UK_ROBUST
  uk_add_robust(m, &x, n);
#endif
  for (int j = 0; answers && j < UK_NU; ++j) { /* N S */
    double turned[UK_NV];
    uk_motion_by(m, n, j, turned);
    for (int i = 0; i < UK_NV; ++i) m->response[i * UK_NU + j] = turned[i] * m->root[j];
  }
  return isfinite(uk_total(m->shortfall, UK_MT) + uk_total(m->efforts, UK_NU)) ? 0 : UK_NOT_NUMBERS;
}

UK_EXPORT int uk_servo(uk_memory *m) { return uk_law(m, 1); }

/* How far the tasks are from being done: residuals and rates. */
UK_EXPORT int uk_errors(uk_memory *m) {
  uk_lanes_task_errors(m->t, m->q, m->v, m->task_followed UK_P, m->tracking_error, m->tracking_rate);
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

/* Efforts within limits at the state of the last uk_servo. 0, or 1: none. */
UK_EXPORT int uk_allocate(uk_memory *m) {
  uk_allocation asked = {
      UK_MT, uk_level, UK_SIDE, 1, m->weights, m->lower, m->upper, m->efforts, m->map, m->wanted,
      NULL, NULL, NULL, m->limited, &m->finished, m->pushed,
  };
#if UK_CONTACT_ROWS
  asked.asked = m->asked, asked.friction = m->contact_friction, asked.most = m->contact_most;
#endif
  for (int r = 0; r < UK_MT; ++r) asked.served &= m->reachable[r] != 0.0;
  return uk_allocate_efforts(&asked);
}
