/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The steps of closed loops in lanes, and what surrounds their laws; see closed_loops.h. */
#pragma once

#include "batch.c"
#include "fixed_step.c"
#include "loop_group.c"
#include "motor_efforts.c"
#include "uk_law.h"

#if !UK_LAW_IN_LANES
/* Efforts of laws that are asked one after the other. */
static void uk_loop_control(const uk_lanes_memory *m, uk_lanes_memory *law, uk_loop_group *g, int groups,
                            uk_loop_batch *c, const long long *first, double t, uk_mask *failed) {
  (void)law;
  UK_EACH(k, groups) UK_EACH(l, g[k].lanes) {
    double q[UK_NV], v[UK_NV], flags[1 + c->flags];
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
static void uk_loop_drive(uk_loop_group *g, uk_loop_batch *c, long long first, double t, const uk_queue *late,
                          uk_mask *failed) {
  uk_mask limited;
  uk_lanes *held = c->delay > 0.0 ? uk_append(late, t + c->delay) : g->held;
  for (int l = g->lanes; l < UK_WIDTH; ++l) /* what stands there for want of motions */
    UK_EACH(j, UK_NU) UK_PART(g->law.efforts[j], l) = UK_PART(g->law.efforts[j], g->lanes - 1);
  memcpy(held, g->law.efforts, sizeof(uk_lanes) * UK_NU);
  *failed |= uk_limit_to_motors(held, &limited);
  if (uk_any(limited)) UK_EACH(l, g->lanes) {
    double *seen = c->seen + (first + l) * (UK_NU + c->flags);
    UK_EACH(j, UK_NU)
      if (fabs(UK_PART(held[j], l)) >= uk_effort_limit[j] && t < seen[j]) seen[j] = t;
  }
}

/* Groups that move together, function by function: two where the memory of both is near, or where
 * code is long and that of one is. */
enum {
  UK_TOUCHED = sizeof(uk_lanes_memory) + sizeof(uk_lanes_kept),
  UK_GROUPS = UK_TOUCHED <= (UK_LONG ? UK_NEAR_CACHE : UK_NEAR_CACHE / 2) ? UK_MOST_GROUPS : 1
};

typedef struct {
  uk_lanes_motion motion; /* the first field; it has the groups */
  uk_lanes_memory *m, *law; /* the law is at other states: a step begins with what the projection
                             * before it knows */
  uk_lanes_kept kept[UK_GROUPS];
  uk_loop_group group[UK_GROUPS];
  uk_queue late[UK_GROUPS];
  long long waiting[UK_GROUPS]; /* efforts there */
  uk_mask failed[UK_GROUPS];
  long long first[UK_GROUPS]; /* motions */
} uk_loops;

static void uk_loop_stage(uk_lanes_motion *motion, int stage, double part) {
  uk_loops *s = (uk_loops *)motion;
  UK_EACH(g, s->motion.groups) {
    uk_lanes_memory *m = s->m + g;
    m->t = uk_all(stage == 4 ? motion->end : motion->begin + part);
#if UK_FOLLOWS
    s->failed[g] |= uk_follow_lanes(s->group[g].structure, s->group[g].structure_alike, m->t, UK_M, m->followed);
#endif
  }
  if (stage < 4) uk_lanes_accelerate(motion);
}

static void uk_loop_keep(const uk_loop_batch *c, const uk_lanes_memory *m, const uk_loop_group *g,
                          long long first, long long sample) {
  UK_EACH(l, g->lanes) {
    const long long at = (first + l) * c->samples + sample;
    UK_EACH(i, UK_NV) c->q_out[at * UK_NV + i] = UK_PART(m->q[i], l), c->v_out[at * UK_NV + i] = UK_PART(m->v[i], l);
    UK_EACH(j, UK_NU) c->efforts_out[at * UK_NU + j] = UK_PART(g->held[j], l);
  }
}

/* Take over motions into a group; and back. */
static void uk_loop_begin(uk_loops *s, uk_loop_batch *c, int at, long long first) {
  uk_lanes_memory *m = s->m + at;
  uk_loop_group *g = s->group + at;
  const long long left = c->count - first;
  const int lanes = g->lanes = left < UK_WIDTH ? (int)left : UK_WIDTH;
  s->first[at] = first;
  s->kept[at].known = 0;
  s->failed[at] = uk_none(), s->motion.rank[at] = uk_all(0.0);
  s->waiting[at] = 0;
  UK_EACH(l, UK_WIDTH) g->structure[l] = c->structures[first + (l < lanes ? l : lanes - 1)];
  g->structure_alike = uk_alike(g->structure);
#if UK_LAW_IN_LANES
  uk_take_over(g, c, first);
#endif
  uk_load_parameters(m, c->p, c->p_stride, first, lanes);
  uk_load_parameters(s->law + at, c->p, c->p_stride, first, lanes);
  uk_load_lanes(m->q, c->q + first * UK_NV, UK_NV, lanes);
  uk_load_lanes(m->v, c->v + first * UK_NV, UK_NV, lanes);
  uk_load_lanes(g->tau, c->tau + first * UK_NV, UK_NV, lanes);
  uk_load_lanes(g->held, c->efforts + first * UK_NU, UK_NU, lanes);
  m->stabilize = 0.0;
  m->forces = 0;
}

static void uk_loop_end(const uk_loops *s, uk_loop_batch *c, int at) {
  const uk_loop_group *g = s->group + at;
  UK_EACH(l, g->lanes) {
    const long long motion = s->first[at] + l;
    UK_EACH(i, UK_NV) c->q[motion * UK_NV + i] = UK_PART(s->m[at].q[i], l);
    UK_EACH(i, UK_NV) c->v[motion * UK_NV + i] = UK_PART(s->m[at].v[i], l);
    UK_EACH(j, UK_NU) c->efforts[motion * UK_NU + j] = UK_PART(g->held[j], l);
#if UK_LAW_IN_LANES
    uk_lane_to_memory(g, l);
#endif
    c->stopped[motion] = UK_PART(s->failed[at], l) != 0;
  }
}

/* Groups of motions from the first instant to the last. */
static void uk_loop_move(uk_loops *s, uk_loop_batch *c) {
  long long sampled = 0;
  for (long long at = 0;; ++at) {
    const double begin = c->when[at];
    int going = 0;
    if (c->control[at] != 0.0)
      uk_loop_control(s->m, s->law, s->group, s->motion.groups, c, s->first, begin, s->failed);
    UK_EACH(k, s->motion.groups) {
      uk_loop_group *g = s->group + k;
      if (c->control[at] != 0.0) uk_loop_drive(g, c, s->first[k], begin, s->late + k, s->failed + k);
      uk_take_effect(s->late + k, begin + c->same, g->held);
      if (c->sample[at] != 0.0) uk_loop_keep(c, s->m + k, g, s->first[k], sampled);
      uk_add_motors(g->tau, g->held, s->m[k].tau);
      going |= uk_any(uk_not(s->failed[k]));
    }
    if (c->sample[at] != 0.0) ++sampled;
    if (at + 1 >= c->stops || !going) break;
    const long long count = uk_lanes_move(&s->motion, begin, c->when[at + 1], c->step);
    UK_EACH(k, s->motion.groups) c->steps += count * s->group[k].lanes;
  }
}

/* All motions; 0, or 1: there is no memory. */
UK_EXPORT int uk_move_loops(uk_loop_batch *c) {
  uk_loops loops;
  const size_t places = (size_t)c->places, efforts = sizeof(uk_lanes) * UK_QUEUED * places;
  loops.m = aligned_alloc(64, (2 * UK_GROUPS * sizeof *loops.m + 63) / 64 * 64);
  loops.law = loops.m + UK_GROUPS;
  int ready = loops.m != NULL;
  UK_EACH(g, UK_GROUPS) {
    loops.late[g].rows = aligned_alloc(64, (efforts + 63) / 64 * 64);
    loops.late[g].count = loops.waiting + g;
    ready &= loops.late[g].rows != NULL;
  }
  if (ready) {
    const uk_lanes_motion motion = {0, c->euler, 1, 0, loops.m, loops.kept, loops.failed, NULL,
                                    uk_loop_stage, NULL, {uk_all(0.0)}, 0.0, 0.0};
    loops.motion = motion;
    memset(loops.m, 0, 2 * UK_GROUPS * sizeof *loops.m); /* zeros of A are never written */
    UK_EACH(g, 2 * UK_GROUPS) UK_EACH(r, UK_ROWS) loops.m[g].active[r] = uk_all(c->active[r]);
    for (long long first = 0; first < c->count; first += UK_GROUPS * UK_WIDTH) {
      const long long groups = (c->count - first + UK_WIDTH - 1) / UK_WIDTH;
      loops.motion.groups = groups < UK_GROUPS ? (int)groups : UK_GROUPS;
      UK_EACH(g, loops.motion.groups) uk_loop_begin(&loops, c, g, first + g * UK_WIDTH);
      uk_loop_move(&loops, c);
      UK_EACH(g, loops.motion.groups) uk_loop_end(&loops, c, g);
    }
  }
  UK_EACH(g, UK_GROUPS) free(loops.late[g].rows);
  free(loops.m);
  return !ready;
}
