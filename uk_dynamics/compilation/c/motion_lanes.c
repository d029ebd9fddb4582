/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Steps of groups of states, each with a memory of its own, that end on the constraints. */
#pragma once

#include "projection_lanes.c"
#include "uk_jumps.h"

#define UK_NEAR_CACHE 49152 /* bytes */

/* What moves, and what its rows follow: at the stages of a step, 0 to 3, and at its end, 4. */
typedef struct uk_lanes_motion uk_lanes_motion;
struct uk_lanes_motion {
  int groups;
  long long euler, project, sampled; /* 0: Runge-Kutta; 1: steps end on the constraints; rows follow
                                      * samples, which go in steps by nature */
  uk_lanes_memory *m;
  uk_lanes_kept *kept;
  uk_mask *failed;  /* by group: what has no motion any more, and stays where it was */
  uk_lanes *reason; /* by group: why, as `failed` of an evaluation, or UK_OPEN_LOOPS; or null */
  void (*follow)(uk_lanes_motion *, int stage, double part); /* part: of the step */
  uk_lanes rank[UK_MOST_GROUPS]; /* of the last evaluation, 0: unknown; where it changes, motions without
                                  * a reason end: uk_answer_along moves them on, alone */
};

#if UK_WIDTH == 2 /* GCC 12 fails on these masks in their place where there is no SSE4 */
UK_APART
#endif
static void uk_lanes_end(const uk_lanes_motion *s, int g, uk_mask now, uk_lanes why) {
  if (s->reason) s->reason[g] = uk_pick(now & uk_not(s->failed[g]), why, s->reason[g]);
  s->failed[g] |= now;
}

/* Where a step from q, v to its end jumped onto the constraints, as uk_end_step has it. */
static uk_mask uk_lanes_jumped(const uk_lanes_memory *m, int sampled, const uk_lanes *q,
                               const uk_lanes *v, const uk_lanes *end_q, const uk_lanes *end_v,
                               double h) {
  const double little = h * UK_SUDDEN + UK_CORRECTION_ROUNDING; /* no limit is below */
  uk_lanes jump = uk_all(0.0), kick = jump;
  UK_EACH(i, UK_NV) {
    jump = uk_lanes_larger(jump, uk_lanes_fabs(m->q[i] - end_q[i]));
    kick = uk_lanes_larger(kick, uk_lanes_fabs(m->v[i] - end_v[i]));
  }
  if (little <= UK_LARGEST_CORRECTION && !uk_any((jump > little) | (kick > UK_SUDDEN)))
    return uk_none();
  uk_lanes way = uk_all(0.0), speed = way, change = way;
  UK_EACH(i, UK_NV) {
    speed = uk_lanes_larger(speed, uk_lanes_fabs(v[i]));
    way = uk_lanes_larger(way, uk_lanes_fabs(end_q[i] - q[i]));
    change = uk_lanes_larger(change, uk_lanes_fabs(end_v[i] - v[i]));
  }
  if (sampled) return jump > UK_LARGEST_CORRECTION;
  speed += UK_SUDDEN;
  way += h * speed + UK_CORRECTION_ROUNDING;
  return (jump > way) | (jump > UK_LARGEST_CORRECTION) | (kick > change + speed);
}

UK_EVALUATION void uk_lanes_stage(uk_lanes_motion *s, int stage, double part) {
  s->follow(s, stage, part);
  uk_lanes_evaluate(s->m, s->kept, s->groups);
  UK_EACH(g, s->groups) {
    const uk_lanes rank = s->m[g].rank, before = s->rank[g];
    if (!s->reason) s->failed[g] |= (before > uk_all(0.0)) & (rank != before);
    s->rank[g] = rank;
    uk_lanes_end(s, g, s->m[g].failed > uk_all(0.0), s->m[g].failed);
  }
}

/* The states in the memories on the constraints. */
static void uk_lanes_settle(uk_lanes_motion *s) {
  uk_lanes why[UK_MOST_GROUPS];
  uk_lanes_project(s->m, s->kept, s->groups, why);
  UK_EACH(g, s->groups) uk_lanes_end(s, g, why[g] > uk_all(0.0), why[g]);
}

/* One step of size h, with the projection that ends it; where it fails, states stay. */
UK_EVALUATION void uk_lanes_step(uk_lanes_motion *s, double h) {
  static const double offset[] = {0.0, 0.5, 0.5, 1.0}, weight[] = {1.0, 2.0, 2.0, 1.0};
  uk_lanes q[UK_MOST_GROUPS][UK_NV], v[UK_MOST_GROUPS][UK_NV];
  uk_lanes dq[UK_MOST_GROUPS][UK_NV], dv[UK_MOST_GROUPS][UK_NV];
  UK_EACH(g, s->groups) memcpy(q[g], s->m[g].q, sizeof q[g]), memcpy(v[g], s->m[g].v, sizeof v[g]);
  memset(dq, 0, sizeof dq), memset(dv, 0, sizeof dv);
  UK_EACH(k, s->euler ? 1 : 4) {
    const double part = h * offset[k];
    if (k > 0) UK_EACH(g, s->groups) {
      uk_lanes_memory *m = s->m + g;
      UK_EACH(i, UK_NV) m->q[i] = q[g][i] + part * m->v[i];
      UK_EACH(i, UK_NV) m->v[i] = v[g][i] + part * m->qdd[i];
    }
    uk_lanes_stage(s, k, part);
    UK_EACH(g, s->groups) {
      const uk_lanes_memory *m = s->m + g;
      UK_EACH(i, UK_NV) dq[g][i] += weight[k] * m->v[i], dv[g][i] += weight[k] * m->qdd[i];
    }
  }
  const double part = s->euler ? h : h / 6.0;
  UK_EACH(g, s->groups) { /* Euler's positions go with the velocities at the end */
    UK_EACH(i, UK_NV) s->m[g].v[i] = v[g][i] + part * dv[g][i];
    UK_EACH(i, UK_NV) s->m[g].q[i] = q[g][i] + part * (s->euler ? s->m[g].v[i] : dq[g][i]);
  }
  s->follow(s, 4, h);
  if (s->project) {
    UK_EACH(g, s->groups) { /* from here on where the step ends, and how fast */
      memcpy(dq[g], s->m[g].q, sizeof dq[g]), memcpy(dv[g], s->m[g].v, sizeof dv[g]);
    }
    uk_lanes_settle(s);
    UK_EACH(g, s->groups) {
      const uk_mask jumped = uk_lanes_jumped(s->m + g, s->sampled != 0, q[g], v[g], dq[g], dv[g], h);
      uk_lanes_end(s, g, jumped, uk_all(UK_JUMPED));
    }
  }
  UK_EACH(g, s->groups) {
    if (uk_any(s->failed[g])) UK_EACH(i, UK_NV) {
      s->m[g].q[i] = uk_pick(s->failed[g], q[g][i], s->m[g].q[i]);
      s->m[g].v[i] = uk_pick(s->failed[g], v[g][i], s->m[g].v[i]);
    }
  }
}
