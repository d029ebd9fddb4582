/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Configurations: a number for a joint with one freedom, x y z and a quaternion x y z w for a
 * floating joint, x y and cosine and sine of the angle for a planar one. Velocities of the last two
 * are those of the body in its own frame; see core/integration/fixed_step.py for the charts. */
#pragma once

#include <math.h>
#include <string.h>

#include "uk_configuration.h"
#include "uk_lanes.h"
#include "uk_mechanism.h"

#if UK_FREE_JOINTS

#include "uk_free_joint.h"

#define UK_EACH_FREE(free) for (const int *free = uk_free; free < uk_free + 3 * UK_FREE_JOINTS; free += 3)
#define UK_PLACE(i) uk_single[i] /* in q, of velocity i; -1: it is of a free joint */

/* Place of a free joint as that of a floating one, and back; `width`: 6, or 3 of a planar one. */
static inline void uk_free_place(int width, const double *q, double *place) {
  memset(place, 0, sizeof(double) * 7);
  memcpy(place, q, sizeof(double) * (width == 6 ? 7 : 2));
  if (width == 6) return;
  const double z = q[2] > 0.0 ? q[3] : 1.0 - q[2], w = q[2] > 0.0 ? 1.0 + q[2] : q[3];
  const double size = sqrt(z * z + w * w); /* of the half angle's sine and cosine */
  place[5] = z / size, place[6] = w / size;
}

static inline void uk_take_place(int width, const double *place, double *q) {
  memcpy(q, place, sizeof(double) * (width == 6 ? 7 : 2));
  if (width == 6) return;
  const double z = place[5], w = place[6], size = z * z + w * w;
  q[2] = (w * w - z * z) / size, q[3] = 2.0 * w * z / size;
}

/* Motion of a free joint as that of a floating one, and back. */
static inline void uk_free_motion(int width, const double *w, double *motion) {
  const double turn = width == 6 ? w[5] : w[2];
  memset(motion, 0, sizeof(double) * 6);
  memcpy(motion, w, sizeof(double) * (width == 6 ? 5 : 2));
  motion[5] = turn;
}

static inline void uk_take_motion(int width, const double *motion, double *w) {
  memcpy(w, motion, sizeof(double) * (width == 6 ? 5 : 2));
  w[width == 6 ? 5 : 2] = motion[5];
}

#else

#define UK_PLACE(i) (i)

#endif

/* q at h times the tangent vector w from another; q may stand where that one does. Lanes have no free
 * joints. */
static inline void uk_reach(const uk_lanes *from, uk_lanes h, const uk_lanes *w, uk_lanes *q) {
#if UK_FREE_JOINTS
  UK_EACH_FREE(free) {
    double motion[6], place[7], moved[7];
    uk_free_motion(free[0], w + free[2], motion);
    for (int i = 0; i < 6; ++i) motion[i] *= h;
    uk_free_place(free[0], from + free[1], place);
    uk_float_along(place, motion, moved);
    uk_take_place(free[0], moved, q + free[1]);
  }
#endif
  for (int i = 0; i < UK_NV; ++i)
    if (UK_PLACE(i) >= 0) q[UK_PLACE(i)] = from[UK_PLACE(i)] + h * w[i];
}

/* Rate of the coordinates of the chart around a configuration, h times `rate` away from it, at a
 * velocity; in place of `rate`. */
static inline void uk_chart_rate(double h, const uk_lanes *v, uk_lanes *rate) {
  (void)h;
  for (int i = 0; i < UK_NV; ++i)
    if (UK_PLACE(i) >= 0) rate[i] = v[i];
#if UK_FREE_JOINTS
  UK_EACH_FREE(free) {
    double x[6], y[6], found[6];
    uk_free_motion(free[0], rate + free[2], x), uk_free_motion(free[0], v + free[2], y);
    for (int i = 0; i < 6; ++i) x[i] *= h;
    uk_float_rate(x, y, found);
    uk_take_motion(free[0], found, rate + free[2]);
  }
#endif
}

/* The tangent vector from one configuration to another. */
static inline void uk_way_to(const uk_lanes *from, const uk_lanes *to, uk_lanes *w) {
#if UK_FREE_JOINTS
  UK_EACH_FREE(free) {
    double a[7], b[7], found[6];
    uk_free_place(free[0], from + free[1], a), uk_free_place(free[0], to + free[1], b);
    uk_float_way(a, b, found);
    uk_take_motion(free[0], found, w + free[2]);
  }
#endif
  for (int i = 0; i < UK_NV; ++i)
    if (UK_PLACE(i) >= 0) w[i] = to[UK_PLACE(i)] - from[UK_PLACE(i)];
}

/* Largest part of the difference of two velocities. */
static inline uk_lanes uk_apart(const uk_lanes *v, const uk_lanes *w) {
  uk_lanes left[UK_NV];
  UK_EACH(i, UK_NV) left[i] = v[i] - w[i];
  return uk_largest(left, UK_NV);
}

/* Largest part of the way from one configuration to another. */
static inline uk_lanes uk_farthest(const uk_lanes *from, const uk_lanes *to) {
  uk_lanes w[UK_NV];
  uk_way_to(from, to, w);
  return uk_largest(w, UK_NV);
}
