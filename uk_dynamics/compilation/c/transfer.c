/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* A law of control whose efforts begin at those of another; see control/servo/servo_modes.py. */
#pragma once

#include <string.h>

#include "attributes.h"
#include "limits.c"
#include "uk_fading.h"
#include "uk_transfer_memory.h"

typedef struct {
  int (*law)(const void *, double t, const double *q, const double *v, double *efforts,
             double *flags);
  const void *controller; /* its first argument */
  uk_transfer_memory *own;
} uk_transfer;

UK_EXPORT int uk_hand_over(const void *transfer, double t, const double *q, const double *v,
                           double *efforts, double *flags) {
  const uk_transfer *c = transfer;
  uk_transfer_memory *w = c->own;
  const uk_limits limits = UK_LIMITS_OF(w);
  double most[UK_NU];
  const int failed = c->law(c->controller, t, q, v, efforts, flags);
  if (failed) return failed;
  if (w->under_way != 0.0 && w->begun == 0.0) {
    w->begun = 1.0, w->begin = t;
    for (int j = 0; j < UK_NU; ++j) w->offset[j] = w->origin[j] - efforts[j];
    uk_restart(w->commands, &w->known_commands, w->origin);
  }
  const double s = w->under_way != 0.0 ? (t - w->begin) / w->duration : 1.0;
  if (s >= 1.0) {
    w->under_way = 0.0;
  } else {
    uk_limit(&limits, v, NULL, most);
    for (int j = 0; j < UK_NU; ++j) {
      const double effort = efforts[j];
      uk_lanes_faded(&effort, w->offset + j, &s, w->lower + j, w->upper + j, efforts + j);
    }
    uk_remember(&limits, efforts);
  }
  w->known_sent = 1.0;
  memcpy(w->sent, efforts, sizeof w->sent);
  return 0;
}
