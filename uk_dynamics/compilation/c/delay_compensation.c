/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* A law of control in a loop with a delay; see motion.h and control/delay_compensation.py. */
#pragma once

#include "motion.c"
#include "uk_motors.h"

/* Efforts for a measured state, made for the one in which they act; as uk_control. 5: that state is
 * not to be had. */
UK_EXPORT int uk_compensate_delay(const void *compensation, double t, const double *q, const double *v,
                                  double *efforts, double *flags) {
  uk_delay_compensation *f = (uk_delay_compensation *)compensation;
  uk_memory *m = f->memory;
  uk_motion *c = f->motion;
  const int width = 1 + UK_NU;
  const double end = t + f->delay;
  long long past = 0;
  while (past + 1 < *f->count && f->sent[(past + 1) * width] <= t + UK_SAME_EFFECT) ++past;
  if (past) uk_leave(f->sent, f->count, past);
  memcpy(c->q, q, sizeof m->q);
  memcpy(c->v, v, sizeof m->v);
  uk_load(m, c);
  m->t = t;
  if (f->delay > f->longest) return 5;
  if (f->delay > 0.0) {
    int known = 0; /* before the first command takes effect, efforts are not */
    for (long long k = 0; k <= *f->count; ++k) {
      const double *next = f->sent + k * width;
      const double until = k < *f->count && *next < end ? *next : end, h = until - m->t;
      if (until > m->t + UK_SAME_EFFECT) {
        if (known) {
          uk_apply(m, c);
          if (uk_fixed_step(m, c, h)) return 5;
        } else {
          uk_reach(m->q, h, m->v, m->q);
        }
        m->t = until;
      }
      if (k == *f->count) break;
      memcpy(c->efforts, next + 1, sizeof(double) * UK_NU);
      known = 1;
    }
    m->t = end;
    if (uk_follow_structure(m, c) || uk_project(m)) return 5;
  }
  const double when = m->t;
  long long kept = *f->count; /* the others are replaced before they take effect */
  while (kept && f->sent[(kept - 1) * width] > when - UK_SAME_EFFECT) --kept;
  if (kept >= f->places) return 5;
  const int failed = f->law(f->controller, when, m->q, m->v, efforts, flags);
  if (failed) return failed;
  f->sent[kept * width] = when;
  memcpy(f->sent + kept * width + 1, efforts, sizeof(double) * UK_NU);
  *f->count = kept + 1;
  return 0;
}
