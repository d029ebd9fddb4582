/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* How the state in the memory goes on; see control/effect_prediction.py. */
#pragma once

#include <stddef.h>

#include "attributes.h"
#include "configuration.c"
#include "uk_closing.h"
#include "uk_motors.h"

/* For h seconds under efforts of the motors, (UK_NU), by the classical Runge-Kutta method; null: at
 * constant velocity. 0, or as uk_evaluate, and the state is lost. */
UK_EXPORT int uk_propagate(uk_memory *m, double h, const double *efforts) {
  static const double offset[] = {0.0, 0.5, 0.5, 1.0}, weight[] = {1.0, 2.0, 2.0, 1.0};
  double q[UK_NQ], v[UK_NV], rate[UK_NV], dq[UK_NV], dv[UK_NV];
  const double t = m->t;
  if (efforts == NULL) {
    uk_reach(m->q, h, m->v, m->q);
    m->t = t + h;
    return 0;
  }
  memcpy(q, m->q, sizeof q);
  for (int i = 0; i < UK_NV; ++i) {
    m->tau[i] = 0.0;
    for (int j = 0; j < UK_NU; ++j) m->tau[i] += uk_motors[j][i] * efforts[j];
    rate[i] = v[i] = m->v[i], dq[i] = dv[i] = 0.0;
  }
  for (int s = 0; s < 4; ++s) {
    const double part = h * offset[s];
    if (s > 0) {
      uk_reach(q, part, rate, m->q);
      for (int i = 0; i < UK_NV; ++i) m->v[i] = v[i] + part * m->qdd[i];
      uk_chart_rate(part, m->v, rate);
    }
    m->t = t + part;
    const int failed = uk_answer(m, 0);
    if (failed) return failed;
    for (int i = 0; i < UK_NV; ++i) {
      dq[i] += weight[s] * rate[i];
      dv[i] += weight[s] * m->qdd[i];
    }
  }
  uk_reach(q, h / 6.0, dq, m->q);
  for (int i = 0; i < UK_NV; ++i) m->v[i] = v[i] + (h / 6.0) * dv[i];
  m->t = t + h;
  return 0;
}

/* Onto the loops; 0, 1 or 2 as uk_evaluate, 3 where they stay open. */
UK_EXPORT int uk_close(uk_memory *m) { return uk_project(m); }
