/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The steps of a control period; see control_period.h. A lane is a state; what has to decide for one state
 * alone stands at the end. */
#pragma once

#include "attributes.h"
#include "configuration.c"
#include "control_period.h"
#include "correction.c"
#include "limits.c"
#include "references.c"
#include "servo_law.c"
#if UK_CONTACT_ROWS
#include "standing.c"
#endif
#include "uk_following.h"
#include "uk_resistance.h"
#include "uk_task_kinds.h"

typedef struct { /* what tasks and the law's structure follow, and whether it is the same for all lanes */
  double *tasks[UK_WIDTH], *structure[UK_WIDTH];
  int tasks_alike, structure_alike;
} uk_period_tables;

/* Paths of the first errors, where they do not act at once. */
static void uk_begin_approach(uk_lanes_law *w, uk_lanes t) {
  const uk_lanes zero = uk_all(0.0), one = uk_all(1.0);
  const uk_mask first = w->begun == zero;
  if (!uk_any(first)) return;
  w->begun = one;
  w->begin = uk_pick(first, t, w->begin);
  w->approach_time = uk_pick(first, w->blend_time, w->approach_time);
  const uk_mask blends = first & (w->approach_time > zero);
  const uk_lanes duration = uk_pick(blends, w->approach_time, one);
  UK_EACH(r, uk_any(blends) ? UK_MT : 0) {
    const uk_lanes error = uk_task_position[r] * UK_EQUAL(r) * w->tracking_error[r];
    const uk_lanes rate = uk_task_motion[r] * UK_EQUAL(r) * w->tracking_rate[r];
    const uk_lanes position = uk_all(uk_task_position[r]);
    uk_lanes path[UK_POWERS], *own = w->approach + UK_POWERS * r;
    uk_lanes_path_to_rest(&error, &rate, &position, &duration, path);
    UK_EACH(k, UK_POWERS) own[k] = uk_pick(blends, path[k], own[k]);
  }
}

/* Feedback of errors measured at t, for the time in the memory; they decay from the first one along a
 * path. */
static void uk_desire(const uk_lanes_memory *m, uk_lanes_law *w, uk_lanes t) {
  uk_begin_approach(w, t);
  const uk_lanes zero = uk_all(0.0), now = t - w->begin, ahead = m->t - w->begin;
  const uk_mask blends = now < w->approach_time;
  const int any = uk_any(blends);
  UK_EACH(r, UK_MT) {
    uk_lanes error = w->tracking_error[r], rate = w->tracking_rate[r], acceleration = zero;
    if (any) {
      const uk_lanes position = uk_all(uk_task_position[r]);
      uk_lanes along[3];
      uk_lanes_along_path(w->approach + UK_POWERS * r, &position, &now, &ahead, &w->approach_time, along);
      error -= uk_pick(blends, along[0], zero);
      rate -= uk_pick(blends, along[1], zero);
      acceleration = uk_pick(blends, along[2], zero);
    }
#if UK_ROBUST
    uk_lanes_surface(&error, &rate, w->task_damping + r, w->task_stiffness + r, w->surface + r);
#endif
    w->feedback[r] = -(w->task_damping[r] * rate + w->task_stiffness[r] * error);
    w->desired[r] = w->feedback[r] + acceleration;
#if UK_CORRECTED
    w->desired[r] += w->added[r];
#endif
#if UK_CONTACT_ROWS
    w->feedback[r] *= w->lifted[r];
    w->desired[r] = (w->feedback[r] + acceleration) * w->asked[r];
#endif
  }
}

/* The state for which efforts are made right, half a period ahead; `told` as uk_lanes_measurement says. */
static void uk_predict(uk_lanes_memory *m, uk_lanes_law *w, uk_lanes t, const uk_lanes *q, const uk_lanes *v,
                       uk_lanes *told) {
  const uk_lanes h = 0.5 * w->period;
  uk_lanes both[UK_NV];
#if UK_WATCHES
  uk_lanes bandwidth = uk_all(0.0);
  UK_EACH(r, UK_MT) bandwidth = uk_lanes_larger(bandwidth, w->watch_rate[r]);
#endif
  uk_lanes_measurement(&w->past_known, &w->past_t, &w->acceleration_known, &t, &w->period, told);
  const uk_mask fresh = told[0] != 0.0;
  w->past_known = uk_pick(fresh, uk_all(1.0), w->past_known);
  w->past_t = uk_pick(fresh, t, w->past_t);
  w->acceleration_known = told[2];
  UK_EACH(i, UK_NV) {
    uk_lanes seen[3];
    uk_lanes_predicted(told, v + i, w->past_v + i, w->measured_qdd + i, &h, seen);
    w->measured_qdd[i] = seen[0], w->past_v[i] = seen[1], m->v[i] = seen[2];
    both[i] = v[i] + m->v[i];
#if UK_WATCHES
    uk_lanes left[4], *own = w->smoothed + i;
    uk_lanes_smoothed(told, v + i, own, own + UK_NV, own + 2 * UK_NV, &h, &bandwidth, left);
    UK_EACH(k, 3) own[k * UK_NV] = left[k];
    w->friction_v[i] = left[3];
#endif
  }
  uk_reach(q, 0.5 * h, both, m->q);
  m->t = t + h;
}

/* What the law is asked for at measured states; inputs of the dynamics are those of the states that it is
 * for. Lanes where a reference has no value. */
static uk_mask uk_ask(uk_lanes_memory *m, uk_lanes_law *w, const uk_period_tables *c, uk_lanes t,
                      const uk_lanes *q, const uk_lanes *v) {
  uk_mask failed = uk_follow_lanes(c->tasks, c->tasks_alike, t, UK_MT, w->task_followed);
  if (UK_WIDTH == 1 && uk_any(failed)) return failed; /* nothing begins with such errors */
  uk_lanes_task_errors(t, q, v, w->task_followed UK_P, w->tracking_error, w->tracking_rate);
#if UK_CONTACT_ROWS
  uk_stand(w, t);
#endif
  uk_lanes told[4];
  uk_predict(m, w, t, q, v, told);
#if UK_CORRECTED
  uk_correct(w, told);
#endif
  uk_desire(m, w, t);
  failed |= uk_follow_lanes(c->tasks, c->tasks_alike, m->t, UK_MT, w->task_followed);
#if UK_FOLLOWS
  failed |= uk_follow_lanes(c->structure, c->structure_alike, m->t, UK_M, m->followed);
#endif
  memset(m->tau, 0, sizeof m->tau);
  const uk_mask left = w->friction == 0.0; /* friction is left to the feedback */
  if (UK_WATCHES || uk_any(left)) {
    uk_lanes smooth[UK_NV] = {uk_all(0.0)};
    uk_resist(m, m->tau);
#if UK_WATCHES
    uk_lanes now[UK_NV];
    memcpy(now, m->v, sizeof now);
    memcpy(m->v, w->friction_v, sizeof now);
    uk_resist(m, smooth);
    memcpy(m->v, now, sizeof now);
    UK_EACH(i, UK_NV) smooth[i] -= m->tau[i];
#endif
    UK_EACH(i, UK_NV) m->tau[i] = uk_pick(left, -m->tau[i], smooth[i]);
  }
  m->stabilize = 1.0;
  return failed;
}

/* Intervals of the efforts from a measured velocity to that at the end of the period. */
static void uk_limit_period(const uk_lanes_memory *m, uk_lanes_law *w, const uk_lanes *v, uk_lanes *most) {
  const uk_limits limits = UK_LIMITS_OF(w);
  uk_lanes later[UK_NV];
  UK_EACH(i, UK_NV) later[i] = 2.0 * m->v[i] - v[i];
  uk_limit(&limits, v, later, most);
}

/* Lanes, of some, that hold the last efforts, in a singular configuration: then those are the efforts. */
static uk_mask uk_hold(const uk_lanes_memory *m, uk_lanes_law *w, uk_mask of, uk_lanes *efforts) {
  uk_lanes left[3];
  uk_lanes_passage(&m->rank, &w->regular_rank, &w->periods_held, &w->known_commands, &w->period, left);
  w->regular_rank = uk_pick(of, left[1], w->regular_rank);
  w->periods_held = uk_pick(of, left[2], w->periods_held);
  const uk_mask holds = of & (left[0] != 0.0);
  UK_EACH(j, uk_any(holds) ? UK_MOTORS : 0) {
    const uk_lanes less = uk_pick(w->commands[j] > w->upper[j], w->upper[j], w->commands[j]);
    efforts[j] = uk_pick(holds, uk_lanes_larger(less, w->lower[j]), efforts[j]);
  }
  return holds;
}

#ifdef UK_ONE_STATE

#include "pivoted_law.c"
#if !defined(UK_OF_CLUSTERS)
#include "internal_forces.c"
#endif

/* Forget the past: rate limits count from `efforts`, (UK_NU), or, where it is null, from nothing. */
UK_EXPORT void uk_control_reset(uk_memory *m, const double *efforts) {
  m->past_known = m->acceleration_known = m->begun = m->regular_rank = 0.0;
  memset(m->pushed, 0, sizeof m->pushed);
#if UK_CONTACT_ROWS
  m->contact_told = m->plan_begun = 0.0;
  memset(m->stood, 0, sizeof m->stood);
#endif
  uk_restart(m->commands, &m->known_commands, efforts);
}

#if UK_CONTACT_ROWS
/* Whether the forces of the contacts, of which some do not stand, are inside. */
static int uk_within_pyramids(const uk_memory *m) {
  for (int k = 0; k < UK_CONTACTS; ++k) {
    const double *f = m->efforts + UK_MOTORS + 3 * k;
    if (m->asked[3 * k] == 0.0) continue;
    if (!(fabs(f[1]) + fabs(f[2]) <= m->contact_friction[k] * f[0] && f[0] <= m->contact_most[k])) return 0;
  }
  return 1;
}
#endif

/* Whether the law's answer is the command. */
static int uk_serves(const uk_memory *m, const uk_limits *limits) {
  int reached = 1;
  for (int r = 0; r < UK_MT; ++r)
    reached &= m->reachable[r] != 0.0 && (UK_EQUAL(r) || fabs(m->shortfall[r]) <= UK_MET * m->size[r]);
#if UK_CONTACT_ROWS
  if (!reached || !uk_within_pyramids(m)) return 0;
#endif
  return uk_within(limits, m->efforts) && (reached || (UK_LEVELS == 1 && !UK_BOUNDED));
}

/* Efforts within limits, (UK_MOTORS), where the law has said what it wants at the velocities in the memory;
 * flags may be null. 0, or 4 as below. */
UK_EXPORT int uk_decide(uk_memory *m, const double *v, double *efforts, double *flags) {
  const uk_limits limits = UK_LIMITS_OF(m);
  double most[UK_MOTORS];
  if (flags != NULL) {
    for (int j = 0; j < 2 * UK_MOTORS; ++j) flags[j] = 0.0;
    for (int r = UK_CONTACT_ROWS; r < UK_MT; ++r)
      flags[2 * UK_MOTORS + r - UK_CONTACT_ROWS] = m->reachable[r] == 0.0;
  }
  uk_limit_period(m, m, v, most);
  const int holds = uk_any(uk_hold(m, m, 1, efforts)), serves = holds || uk_serves(m, &limits);
  if (!serves && uk_allocate(m)) return 4;
  if (!holds) memcpy(efforts, serves ? m->efforts : m->limited, sizeof(double) * UK_MOTORS);
  if (!serves && flags != NULL) uk_reasons(&limits, most, efforts, flags);
#if UK_CONTACT_ROWS
  if (serves) memcpy(m->limited, m->efforts, sizeof m->limited);
  if (holds) { /* efforts are not the law's, and its forces may be outside */
    memcpy(m->limited, efforts, sizeof(double) * UK_MOTORS);
    for (int k = 0; k < UK_CONTACTS; ++k)
      uk_into_pyramid(m->limited + UK_MOTORS + 3 * k, m->contact_friction[k], m->contact_most[k]);
  }
#endif
  uk_remember(&limits, efforts);
#if UK_CORRECTED
  uk_note_prediction(m, efforts);
#endif
  return 0;
}

/* Efforts, (UK_NU), for a measured state; flags, (UK_FLAGS), may be null. 0; 1 or 2: there are none,
 * as uk_evaluate says, 3: a reference has no value, 4: the search within limits failed, 5: motors
 * cannot cause the internal forces. The tracking errors are in the memory. Where there are no
 * efforts, the same state may be tried again. */
UK_EXPORT int uk_control(const void *controller, double t, const double *q, const double *v,
                         double *efforts, double *flags) {
  const uk_controller *c = (const uk_controller *)controller;
  const uk_period_tables tables = {{c->tasks}, {c->structure}, 1, 1};
  uk_memory *m = c->memory;
  double preload[UK_NU], total = t;
  for (int i = 0; i < UK_NV; ++i) total += v[i];
  for (int i = 0; i < UK_NQ; ++i) total += q[i];
  if (!isfinite(total)) return UK_NOT_NUMBERS;
  if (uk_ask(m, m, &tables, t, q, v)) return 3;
  memcpy(preload, m->preload, sizeof preload);
  int failed = 0;
#if !defined(UK_OF_CLUSTERS)
  if (m->internal != 0.0) {
    double squeeze[UK_NU];
    uk_lanes_terms(UK_STATE_TERMS);
    failed = uk_internal(m, m->internal_row, m->internal_force, m->internal_unit, squeeze);
    for (int j = 0; j < UK_NU; ++j) m->preload[j] += squeeze[j];
  }
#endif
  if (!failed) failed = uk_law(m, 0);
  memcpy(m->preload, preload, sizeof preload);
  return failed ? failed : uk_decide(m, v, efforts, flags);
}

/* Tracking errors, (count, UK_MT), at measured states; 0, or 3 as above. */
UK_EXPORT int uk_track(const void *controller, long long count, const double *t, const double *q,
                       const double *v, double *errors) {
  const uk_controller *c = (const uk_controller *)controller;
  uk_memory *m = c->memory;
  for (long long k = 0; k < count; ++k) {
    if (uk_follow(c->tasks, t[k], UK_MT, m->task_followed)) return 3;
    uk_lanes_task_errors(t[k], q + k * UK_NQ, v + k * UK_NV, m->task_followed UK_P, errors + k * UK_MT,
                         m->tracking_rate);
  }
  return 0;
}

#endif
