/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Efforts that were sent and act later, and the state in which the next ones will; see
 * control/delay_compensation.py. */
#pragma once

#include "fixed_step.c"
#include "motor_efforts.c"

/* Leave out what no longer acts at t. */
static void uk_leave_past(const uk_queue *sent, double t) {
  long long past = 0;
  while (past + 1 < *sent->count && uk_time_of(sent, past + 1) <= t + UK_SAME_EFFECT) ++past;
  if (past) uk_leave(sent, past);
}

/* Leave out what efforts that take effect then replace before it has. */
static void uk_leave_replaced(const uk_queue *sent, double when) {
  while (*sent->count && uk_time_of(sent, *sent->count - 1) > when - UK_SAME_EFFECT) --*sent->count;
}

/* From the state in the memory on to an instant, a step from each change of the efforts to the next; before the
 * first take effect, at constant velocity. Whether there is a way. */
static int uk_go_on(const uk_queue *sent, uk_lanes_motion *s, const double *others, double end) {
  uk_memory *m = s->m;
  const double *acting = NULL;
  for (long long k = 0; k <= *sent->count; ++k) {
    const double next = k < *sent->count ? uk_time_of(sent, k) : end;
    s->begin = m->t, s->end = next < end ? next : end;
    if (s->end > m->t + UK_SAME_EFFECT) {
      if (acting) {
        uk_add_motors(others, acting, m->tau);
        uk_lanes_step(s, s->end - s->begin);
        if (*s->failed) return 0;
      } else {
        uk_reach(m->q, s->end - s->begin, m->v, m->q);
      }
      m->t = s->end;
    }
    acting = sent->rows + k * UK_QUEUED + 1;
  }
  m->t = end;
  return 1;
}
