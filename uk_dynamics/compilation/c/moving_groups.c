/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Many motions, some in the lanes of each group. Groups move together, function by function, where the memory of
 * all of them is near. */
#pragma once

#include "batch.c"
#include "fixed_step.c"

typedef struct {
  uk_lanes_motion motion; /* the first field */
  uk_mask failed[UK_MOST_GROUPS];
  uk_lanes reason[UK_MOST_GROUPS];
  long long first[UK_MOST_GROUPS]; /* motions */
  int lanes[UK_MOST_GROUPS];       /* that are motions of their own */
} uk_moving_groups;

#define UK_GROUPS_WITHIN(bytes) \
  (sizeof(uk_lanes_memory) + sizeof(uk_lanes_kept) <= (bytes) ? UK_MOST_GROUPS : 1)

/* The next motions of `count`, from the first on, into as many groups as there may be; how many motions. */
static long long uk_take_motions(uk_moving_groups *s, int most, long long first, long long count, const double *q,
                                 const double *v, const double *p, long long p_stride) {
  uk_lanes_motion *w = &s->motion;
  const long long left = count - first, groups = (left + UK_WIDTH - 1) / UK_WIDTH;
  w->failed = s->failed;
  w->groups = groups < most ? (int)groups : most;
  UK_EACH(g, w->groups) {
    const long long at = s->first[g] = first + g * UK_WIDTH;
    const int lanes = s->lanes[g] = count - at < UK_WIDTH ? (int)(count - at) : UK_WIDTH;
    uk_load_parameters(w->m + g, p, p_stride, at, lanes);
    uk_load_lanes(w->m[g].q, q + at * UK_NQ, UK_NQ, lanes);
    uk_load_lanes(w->m[g].v, v + at * UK_NV, UK_NV, lanes);
    w->kept[g].known = 0;
    s->failed[g] = uk_none();
    s->reason[g] = w->rank[g] = uk_all(0.0);
  }
  return w->groups * UK_WIDTH;
}

/* A sample of the motions of a group; not numbers where there is no motion any more. */
static void uk_keep_sample(const uk_moving_groups *s, int g, long long samples, long long sample, double *q,
                           double *v) {
  const uk_lanes_memory *m = s->motion.m + g;
  UK_EACH(l, s->lanes[g]) {
    const long long at = (s->first[g] + l) * samples + sample;
    const int lost = UK_PART(s->failed[g], l) != 0;
    UK_EACH(i, UK_NQ) q[at * UK_NQ + i] = lost ? NAN : UK_PART(m->q[i], l);
    UK_EACH(i, UK_NV) v[at * UK_NV + i] = lost ? NAN : UK_PART(m->v[i], l);
  }
}
