/* Efforts within limits: least task slack by priority, then least distance from what is preferred,
 * as control/limits/limited_allocation.py has it, at the state of the last uk_servo. 0, or 1: none. */
UK_EXPORT int uk_allocate(uk_memory *m) {
  uk_search search;
  double root[UK_NU], goal[UK_NU], C[UK_ROWS * UK_NU], d[UK_ROWS];
  search.count = 0;
  for (int i = 0; i < UK_NU; ++i) {
    root[i] = sqrt(m->weights[i]);
    search.lower[i] = root[i] * m->lower[i];
    search.upper[i] = root[i] * m->upper[i];
    goal[i] = root[i] * m->efforts[i];
    double x = m->warm != 0.0 ? m->last[i] : goal[i];
    if (x < search.lower[i]) x = search.lower[i];
    if (x > search.upper[i]) x = search.upper[i];
    search.x[i] = x;
    for (int j = 0; j < UK_NU; ++j) search.motions[i][j] = 0.0;
  }
  for (int i = 0; i < UK_NU; ++i) /* a motor whose limits leave no choice has no motion */
    if (search.lower[i] < search.upper[i]) search.motions[i][search.count++] = 1.0;
  m->finished = 1.0;
  for (int stage = 0; stage <= UK_LEVELS && search.count; ++stage) {
    int rows = 0;
    if (stage == UK_LEVELS) {
      for (rows = 0; rows < UK_NU; ++rows) {
        d[rows] = goal[rows];
        for (int j = 0; j < UK_NU; ++j) C[rows * UK_NU + j] = rows == j;
      }
    } else {
      for (int r = 0; r < UK_MT; ++r) {
        if (uk_level[r] != stage) continue;
        d[rows] = m->wanted[r];
        for (int j = 0; j < UK_NU; ++j) C[rows * UK_NU + j] = m->map[r * UK_NU + j] / root[j];
        ++rows;
      }
    }
    const int found = uk_bounded(&search, C, rows, d);
    if (found < 0) return 1;
    if (!found) m->finished = 0.0;
  }
  double sum = 0.0;
  for (int i = 0; i < UK_NU; ++i) {
    m->last[i] = search.x[i];
    double u = search.x[i] / root[i];
    if (u < m->lower[i]) u = m->lower[i];
    if (u > m->upper[i]) u = m->upper[i];
    m->limited[i] = u;
    sum += u;
  }
  m->warm = isfinite(sum) ? 1.0 : 0.0;
  return !isfinite(sum);
}
