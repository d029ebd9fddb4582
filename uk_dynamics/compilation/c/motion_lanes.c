/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Steps of groups of states, each with a memory of its own, that end on the constraints. */
#pragma once

#include "evaluate_lanes.c"
#include "uk_jumps.h"
#include "uk_projection.h"

#define UK_MOST_GROUPS (UK_WIDTH > 1 ? 2 : 1)
#define UK_NEAR_CACHE 49152 /* bytes */

#if UK_M > 0

/* Factors at the state in the memory, of the rows that act. */
static void uk_lanes_linearize(uk_lanes_memory *m, const double *kind, uk_lanes tolerance) {
  uk_lanes acts[UK_ROWS];
  UK_EACH(r, UK_M) acts[r] = kind[r] * m->active[r];
  uk_lanes_factor_mass(m);
  uk_lanes_whiten_rows(m, acts);
  uk_lanes_eliminate(m, tolerance);
}

/* The d of least d^T M d with A d = right, at the terms in the memory; as uk_correct. */
static void uk_lanes_correct(uk_lanes_memory *m, uk_lanes_kept *kept, const uk_lanes *right, const double *kind,
                             uk_lanes tolerance, uk_lanes *d) {
#if UK_REGULAR
  if (UK_ALL_ROWS_HOLD && !uk_any(tolerance != uk_all(UK_RANK_TOLERANCE))) {
    const double stabilize = m->stabilize;
    const int forces = m->forces;
    uk_lanes bias[UK_M], tau[UK_NV];
    memcpy(bias, m->bias, sizeof bias);
    memcpy(tau, m->tau, sizeof tau);
    UK_EACH(i, UK_NV) m->tau[i] = -m->force[i];
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
  kept->known = 0;
  uk_lanes_linearize(m, kind, tolerance);
  uk_lanes_correction(m, right, d);
}

typedef struct { /* where the projection of a group of states is */
  uk_lanes best[UK_NV], right[UK_ROWS], smallest, size;
  uk_mask done;
  int ended;
} uk_lanes_way;

/* The configuration of a Newton step: whether it is the last one. */
static void uk_lanes_look(const uk_lanes_memory *m, uk_lanes_way *w, int step) {
  uk_lanes size = uk_all(0.0);
  UK_EACH(r, UK_M) {
    w->right[r] = -uk_position_row[r] * m->active[r] * m->residual[r];
    const uk_lanes error = uk_lanes_fabs(w->right[r]);
    size = uk_pick(error <= size, size, error);
  }
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
    UK_EACH(i, UK_NV) w->best[i] = uk_pick(better, m->q[i], w->best[i]);
  }
  w->size = size;
  w->done |= uk_not(w->smallest > UK_ROUNDING);
  w->ended = !uk_any(uk_not(w->done)) || step == UK_NEWTON_STEPS;
}

/* Groups of states, each with a memory of its own: Newton steps of least d^T M d until residuals are
 * rounding, then the nearest velocity. Off the constraints a redundant row looks independent by about
 * its violation: the tolerance follows. */
static void uk_lanes_project(uk_lanes_memory *m, uk_lanes_kept *kept, int groups, uk_mask *failed) {
  uk_lanes d[UK_NV];
  uk_lanes_way w[UK_MOST_GROUPS];
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
                       uk_pick(part > UK_RANK_TOLERANCE, loose, uk_all(UK_RANK_TOLERANCE)), d);
      UK_EACH(i, UK_NV) m[g].q[i] += uk_pick(w[g].done, uk_all(0.0), d[i]);
    }
  }
  UK_EACH(g, groups) {
    uk_mask moved = uk_none();
    UK_EACH(i, UK_NV) moved |= m[g].q[i] != w[g].best[i];
    memcpy(m[g].q, w[g].best, sizeof w[g].best);
    if (uk_any(moved)) uk_lanes_configure(m + g, kept + g);
  }
  UK_EACH(g, groups) uk_lanes_find_rates(m + g, kept + g);
  UK_EACH(g, groups) {
    UK_EACH(r, UK_M) w[g].right[r] = uk_motion_row[r] * m[g].active[r] * m[g].rate[r];
    uk_lanes_correct(m + g, kept + g, w[g].right, uk_motion_row, uk_all(UK_RANK_TOLERANCE), d);
    UK_EACH(i, UK_NV) m[g].v[i] -= d[i];
    failed[g] = uk_not(w[g].smallest <= UK_REACHED);
  }
}

#else

static void uk_lanes_project(uk_lanes_memory *m, uk_lanes_kept *kept, int groups, uk_mask *failed) {
  (void)m, (void)kept;
  UK_EACH(g, groups) failed[g] = uk_none();
}

#endif

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

static void uk_lanes_stage(uk_lanes_motion *s, int stage, double part) {
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
  uk_mask open[UK_MOST_GROUPS];
  uk_lanes_project(s->m, s->kept, s->groups, open);
  UK_EACH(g, s->groups) {
    uk_lanes total = uk_all(0.0);
    UK_EACH(i, UK_NV) total += s->m[g].q[i] + s->m[g].v[i];
    uk_lanes_end(s, g, open[g], uk_all(UK_OPEN_LOOPS));
    uk_lanes_end(s, g, uk_not(uk_finite(total)), uk_all(UK_NOT_NUMBERS));
  }
}

/* One step of size h, with the projection that ends it; where it fails, states stay. */
static void uk_lanes_step(uk_lanes_motion *s, double h) {
  static const double offset[] = {0.0, 0.5, 0.5, 1.0}, weight[] = {1.0, 2.0, 2.0, 1.0};
  uk_lanes q[UK_MOST_GROUPS][UK_NV], v[UK_MOST_GROUPS][UK_NV];
  uk_lanes dq[UK_MOST_GROUPS][UK_NV], dv[UK_MOST_GROUPS][UK_NV];
  UK_EACH(g, s->groups) memcpy(q[g], s->m[g].q, sizeof q[g]), memcpy(v[g], s->m[g].v, sizeof v[g]);
  if (s->euler) {
    uk_lanes_stage(s, 0, 0.0);
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
      uk_lanes_stage(s, k, part);
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
