/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* How the state in the memory goes on, for programs with motions of their own; see
 * control/delay_compensation.py. */
#pragma once

#include "attributes.h"
#include "fixed_step.c"
#include "uk_motors.h"

static void uk_propagation_stage(uk_lanes_motion *s, int stage, double part) {
  (void)stage;
  s->m->t = s->begin + part;
  uk_lanes_accelerate(s);
}

/* For h seconds under efforts of the motors, (UK_NU), by the classical Runge-Kutta method; null: at
 * constant velocity. 0, or as uk_evaluate, and the state is lost. */
UK_EXPORT int uk_propagate(uk_memory *m, double h, const double *efforts) {
  const double t = m->t;
  double q[1][UK_NQ], v[1][UK_NV], reason = 0.0;
  uk_kept kept = {.known = 0};
  uk_mask failed = 0;
  uk_lanes_motion s = {1, 0, 0, 0, m, &kept, &failed, &reason, uk_propagation_stage, NULL, {0.0}, t, t};
  memcpy(q[0], m->q, sizeof m->q), memcpy(v[0], m->v, sizeof m->v);
  if (efforts == NULL) {
    uk_reach(q[0], h, v[0], m->q);
  } else {
    memset(m->tau, 0, sizeof m->tau);
    for (int e = 0; e < UK_DRIVES; ++e) m->tau[uk_drive_joint[e]] += uk_drive_ratio[e] * efforts[uk_drive_motor[e]];
    m->forces = 0;
    uk_lanes_advance(&s, q, v, h);
  }
  m->t = t + h;
  return (int)reason;
}

/* Onto the loops; 0, 1 or 2 as uk_evaluate, 3 where they stay open. */
UK_EXPORT int uk_close(uk_memory *m) { return uk_project(m); }
