/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Trajectories of many states, with projection of positions and velocities after every step. */
#pragma once

#include "moving_groups.c"
#include "rollout.h"

typedef struct {
  uk_moving_groups moving; /* the first field */
  const uk_trajectories *c;
  long long step;
  uk_lanes stopped[UK_MOST_GROUPS]; /* 0; the number of the step that failed, from 1 for the start */
} uk_rolling;

/* Times and what rows follow, so many half steps from the start. */
static void uk_rollout_follow(uk_lanes_motion *s, long long half) {
  const uk_trajectories *c = ((const uk_rolling *)s)->c;
  UK_EACH(g, s->groups) {
    s->m[g].t = uk_all(c->t + 0.5 * c->dt * half);
    uk_batch_follow(s->m + g, c->followed, half);
  }
}

static void uk_rollout_stage(uk_lanes_motion *s, int stage, double part) {
  (void)part;
  uk_rollout_follow(s, 2 * ((const uk_rolling *)s)->step + (stage + 1) / 2);
  if (stage < 4) uk_lanes_accelerate(s);
}

/* After so many steps: who has stopped, samples, forces of the next step. */
static int uk_rollout_instant(uk_lanes_motion *w, long long step) {
  uk_rolling *s = (uk_rolling *)w;
  const uk_trajectories *c = s->c;
  s->step = step;
  if (step == 0) {
    uk_rollout_follow(w, 0);
    if (c->project) uk_lanes_settle(w);
  }
  UK_EACH(g, w->groups) {
    s->stopped[g] = uk_pick(w->failed[g] & (s->stopped[g] == 0.0), uk_all(step + 1), s->stopped[g]);
    if (step % c->every == 0)
      uk_keep_sample(&s->moving, g, c->steps / c->every + 1, step / c->every, c->q_out, c->v_out);
  }
  if (step == c->steps || !uk_lanes_going(w)) return 0;
  UK_EACH(g, c->tau ? w->groups : 0) UK_EACH(l, UK_WIDTH) {
    const int lane = l < s->moving.lanes[g] ? l : s->moving.lanes[g] - 1;
    const double *tau = c->tau + (s->moving.first[g] + lane) * c->tau_state + step * c->tau_step;
    UK_EACH(i, UK_NV) UK_PART(w->m[g].tau[i], l) = tau[i];
  }
  w->begin = c->t + c->dt * step, w->end = c->t + c->dt * (step + 1);
  return 1;
}

/* What all trajectories have in common. */
static void uk_rollout_begin(uk_lanes_memory *m, const uk_trajectories *c) {
  uk_share(m, c->tree, c->active, c->stabilize, 0);
}

/* As many trajectories as so many groups have, from the first on; how many. A state that has no answer any more
 * stops: `stopped` has the number of the step, `reason` why; what follows is NaN. */
static long long uk_rollout_move(uk_lanes_memory *m, uk_lanes_kept *kept, const uk_trajectories *c,
                                 long long first, int most) {
  uk_rolling s;
  const uk_lanes_motion steps = {most, c->euler, c->project, c->sampled, m, kept, NULL, s.moving.reason,
                                 uk_rollout_stage, NULL, {uk_all(0.0)}, 0.0, 0.0}; /* in order, as C++ has it */
  s.moving.motion = steps, s.c = c;
  const long long taken = uk_take_motions(&s.moving, most, first, c->count, c->q, c->v, c->p, c->p_stride);
  UK_EACH(g, UK_MOST_GROUPS) s.stopped[g] = uk_all(0.0);
  uk_lanes_go(&s.moving.motion, c->dt, uk_rollout_instant);
  UK_EACH(g, s.moving.motion.groups) {
    uk_store_one(c->stopped, s.stopped[g], s.moving.first[g], s.moving.lanes[g]);
    uk_store_one(c->reason, s.moving.reason[g], s.moving.first[g], s.moving.lanes[g]);
  }
  return taken;
}

#ifndef UK_STATE_A_THREAD
/* 0; 1 where there is no memory. */
UK_OF_BATCHES int uk_rollout(const uk_trajectories *c) {
  enum { GROUPS = UK_GROUPS_WITHIN(UK_NEAR_CACHE / 2) };
  uk_lanes_memory *m = aligned_alloc(64, (GROUPS * sizeof *m + 63) / 64 * 64);
  if (m == NULL) return 1;
  uk_lanes_kept kept[GROUPS];
  UK_EACH(g, GROUPS) uk_rollout_begin(m + g, c);
  for (long long first = 0; first < c->count;) first += uk_rollout_move(m, kept, c, first, GROUPS);
  free(m);
  return 0;
}
#endif
