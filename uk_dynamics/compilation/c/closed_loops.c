/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The steps of closed loops in lanes, and what surrounds their laws; see closed_loops.h. */
#pragma once

#include "loop_group.c"
#include "motor_efforts.c"
#include "moving_groups.c"
#include "uk_law.h"

#if !UK_LAW_IN_LANES
/* Efforts of laws that are asked one after the other. */
static void uk_loop_control(const uk_lanes_memory *m, uk_lanes_memory *law, uk_loop_group *g, int groups,
                            const uk_loop_batch *c, const long long *first, double t, uk_mask *failed) {
  (void)law;
  UK_EACH(k, groups) UK_EACH(l, g[k].lanes) {
    double q[UK_NV], v[UK_NV], flags[1 + UK_FLAGS_OF(c)];
    memset(flags, 0, sizeof flags);
    UK_EACH(i, UK_NV) q[i] = UK_PART(m[k].q[i], l), v[i] = UK_PART(m[k].v[i], l);
    if (UK_PART(failed[k], l)) continue;
    if (uk_ask_alone(g[k].law.efforts, c, first[k] + l, l, t, q, v, flags))
      uk_note_flags(c, first[k] + l, t, flags);
    else
      failed[k] |= uk_lane(l);
  }
}
#endif

/* Efforts act that the laws have given: within what motors can, at once or after the delay. */
static void uk_loop_drive(uk_loop_group *g, const uk_loop_batch *c, long long first, double t, const uk_queue *late,
                          uk_mask *failed) {
  uk_lanes *held = c->delay > 0.0 ? uk_append(late, t + c->delay) : g->held;
  for (int l = g->lanes; l < UK_WIDTH; ++l) /* what stands there for want of motions */
    UK_EACH(j, UK_NU) UK_PART(g->law.efforts[j], l) = UK_PART(g->law.efforts[j], g->lanes - 1);
  memcpy(held, g->law.efforts, sizeof(uk_lanes) * UK_NU);
  *failed |= uk_limit_to_motors(held);
  UK_EACH(j, UK_NU) {
    const uk_mask limited = uk_at_effort_limit(j, held[j]);
    if (uk_any(limited)) UK_EACH(l, g->lanes) {
      double *seen = c->seen + (first + l) * (UK_NU + c->flags) + j;
      if (UK_PART(limited, l) && t < *seen) *seen = t;
    }
  }
}

/* Two groups, too, where code is long and the memory of one is near. */
enum { UK_GROUPS = UK_GROUPS_WITHIN(UK_LONG ? UK_NEAR_CACHE : UK_NEAR_CACHE / 2) };

typedef struct {
  uk_moving_groups moving; /* the first field */
  uk_lanes_memory *m, *law; /* the law is at other states: a step begins with what the projection
                             * before it knows */
  uk_lanes_kept kept[UK_GROUPS];
  uk_loop_group group[UK_GROUPS];
  uk_queue late[UK_GROUPS];
  long long waiting[UK_GROUPS]; /* efforts there */
  const uk_loop_batch *c;
  long long sampled; /* samples of each */
} uk_loops;

static void uk_loop_stage(uk_lanes_motion *motion, int stage, double part) {
  uk_loops *s = (uk_loops *)motion;
  UK_EACH(g, motion->groups) {
    uk_lanes_memory *m = s->m + g;
    m->t = uk_all(stage == 4 ? motion->end : motion->begin + part);
#if UK_FOLLOWS
    motion->failed[g] |= uk_follow_lanes(s->group[g].structure, s->group[g].structure_alike, m->t, UK_M, m->followed);
#endif
  }
  if (stage < 4) uk_lanes_accelerate(motion);
}

/* Take over motions into a group; and back. */
static void uk_loop_begin(uk_loops *s, int at) {
  const uk_loop_batch *c = s->c;
  uk_lanes_memory *m = s->m + at;
  uk_loop_group *g = s->group + at;
  const long long first = s->moving.first[at];
  const int lanes = g->lanes = s->moving.lanes[at];
  s->waiting[at] = 0;
  UK_EACH(l, UK_WIDTH) g->structure[l] = c->structures[first + (l < lanes ? l : lanes - 1)];
  g->structure_alike = uk_alike(g->structure);
#if UK_LAW_IN_LANES
  uk_take_over(g, c, first);
  uk_load_parameters(s->law + at, c->p, c->p_stride, first, lanes);
#endif
  uk_load_lanes(g->tau, c->tau + first * UK_NV, UK_NV, lanes);
  uk_load_lanes(g->held, c->efforts + first * UK_NU, UK_NU, lanes);
  m->stabilize = 0.0;
  m->forces = 0;
}

static void uk_loop_end(const uk_loops *s, int at, long long steps) {
  const uk_loop_group *g = s->group + at;
  const uk_loop_batch *c = s->c;
  const long long first = s->moving.first[at];
  uk_store(c->q, s->m[at].q, UK_NQ, first, g->lanes);
  uk_store(c->v, s->m[at].v, UK_NV, first, g->lanes);
  uk_store(c->efforts, g->held, UK_NU, first, g->lanes);
  UK_EACH(l, g->lanes) {
#if UK_LAW_IN_LANES
    uk_lane_to_memory(g, l);
#endif
    c->stopped[first + l] = UK_PART(s->moving.failed[at], l) != 0;
    c->steps[first + l] += steps;
  }
}

/* Laws act, and states are kept. */
static int uk_loop_instant(uk_lanes_motion *w, long long at) {
  uk_loops *s = (uk_loops *)w;
  const uk_loop_batch *c = s->c;
  const int acts = c->control[at] != 0.0, kept = c->sample[at] != 0.0;
  w->begin = c->when[at];
  if (acts) uk_loop_control(s->m, s->law, s->group, w->groups, c, s->moving.first, w->begin, w->failed);
  UK_EACH(k, w->groups) {
    uk_loop_group *g = s->group + k;
    const long long first = s->moving.first[k];
    if (acts) uk_loop_drive(g, c, first, w->begin, s->late + k, w->failed + k);
    uk_take_effect(s->late + k, w->begin + c->same, g->held);
    if (kept) uk_keep_sample(&s->moving, k, c->samples, s->sampled, c->q_out, c->v_out);
    UK_EACH(l, kept ? g->lanes : 0) UK_EACH(j, UK_NU)
      c->efforts_out[((first + l) * c->samples + s->sampled) * UK_NU + j] = UK_PART(g->held[j], l);
    uk_add_motors(g->tau, g->held, s->m[k].tau);
  }
  s->sampled += kept;
  if (at + 1 >= c->stops || !uk_lanes_going(w)) return 0;
  w->end = c->when[at + 1];
  return 1;
}

/* What all motions have in common. */
static void uk_loops_begin(uk_loops *s, const uk_loop_batch *c, uk_lanes_memory *m, int memories) {
  const uk_lanes_motion motion = {0, c->euler, 1, 0, m, s->kept, NULL, NULL,
                                  uk_loop_stage, NULL, {uk_all(0.0)}, 0.0, 0.0};
  s->moving.motion = motion, s->c = c, s->m = m, s->law = m + UK_GROUPS;
  memset(m, 0, memories * sizeof *m); /* zeros of A are never written */
  UK_EACH(g, memories) UK_EACH(r, UK_ROWS) m[g].active[r] = uk_all(c->active[r]);
  UK_EACH(g, UK_GROUPS) s->late[g].count = s->waiting + g;
}

/* As many motions as there are groups for, from the first on; how many. */
static long long uk_loops_move(uk_loops *s, long long first) {
  const uk_loop_batch *c = s->c;
  const long long taken =
      uk_take_motions(&s->moving, UK_GROUPS, first, c->count, c->q, c->v, c->p, c->p_stride);
  s->sampled = 0;
  UK_EACH(g, s->moving.motion.groups) uk_loop_begin(s, g);
  const long long steps = uk_lanes_go(&s->moving.motion, c->step, uk_loop_instant);
  UK_EACH(g, s->moving.motion.groups) uk_loop_end(s, g, steps);
  return taken;
}

#ifndef UK_STATE_A_THREAD
/* All motions; 0, or 1: there is no memory. */
UK_EXPORT int uk_move_loops(const uk_loop_batch *c) {
  uk_loops loops;
  const size_t efforts = sizeof(uk_lanes) * UK_QUEUED * (size_t)c->places;
  uk_lanes_memory *m = aligned_alloc(64, (2 * UK_GROUPS * sizeof *m + 63) / 64 * 64);
  int ready = m != NULL;
  UK_EACH(g, UK_GROUPS) {
    loops.late[g].rows = aligned_alloc(64, (efforts + 63) / 64 * 64);
    ready &= loops.late[g].rows != NULL;
  }
  if (ready) {
    uk_loops_begin(&loops, c, m, 2 * UK_GROUPS);
    for (long long first = 0; first < c->count;) first += uk_loops_move(&loops, first);
  }
  UK_EACH(g, UK_GROUPS) free(loops.late[g].rows);
  free(m);
  return !ready;
}
#endif
