/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What lanes.c has, for a vector of one state: in C++, whose operators make masks of comparisons.
 * For the threads of a GPU, each of which has a state. */
#pragma once

#include "uk_mechanism.h"

#define UK_ROWS (UK_M > 0 ? UK_M : 1) /* C knows no empty arrays */
#define UK_WIDTH 1
#define UK_STATE_A_THREAD
#define UK_EACH(i, n) for (int i = 0; i < (n); ++i)
#define restrict __restrict__
#ifndef NAN
#define NAN (0.0 / 0.0)
#endif
#ifndef INFINITY
#define INFINITY (1.0 / 0.0)
#endif
#ifndef NULL
#define NULL 0
#endif
#ifdef __CUDACC_RTC__
static inline int memcmp(const void *a, const void *b, size_t size) {
  const char *x = (const char *)a, *y = (const char *)b;
  for (size_t i = 0; i < size; ++i)
    if (x[i] != y[i]) return 1;
  return 0;
}
#endif

struct uk_lanes {
  double x;
  uk_lanes() = default;
  uk_lanes(double number) : x(number) {}
  explicit uk_lanes(struct uk_mask mask); /* that is kept with numbers */
  double &operator[](int) { return x; }
  double operator[](int) const { return x; }
  uk_lanes &operator+=(uk_lanes y) { x += y.x; return *this; }
  uk_lanes &operator-=(uk_lanes y) { x -= y.x; return *this; }
  uk_lanes &operator*=(uk_lanes y) { x *= y.x; return *this; }
  uk_lanes &operator/=(uk_lanes y) { x /= y.x; return *this; }
};

struct uk_mask {
  bool set;
  uk_mask() = default;
  explicit uk_mask(bool yes) : set(yes) {}
  explicit uk_mask(uk_lanes kept) : set(kept.x != 0.0) {}
  uk_mask &operator|=(uk_mask y) { set |= y.set; return *this; }
  uk_mask &operator&=(uk_mask y) { set &= y.set; return *this; }
};

inline uk_lanes::uk_lanes(uk_mask mask) : x(mask.set) {}

static inline uk_lanes operator+(uk_lanes a, uk_lanes b) { return a.x + b.x; }
static inline uk_lanes operator-(uk_lanes a, uk_lanes b) { return a.x - b.x; }
static inline uk_lanes operator*(uk_lanes a, uk_lanes b) { return a.x * b.x; }
static inline uk_lanes operator/(uk_lanes a, uk_lanes b) { return a.x / b.x; }
static inline uk_lanes operator-(uk_lanes a) { return -a.x; }
static inline uk_lanes operator+(uk_lanes a) { return a; }
static inline uk_mask operator<(uk_lanes a, uk_lanes b) { return uk_mask(a.x < b.x); }
static inline uk_mask operator>(uk_lanes a, uk_lanes b) { return uk_mask(a.x > b.x); }
static inline uk_mask operator<=(uk_lanes a, uk_lanes b) { return uk_mask(a.x <= b.x); }
static inline uk_mask operator>=(uk_lanes a, uk_lanes b) { return uk_mask(a.x >= b.x); }
static inline uk_mask operator==(uk_lanes a, uk_lanes b) { return uk_mask(a.x == b.x); }
static inline uk_mask operator!=(uk_lanes a, uk_lanes b) { return uk_mask(a.x != b.x); }
static inline uk_mask operator&(uk_mask a, uk_mask b) { return uk_mask(a.set && b.set); }
static inline uk_mask operator|(uk_mask a, uk_mask b) { return uk_mask(a.set || b.set); }
static inline uk_mask operator~(uk_mask a) { return uk_mask(!a.set); }

static inline uk_lanes uk_all(double x) { return x; }
static inline uk_lanes uk_pick(uk_mask mask, uk_lanes yes, uk_lanes no) { return mask.set ? yes : no; }
static inline int uk_any(uk_mask mask) { return mask.set; }
static inline uk_mask uk_lane(int) { return uk_mask(true); }
static inline uk_mask uk_finite(uk_lanes x) { return uk_mask(isfinite(x.x)); }
static inline uk_lanes uk_lanes_larger(uk_lanes a, uk_lanes b) { return a.x > b.x ? a : b; }
static inline uk_lanes uk_lanes_sqrt(uk_lanes a) { return sqrt(a.x); }
static inline uk_lanes uk_lanes_fabs(uk_lanes a) { return fabs(a.x); }
static inline void uk_lanes_sincos(uk_lanes a, uk_lanes *sine, uk_lanes *cosine) {
  sincos(a.x, &sine->x, &cosine->x);
}

#define UK_OF_ONE(name) \
  static inline uk_lanes uk_lanes_##name(uk_lanes a) { return name(a.x); }
#define UK_OF_TWO(name) \
  static inline uk_lanes uk_lanes_##name(uk_lanes a, uk_lanes b) { return name(a.x, b.x); }
UK_OF_ONE(tan)
UK_OF_ONE(sinh)
UK_OF_ONE(cosh)
UK_OF_ONE(tanh)
UK_OF_ONE(exp)
UK_OF_ONE(log)
UK_OF_ONE(asin)
UK_OF_ONE(acos)
UK_OF_ONE(atan)
UK_OF_TWO(atan2)
UK_OF_TWO(pow)
