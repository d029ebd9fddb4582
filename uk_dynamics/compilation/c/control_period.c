/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The steps of a control period; see control_period.h. */
#pragma once

#include "attributes.h"
#include "control_period.h"
#include "limits.c"
#include "references.c"
#include "uk_following.h"
#include "uk_task_kinds.h"

/* Forget the past: rate limits count from `efforts`, (UK_NU), or, where it is null, from nothing. */
UK_EXPORT void uk_control_reset(uk_memory *m, const double *efforts) {
  m->warm = m->past_known = m->acceleration_known = m->begun = m->regular_rank = 0.0;
  uk_restart(m->commands, &m->known_commands, efforts);
}

/* Paths of the first errors, where they do not act at once. */
static void uk_begin_approach(uk_memory *m, double t) {
  m->begun = 1.0, m->begin = t, m->approach_time = m->blend_time;
  if (m->approach_time > 0.0)
    for (int r = 0; r < UK_MT; ++r) {
      const double error = uk_task_position[r] * m->tracking_error[r];
      const double rate = uk_task_motion[r] * m->tracking_rate[r];
      uk_path_to_rest(&error, &rate, uk_task_position + r, &m->approach_time,
                      m->approach + UK_POWERS * r);
    }
}

/* Feedback of the errors, which decay from the first one along a path. */
static void uk_desire(uk_memory *m, double t) {
  if (m->begun == 0.0) uk_begin_approach(m, t);
  const double now = t - m->begin, ahead = m->t - m->begin;
  for (int r = 0; r < UK_MT; ++r) {
    double error = m->tracking_error[r], rate = m->tracking_rate[r], acceleration = 0.0;
    if (now < m->approach_time) {
      double along[3];
      uk_along_path(m->approach + UK_POWERS * r, uk_task_position + r, &now, &ahead,
                    &m->approach_time, along);
      error -= along[0], rate -= along[1], acceleration = along[2];
    }
    m->feedback[r] = -(m->task_damping[r] * rate + m->task_stiffness[r] * error);
    m->desired[r] = m->feedback[r] + acceleration;
  }
}

#if !defined(UK_STEPS_ALONE) /* what else a law needs is there */
#include "configuration.c"
#include "servo.c"
#if !defined(UK_OF_CLUSTERS)
#include "internal.c"
#include "uk_resistance.h"
#endif

/* The state for which efforts are made right, half a period ahead. */
static void uk_predict(uk_memory *m, double t, const double *q, const double *v) {
  const double h = 0.5 * m->period;
  double told[4], both[UK_NV];
  uk_measurement(&m->past_known, &m->past_t, &m->acceleration_known, &t, &m->period, told);
  if (told[0] != 0.0) m->past_known = 1.0, m->past_t = t;
  m->acceleration_known = told[2];
  m->t = t + h;
  for (int i = 0; i < UK_NV; ++i) {
    double seen[3];
    uk_foreseen(told, v + i, m->past_v + i, m->measured_qdd + i, &h, seen);
    m->measured_qdd[i] = seen[0], m->past_v[i] = seen[1], m->v[i] = seen[2];
    both[i] = v[i] + m->v[i];
  }
  uk_reach(q, 0.5 * h, both, m->q);
}

/* Whether this period holds the last efforts, in a singular configuration. */
static int uk_hold(uk_memory *m) {
  double left[3];
  uk_passage(&m->rank, &m->regular_rank, &m->periods_held, &m->known_commands, &m->period, left);
  m->regular_rank = left[1], m->periods_held = left[2];
  return left[0] != 0.0;
}

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
  if (uk_hold(m)) {
    for (int j = 0; j < UK_NU; ++j)
      efforts[j] = fmin(fmax(m->commands[j], m->lower[j]), m->upper[j]);
  } else if (within && (reached || UK_LEVELS == 1)) {
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
