/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* A law of control whose efforts begin at those of another; see control/servo/period_memory.py. */
#pragma once

#include <string.h>

#include "attributes.h"
#include "limits.c"
#include "uk_fading.h"

typedef struct {
  int (*law)(const void *, double t, const double *q, const double *v, double *efforts,
             double *flags);
  const void *controller;          /* its first argument */
  long long under_way, begun;      /* whether an offset fades; whether it is known */
  double begin, duration;          /* s */
  double *from, *offset, *sent;    /* (UK_NU): efforts to begin at; what fades; last ones */
  double *known;                   /* whether there were last ones */
  uk_limits limits;                /* of the sum */
} uk_transfer;

UK_EXPORT int uk_hand_over(const void *transfer, double t, const double *q, const double *v,
                           double *efforts, double *flags) {
  uk_transfer *c = (uk_transfer *)transfer;
  double most[UK_NU];
  const int failed = c->law(c->controller, t, q, v, efforts, flags);
  if (failed) return failed;
  if (c->under_way && !c->begun) {
    c->begun = 1, c->begin = t;
    for (int j = 0; j < UK_NU; ++j) c->offset[j] = c->from[j] - efforts[j];
    uk_restart(c->limits.past, c->limits.known, c->from);
  }
  const double s = c->under_way ? (t - c->begin) / c->duration : 1.0;
  if (s >= 1.0) {
    c->under_way = 0;
  } else {
    uk_limit(&c->limits, v, NULL, most);
    for (int j = 0; j < UK_NU; ++j) {
      const double effort = efforts[j];
      uk_lanes_faded(&effort, c->offset + j, &s, c->limits.lower + j, c->limits.upper + j, efforts + j);
    }
    uk_remember(&c->limits, efforts);
  }
  *c->known = 1.0;
  memcpy(c->sent, efforts, sizeof most);
  return 0;
}
