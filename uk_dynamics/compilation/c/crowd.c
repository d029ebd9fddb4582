/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The steps of closed loops in lanes, and what surrounds their laws; see crowd.h. */
#pragma once

#include "crowd_group.c"
#include "rollout.c"
#include "uk_jumps.h"
#include "uk_law.h"
#include "uk_motors.h"

#if !UK_LAW_IN_LANES
/* Efforts of laws that are asked one after the other. */
static void uk_lanes_control(const uk_lanes_memory *m, uk_lanes_memory *law, uk_group *g, int groups,
                             uk_crowd *c, const long long *first, double t, uk_mask *failed) {
  (void)law;
  UK_EACH(k, groups) UK_EACH(l, g[k].lanes) {
    double q[UK_NV], v[UK_NV], flags[1 + c->flags];
    memset(flags, 0, sizeof flags);
    UK_EACH(i, UK_NV) q[i] = UK_PART(m[k].q[i], l), v[i] = UK_PART(m[k].v[i], l);
    if (UK_PART(failed[k], l)) continue;
    if (uk_crowd_ask(g + k, c, first[k], l, t, q, v, flags)) uk_crowd_note(c, first[k] + l, t, flags);
    else failed[k] |= uk_lane(l);
  }
}
#endif

/* Efforts act that the laws have given: within what motors can, at once or after the delay. */
static void uk_crowd_drive(uk_group *g, uk_crowd *c, long long first, double t, uk_queue *late,
                           uk_mask *failed) {
  uk_mask raised = uk_none();
  uk_lanes *held = g->held;
  if (c->delay > 0.0) {
    late->when[late->count] = t + c->delay;
    held = late->efforts + late->count++ * UK_NU;
  }
  for (int l = g->lanes; l < UK_WIDTH; ++l) /* what stands there for want of motions */
    UK_EACH(j, UK_NU) UK_PART(g->efforts[j], l) = UK_PART(g->efforts[j], g->lanes - 1);
  UK_EACH(j, UK_NU) {
    const uk_lanes most = uk_all(uk_effort_limit[j]), effort = g->efforts[j];
    *failed |= uk_not(uk_finite(effort));
    held[j] = uk_pick(effort > most, most, uk_pick(effort < -most, -most, effort));
    raised |= uk_lanes_fabs(held[j]) >= most;
  }
  if (uk_any(raised)) UK_EACH(l, g->lanes) {
    double *seen = c->seen + (first + l) * (UK_NU + c->flags);
    UK_EACH(j, UK_NU)
      if (fabs(UK_PART(held[j], l)) >= uk_effort_limit[j] && t < seen[j]) seen[j] = t;
  }
}

/* Efforts act whose time has come. */
static void uk_crowd_take_effect(uk_group *g, const uk_crowd *c, double t, uk_queue *late) {
  int come = 0;
  while (come < late->count && late->when[come] <= t + c->same) ++come;
  if (!come) return;
  memcpy(g->held, late->efforts + (come - 1) * UK_NU, sizeof(uk_lanes) * UK_NU);
  late->count -= come;
  memmove(late->when, late->when + come, sizeof(double) * late->count);
  memmove(late->efforts, late->efforts + come * UK_NU, sizeof(uk_lanes) * UK_NU * late->count);
}

/* Forces of the motors and others on the joints. */
static void uk_lanes_apply(uk_lanes_memory *m, const uk_group *g) {
  memcpy(m->tau, g->tau, sizeof m->tau);
  UK_EACH(e, UK_DRIVES) m->tau[uk_drive_joint[e]] += uk_drive_ratio[e] * g->held[uk_drive_motor[e]];
}

/* Where a step from q, v to its end jumped onto the constraints, as uk_end_step has it. */
static uk_mask uk_crowd_jumped(const uk_lanes_memory *m, const uk_lanes *q, const uk_lanes *v,
                               const uk_lanes *end_q, const uk_lanes *end_v, double h) {
  uk_lanes way = uk_all(0.0), speed = way, jump = way, kick = way, change = way, total = way;
  UK_EACH(i, UK_NV) {
    speed = uk_lanes_larger(speed, uk_lanes_fabs(v[i]));
    way = uk_lanes_larger(way, uk_lanes_fabs(end_q[i] - q[i]));
    change = uk_lanes_larger(change, uk_lanes_fabs(end_v[i] - v[i]));
    jump = uk_lanes_larger(jump, uk_lanes_fabs(m->q[i] - end_q[i]));
    kick = uk_lanes_larger(kick, uk_lanes_fabs(m->v[i] - end_v[i]));
    total += m->q[i] + m->v[i];
  }
  speed += UK_SUDDEN;
  way += h * speed;
  return (jump > way) | (jump > UK_LARGEST_CORRECTION) | (kick > change + speed) | uk_not(uk_finite(total));
}

/* Groups that move together, function by function: two where the memory of both is near, or where
 * code is long and that of one is. */
#define UK_NEAR_CACHE 49152 /* bytes */
enum {
  UK_TOUCHED = sizeof(uk_lanes_memory) + sizeof(uk_lanes_kept),
  UK_GROUPS = UK_TOUCHED <= (UK_LONG ? UK_NEAR_CACHE : UK_NEAR_CACHE / 2) ? 2 : 1
};

typedef struct {
  int groups;
  uk_lanes_memory *m, *law; /* the law is at other states: a step begins with what the projection
                             * before it knows */
  uk_lanes_kept kept[UK_GROUPS];
  uk_group group[UK_GROUPS];
  uk_queue late[UK_GROUPS];
  uk_mask failed[UK_GROUPS];
  long long first[UK_GROUPS]; /* motions */
} uk_side;

static void uk_crowd_stage(uk_side *s, double t) {
  UK_EACH(g, s->groups) {
    s->m[g].t = uk_all(t);
    uk_lanes_structure(s->m + g, s->group + g, s->failed + g);
  }
  uk_lanes_evaluate(s->m, s->kept, s->groups);
  UK_EACH(g, s->groups) s->failed[g] |= s->m[g].failed > uk_all(0.0);
}

/* One step of size h from t, with the projection that ends it; where it fails, states stay. */
static void uk_crowd_step(uk_side *s, int euler, double t, double h, double end) {
  static const double offset[] = {0.0, 0.5, 0.5, 1.0}, weight[] = {1.0, 2.0, 2.0, 1.0};
  uk_lanes q[UK_GROUPS][UK_NV], v[UK_GROUPS][UK_NV], dq[UK_GROUPS][UK_NV], dv[UK_GROUPS][UK_NV];
  uk_mask open[UK_GROUPS];
  UK_EACH(g, s->groups) memcpy(q[g], s->m[g].q, sizeof q[g]), memcpy(v[g], s->m[g].v, sizeof v[g]);
  if (euler) {
    uk_crowd_stage(s, t);
    UK_EACH(g, s->groups) {
      uk_lanes_memory *m = s->m + g;
      UK_EACH(i, UK_NV) m->v[i] += h * m->qdd[i], m->q[i] += h * m->v[i];
    }
  } else {
    memset(dq, 0, sizeof dq), memset(dv, 0, sizeof dv);
    UK_EACH(k, 4) {
      const double part = h * offset[k];
      if (k > 0) UK_EACH(g, s->groups) {
        uk_lanes_memory *m = s->m + g;
        UK_EACH(i, UK_NV) m->q[i] = q[g][i] + part * m->v[i];
        UK_EACH(i, UK_NV) m->v[i] = v[g][i] + part * m->qdd[i];
      }
      uk_crowd_stage(s, t + part);
      UK_EACH(g, s->groups) {
        const uk_lanes_memory *m = s->m + g;
        UK_EACH(i, UK_NV) dq[g][i] += weight[k] * m->v[i], dv[g][i] += weight[k] * m->qdd[i];
      }
    }
    UK_EACH(g, s->groups) {
      UK_EACH(i, UK_NV) s->m[g].q[i] = q[g][i] + (h / 6.0) * dq[g][i];
      UK_EACH(i, UK_NV) s->m[g].v[i] = v[g][i] + (h / 6.0) * dv[g][i];
    }
  }
  UK_EACH(g, s->groups) { /* from here on where the step ends, and how fast */
    uk_lanes_memory *m = s->m + g;
    memcpy(dq[g], m->q, sizeof dq[g]), memcpy(dv[g], m->v, sizeof dv[g]);
    m->t = uk_all(end);
    uk_lanes_structure(m, s->group + g, s->failed + g);
  }
  uk_lanes_project(s->m, s->kept, s->groups, open);
  UK_EACH(g, s->groups) {
    s->failed[g] |= open[g] | uk_crowd_jumped(s->m + g, q[g], v[g], dq[g], dv[g], h);
    if (uk_any(s->failed[g])) UK_EACH(i, UK_NV) {
      s->m[g].q[i] = uk_pick(s->failed[g], q[g][i], s->m[g].q[i]);
      s->m[g].v[i] = uk_pick(s->failed[g], v[g][i], s->m[g].v[i]);
    }
  }
}

static void uk_crowd_keep(const uk_crowd *c, const uk_lanes_memory *m, const uk_group *g,
                          long long first, long long sample) {
  UK_EACH(l, g->lanes) {
    const long long at = (first + l) * c->samples + sample;
    UK_EACH(i, UK_NV) c->q_out[at * UK_NV + i] = UK_PART(m->q[i], l), c->v_out[at * UK_NV + i] = UK_PART(m->v[i], l);
    UK_EACH(j, UK_NU) c->efforts_out[at * UK_NU + j] = UK_PART(g->held[j], l);
  }
}

/* Take over motions into a group; and back. */
static void uk_crowd_begin(uk_side *s, uk_crowd *c, int at, long long first) {
  uk_lanes_memory *m = s->m + at;
  uk_group *g = s->group + at;
  const long long left = c->count - first;
  const int lanes = g->lanes = left < UK_WIDTH ? (int)left : UK_WIDTH;
  s->first[at] = first;
  s->kept[at].known = 0;
  s->failed[at] = uk_none();
  s->late[at].count = 0;
  UK_EACH(l, UK_WIDTH) g->structure[l] = c->structures[first + (l < lanes ? l : lanes - 1)];
  g->structure_alike = uk_alike(g->structure);
#if UK_LAW_IN_LANES
  uk_lanes_take_over(g, c, first);
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

static void uk_crowd_end(const uk_side *s, uk_crowd *c, int at) {
  const uk_group *g = s->group + at;
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
static void uk_crowd_move(uk_side *s, uk_crowd *c) {
  long long sampled = 0;
  for (long long at = 0;; ++at) {
    const double begin = c->when[at];
    int going = 0;
    if (c->control[at] != 0.0)
      uk_lanes_control(s->m, s->law, s->group, s->groups, c, s->first, begin, s->failed);
    UK_EACH(k, s->groups) {
      uk_group *g = s->group + k;
      if (c->control[at] != 0.0) uk_crowd_drive(g, c, s->first[k], begin, s->late + k, s->failed + k);
      uk_crowd_take_effect(g, c, begin, s->late + k);
      if (c->sample[at] != 0.0) uk_crowd_keep(c, s->m + k, g, s->first[k], sampled);
      uk_lanes_apply(s->m + k, g);
      going |= uk_any(uk_not(s->failed[k]));
    }
    if (c->sample[at] != 0.0) ++sampled;
    if (at + 1 >= c->stops || !going) break;
    const double end = c->when[at + 1], parts = ceil((end - begin) / c->step - UK_PART_OF_A_STEP);
    const long long count = parts > 1.0 ? (long long)parts : 1;
    const double h = (end - begin) / count;
    for (long long k = 0; k < count; ++k)
      uk_crowd_step(s, c->euler, begin + k * h, h, k + 1 == count ? end : begin + (k + 1) * h);
    UK_EACH(k, s->groups) c->steps += count * s->group[k].lanes;
  }
}

/* All motions; 0, or 1: there is no memory. */
UK_EXPORT int uk_move_crowd(uk_crowd *c) {
  uk_side side;
  const size_t places = (size_t)c->places, efforts = sizeof(uk_lanes) * UK_NU * places;
  side.m = aligned_alloc(64, (2 * UK_GROUPS * sizeof *side.m + 63) / 64 * 64);
  side.law = side.m + UK_GROUPS;
  int ready = side.m != NULL;
  UK_EACH(g, UK_GROUPS) {
    side.late[g].when = malloc(places * sizeof(double));
    side.late[g].efforts = aligned_alloc(64, (efforts + 127) / 64 * 64);
    ready &= side.late[g].when != NULL && side.late[g].efforts != NULL;
  }
  if (ready) {
    memset(side.m, 0, 2 * UK_GROUPS * sizeof *side.m); /* zeros of A are never written */
    UK_EACH(g, 2 * UK_GROUPS) UK_EACH(r, UK_ROWS) side.m[g].active[r] = uk_all(c->active[r]);
    for (long long first = 0; first < c->count; first += UK_GROUPS * UK_WIDTH) {
      const long long groups = (c->count - first + UK_WIDTH - 1) / UK_WIDTH;
      side.groups = groups < UK_GROUPS ? (int)groups : UK_GROUPS;
      UK_EACH(g, side.groups) uk_crowd_begin(&side, c, g, first + g * UK_WIDTH);
      uk_crowd_move(&side, c);
      UK_EACH(g, side.groups) uk_crowd_end(&side, c, g);
    }
  }
  UK_EACH(g, UK_GROUPS) free(side.late[g].when), free(side.late[g].efforts);
  free(side.m);
  return !ready;
}
