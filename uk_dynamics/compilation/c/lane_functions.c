/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Functions of any number of lanes. */
#pragma once

#include "attributes.h"
#include "uk_lanes.h"

#define UK_ROWS (UK_M > 0 ? UK_M : 1) /* C knows no empty arrays */
#define UK_MOST_GROUPS (UK_WIDTH > 1 ? 2 : 1) /* vectors of states that move together */
#ifndef UK_EACH
#define UK_EACH(i, n) for (int i = 0; i < (n); ++i)
#endif

static inline uk_lanes uk_lanes_larger(uk_lanes x, uk_lanes y) { return uk_pick(x > y, x, y); }

/* x . y of n numbers. */
UK_INLINE uk_lanes uk_dot(const uk_lanes *x, const uk_lanes *y, int n) {
  uk_lanes sum = uk_all(0.0);
  UK_EACH(i, n) sum += x[i] * y[i];
  return sum;
}

/* y += a x */
UK_INLINE void uk_add(uk_lanes *restrict y, uk_lanes a, const uk_lanes *restrict x, int n) {
  UK_EACH(i, n) y[i] += a * x[i];
}

/* A number where all of them are. */
UK_INLINE uk_lanes uk_total(const uk_lanes *x, int n) {
  uk_lanes sum = uk_all(0.0);
  UK_EACH(i, n) sum += x[i];
  return sum;
}

/* The largest size; not a number stays one. */
UK_INLINE uk_lanes uk_largest(const uk_lanes *x, int n) {
  uk_lanes largest = uk_all(0.0);
  UK_EACH(i, n) {
    const uk_lanes size = uk_lanes_fabs(x[i]);
    largest = uk_pick((size <= largest) | (largest != largest), largest, size);
  }
  return largest;
}

/* Functions that have no vector form here, lane by lane. */
#define UK_LANE_BY_LANE(name)                                      \
  static inline uk_lanes uk_lanes_##name(uk_lanes x) {             \
    for (int l = 0; l < UK_WIDTH; ++l) UK_PART(x, l) = name(UK_PART(x, l));          \
    return x;                                                      \
  }
#define UK_LANE_BY_LANE_2(name)                                    \
  static inline uk_lanes uk_lanes_##name(uk_lanes x, uk_lanes y) { \
    for (int l = 0; l < UK_WIDTH; ++l) UK_PART(x, l) = name(UK_PART(x, l), UK_PART(y, l));    \
    return x;                                                      \
  }
UK_LANE_BY_LANE(tan)
UK_LANE_BY_LANE(sinh)
UK_LANE_BY_LANE(cosh)
UK_LANE_BY_LANE(tanh)
UK_LANE_BY_LANE(exp)
UK_LANE_BY_LANE(log)
UK_LANE_BY_LANE(asin)
UK_LANE_BY_LANE(acos)
UK_LANE_BY_LANE(nearbyint)
UK_LANE_BY_LANE_2(pow)

static inline uk_lanes uk_lanes_atan(uk_lanes x) { return uk_lanes_atan2(x, uk_all(1.0)); }

/* A number of a table at an index, which is whole; NAN beside it. */
static inline double uk_lookup(const double *table, int count, double index) {
  return index >= 0.0 && index < count ? table[(int)index] : NAN;
}

static inline uk_lanes uk_lanes_lookup(const double *table, int count, uk_lanes index) {
  for (int l = 0; l < UK_WIDTH; ++l) UK_PART(index, l) = uk_lookup(table, count, UK_PART(index, l));
  return index;
}
