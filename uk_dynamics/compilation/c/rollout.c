/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Trajectories of many states, with projection of positions and velocities after every step. */
#pragma once

#include "batch.c"
#include "motion_lanes.c"
#include "rollout.h"

typedef struct {
  uk_lanes_motion motion; /* the first field */
  const uk_trajectories *c;
  long long step;
} uk_lanes_trajectories;

/* Times and what rows follow are those of half steps. */
static void uk_lanes_follow(uk_lanes_motion *s, int stage, double part) {
  const uk_lanes_trajectories *w = (const uk_lanes_trajectories *)s;
  const long long half = 2 * w->step + (stage + 1) / 2;
  (void)part;
  s->m->t = uk_all(w->c->t + 0.5 * w->c->dt * half);
  if (w->c->followed != NULL)
    UK_EACH(i, 3 * UK_ROWS) s->m->followed[i] = uk_all(w->c->followed[half * 3 * UK_ROWS + i]);
}

static void uk_record(const uk_trajectories *c, const uk_lanes_memory *m, long long first,
                      int lanes, long long sample, uk_lanes stopped) {
  const long long samples = c->steps / c->every + 1;
  UK_EACH(l, lanes) {
    const long long at = ((first + l) * samples + sample) * UK_NV;
    const int lost = UK_PART(stopped, l) != 0.0;
    UK_EACH(i, UK_NV) c->q_out[at + i] = lost ? NAN : UK_PART(m->q[i], l);
    UK_EACH(i, UK_NV) c->v_out[at + i] = lost ? NAN : UK_PART(m->v[i], l);
  }
}

/* 0; 1 where there is no memory. A state that has no answer any more stops: `stopped` has the
 * number of the step, from 1 for the start, `reason` why; what follows is NaN. */
UK_OF_BATCHES int uk_rollout(const uk_trajectories *c) {
  uk_lanes_memory *m = aligned_alloc(64, (sizeof *m + 63) / 64 * 64);
  if (m == NULL) return 1;
  uk_lanes_kept kept;
  uk_lanes reason, stopped;
  uk_mask failed;
  uk_lanes_trajectories w = {
      {1, c->euler, c->project, c->sampled, m, &kept, &failed, &reason, uk_lanes_follow}, c, 0};
  kept.known = 0;
  memset(m, 0, sizeof *m);
  m->stabilize = c->stabilize;
  UK_EACH(r, UK_ROWS) m->active[r] = uk_all(c->active[r]);
  for (long long first = 0; first < c->count; first += UK_WIDTH) {
    const long long left = c->count - first;
    const int lanes = left < UK_WIDTH ? (int)left : UK_WIDTH;
    uk_load_parameters(m, c->p, c->p_stride, first, lanes);
    uk_load_lanes(m->q, c->q + first * UK_NQ, UK_NQ, lanes);
    uk_load_lanes(m->v, c->v + first * UK_NV, UK_NV, lanes);
    failed = uk_none();
    reason = uk_all(0.0);
    w.step = 0;
    uk_lanes_follow(&w.motion, 0, 0.0);
    if (c->project) uk_lanes_settle(&w.motion);
    stopped = uk_pick(failed, uk_all(1.0), uk_all(0.0));
    uk_record(c, m, first, lanes, 0, stopped);
    for (; w.step < c->steps && uk_any(uk_not(failed)); ++w.step) {
      if (c->tau != NULL)
        UK_EACH(i, UK_NV) UK_EACH(l, UK_WIDTH) {
          const long long state = first + (l < lanes ? l : lanes - 1);
          UK_PART(m->tau[i], l) = c->tau[state * c->tau_state + w.step * c->tau_step + i];
        }
      uk_lanes_step(&w.motion, c->dt);
      stopped = uk_pick(failed & (stopped == 0.0), uk_all(w.step + 2), stopped);
      if ((w.step + 1) % c->every == 0)
        uk_record(c, m, first, lanes, (w.step + 1) / c->every, stopped);
    }
    UK_EACH(l, lanes) {
      c->stopped[first + l] = UK_PART(stopped, l);
      c->reason[first + l] = UK_PART(reason, l);
    }
  }
  free(m);
  return 0;
}
