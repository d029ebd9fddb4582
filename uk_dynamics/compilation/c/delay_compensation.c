/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* A law of control in a loop with a delay; see motion.h and control/delay_compensation.py. */
#pragma once

#include "motion.c"

/* Efforts for a measured state, made for the one in which they act; as uk_control. 5: that state is
 * not to be had. */
UK_EXPORT int uk_compensate_delay(const void *compensation, double t, const double *q, const double *v,
                                  double *efforts, double *flags) {
  uk_delay_compensation *f = (uk_delay_compensation *)compensation;
  uk_memory *m = f->memory;
  uk_motion *c = f->motion;
  const uk_queue sent = {f->sent, f->count};
  const double end = t + f->delay;
  long long past = 0;
  uk_kept kept = {.known = 0};
  while (past + 1 < *f->count && uk_time_of(&sent, past + 1) <= t + UK_SAME_EFFECT) ++past;
  if (past) uk_leave(&sent, past);
  memcpy(c->q, q, sizeof m->q);
  memcpy(c->v, v, sizeof m->v);
  uk_load(m, c);
  m->t = t;
  if (f->delay > f->longest) return 5;
  if (f->delay > 0.0) {
    int known = 0; /* before the first command takes effect, efforts are not */
    for (long long k = 0; k <= *f->count; ++k) {
      const double next = k < *f->count ? uk_time_of(&sent, k) : end, until = next < end ? next : end;
      if (until > m->t + UK_SAME_EFFECT) {
        if (known) {
          uk_mask failed;
          uk_stepper s = uk_stepper_of(m, c, &kept, &failed);
          s.steps.project = 0;
          uk_apply(m, c);
          uk_lanes_step(&s.steps, until - m->t);
          if (failed) return 5;
        } else {
          uk_reach(m->q, until - m->t, m->v, m->q);
        }
        m->t = until;
      }
      if (k == *f->count) break;
      memcpy(c->efforts, sent.rows + k * UK_QUEUED + 1, sizeof(double) * UK_NU);
      known = 1;
    }
    m->t = end;
    if (uk_follow_structure(m, c) || uk_project(m)) return 5;
  }
  const double when = m->t;
  /* the others are replaced before they take effect */
  while (*f->count && uk_time_of(&sent, *f->count - 1) > when - UK_SAME_EFFECT) --*f->count;
  if (*f->count >= f->places) return 5;
  const int failed = f->law(f->controller, when, m->q, m->v, efforts, flags);
  if (failed) return failed;
  memcpy(uk_append(&sent, when), efforts, sizeof(double) * UK_NU);
  return 0;
}
