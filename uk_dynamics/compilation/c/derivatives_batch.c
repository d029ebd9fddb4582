/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Derivatives at many states, a vector of them at a time. */

#pragma once

#include <stdlib.h>

#include "force_derivatives_lanes.c"

/* 0; 1 where there is no memory. */
UK_EXPORT int uk_differentiate_batch(const uk_derivative_batch *c) {
  uk_derivative_lanes *m = aligned_alloc(64, (sizeof *m + 63) / 64 * 64);
  if (m == NULL) return 1;
  memset(m, 0, sizeof *m); /* entries of A and C that are always zero are never written */
  m->stabilize = uk_all(c->stabilize);
  m->t = uk_all(c->t[0]);
  if (c->followed != NULL) UK_EACH(i, 3 * UK_ROWS) m->followed[i] = uk_all(c->followed[i]);
#if UK_NP > 0
  UK_EACH(k, UK_NP) m->p[k] = uk_all(c->p[k]), m->exist[k] = uk_all(1.0);
#endif
  const int forces = c->multipliers != NULL;
  for (long long first = 0; first < c->count; first += UK_WIDTH) {
    const long long left = c->count - first;
    const int lanes = left < UK_WIDTH ? (int)left : UK_WIDTH;
    if (c->t_stride) uk_load_lanes(&m->t, c->t + first, 1, lanes);
    uk_load_lanes(m->q, c->q + first * UK_NQ, UK_NQ, lanes);
    uk_load_lanes(m->v, c->v + first * UK_NV, UK_NV, lanes);
    if (c->tau != NULL) uk_load_lanes(m->tau, c->tau + first * UK_NV, UK_NV, lanes);
    if (c->followed != NULL && c->followed_stride)
      uk_load_lanes(m->followed, c->followed + first * c->followed_stride, 3 * UK_ROWS, lanes);
    uk_lanes_terms(m->t, m->q, m->v, m->followed UK_P, m->H, m->force, m->A, m->bias, m->residual,
                   m->rate);
    uk_lanes_regular_motions(m->stabilize, m->tau, m->H, m->force, m->A, m->bias, m->residual,
                             m->rate, m->qdd, m->multipliers, m->K, m->C, m->sure);
    uk_lanes_traced_derivatives(m->t, m->stabilize, m->q, m->v, m->followed UK_P, m->qdd, m->multipliers,
                      m->motion, m->rows, m->rates, m->shared);
#if UK_DEPENDENT_ROWS && UK_NP == 0
    uk_lanes_traced_rates(m->t, m->stabilize, m->q, m->v, m->followed UK_P, m->qdd, m->multipliers,
                           m->motion, m->rows, m->rates, m->shared);
#endif
    uk_lanes_corrections(m);
    uk_lanes_rest(m);
    uk_lanes total = uk_all(0.0);
    UK_EACH(i, UK_NV) total += m->qdd[i];
    UK_EACH(k, UK_MOTION_ENTRIES) total += m->motion[k];
    const uk_mask sure = (m->sure[0] < UK_LOST_PIVOTS) & (m->sure[1] < 1.0) & uk_finite(total);
    const uk_mask off = uk_lanes_derivatives(m, c->acceleration + first * UK_NV * UK_COLUMNS, lanes,
                                            forces);
    if (forces) uk_lanes_forces(m, c, first, lanes);
    uk_store(c->qdd, m->qdd, UK_NV, first, lanes);
#if UK_NP > 0
    uk_store(c->exist, m->exist, UK_NP, first, lanes);
#endif
    const uk_lanes exist = uk_pick(off, uk_all(UK_RANK_CHANGES), uk_all(UK_EXIST));
    uk_store_one(c->status, uk_pick(sure, exist, uk_all(UK_ALONE)), first, lanes);
  }
  free(m);
  return 0;
}
