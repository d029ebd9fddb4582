/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Limits of the motors as one interval of each effort, by the rule that is traced from
 * core/servo/effort_bounds.py. */
#pragma once

#include <math.h>
#include <string.h>

#include "uk_config.h"
#include "uk_limits.h"
#include "uk_motors.h"

typedef struct {
  const double *limits;  /* (UK_LIMITS, UK_NU): as core/servo/effort_bounds.py has them */
  double *past, *known;  /* (UK_PAST, UK_NU): last commands, and whether there are any */
  double *lower, *upper; /* (UK_NU): the intervals */
} uk_limits;

/* Intervals at a velocity, and one expected later (null: none); `most` from effort and power. */
static void uk_limit(const uk_limits *l, const double *v, const double *later, double *most) {
  for (int j = 0; j < UK_NU; ++j) {
    double limits[UK_LIMITS], past[UK_PAST], bounds[3], speed = 0.0, then = 0.0;
    for (int i = 0; i < UK_NV; ++i) {
      speed += uk_motors[j][i] * v[i];
      if (later) then += uk_motors[j][i] * later[i];
    }
    if (fabs(then) > fabs(speed)) speed = then;
    for (int k = 0; k < UK_LIMITS; ++k) limits[k] = l->limits[k * UK_NU + j];
    for (int k = 0; k < UK_PAST; ++k) past[k] = l->past[k * UK_NU + j];
    uk_effort_bounds(limits, past, l->known, &speed, bounds);
    l->lower[j] = bounds[0], l->upper[j] = bounds[1], most[j] = bounds[2];
  }
}

/* Limits of derivatives count from `efforts`, at rest, or, where it is null, from nothing. */
static void uk_restart(double *past, double *known, const double *efforts) {
  *known = efforts != NULL;
  for (int k = 0; k < UK_PAST * UK_NU; ++k) past[k] = efforts != NULL && k < UK_NU ? efforts[k] : 0.0;
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
    else if (most[j] < l->limits[j]) flags[j] = 1.0;
  }
}

static void uk_remember(const uk_limits *l, const double *efforts) {
  for (int j = 0; j < UK_NU; ++j) {
    double past[UK_PAST], left[UK_PAST];
    for (int k = 0; k < UK_PAST; ++k) past[k] = l->past[k * UK_NU + j];
    uk_remembered(past, l->known, efforts + j, left);
    for (int k = 0; k < UK_PAST; ++k) l->past[k * UK_NU + j] = left[k];
  }
  *l->known = 1.0;
}
