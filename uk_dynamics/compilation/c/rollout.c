/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Trajectories of many states, with projection of positions and velocities after every step. */
#pragma once

#include "batch.c"
#include "fixed_step.c"
#include "rollout.h"

typedef struct {
  uk_lanes_motion motion; /* the first field */
  const uk_trajectories *c;
  long long step;
} uk_lanes_trajectories;

/* Times and what rows follow, so many half steps from the start. */
static void uk_rollout_follow(uk_lanes_motion *s, long long half) {
  const uk_trajectories *c = ((const uk_lanes_trajectories *)s)->c;
  UK_EACH(g, s->groups) {
    s->m[g].t = uk_all(c->t + 0.5 * c->dt * half);
    uk_batch_follow(s->m + g, c->followed, half);
  }
}

static void uk_rollout_stage(uk_lanes_motion *s, int stage, double part) {
  (void)part;
  uk_rollout_follow(s, 2 * ((const uk_lanes_trajectories *)s)->step + (stage + 1) / 2);
  if (stage < 4) uk_lanes_accelerate(s);
}

static void uk_record(const uk_trajectories *c, const uk_lanes_memory *m, long long first,
                      int lanes, long long sample, uk_lanes stopped) {
  const long long samples = c->steps / c->every + 1;
  UK_EACH(l, lanes) {
    const long long at = (first + l) * samples + sample;
    const int lost = UK_PART(stopped, l) != 0.0;
    UK_EACH(i, UK_NQ) c->q_out[at * UK_NQ + i] = lost ? NAN : UK_PART(m->q[i], l);
    UK_EACH(i, UK_NV) c->v_out[at * UK_NV + i] = lost ? NAN : UK_PART(m->v[i], l);
  }
}

/* What all trajectories have in common. */
static void uk_rollout_begin(uk_lanes_memory *m, const uk_trajectories *c) {
  uk_share(m, c->tree, c->active, c->stabilize, 0);
}

/* As many trajectories as groups have lanes, from the first on. A state that has no answer any more
 * stops: `stopped` has the number of the step, from 1 for the start, `reason` why; what follows is
 * NaN. */
static void uk_rollout_move(uk_lanes_memory *m, uk_lanes_kept *kept, const uk_trajectories *c,
                            long long first, int groups) {
  uk_lanes reason[UK_MOST_GROUPS], stopped[UK_MOST_GROUPS];
  uk_mask failed[UK_MOST_GROUPS];
  int lanes[UK_MOST_GROUPS], going = 1;
  uk_lanes_trajectories w = {
      {groups, c->euler, c->project, c->sampled, m, kept, failed, reason, uk_rollout_stage,
       NULL, {uk_all(0.0)}, 0.0, 0.0}, c, 0}; /* in order, as C++ of GPUs takes them */
  UK_EACH(g, groups) {
    const long long at = first + g * UK_WIDTH, left = c->count - at;
    lanes[g] = left < UK_WIDTH ? (int)left : UK_WIDTH;
    uk_load_parameters(m + g, c->p, c->p_stride, at, lanes[g]);
    uk_load_lanes(m[g].q, c->q + at * UK_NQ, UK_NQ, lanes[g]);
    uk_load_lanes(m[g].v, c->v + at * UK_NV, UK_NV, lanes[g]);
    kept[g].known = 0;
    failed[g] = uk_none();
    reason[g] = uk_all(0.0);
  }
  uk_rollout_follow(&w.motion, 0);
  if (c->project) uk_lanes_settle(&w.motion);
  UK_EACH(g, groups) {
    stopped[g] = uk_pick(failed[g], uk_all(1.0), uk_all(0.0));
    uk_record(c, m + g, first + g * UK_WIDTH, lanes[g], 0, stopped[g]);
  }
  for (; w.step < c->steps && going; ++w.step) {
    if (c->tau != NULL)
      UK_EACH(g, groups) UK_EACH(l, UK_WIDTH) {
        const long long state = first + g * UK_WIDTH + (l < lanes[g] ? l : lanes[g] - 1);
        const double *tau = c->tau + state * c->tau_state + w.step * c->tau_step;
        UK_EACH(i, UK_NV) UK_PART(m[g].tau[i], l) = tau[i];
      }
    uk_lanes_step(&w.motion, c->dt);
    going = 0;
    UK_EACH(g, groups) {
      stopped[g] = uk_pick(failed[g] & (stopped[g] == 0.0), uk_all(w.step + 2), stopped[g]);
      if ((w.step + 1) % c->every == 0)
        uk_record(c, m + g, first + g * UK_WIDTH, lanes[g], (w.step + 1) / c->every, stopped[g]);
      going |= uk_any(uk_not(failed[g]));
    }
  }
  UK_EACH(g, groups) UK_EACH(l, lanes[g]) {
    c->stopped[first + g * UK_WIDTH + l] = UK_PART(stopped[g], l);
    c->reason[first + g * UK_WIDTH + l] = UK_PART(reason[g], l);
  }
}

#ifndef UK_STATE_A_THREAD
/* 0; 1 where there is no memory. */
UK_OF_BATCHES int uk_rollout(const uk_trajectories *c) {
  enum { TOUCHED = sizeof(uk_lanes_memory) + sizeof(uk_lanes_kept) };
  enum { GROUPS = TOUCHED <= UK_NEAR_CACHE / 2 ? UK_MOST_GROUPS : 1 };
  uk_lanes_memory *m = aligned_alloc(64, (GROUPS * sizeof *m + 63) / 64 * 64);
  if (m == NULL) return 1;
  uk_lanes_kept kept[GROUPS];
  UK_EACH(g, GROUPS) uk_rollout_begin(m + g, c);
  for (long long first = 0; first < c->count; first += GROUPS * UK_WIDTH) {
    const long long groups = (c->count - first + UK_WIDTH - 1) / UK_WIDTH;
    uk_rollout_move(m, kept, c, first, groups < GROUPS ? (int)groups : GROUPS);
  }
  free(m);
  return 0;
}
#endif
