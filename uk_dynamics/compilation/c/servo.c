/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The closed-form servo law in the dynamics that the structure has constrained already: u of least
 * u^T W u with C u = b_t - A_t a_s, C = A_t N S, and its part toward the preload; see core/servo/servo_law.py.
 * All in coordinates of the admissible motions, which the reflections of solve.c lead to. */

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

/* Efforts at the inputs in the memory; 0, or why there are none, as uk_evaluate says. Without
 * `answers` only what a command needs is sure to be there. */
static int uk_law(uk_memory *m, int answers) {
  uk_admitted_rows x;
  const int failed = uk_admit(m, answers, &x), n = x.n;
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
  uk_basis basis, range;
  for (int r = 0; r < UK_MT; ++r) {
    attainable[r] = norm[r] * strength;
    m->wanted[r] = m->desired[r] - m->bias_t[r];
    m->size[r] = fabs(m->wanted[r]) + UK_NEGLIGIBLE_ACCELERATION;
    for (int i = 0; i < UK_NV; ++i) {
      const double part = m->A_t[r * UK_NV + i] * m->qdd[i];
      m->wanted[r] -= part;
      m->size[r] += fabs(part);
    }
    for (int j = 0; j < UK_NU; ++j) {
      double sum = 0.0;
      for (int i = 0; i < n; ++i) sum += x.task[r * n + i] * x.motor[j * n + i];
      C[r][j] = sum;
      m->map[r * UK_NU + j] = sum * root[j];
    }
  }
  double u[UK_NU], free[UK_NU];
  uk_least_solution(&basis, &range, &C[0][0], UK_MT, UK_NU, attainable, UK_TASK_RANK_TOLERANCE,
                    m->wanted, u);
  m->motor_rank = basis.rank;
  for (int j = 0; j < UK_NU; ++j) free[j] = root[j] * m->preload[j];
  uk_orthogonal_part(&basis, free);
  for (int j = 0; j < UK_NU; ++j) u[j] += free[j], m->efforts[j] = u[j] / root[j];

  m->task_rank = m->motor_rank;
  if (m->motor_rank < UK_MT) { /* else tasks have full rank as well */
    uk_basis tasks;
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
    double turned[UK_NV] = {0.0};
    memcpy(turned + UK_NV - n, x.motor + j * n, sizeof(double) * n);
    uk_admitted(m, UK_NV - n, turned);
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
