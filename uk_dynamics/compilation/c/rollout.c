/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Trajectories of many states, with projection of positions and velocities after every step. */
#pragma once

#include "batch.c"
#include "rollout.h"
#include "uk_projection.h"

#define UK_MOST_GROUPS 2 /* that are projected together */

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

/* Acceleration at time number `half` of half steps. */
static void uk_lanes_stage(uk_lanes_memory *m, uk_lanes_kept *kept, const uk_trajectories *c, long long half,
                           uk_lanes *stopped, uk_lanes *reason, double number) {
  m->t = uk_all(c->t + 0.5 * c->dt * half);
  if (c->followed != NULL)
    UK_EACH(i, 3 * UK_ROWS) m->followed[i] = uk_all(c->followed[half * 3 * UK_ROWS + i]);
  uk_lanes_evaluate(m, kept, 1);
  const uk_mask now = (m->failed > 0.0) & (*stopped == 0.0);
  *reason = uk_pick(now, m->failed, *reason);
  *stopped = uk_pick(now, uk_all(number), *stopped);
}

static void uk_lanes_follow(uk_lanes_memory *m, uk_lanes_kept *kept, const uk_trajectories *c, long long step,
                            uk_lanes *stopped, uk_lanes *reason) {
  if (!c->project) return;
  m->t = uk_all(c->t + c->dt * step);
  if (c->followed != NULL)
    UK_EACH(i, 3 * UK_ROWS) m->followed[i] = uk_all(c->followed[2 * step * 3 * UK_ROWS + i]);
  uk_mask failed;
  uk_lanes_project(m, kept, 1, &failed);
  const uk_mask now = failed & (*stopped == 0.0);
  *reason = uk_pick(now, uk_all(UK_OPEN_LOOPS), *reason);
  *stopped = uk_pick(now, uk_all(step + 1), *stopped);
}

/* One step from the state in the memory. */
static void uk_lanes_step(uk_lanes_memory *m, uk_lanes_kept *kept, const uk_trajectories *c, long long step,
                          uk_lanes *stopped, uk_lanes *reason) {
  static const double offset[] = {0.0, 0.5, 0.5, 1.0}, weight[] = {1.0, 2.0, 2.0, 1.0};
  const double h = c->dt, number = step + 2;
  if (c->euler) {
    uk_lanes_stage(m, kept, c, 2 * step, stopped, reason, number);
    UK_EACH(i, UK_NV) m->v[i] += h * m->qdd[i];
    UK_EACH(i, UK_NV) m->q[i] += h * m->v[i];
    return;
  }
  uk_lanes q[UK_NV], v[UK_NV], dq[UK_NV], dv[UK_NV];
  UK_EACH(i, UK_NV) q[i] = m->q[i], v[i] = m->v[i], dq[i] = dv[i] = uk_all(0.0);
  UK_EACH(s, 4) {
    if (s > 0) {
      const double part = h * offset[s];
      UK_EACH(i, UK_NV) m->q[i] = q[i] + part * m->v[i];
      UK_EACH(i, UK_NV) m->v[i] = v[i] + part * m->qdd[i];
    }
    uk_lanes_stage(m, kept, c, 2 * step + (s + 1) / 2, stopped, reason, number);
    UK_EACH(i, UK_NV) dq[i] += weight[s] * m->v[i];
    UK_EACH(i, UK_NV) dv[i] += weight[s] * m->qdd[i];
  }
  UK_EACH(i, UK_NV) m->q[i] = q[i] + (h / 6.0) * dq[i];
  UK_EACH(i, UK_NV) m->v[i] = v[i] + (h / 6.0) * dv[i];
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

/* What all trajectories have in common. */
static void uk_rollout_begin(uk_lanes_memory *m, const uk_trajectories *c) {
  memset(m, 0, sizeof *m);
  m->stabilize = c->stabilize;
  UK_EACH(r, UK_ROWS) m->active[r] = uk_all(c->active[r]);
}

/* As many trajectories as there are lanes, from the first on. A state that has no answer any more
 * stops: `stopped` has the number of the step, from 1 for the start, `reason` why; what follows is
 * NaN. */
static void uk_rollout_move(uk_lanes_memory *m, uk_lanes_kept *kept, const uk_trajectories *c,
                            long long first) {
  long long states[UK_WIDTH];
  const long long left = c->count - first;
  const int lanes = left < UK_WIDTH ? (int)left : UK_WIDTH;
  UK_EACH(l, UK_WIDTH) states[l] = first + (l < lanes ? l : lanes - 1);
  uk_load_parameters(m, c->p, c->p_stride, first, lanes);
  uk_load_lanes(m->q, c->q + first * UK_NQ, UK_NQ, lanes);
  uk_load_lanes(m->v, c->v + first * UK_NV, UK_NV, lanes);
  uk_lanes stopped = uk_all(0.0), reason = uk_all(0.0), q[UK_NV], v[UK_NV];
  UK_EACH(i, UK_NV) q[i] = m->q[i], v[i] = m->v[i];
  uk_lanes_follow(m, kept, c, 0, &stopped, &reason);
  uk_record(c, m, first, lanes, 0, stopped);
  for (long long step = 0; step < c->steps; ++step) {
    UK_EACH(i, UK_NV) q[i] = uk_pick(stopped == 0.0, m->q[i], q[i]);
    UK_EACH(i, UK_NV) v[i] = uk_pick(stopped == 0.0, m->v[i], v[i]);
    /* lanes that have stopped stay where they were */
    UK_EACH(i, UK_NV) m->q[i] = q[i], m->v[i] = v[i];
    if (c->tau != NULL)
      UK_EACH(i, UK_NV) UK_EACH(l, UK_WIDTH)
        UK_PART(m->tau[i], l) = c->tau[states[l] * c->tau_state + step * c->tau_step + i];
    uk_lanes_step(m, kept, c, step, &stopped, &reason);
    uk_lanes_follow(m, kept, c, step + 1, &stopped, &reason);
    if ((step + 1) % c->every == 0)
      uk_record(c, m, first, lanes, (step + 1) / c->every, stopped);
    if (!uk_any(stopped == 0.0)) break;
  }
  UK_EACH(l, lanes) c->stopped[first + l] = UK_PART(stopped, l), c->reason[first + l] = UK_PART(reason, l);
}

#ifndef UK_STATE_A_THREAD
/* 0; 1 where there is no memory. */
UK_OF_BATCHES int uk_rollout(const uk_trajectories *c) {
  uk_lanes_memory *m = aligned_alloc(64, (sizeof *m + 63) / 64 * 64);
  if (m == NULL) return 1;
  uk_lanes_kept kept;
  kept.known = 0;
  uk_rollout_begin(m, c);
  for (long long first = 0; first < c->count; first += UK_WIDTH) uk_rollout_move(m, &kept, c, first);
  free(m);
  return 0;
}
#endif
