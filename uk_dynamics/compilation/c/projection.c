/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The nearest states on the constraints in the metric of M, of groups of states, each with a memory of
 * its own: Newton steps of least d^T M d until residuals are rounding, then the nearest velocity; as
 * core/equation/projection.py. A single state is a lane. */
#pragma once

#include "configuration.c"
#include "uk_evaluation.h"
#include "uk_projection.h"
#include "uk_tables.h"

typedef struct { /* where the projection of a group of states is */
  uk_lanes best[UK_NQ], right[UK_ROWS], smallest, size;
#if !defined(UK_OF_CLUSTERS)
  uk_eliminated by;            /* those of the rows, unless they are in the memory */
#endif
  uk_mask done;
  int ended;
} uk_lanes_way;

#if UK_M > 0
#if !defined(UK_OF_CLUSTERS)

/* Factors at the state in the memory, of the rows that act and are of a kind, in the place of M. */
static UK_OPTIONAL void uk_lanes_linearize(uk_lanes_memory *m, const double *kind, uk_lanes tolerance,
                                           uk_eliminated *by) {
  uk_lanes acts[UK_ROWS];
  UK_EACH(r, UK_M) acts[r] = kind[r] * m->active[r];
  uk_lanes_factor_mass(m);
  uk_eliminate(m, acts, tolerance, by);
}

/* The d of least d^T M d with A d = right, by these factors. */
static void uk_lanes_least(uk_lanes_memory *m, const uk_lanes *right, const uk_lanes_way *w, uk_lanes *d) {
  uk_least_coordinates(m, &w->by, right, d);
  uk_move_along(m, &w->by, d);
}

/* The d of least d^T M d with A d = right, on the rows that act and are of a kind, at the terms in
 * the memory. Off the constraints a redundant row looks independent by about its violation: the
 * tolerance follows. */
UK_EVALUATION void uk_lanes_correct(uk_lanes_memory *m, uk_lanes_kept *kept, const uk_lanes *right, const double *kind,
                             uk_lanes tolerance, uk_lanes_way *w, uk_lanes *d) {
  (void)kept;
#if UK_REGULAR
  if (UK_ALL_ROWS_HOLD && !uk_any(tolerance != uk_all(UK_RANK_TOLERANCE))) {
    /* as if at rest, and drawn there */
    const double stabilize = m->stabilize;
    const int forces = m->forces;
    uk_lanes bias[UK_M], tau[UK_NV];
    memcpy(bias, m->bias, sizeof bias);
    memcpy(tau, m->tau, sizeof tau);
    UK_EACH(i, UK_NV) m->tau[i] = -m->force[i]; /* forces may be constants there */
    UK_EACH(r, UK_M) m->bias[r] = -right[r];
    m->stabilize = m->forces = 0;
    const uk_mask regular = uk_lanes_regular(m, kept);
    m->stabilize = stabilize, m->forces = forces;
    memcpy(m->bias, bias, sizeof bias);
    memcpy(m->tau, tau, sizeof tau);
    if (!uk_any(uk_not(regular))) {
      memcpy(d, m->qdd, sizeof(uk_lanes) * UK_NV);
      return;
    }
  }
#endif
  uk_lanes M[UK_MASS_ROOM]; /* the factor comes in its place */
  uk_lanes_keep_mass(m, M);
  uk_lanes_linearize(m, kind, tolerance, &w->by);
  uk_lanes_least(m, right, w, d);
  uk_lanes_take_mass(m, M);
}

#endif

/* The configuration of a Newton step: whether it is the last one. */
static void uk_lanes_look(const uk_lanes_memory *m, uk_lanes_way *w, int step) {
  UK_EACH(r, UK_M) w->right[r] = -uk_position_row[r] * m->active[r] * m->residual[r];
  const uk_lanes size = uk_largest(w->right, UK_M);
  if (step == 0) {
    w->smallest = size;
    w->done = uk_none();
    memcpy(w->best, m->q, sizeof w->best);
  } else {
    const uk_lanes smallest = w->smallest;
    const uk_mask better = uk_not(w->done) & (size < smallest);
    const uk_mask stalled = better & (size > 0.5 * smallest) & (size <= UK_REACHED);
    w->done |= stalled | (uk_not(better) & ((smallest <= UK_REACHED) | uk_not(size <= UK_DIVERGING * smallest)));
    w->smallest = uk_pick(better, size, smallest);
    UK_EACH(i, UK_NQ) w->best[i] = uk_pick(better, m->q[i], w->best[i]);
  }
  w->size = size;
  w->done |= uk_not(w->smallest > UK_ROUNDING);
  w->ended = !uk_any(uk_not(w->done)) || step == UK_NEWTON_STEPS;
}

/* Positions alone; where each ends is in its way. */
UK_EVALUATION void uk_lanes_close(uk_lanes_memory *m, uk_lanes_kept *kept, int groups, uk_lanes_way *w) {
  uk_lanes d[UK_NV];
  UK_EACH(g, groups) w[g].ended = 0;
  for (int step = 0, going = 1; going; ++step) {
    UK_EACH(g, groups) if (!w[g].ended) uk_lanes_configure(m + g, kept + g);
    going = 0;
    UK_EACH(g, groups) {
      if (w[g].ended) continue;
      uk_lanes_look(m + g, w + g, step);
      if (w[g].ended) continue;
      going = 1;
      const uk_lanes part = w[g].size / UK_LENGTH;
      const uk_lanes loose = uk_pick(part > UK_LOOSEST, uk_all(UK_LOOSEST), part);
      uk_lanes_correct(m + g, kept + g, w[g].right, uk_position_row,
                       uk_pick(part > UK_RANK_TOLERANCE, loose, uk_all(UK_RANK_TOLERANCE)), w + g, d);
      UK_EACH(i, UK_NV) d[i] = uk_pick(w[g].done, uk_all(0.0), d[i]);
      uk_reach(m[g].q, uk_all(1.0), d, m[g].q);
    }
  }
  UK_EACH(g, groups) {
    uk_mask moved = uk_none();
    UK_EACH(i, UK_NQ) moved |= m[g].q[i] != w[g].best[i];
    memcpy(m[g].q, w[g].best, sizeof w[g].best);
    if (uk_any(moved)) uk_lanes_configure(m + g, kept + g);
  }
}

#endif

/* Velocities alone, at what is kept; where they are no numbers. */
UK_INLINE uk_mask uk_lanes_project_velocity(uk_lanes_memory *m, uk_lanes_kept *kept, uk_lanes_way *w) {
#if UK_M > 0
  uk_lanes d[UK_NV];
  UK_EACH(r, UK_M) w->right[r] = uk_motion_row[r] * m->active[r] * m->rate[r];
  uk_lanes_correct(m, kept, w->right, uk_motion_row, uk_all(UK_RANK_TOLERANCE), w, d);
  UK_EACH(i, UK_NV) m->v[i] -= d[i];
#else
  (void)kept, (void)w;
#endif
  return uk_not(uk_finite(uk_total(m->q, UK_NQ) + uk_total(m->v, UK_NV)));
}

/* Why states have none, as `failed` of an evaluation, or UK_OPEN_LOOPS; 0. What is kept is then of the
 * configurations there. */
UK_EVALUATION void uk_lanes_project(uk_lanes_memory *m, uk_lanes_kept *kept, int groups, uk_lanes *why) {
  const uk_lanes fine = uk_all(0.0);
  uk_lanes_way w[UK_MOST_GROUPS];
#ifdef UK_ONE_STATE
  m->singular = 0.0;
#endif
#if UK_M > 0
  uk_lanes_close(m, kept, groups, w);
  UK_EACH(g, groups) uk_lanes_find_rates(m + g, kept + g);
#endif
  UK_EACH(g, groups) {
    const uk_mask lost = uk_lanes_project_velocity(m + g, kept + g, w + g);
    why[g] = UK_M == 0 ? fine : uk_pick(w[g].smallest <= UK_REACHED, fine, uk_all(UK_OPEN_LOOPS));
    why[g] = uk_pick(lost, uk_all(UK_NOT_NUMBERS), why[g]);
  }
#ifdef UK_ONE_STATE
  if (*why != 0.0 && m->singular) *why = UK_SINGULAR_MASS;
#endif
}

#ifdef UK_ONE_STATE

#if UK_M > 0 && !defined(UK_OF_CLUSTERS)

/* Project q alone; as uk_project_there. M, A and residuals are those there. */
static UK_OPTIONAL int uk_project_place(uk_memory *m, uk_kept *kept) {
  uk_lanes_way way;
  m->singular = 0.0;
  uk_lanes_close(m, kept, 1, &way);
  if (way.smallest <= UK_REACHED) return 0;
  return m->singular ? UK_SINGULAR_MASS : isfinite(way.smallest) ? UK_OPEN_LOOPS : UK_NOT_NUMBERS;
}

/* Project v alone, at a q whose terms are kept; as uk_project_there. */
static UK_OPTIONAL int uk_project_velocity(uk_memory *m, uk_kept *kept) {
  uk_lanes_way way;
  m->singular = 0.0;
  uk_lanes_find_rates(m, kept);
  if (!uk_lanes_project_velocity(m, kept, &way)) return 0;
  return m->singular ? UK_SINGULAR_MASS : UK_NOT_NUMBERS;
}

#endif

/* Project q and v in the memory, where `followed` is that of the time there; what is kept is then of
 * the configuration there. 0; 1 or 2 as uk_evaluate, 3 where the loops stay open. */
static UK_OPTIONAL int uk_project_there(uk_memory *m, uk_kept *kept) {
  double why;
  uk_lanes_project(m, kept, 1, &why);
  return (int)why;
}

static inline int uk_project(uk_memory *m) {
  uk_kept kept;
  kept.known = 0;
  return uk_project_there(m, &kept);
}

#endif
