/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The steps of a control period; see control_period.h. */
#pragma once

#include "attributes.h"
#include "configuration.c"
#include "control_period.h"
#include "limits.c"
#include "references.c"
#include "uk_following.h"
#include "uk_task_kinds.h"

/* Forget the past: rate limits count from `efforts`, (UK_NU), or, where it is null, from nothing. */
UK_EXPORT void uk_control_reset(uk_memory *m, const double *efforts) {
  m->warm = m->past_known = m->acceleration_known = m->begun = 0.0;
  uk_restart(m->commands, &m->known_commands, efforts);
}

/* Acceleration from the last two velocities; unknown after a pause, or if time went back. */
static void uk_compare(uk_memory *m, double t, const double *v) {
  if (m->past_known != 0.0) {
    const double periods = (t - m->past_t) / m->period;
    if (0.0 <= periods && periods < UK_TOO_SHORT) return; /* would amplify the noise of velocities */
    m->acceleration_known = 0.0 <= periods && periods <= UK_TOO_LONG;
    if (m->acceleration_known != 0.0)
      for (int i = 0; i < UK_NV; ++i)
        m->measured_qdd[i] = (v[i] - m->past_v[i]) / (t - m->past_t);
  }
  m->past_known = 1.0, m->past_t = t;
  memcpy(m->past_v, v, sizeof m->past_v);
}

/* The state for which efforts are made right, half a period ahead. */
static void uk_predict(uk_memory *m, double t, const double *q, const double *v) {
  const double h = 0.5 * m->period;
  if (m->period > 0.0) uk_compare(m, t, v);
  double both[UK_NV];
  m->t = t + h;
  for (int i = 0; i < UK_NV; ++i) {
    const double known = m->period > 0.0 && m->acceleration_known != 0.0;
    m->v[i] = known ? v[i] + h * m->measured_qdd[i] : v[i];
    both[i] = v[i] + m->v[i];
  }
  uk_reach(q, 0.5 * h, both, m->q);
}

/* Polynomials from a state of motion, whose acceleration is zero, to rest at zero. */
static void uk_begin_approach(uk_memory *m, double t) {
  m->begun = 1.0, m->begin = t, m->approach_time = m->blend_time;
  const double h = m->approach_time;
  if (!(h > 0.0)) return;
  for (int r = 0; r < UK_MT; ++r) {
    const double rate = uk_task_motion[r] * m->tracking_rate[r];
    const double error = uk_task_position[r] * m->tracking_error[r];
    double *c = m->approach + 6 * r;
    if (uk_task_position[r] != 0.0) {
      c[0] = error, c[1] = rate, c[2] = 0.0;
      c[3] = (-10.0 * error - 6.0 * rate * h) / (h * h * h);
      c[4] = (15.0 * error + 8.0 * rate * h) / (h * h * h * h);
      c[5] = (-6.0 * error - 3.0 * rate * h) / (h * h * h * h * h);
    } else { /* of the rate */
      const double slope = -rate / h;
      c[0] = rate, c[1] = 0.0, c[2] = 3.0 * slope / h, c[3] = -2.0 * slope / (h * h);
      c[4] = c[5] = 0.0;
    }
  }
}

/* Value and first derivatives of a path at a time. */
static void uk_along(const uk_memory *m, const double *c, double t, double *x) {
  double s = t - m->begin;
  if (s < 0.0) s = 0.0;
  if (s > m->approach_time) s = m->approach_time;
  x[0] = x[1] = x[2] = 0.0;
  for (int k = 5; k >= 0; --k) {
    x[2] = x[2] * s + 2.0 * x[1];
    x[1] = x[1] * s + x[0];
    x[0] = x[0] * s + c[k];
  }
}

/* Feedback of the errors, which decay from the first one along a path. */
static void uk_desire(uk_memory *m, double t) {
  if (m->begun == 0.0) uk_begin_approach(m, t);
  const int along = m->approach_time > 0.0 && t - m->begin < m->approach_time;
  for (int r = 0; r < UK_MT; ++r) {
    double error = m->tracking_error[r], rate = m->tracking_rate[r], acceleration = 0.0;
    if (along) {
      const int of_rate = uk_task_position[r] == 0.0;
      double now[3], ahead[3];
      uk_along(m, m->approach + 6 * r, t, now);
      uk_along(m, m->approach + 6 * r, m->t, ahead);
      error -= now[0]; /* the residual of a row of order velocity is its rate */
      rate -= of_rate ? now[0] : now[1];
      acceleration = of_rate ? ahead[1] : ahead[2];
    }
    m->feedback[r] = -(m->task_damping[r] * rate + m->task_stiffness[r] * error);
    m->desired[r] = m->feedback[r] + acceleration;
  }
}

#if !defined(UK_STEPS_ALONE) /* what else a law needs is there */
#include "servo.c"
#if !defined(UK_OF_CLUSTERS)
#include "internal.c"
#include "uk_resistance.h"
#endif

/* Efforts, (UK_NU), for a measured state; flags, (UK_FLAGS), may be null. 0; 1 or 2: there are none,
 * as uk_evaluate says, 3: a reference has no value, 4: the search within limits failed, 5: motors
 * cannot cause the internal forces. The tracking errors are in the memory. Where there are no
 * efforts, the same state may be tried again. */
UK_EXPORT int uk_control(const void *controller, double t, const double *q, const double *v,
                         double *efforts, double *flags) {
  const uk_controller *c = controller;
  uk_memory *m = c->memory;
  const uk_limits limits = {m->limits, m->commands, &m->known_commands, m->lower, m->upper};
  double most[UK_NU], later[UK_NV], preload[UK_NU], total = t;
  for (int i = 0; i < UK_NV; ++i) total += v[i];
  for (int i = 0; i < UK_NQ; ++i) total += q[i];
  if (!isfinite(total)) return 2;
  if (uk_follow(c->tasks, t, UK_MT, m->task_followed)) return 3;
  uk_task_errors(t, q, v, m->task_followed UK_P, m->tracking_error, m->tracking_rate);
  uk_predict(m, t, q, v);
  uk_desire(m, t);
  if (uk_follow(c->tasks, m->t, UK_MT, m->task_followed)) return 3;
#if UK_FOLLOWS
  if (uk_follow(c->structure, m->t, UK_M, m->followed)) return 3;
#endif
  memset(m->tau, 0, sizeof m->tau);
  if (m->friction == 0.0) {
    uk_resist(m, m->tau);
    for (int i = 0; i < UK_NV; ++i) m->tau[i] = -m->tau[i];
  }
  m->stabilize = 1.0;
  memcpy(preload, m->preload, sizeof preload);
  int failed = 0;
#if !defined(UK_OF_CLUSTERS)
  if (m->internal != 0.0) {
    double squeeze[UK_NU];
    uk_lanes_terms(m->t, m->q, m->v, UK_FOLLOWED UK_P, m->H, m->force, m->A, m->bias, m->residual, m->rate);
    failed = uk_internal(m, m->internal_row, m->internal_force, m->internal_unit, squeeze);
    for (int j = 0; j < UK_NU; ++j) m->preload[j] += squeeze[j];
  }
#endif
  if (!failed) failed = uk_law(m, 0);
  memcpy(m->preload, preload, sizeof preload);
  if (failed) return failed;
  for (int i = 0; i < UK_NV; ++i) later[i] = 2.0 * m->v[i] - v[i]; /* at the end of the period */
  uk_limit(&limits, v, later, most);
  const int within = uk_within(&limits, m->efforts);
  int reached = 1;
  for (int r = 0; r < UK_MT; ++r) reached &= m->reachable[r] != 0.0;
  if (flags != NULL) {
    for (int j = 0; j < 2 * UK_NU; ++j) flags[j] = 0.0;
    for (int r = 0; r < UK_MT; ++r) flags[2 * UK_NU + r] = m->reachable[r] == 0.0;
  }
  if (within && (reached || UK_LEVELS == 1)) {
    memcpy(efforts, m->efforts, sizeof m->efforts);
  } else {
    if (uk_allocate(m)) return 4;
    memcpy(efforts, m->limited, sizeof m->limited);
    if (flags != NULL) uk_reasons(&limits, most, efforts, flags);
  }
  uk_remember(&limits, efforts);
  return 0;
}

/* Tracking errors, (count, UK_MT), at measured states; 0, or 3 as above. */
UK_EXPORT int uk_track(const void *controller, long long count, const double *t, const double *q,
                       const double *v, double *errors) {
  const uk_controller *c = controller;
  uk_memory *m = c->memory;
  for (long long k = 0; k < count; ++k) {
    if (uk_follow(c->tasks, t[k], UK_MT, m->task_followed)) return 3;
    uk_task_errors(t[k], q + k * UK_NQ, v + k * UK_NV, m->task_followed UK_P, errors + k * UK_MT,
                   m->tracking_rate);
  }
  return 0;
}

#endif
