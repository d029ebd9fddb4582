/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* From the efforts that a law gives to the forces on the joints: what motors can, and how late efforts act. A
 * lane is a motion. */
#pragma once

#include <string.h>

#include "attributes.h"
#include "uk_config.h"
#include "uk_effort_limit.h"
#include "uk_lanes.h"
#include "uk_motors.h"

/* Lanes in which a motor is at its effort limit, to rounding. */
UK_INLINE uk_mask uk_at_effort_limit(int motor, uk_lanes effort) {
  return uk_lanes_fabs(effort) >= uk_all((1.0 - UK_AT_LIMIT) * uk_effort_limit[motor]);
}

/* Efforts of a law within what motors can, in their place; lanes in which one is no number. */
static UK_OPTIONAL uk_mask uk_limit_to_motors(uk_lanes *efforts) {
  uk_mask missing = uk_none();
  UK_EACH(j, UK_NU) {
    const uk_lanes most = uk_all(uk_effort_limit[j]), effort = efforts[j];
    missing |= uk_not(uk_finite(effort));
    efforts[j] = uk_pick(effort > most, most, uk_pick(effort < -most, -most, effort));
  }
  return missing;
}

/* Forces on the joints: of the motors, and others. */
static void uk_add_motors(const uk_lanes *others, const uk_lanes *efforts, uk_lanes *tau) {
  memcpy(tau, others, sizeof(uk_lanes) * UK_NV);
  UK_EACH(e, UK_DRIVES) tau[uk_drive_joint[e]] += uk_drive_ratio[e] * efforts[uk_drive_motor[e]];
}

typedef struct { /* efforts that do not act yet */
  uk_lanes *rows;   /* (places, UK_QUEUED): when each takes effect, one time for all lanes, and the efforts */
  long long *count; /* how many there are */
} uk_queue;

#define UK_QUEUED (1 + UK_NU)

/* The place for efforts that take effect then, after all others. */
static uk_lanes *uk_append(const uk_queue *late, double when) {
  uk_lanes *row = late->rows + (*late->count)++ * UK_QUEUED;
  *row = uk_all(when);
  return row + 1;
}

static double uk_time_of(const uk_queue *late, long long k) { return UK_PART(late->rows[k * UK_QUEUED], 0); }

/* Leave out the first ones. */
static void uk_leave(const uk_queue *late, long long gone) {
  *late->count -= gone;
  const uk_lanes *left = late->rows + gone * UK_QUEUED;
  UK_EACH(k, UK_QUEUED * (int)*late->count) late->rows[k] = left[k];
}

/* Let efforts act whose time has come. */
static UK_OPTIONAL void uk_take_effect(const uk_queue *late, double now, uk_lanes *acting) {
  long long come = 0;
  while (come < *late->count && uk_time_of(late, come) <= now) ++come;
  if (!come) return;
  memcpy(acting, late->rows + (come - 1) * UK_QUEUED + 1, sizeof(uk_lanes) * UK_NU);
  uk_leave(late, come);
}
