/* Many states: loaded lane by lane, evaluated together, stored again. */

#define UK_SINGULAR 1

static inline void uk_load(uk_lanes *to, const double *from, int n, const long long *states) {
  UK_EACH(i, n) UK_EACH(l, UK_WIDTH) to[i][l] = from[states[l] * n + i];
}

static inline void uk_store(double *to, const uk_lanes *from, int n, long long first, int lanes) {
  if (to == NULL) return;
  UK_EACH(l, lanes) UK_EACH(i, n) to[(first + l) * n + i] = from[i][l];
}

/* 0; 1 where there is no memory. */
UK_EXPORT int uk_evaluate_batch(const uk_batch *c) {
  uk_lanes_memory *m = aligned_alloc(64, (sizeof *m + 63) / 64 * 64);
  if (m == NULL) return 1;
  memset(m, 0, sizeof *m); /* entries of A that are always zero are never written */
  m->stabilize = c->stabilize;
  m->forces = c->ideal_force != NULL;
  UK_EACH(r, UK_ROWS) m->active[r] = uk_all(c->active[r]);
  for (long long first = 0; first < c->count; first += UK_WIDTH) {
    long long states[UK_WIDTH];
    const long long left = c->count - first;
    const int lanes = left < UK_WIDTH ? (int)left : UK_WIDTH;
    UK_EACH(l, UK_WIDTH) states[l] = first + (l < lanes ? l : lanes - 1);
    UK_EACH(l, UK_WIDTH) m->t[l] = c->t[states[l] * c->t_stride];
    uk_load(m->q, c->q, UK_NQ, states);
    uk_load(m->v, c->v, UK_NV, states);
    if (c->tau != NULL) uk_load(m->tau, c->tau, UK_NV, states);
    else UK_EACH(i, UK_NV) m->tau[i] = uk_all(0.0);
    if (c->followed != NULL)
      UK_EACH(i, 3 * UK_ROWS) UK_EACH(l, UK_WIDTH)
        m->followed[i][l] = c->followed[states[l] * c->followed_stride + i];
    uk_lanes_evaluate(m);
    uk_store(c->qdd, m->qdd, UK_NV, first, lanes);
    uk_store(c->ideal_force, m->ideal_force, UK_NV, first, lanes);
    uk_store(c->violation, m->violation, UK_M, first, lanes);
    uk_store(c->multipliers, m->multipliers, UK_M, first, lanes);
    uk_store(c->determined, m->determined, UK_M, first, lanes);
    uk_store(c->rank, &m->rank, 1, first, lanes);
    uk_store(c->status, &m->status, 1, first, lanes);
    uk_store(c->failed, &m->failed, 1, first, lanes);
  }
  free(m);
  return 0;
}

/* States that are evaluated together. */
UK_EXPORT int uk_width(void) { return UK_WIDTH; }
