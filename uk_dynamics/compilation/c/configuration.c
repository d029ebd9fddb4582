/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Configurations: a number for a joint with one freedom, x y z and a quaternion x y z w for a
 * floating joint, x y and cosine and sine of the angle for a planar one. Velocities of the last two
 * are those of the body in its own frame; see core/integration/fixed_step.py for the charts. */
#pragma once

#include <math.h>
#include <string.h>

#include "uk_configuration.h"
#include "uk_mechanism.h"

#if UK_EUCLIDEAN

/* q at h times the tangent vector w from another; q may stand where that one does. */
static inline void uk_reach(const double *from, double h, const double *w, double *q) {
  for (int i = 0; i < UK_NV; ++i) q[i] = from[i] + h * w[i];
}

/* Rate of the coordinates of the chart around a configuration, h times `rate` away from it, at a
 * velocity; in place of `rate`. */
static inline void uk_chart_rate(double h, const double *v, double *rate) {
  (void)h;
  memcpy(rate, v, sizeof(double) * UK_NV);
}

/* The tangent vector from one configuration to another. */
static inline void uk_way_to(const double *from, const double *to, double *w) {
  for (int i = 0; i < UK_NV; ++i) w[i] = to[i] - from[i];
}

/* Largest part of the way from one configuration to another. */
static inline double uk_farthest(const double *from, const double *to) {
  double largest = 0.0;
  for (int i = 0; i < UK_NV; ++i) {
    const double size = fabs(to[i] - from[i]);
    if (!(size <= largest)) largest = size;
  }
  return largest;
}

#else

#include "free_joint.c"

/* q at h times the tangent vector w from another; q may stand where that one does. */
static inline void uk_reach(const double *from, double h, const double *w, double *q) {
  double motion[6];
  for (int k = 0; k < UK_FREE; ++k) {
    const int *free = uk_free + 3 * k, width = free[0];
    for (int i = 0; i < width; ++i) motion[i] = h * w[free[2] + i];
    if (width == 6) uk_float_along(from + free[1], motion, q + free[1]);
    else uk_plane_along(from + free[1], motion, q + free[1]);
  }
  for (int i = 0; i < UK_NV; ++i)
    if (uk_single[i] >= 0) q[uk_single[i]] = from[uk_single[i]] + h * w[i];
}

/* Rate of the coordinates of the chart around a configuration, h times `rate` away from it, at a
 * velocity; in place of `rate`. */
static inline void uk_chart_rate(double h, const double *v, double *rate) {
  double x[6], y[6], found[6];
  for (int k = 0; k < UK_FREE; ++k) {
    const int *free = uk_free + 3 * k, width = free[0], at = free[2];
    if (width == 6) {
      memcpy(x, rate + at, sizeof x), memcpy(y, v + at, sizeof y);
    } else {
      uk_plane_motion(rate + at, x), uk_plane_motion(v + at, y);
    }
    for (int i = 0; i < 6; ++i) x[i] *= h;
    uk_float_rate(x, y, found);
    if (width == 6) memcpy(rate + at, found, sizeof found);
    else rate[at] = found[0], rate[at + 1] = found[1], rate[at + 2] = found[5];
  }
  for (int i = 0; i < UK_NV; ++i)
    if (uk_single[i] >= 0) rate[i] = v[i];
}

/* The tangent vector from one configuration to another. */
static inline void uk_way_to(const double *from, const double *to, double *w) {
  double a[7], b[7], found[6];
  for (int k = 0; k < UK_FREE; ++k) {
    const int *free = uk_free + 3 * k, q = free[1], at = free[2];
    if (free[0] == 6) {
      uk_float_way(from + q, to + q, w + at);
    } else {
      uk_plane_as_float(from + q, a), uk_plane_as_float(to + q, b);
      uk_float_way(a, b, found);
      w[at] = found[0], w[at + 1] = found[1], w[at + 2] = found[5];
    }
  }
  for (int i = 0; i < UK_NV; ++i)
    if (uk_single[i] >= 0) w[i] = to[uk_single[i]] - from[uk_single[i]];
}

/* Largest part of the way from one configuration to another. */
static inline double uk_farthest(const double *from, const double *to) {
  double largest = 0.0, w[UK_NV];
  uk_way_to(from, to, w);
  for (int i = 0; i < UK_NV; ++i)
    if (!(fabs(w[i]) <= largest)) largest = fabs(w[i]);
  return largest;
}

#endif
