/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What lanes.c has for one lane, in plain C. */
#pragma once

#include <math.h>

#include "attributes.h"

typedef double uk_lanes;
typedef int uk_mask; /* 1, or 0 */
#define UK_PART(x, lane) (*((void)(lane), &(x)))

static inline uk_lanes uk_all(double x) { return x; }
static inline uk_mask uk_none(void) { return 0; }
static inline uk_mask uk_not(uk_mask mask) { return !mask; }
static inline uk_lanes uk_pick(uk_mask mask, uk_lanes yes, uk_lanes no) { return mask ? yes : no; }
static inline int uk_any(uk_mask mask) { return mask; }
static inline uk_mask uk_lane(int lane) { return lane == 0; }
static inline uk_lanes uk_lanes_fabs(uk_lanes x) { return fabs(x); }
static inline uk_lanes uk_lanes_sqrt(uk_lanes x) { return sqrt(x); }
static inline uk_mask uk_finite(uk_lanes x) { return isfinite(x) != 0; }

static inline void uk_lanes_sincos(uk_lanes x, uk_lanes *sine, uk_lanes *cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}

static inline uk_lanes uk_lanes_atan2(uk_lanes y, uk_lanes x) { return atan2(y, x); }
