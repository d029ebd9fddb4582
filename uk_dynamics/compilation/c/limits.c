/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Effort, power and rate limits of the motors as one interval each; see
 * control/limits/motor_limits.py. */
#pragma once

#include <math.h>
#include <string.h>

#include "uk_config.h"
#include "uk_limits.h"
#include "uk_motors.h"

typedef struct { /* (UK_NU) each */
  const double *effort, *power, *step; /* step: largest change in a period */
  double *commanded, *known;           /* last efforts, from which rates count, and whether */
  double *lower, *upper;               /* the intervals */
} uk_limits;

/* Intervals at a velocity, and one expected later (null: none); `most` without the rate. */
static void uk_limit(const uk_limits *l, const double *v, const double *later, double *most) {
  for (int j = 0; j < UK_NU; ++j) {
    double speed = 0.0, then = 0.0;
    for (int i = 0; i < UK_NV; ++i) {
      speed += uk_motors[j][i] * v[i];
      if (later) then += uk_motors[j][i] * later[i];
    }
    speed = fabs(speed), then = fabs(then);
    if (then > speed) speed = then;
    if (speed < UK_SLOWEST) speed = UK_SLOWEST;
    most[j] = l->effort[j];
    if (l->power[j] / speed < most[j]) most[j] = l->power[j] / speed;
    l->upper[j] = most[j], l->lower[j] = -most[j];
    if (!UK_HAS_RATE_LIMITS || *l->known == 0.0) continue;
    const double lower = l->commanded[j] - l->step[j], upper = l->commanded[j] + l->step[j];
    if (lower > l->lower[j]) l->lower[j] = lower < most[j] ? lower : most[j];
    if (upper < l->upper[j]) l->upper[j] = upper > -most[j] ? upper : -most[j];
  }
}

static int uk_within(const uk_limits *l, const double *efforts) {
  int within = 1;
  for (int j = 0; j < UK_NU; ++j) within &= l->lower[j] <= efforts[j] && efforts[j] <= l->upper[j];
  return within;
}

/* Motors at a limit that is not that of the effort. */
static void uk_reasons(const uk_limits *l, const double *most, const double *efforts,
                       double *flags) {
  for (int j = 0; j < UK_NU; ++j) {
    const double lower = l->lower[j], upper = l->upper[j], size = fabs(efforts[j]);
    const double larger = fabs(lower) > fabs(upper) ? fabs(lower) : fabs(upper);
    const double near = isfinite(upper - lower) ? UK_AT_LIMIT * larger : 0.0;
    if (lower + near < efforts[j] && efforts[j] < upper - near) continue;
    if (size < most[j] - near) flags[UK_NU + j] = 1.0;
    else if (most[j] < l->effort[j]) flags[j] = 1.0;
  }
}

static void uk_remember(const uk_limits *l, const double *efforts) {
  if (!UK_HAS_RATE_LIMITS) return;
  *l->known = 1.0;
  memcpy(l->commanded, efforts, sizeof(double) * UK_NU);
}
