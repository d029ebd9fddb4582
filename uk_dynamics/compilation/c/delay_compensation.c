/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* A law of control in a loop with a delay; see motion.h and control/delay_compensation.py. */
#pragma once

#include "motion.c"
#include "sent_efforts.c"

/* Efforts for a measured state, made for the one in which they act; as uk_control. 5: that state is
 * not to be had. */
UK_EXPORT int uk_compensate_delay(const void *compensation, double t, const double *q, const double *v,
                                  double *efforts, double *flags) {
  uk_delay_compensation *f = (uk_delay_compensation *)compensation;
  uk_memory *m = f->memory;
  uk_motion *c = f->motion;
  const uk_queue sent = {f->sent, f->count};
  uk_kept kept = {.known = 0};
  uk_mask lost;
  uk_leave_past(&sent, t);
  memcpy(c->q, q, sizeof m->q);
  memcpy(c->v, v, sizeof m->v);
  uk_load(m, c);
  m->t = t;
  if (f->delay > f->longest) return 5;
  if (f->delay > 0.0) {
    uk_stepper s = uk_stepper_of(m, c, &kept, &lost);
    s.steps.project = 0;
    if (!uk_go_on(&sent, &s.steps, c->tau, t + f->delay)) return 5;
    if (uk_follow_structure(m, c->followed) || uk_project(m)) return 5;
  }
  const double when = m->t;
  uk_leave_replaced(&sent, when);
  if (*f->count >= f->places) return 5;
  const int failed = f->law(f->controller, when, m->q, m->v, efforts, flags);
  if (failed) return failed;
  memcpy(uk_append(&sent, when), efforts, sizeof(double) * UK_NU);
  return 0;
}
