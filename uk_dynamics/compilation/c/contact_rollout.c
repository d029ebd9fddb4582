/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Trajectories of many states over one-sided constraints, one after the other: what is closed, and how often the
 * conditions of a step are solved for, is particular to a state, so that in lanes all would wait for the slowest. */
#pragma once

#include "moreau_step.c"
#include "motion.h"
#include "rollout.h"

/* The state in the memory on the loops and what rests there, as ContactStepping.begin has it; 0, or 1: something is
 * inside of its surface, or nothing closes the loops. */
static int uk_contact_begin(uk_memory *m, const double *active, double *followed, uk_contacts *x) {
  double *rows = x->room + UK_CONE_ROOM(x->count), *gap = rows + 2 * UK_D * x->count * UK_NV;
  uk_contact_base(m, active, x);
  if (uk_follow_structure(m, followed) || uk_project(m)) return 1;
  uk_lanes_terms(m->t, m->q, m->v, UK_FOLLOWED UK_P, m->H, m->force, m->A, m->bias, m->residual, m->rate);
  uk_contact_rows(m, x, 0.0, rows, gap);
  for (int k = 0; k < x->count; ++k) {
    if (gap[k] < -x->close) return 1;
    x->impulse[UK_D * k] = gap[k] <= x->close && fabs(uk_dot(rows + UK_D * k * UK_NV, m->v, UK_NV)) <= x->resting;
  }
  uk_contact_modes(m, x, rows, m->v, x->mode);
  memset(x->impulse, 0, sizeof(double) * UK_D * x->count);
  return uk_project(m);
}

/* Trajectories of states, from the first on the tables of a motion; where a step fails, its number from 1, as in
 * uk_rollout, and there is no more of that trajectory. */
UK_EXPORT void uk_roll_contacts(uk_memory *m, const uk_motion *way, uk_contacts *x, const uk_trajectories *c) {
  const long long samples = c->steps / c->every + 1;
  m->stabilize = 0.0;
  for (long long k = 0; k < c->count; ++k) {
    memcpy(m->q, c->q + k * UK_NQ, sizeof m->q), memcpy(m->v, c->v + k * UK_NV, sizeof m->v);
    m->t = c->t;
    x->taken = 0;
    int failed = uk_contact_begin(m, way->active, way->followed, x);
    long long step = 0;
    for (; !failed; ++step) {
      const long long at = k * samples + step / c->every;
      if (step % c->every == 0) {
        memcpy(c->q_out + at * UK_NQ, m->q, sizeof m->q), memcpy(c->v_out + at * UK_NV, m->v, sizeof m->v);
      }
      if (step == c->steps) break;
      m->t = c->t + c->dt * step;
      memcpy(m->tau, c->tau + k * c->tau_state + step * c->tau_step, sizeof m->tau);
      failed = uk_contact_step(m, way->active, way->followed, x, c->dt);
      memcpy(x->mode, x->mode + x->count, sizeof *x->mode * x->count), x->taken = 0;
    }
    c->stopped[k] = failed ? (double)(step + 1) : 0.0;
  }
}
