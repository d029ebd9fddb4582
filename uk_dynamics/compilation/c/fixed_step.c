/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Steps of groups of states, each with a memory of its own, that end on the constraints. A lane is a state:
 * batches and closed loops take these steps, single motions and predictions, too. */
#pragma once

#include "configuration.c"
#include "uk_closing.h"
#include "uk_jumps.h"

#define UK_NEAR_CACHE 49152 /* bytes */

/* What moves, and what finds its accelerations: at the stages of a step, 0 to 3; at its end, 4, what rows
 * follow there. */
typedef struct uk_lanes_motion uk_lanes_motion;
struct uk_lanes_motion {
  int groups;
  long long euler, project, sampled; /* 0: Runge-Kutta; 1: steps end on the constraints; rows follow
                                      * samples, which go in steps by nature */
  uk_lanes_memory *m;
  uk_lanes_kept *kept;
  uk_mask *failed;  /* by group: what has no motion any more, and stays where it was */
  uk_lanes *reason; /* by group: why, as `failed` of an evaluation, or UK_OPEN_LOOPS; or null */
  void (*stage)(uk_lanes_motion *, int stage, double part); /* part: of the step */
  void (*advance)(uk_lanes_motion *, double h); /* by another method; null: by these */
  uk_lanes rank[UK_MOST_GROUPS]; /* of the last evaluation, 0: unknown; where it changes, motions without
                                  * a reason end: uk_answer_along moves them on, alone */
  double begin, end; /* of a step, for stages that want to know; for instants, of the way between two */
};

#ifdef UK_STAGE /* the only one of a program, by its name: a GPU has to know how deep calls go */
static void UK_STAGE(uk_lanes_motion *s, int stage, double part);
#define UK_ADVANCES(s) 0
#else
#define UK_STAGE(s, number, part) (s)->stage(s, number, part)
#define UK_ADVANCES(s) ((s)->advance != NULL)
#endif

#if UK_WIDTH == 2 /* GCC 12 fails on these masks in their place where there is no SSE4 */
UK_APART
#endif
static UK_OPTIONAL void uk_lanes_end(const uk_lanes_motion *s, int g, uk_mask now, uk_lanes why) {
  if (s->reason) s->reason[g] = uk_pick(now & uk_not(s->failed[g]), why, s->reason[g]);
  s->failed[g] |= now;
}

/* Where a step from q, v to its end jumped onto the constraints, as mechanism/dynamics/state_projection.py
 * has it. */
static uk_mask uk_jumped(const uk_lanes_memory *m, int sampled, const uk_lanes *q, const uk_lanes *v,
                         const uk_lanes *end_q, const uk_lanes *end_v, double h) {
  const double least = h * UK_SUDDEN + UK_CORRECTION_ROUNDING; /* no limit is below */
  const double little = least < UK_LARGEST_CORRECTION ? least : UK_LARGEST_CORRECTION;
  uk_lanes back[UK_NV];
  uk_mask some = uk_none();
  uk_way_to(end_q, m->q, back);
  UK_EACH(i, UK_NV) { /* comparisons that do not wait for each other, as those for the largest do */
    const uk_lanes kick = uk_lanes_fabs(m->v[i] - end_v[i]);
    some |= uk_not((uk_lanes_fabs(back[i]) <= little) & (kick <= UK_SUDDEN));
  }
  if (!uk_any(some)) return some;
  const uk_lanes jump = uk_largest(back, UK_NV), kick = uk_apart(m->v, end_v);
  const uk_mask far = uk_not(jump <= UK_LARGEST_CORRECTION);
  if (sampled) return far;
  const uk_lanes speed = uk_largest(v, UK_NV) + UK_SUDDEN;
  const uk_lanes way = uk_farthest(q, end_q) + h * speed + UK_CORRECTION_ROUNDING;
  return far | uk_not((jump <= way) & (kick <= uk_apart(end_v, v) + speed));
}

/* Accelerations at the states in the memories. */
UK_EVALUATION UK_OPTIONAL void uk_lanes_accelerate(uk_lanes_motion *s) {
  uk_lanes_evaluate(s->m, s->kept, s->groups);
  UK_EACH(g, s->groups) {
    const uk_lanes rank = s->m[g].rank, before = s->rank[g];
    if (!s->reason) s->failed[g] |= (before > uk_all(0.0)) & (rank != before);
    s->rank[g] = rank;
    uk_lanes_end(s, g, s->m[g].failed > uk_all(0.0), s->m[g].failed);
  }
}

/* The states in the memories on the constraints. */
static UK_OPTIONAL void uk_lanes_settle(uk_lanes_motion *s) {
  uk_lanes why[UK_MOST_GROUPS];
  uk_lanes_project(s->m, s->kept, s->groups, why);
  UK_EACH(g, s->groups) uk_lanes_end(s, g, why[g] > uk_all(0.0), why[g]);
}

/* On by a step of size h, without what ends it, from the states q, v that are in the memories. */
static void uk_lanes_advance(uk_lanes_motion *s, uk_lanes (*q)[UK_NQ], uk_lanes (*v)[UK_NV], double h) {
  static const double offset[] = {0.0, 0.5, 0.5, 1.0}, weight[] = {1.0, 2.0, 2.0, 1.0};
  uk_lanes rate[UK_MOST_GROUPS][UK_NV], dq[UK_MOST_GROUPS][UK_NV], dv[UK_MOST_GROUPS][UK_NV];
  if (s->euler) { /* positions go with the velocities at the end */
    UK_STAGE(s, 0, 0.0);
    UK_EACH(g, s->groups) {
      uk_lanes_memory *m = s->m + g;
      UK_EACH(i, UK_NV) m->v[i] = v[g][i] + h * m->qdd[i];
      uk_reach(q[g], uk_all(h), m->v, m->q);
    }
    return;
  }
  UK_EACH(g, s->groups) memcpy(rate[g], v[g], sizeof rate[g]);
  memset(dq, 0, sizeof dq), memset(dv, 0, sizeof dv);
  UK_EACH(k, 4) {
    const double part = h * offset[k];
    if (k > 0) UK_EACH(g, s->groups) {
      uk_lanes_memory *m = s->m + g;
      uk_reach(q[g], uk_all(part), rate[g], m->q);
      UK_EACH(i, UK_NV) m->v[i] = v[g][i] + part * m->qdd[i];
      uk_chart_rate(part, m->v, rate[g]);
    }
    UK_STAGE(s, k, part);
    UK_EACH(g, s->groups) {
      const uk_lanes *qdd = s->m[g].qdd;
      UK_EACH(i, UK_NV) dq[g][i] += weight[k] * rate[g][i], dv[g][i] += weight[k] * qdd[i];
    }
  }
  UK_EACH(g, s->groups) {
    uk_lanes_memory *m = s->m + g;
    UK_EACH(i, UK_NV) m->v[i] = v[g][i] + h / 6.0 * dv[g][i];
    uk_reach(q[g], uk_all(h / 6.0), dq[g], m->q);
  }
}

/* The ends of steps from q, v on the constraints, unless they jumped within them. */
static UK_OPTIONAL void uk_lanes_settle_step(uk_lanes_motion *s, uk_lanes (*q)[UK_NQ], uk_lanes (*v)[UK_NV],
                                             double h) {
  uk_lanes end_q[UK_MOST_GROUPS][UK_NQ], end_v[UK_MOST_GROUPS][UK_NV];
  UK_EACH(g, s->groups) {
    memcpy(end_q[g], s->m[g].q, sizeof end_q[g]), memcpy(end_v[g], s->m[g].v, sizeof end_v[g]);
  }
  uk_lanes_settle(s);
  UK_EACH(g, s->groups) {
    const uk_mask jumped = uk_jumped(s->m + g, s->sampled != 0, q[g], v[g], end_q[g], end_v[g], h);
    uk_lanes_end(s, g, jumped, uk_all(UK_JUMPED));
  }
}

/* One step of size h, with the projection that ends it; where it fails, states stay. */
UK_EVALUATION UK_OPTIONAL void uk_lanes_step(uk_lanes_motion *s, double h) {
  uk_lanes q[UK_MOST_GROUPS][UK_NQ], v[UK_MOST_GROUPS][UK_NV];
  UK_EACH(g, s->groups) memcpy(q[g], s->m[g].q, sizeof q[g]), memcpy(v[g], s->m[g].v, sizeof v[g]);
  if (UK_ADVANCES(s)) s->advance(s, h);
  else uk_lanes_advance(s, q, v, h);
  UK_STAGE(s, 4, h);
  if (s->project) uk_lanes_settle_step(s, q, v, h);
  UK_EACH(g, s->groups) {
    if (!uk_any(s->failed[g])) continue;
    UK_EACH(i, UK_NQ) s->m[g].q[i] = uk_pick(s->failed[g], q[g][i], s->m[g].q[i]);
    UK_EACH(i, UK_NV) s->m[g].v[i] = uk_pick(s->failed[g], v[g][i], s->m[g].v[i]);
  }
}

/* Whether something moves. */
static UK_OPTIONAL int uk_lanes_going(const uk_lanes_motion *s) {
  int going = 0;
  UK_EACH(g, s->groups) going |= uk_any(uk_not(s->failed[g]));
  return going;
}

/* From begin to end by equal steps, none longer than `longest`, as long as something moves; how many. */
static UK_OPTIONAL long long uk_lanes_move(uk_lanes_motion *s, double longest) {
  const double begin = s->begin, end = s->end;
  const double parts = ceil((end - begin) / longest - UK_PART_OF_A_STEP);
  const long long count = parts > 1.0 ? (long long)parts : 1;
  const double h = (end - begin) / count;
  for (long long k = 0; k < count; ++k) {
    s->begin = begin + k * h, s->end = k + 1 == count ? end : begin + (k + 1) * h;
    uk_lanes_step(s, h);
    if (!uk_lanes_going(s)) return k;
  }
  return count;
}

/* From instant to instant; how many steps. What happens at each says where the way to the next begins and
 * ends; 0: there is none. */
UK_INLINE long long uk_lanes_go(uk_lanes_motion *s, double longest,
                                int (*instant)(uk_lanes_motion *, long long at)) {
  long long steps = 0;
  for (long long at = 0; instant(s, at); ++at) steps += uk_lanes_move(s, longest);
  return steps;
}
