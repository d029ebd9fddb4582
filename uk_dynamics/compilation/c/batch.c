/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Many states: loaded into lanes, evaluated together, stored again. */
#pragma once

#include <stdlib.h>

#include "batch.h"
#include "lanes_states.c"
#include "uk_evaluation.h"
#include "uk_following.h"

/* Parameters of the states, or those that all of them have. */
static inline void uk_load_parameters(uk_lanes_memory *m, const double *p, long long stride,
                                      long long first, int lanes) {
#if UK_NP > 0
  UK_EACH(l, UK_WIDTH) {
    const double *own = p + (first + (l < lanes ? l : lanes - 1)) * stride;
    UK_EACH(i, UK_NP) UK_PART(m->p[i], l) = own[i];
  }
#else
  (void)m, (void)p, (void)stride, (void)first, (void)lanes;
#endif
}

/* What all states have in common. */
static void uk_share(uk_lanes_memory *m, void *tree, const double *active, double stabilize, int forces) {
  memset(m, 0, sizeof *m); /* entries of A that are always zero are never written */
#if defined(UK_OF_CLUSTERS)
  memcpy(&m->tree, &tree, sizeof tree);
#endif
  (void)tree;
  m->stabilize = stabilize, m->forces = forces;
  UK_EACH(r, UK_ROWS) m->active[r] = uk_all(active[r]);
}

/* What rows of all states follow, from an entry of a table; null: nothing. */
static void uk_batch_follow(uk_lanes_memory *m, const double *followed, long long entry) {
#if UK_FOLLOWS
  if (followed != NULL) UK_EACH(i, 3 * UK_ROWS) m->followed[i] = uk_all(followed[entry * 3 * UK_ROWS + i]);
#else
  (void)m, (void)followed, (void)entry;
#endif
}

static void uk_batch_begin(uk_lanes_memory *m, const uk_batch *c) {
  uk_share(m, c->tree, c->active, c->stabilize, c->ideal_force != NULL);
  m->t = uk_all(c->t[0]);
  uk_batch_follow(m, c->followed, 0);
}

/* As many states as there are lanes, from the first on; how many of the lanes have one. */
static int uk_batch_load(uk_lanes_memory *m, const uk_batch *c, long long first) {
  const long long left = c->count - first;
  const int lanes = left < UK_WIDTH ? (int)left : UK_WIDTH;
  uk_load_parameters(m, c->p, c->p_stride, first, lanes);
  if (c->t_stride) uk_load_lanes(&m->t, c->t + first, 1, lanes);
  uk_load_lanes(m->q, c->q + first * UK_NQ, UK_NQ, lanes);
  uk_load_lanes(m->v, c->v + first * UK_NV, UK_NV, lanes);
  if (c->tau != NULL) uk_load_lanes(m->tau, c->tau + first * UK_NV, UK_NV, lanes);
#if UK_FOLLOWS
  if (c->followed != NULL && c->followed_stride)
    uk_load_lanes(m->followed, c->followed + first * c->followed_stride, 3 * UK_ROWS, lanes);
#endif
  return lanes;
}

static void uk_batch_store(const uk_lanes_memory *m, const uk_batch *c, long long first, int lanes) {
#define UK_STORE(type, name, count) \
  uk_store(c->name, (const uk_lanes *)&m->name, count, first, lanes);
  UK_BATCH_ANSWERS(UK_STORE) UK_BATCH_FORCES(UK_STORE) UK_BATCH_RATES(UK_STORE)
#undef UK_STORE
}

static void uk_batch_answer(uk_lanes_memory *m, uk_lanes_kept *kept, const uk_batch *c, long long first) {
  const int lanes = uk_batch_load(m, c, first);
  kept->known = 0;
  uk_lanes_evaluate(m, kept, 1);
  uk_batch_store(m, c, first, lanes);
}

#ifndef UK_STATE_A_THREAD
/* 0; 1 where there is no memory. */
UK_OF_BATCHES int uk_evaluate_batch(const uk_batch *c) {
  uk_lanes_memory *m = aligned_alloc(64, (sizeof *m + 63) / 64 * 64);
  if (m == NULL) return 1;
  uk_lanes_kept kept;
  uk_batch_begin(m, c);
  for (long long first = 0; first < c->count; first += UK_WIDTH) uk_batch_answer(m, &kept, c, first);
  free(m);
  return 0;
}
#endif
