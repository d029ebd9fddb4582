/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Places of floating joints, x y z and a quaternion x y z w, and of planar ones, x y and cosine and
 * sine of the angle; their motions are those of the body in its own frame. */
#pragma once

#include <math.h>
#include <string.h>

#include "uk_config.h"

#define UK_LITTLE 1e-3 /* rad: what is left out of series below it is less than rounding */

static inline void uk_cross(const double *a, const double *b, double *c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

/* A vector turned by a unit quaternion, or, for sign -1, turned back. */
static inline void uk_turned(const double *quaternion, double sign, const double *a, double *b) {
  const double u[3] = {sign * quaternion[0], sign * quaternion[1], sign * quaternion[2]};
  double once[3], twice[3];
  uk_cross(u, a, once);
  for (int i = 0; i < 3; ++i) once[i] += quaternion[3] * a[i];
  uk_cross(u, once, twice);
  for (int i = 0; i < 3; ++i) b[i] = a[i] + 2.0 * twice[i];
}

/* A floating joint, after the motion w in its own frame. */
static inline void uk_float_along(const double *from, const double *w, double *q) {
  const double *turn = w + 3;
  const double square = turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2];
  const double angle = sqrt(square);
  const int little = angle < UK_LITTLE;
  const double s = little ? 0.5 - square / 48.0 : sin(0.5 * angle) / angle;
  const double a = little ? 0.5 - square / 24.0 : (1.0 - cos(angle)) / square;
  const double b = little ? 1.0 / 6.0 - square / 120.0 : (angle - sin(angle)) / (angle * square);
  const double c = cos(0.5 * angle), v[3] = {s * turn[0], s * turn[1], s * turn[2]};
  double once[3], twice[3], way[3], moved[3], turned[4], u[4];
  uk_cross(turn, w, once);
  uk_cross(turn, once, twice);
  for (int i = 0; i < 3; ++i) way[i] = w[i] + a * once[i] + b * twice[i];
  memcpy(u, from + 3, sizeof u);
  uk_turned(u, 1.0, way, moved);
  for (int i = 0; i < 3; ++i) q[i] = from[i] + moved[i];
  uk_cross(u, v, turned);
  for (int i = 0; i < 3; ++i) turned[i] += u[3] * v[i] + c * u[i];
  turned[3] = u[3] * c - (u[0] * v[0] + u[1] * v[1] + u[2] * v[2]);
  const double size = sqrt(turned[0] * turned[0] + turned[1] * turned[1] + turned[2] * turned[2] +
                           turned[3] * turned[3]);
  for (int i = 0; i < 4; ++i) q[3 + i] = turned[i] / size;
}

/* The bracket [x, y] of motions of a floating joint. */
static inline void uk_bracket(const double *x, const double *y, double *found) {
  double more[3];
  uk_cross(x + 3, y, found);
  uk_cross(x, y + 3, more);
  for (int i = 0; i < 3; ++i) found[i] += more[i];
  uk_cross(x + 3, y + 3, found + 3);
}

/* The inverse of the tangent of the exponential at x, of v: v + [x, v]/2 + [x, [x, v]]/12 - ...,
 * whose brackets from the fifth on are sums of the second and fourth. */
static inline void uk_float_rate(const double *x, const double *v, double *rate) {
  const double s = x[3] * x[3] + x[4] * x[4] + x[5] * x[5], angle = sqrt(s);
  double two, four, power[4][6];
  if (angle < UK_CHART_SERIES_BELOW) { /* to rounding */
    two = 1.0 / 12.0 - s * s * (1.0 / 30240.0 + s * (1.0 / 604800.0 + s / 15966720.0));
    four = -1.0 / 720.0 - s * (1.0 / 15120.0 + s * (1.0 / 403200.0 + s / 11975040.0));
  } else {
    const double flat = s / (1.0 - cos(angle)), cot = angle / tan(0.5 * angle);
    two = (8.0 - flat - 3.0 * cot) / (4.0 * s);
    four = (4.0 - flat - cot) / (4.0 * s * s);
  }
  for (int k = 0; k < 4; ++k) uk_bracket(x, k ? power[k - 1] : v, power[k]);
  for (int i = 0; i < 6; ++i)
    rate[i] = v[i] + 0.5 * power[0][i] + two * power[1][i] + four * power[3][i];
}

/* The motion in its own frame that leads a floating joint from one place to another. */
static inline void uk_float_way(const double *from, const double *to, double *w) {
  const double *a = from + 3, *b = to + 3;
  const double back[3] = {-a[0], -a[1], -a[2]};
  const double apart[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
  double way[3], u[3], once[3], twice[3];
  uk_turned(a, -1.0, apart, way);
  uk_cross(back, b, u);
  for (int i = 0; i < 3; ++i) u[i] += a[3] * b[i] + b[3] * back[i];
  const double size = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  const double c = a[3] * b[3] - (back[0] * b[0] + back[1] * b[1] + back[2] * b[2]);
  const double half = c < 0.0 ? atan2(-size, -c) : atan2(size, c), angle = 2.0 * half;
  const int little = fabs(angle) < UK_LITTLE;
  const double stretch = size > 0.0 ? angle / size : 2.0, s = angle * angle;
  const double d = little ? 1.0 / 12.0 + s / 720.0 : (1.0 - half / tan(half)) / s;
  for (int i = 0; i < 3; ++i) w[3 + i] = stretch * u[i];
  uk_cross(w + 3, way, once);
  uk_cross(w + 3, once, twice);
  for (int i = 0; i < 3; ++i) w[i] = way[i] - 0.5 * once[i] + d * twice[i];
}

/* Place of a free joint as that of a floating one, and back; `width`: 6, or 3 of a planar one. */
static inline void uk_free_place(int width, const double *q, double *place) {
  memset(place, 0, sizeof(double) * 7);
  memcpy(place, q, sizeof(double) * (width == 6 ? 7 : 2));
  if (width == 6) return;
  const double half = 0.5 * atan2(q[3], q[2]);
  place[5] = sin(half), place[6] = cos(half);
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
