/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Limits of the motors as one interval of each effort, by the rule that is traced from
 * core/servo/motor_limits_rule.py. A lane is a state. */
#pragma once

#include <stddef.h>

#include "uk_config.h"
#include "uk_limits.h"
#include "uk_motors.h"

typedef struct {
  const uk_lanes *limits;  /* (UK_LIMITS, UK_MOTORS): as core/servo/motor_limits_rule.py has them */
  uk_lanes *past, *known;  /* (UK_PAST, UK_MOTORS): last commands, and whether there are any */
  uk_lanes *lower, *upper; /* (UK_MOTORS): the intervals */
} uk_limits;

/* In the memory of a law. */
#define UK_LIMITS_OF(w) {(w)->limits, (w)->commands, &(w)->known_commands, (w)->lower, (w)->upper}

/* Intervals at a velocity, and one expected later (null: none); `most` from effort and power. */
static void uk_limit(const uk_limits *l, const uk_lanes *v, const uk_lanes *later, uk_lanes *most) {
  uk_lanes now[UK_MOTORS], then[UK_MOTORS];
  UK_EACH(j, UK_MOTORS) now[j] = then[j] = uk_all(0.0);
  UK_EACH(e, UK_DRIVES) {
    now[uk_drive_motor[e]] += uk_drive_ratio[e] * v[uk_drive_joint[e]];
    if (later) then[uk_drive_motor[e]] += uk_drive_ratio[e] * later[uk_drive_joint[e]];
  }
  UK_EACH(j, UK_MOTORS) {
    uk_lanes limits[UK_LIMITS], past[UK_PAST], bounds[3];
    UK_EACH(k, UK_LIMITS) limits[k] = l->limits[k * UK_MOTORS + j];
    UK_EACH(k, UK_PAST) past[k] = l->past[k * UK_MOTORS + j];
    uk_lanes_effort_bounds(limits, past, l->known, now + j, then + j, bounds);
    l->lower[j] = bounds[0], l->upper[j] = bounds[1], most[j] = bounds[2];
  }
}

static uk_mask uk_within(const uk_limits *l, const uk_lanes *efforts) {
  uk_mask within = uk_not(uk_none());
  UK_EACH(j, UK_MOTORS) within &= (l->lower[j] <= efforts[j]) & (efforts[j] <= l->upper[j]);
  return within;
}

static void uk_remember(const uk_limits *l, const uk_lanes *efforts) {
  UK_EACH(j, UK_MOTORS) {
    uk_lanes past[UK_PAST], left[UK_PAST];
    UK_EACH(k, UK_PAST) past[k] = l->past[k * UK_MOTORS + j];
    uk_lanes_remembered(past, l->known, efforts + j, left);
    UK_EACH(k, UK_PAST) l->past[k * UK_MOTORS + j] = left[k];
  }
  *l->known = uk_all(1.0);
}

#ifdef UK_ONE_STATE

/* Limits of derivatives count from `efforts`, at rest, or, where it is null, from nothing. */
static void uk_restart(double *past, double *known, const double *efforts) {
  *known = efforts != NULL;
  for (int k = 0; k < UK_PAST * UK_MOTORS; ++k) past[k] = efforts != NULL && k < UK_MOTORS ? efforts[k] : 0.0;
}

/* Motors at a limit that is not that of the effort. */
static void uk_reasons(const uk_limits *l, const double *most, const double *efforts, double *flags) {
  for (int j = 0; j < UK_MOTORS; ++j) {
    const double lower = l->lower[j], upper = l->upper[j], size = fabs(efforts[j]);
    const double larger = fabs(lower) > fabs(upper) ? fabs(lower) : fabs(upper);
    const double near = isfinite(upper - lower) ? UK_AT_LIMIT * larger : 0.0;
    if (lower + near < efforts[j] && efforts[j] < upper - near) continue;
    if (size < most[j] - near) flags[UK_MOTORS + j] = 1.0;
    else if (most[j] < l->limits[j]) flags[j] = 1.0;
  }
}

#endif
