/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Delays in the loop, for programs with motions of their own. `sent`: rows of UK_QUEUED numbers, `count` of them. */
#pragma once

#include "attributes.h"
#include "sent_efforts.c"

static void uk_propagation_stage(uk_lanes_motion *s, int stage, double part) {
  s->m->t = s->begin + part;
  if (stage < 4) uk_lanes_accelerate(s);
}

/* The state in which efforts take effect that are sent now, in the place of the one in the memory. 0, or 1, 2 as
 * uk_evaluate, 3: loops stay open, and the state is lost. */
UK_EXPORT int uk_predict_effect(uk_memory *m, double delay, double *sent, long long *count) {
  const uk_queue queue = {sent, count};
  const double t = m->t, nothing[UK_NV] = {0.0};
  double reason = 0.0;
  uk_kept kept = {.known = 0};
  uk_mask failed = 0;
  uk_lanes_motion s = {1, 0, 0, 0, m, &kept, &failed, &reason, uk_propagation_stage, NULL, {0.0}, t, t};
  m->stabilize = m->forces = 0.0;
  uk_leave_past(&queue, t);
  return uk_go_on(&queue, &s, nothing, t + delay) ? uk_project(m) : (int)reason;
}

/* Remember efforts, (UK_NU), that take effect then; where there are no more `places`, the oldest go. */
UK_EXPORT void uk_send(double when, const double *efforts, long long places, double *sent, long long *count) {
  const uk_queue queue = {sent, count};
  uk_leave_replaced(&queue, when);
  if (*count == places) uk_leave(&queue, 1);
  memcpy(uk_append(&queue, when), efforts, sizeof(double) * UK_NU);
}
