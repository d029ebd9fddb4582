/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What rows follow over time, from a table of numbers that compilation/runtime/reference_table.py
 * writes: how many entries, then each with its kind, number of rows, first row, length, and data. A
 * table belongs to one caller: expressions keep their values in it. */
#pragma once

#include <math.h>
#include <stddef.h>

#include "attributes.h"
#include "uk_config.h"
#include "uk_following.h"
#include "uk_lanes.h"
#include "uk_mechanism.h"

/* Value, rate and acceleration of polynomials, behind one another, each where its time has come. */
static void uk_polynomials(const double *data, double t, int rows, double *value, double *rate,
                           double *bend) {
  const int beyond = (int)data[0], pieces = (int)data[1], terms = (int)data[2];
  const double *knots = data + 3, *first = knots + pieces + 1, *last = first + rows;
  const double *coefficients = last + rows, begin = knots[0], end = knots[pieces];
  if (beyond == UK_REPEATS) {
    t -= begin;
    t = begin + (t - (end - begin) * floor(t / (end - begin)));
  } else if (beyond != UK_GOES_ON) {
    const double *held = t < begin ? first : t > end || (beyond == UK_RESTS && t == end) ? last : 0;
    if (held) {
      for (int r = 0; r < rows; ++r) value[r] = held[r], rate[r] = bend[r] = 0.0;
      return;
    }
  }
  int low = 0, high = pieces;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (t < knots[middle]) high = middle;
    else low = middle;
  }
  const double s = t - knots[low], *c = coefficients + low * terms * rows;
  for (int r = 0; r < rows; ++r) {
    double x = 0.0, dx = 0.0, ddx = 0.0;
    for (int k = terms - 1; k >= 0; --k) {
      ddx = ddx * s + 2.0 * dx;
      dx = dx * s + x;
      x = x * s + c[k * rows + r];
    }
    value[r] = x, rate[r] = dx, bend[r] = ddx;
  }
}

/* Expressions of t: constants, then instructions, each of which makes the next value. */
static void uk_expressions(double *data, double t, int rows, double *value, double *rate,
                           double *bend) {
  const int constants = (int)data[0], count = (int)data[1];
  const double *place = data + 2, *code = place + 3 * rows;
  double *x = (double *)code + 4 * count, *out = x + 1 + constants;
  x[0] = t;
  for (int k = 0; k < count; ++k, code += 4, ++out) {
    const double a = x[(int)code[1]], b = x[(int)code[2]], c = x[(int)code[3]];
    switch ((int)code[0]) {
      UK_OPERATIONS(*out, a, b, c)
    }
  }
  for (int r = 0; r < rows; ++r) {
    value[r] = x[(int)place[r]];
    rate[r] = x[(int)place[rows + r]];
    bend[r] = x[(int)place[2 * rows + r]];
  }
}

/* Values, rates and accelerations of `count` rows at time t; zero where a table, or its null, says
 * nothing. 0, or 1: something is not finite. */
static inline int uk_follow(double *table, double t, int count, double *values) {
  for (int i = 0; i < 3 * count; ++i) values[i] = 0.0;
  if (table == NULL) return 0;
  double *entry = table + 1, sum = 0.0;
  for (int k = 0; k < (int)table[0]; ++k, entry += (int)entry[3]) {
    const int rows = (int)entry[1];
    double *data = entry + UK_REFERENCE_HEAD, *value = values + (int)entry[2];
    double *rate = value + count, *bend = rate + count;
    switch ((int)entry[0]) {
      case UK_SAMPLE:
        for (int r = 0; r < rows; ++r)
          value[r] = data[r], rate[r] = data[rows + r], bend[r] = data[2 * rows + r];
        break;
      case UK_SINUSOID:
        for (int r = 0; r < rows; ++r) {
          const double omega = data[2 * rows + r], angle = omega * t + data[3 * rows + r];
          const double swing = data[rows + r] * sin(angle);
          value[r] = data[r] + swing;
          rate[r] = data[rows + r] * omega * cos(angle);
          bend[r] = -omega * omega * swing;
        }
        break;
      case UK_POLYNOMIALS: uk_polynomials(data, t, rows, value, rate, bend); break;
      default: uk_expressions(data, t, rows, value, rate, bend); break; /* UK_EXPRESSIONS */
    }
    for (int r = 0; r < rows; ++r) sum += value[r] + rate[r] + bend[r];
  }
  return !isfinite(sum);
}

/* The same at many times, (times, 3 count). */
UK_EXPORT int uk_follow_times(long long times, long long count, double *table, const double *t, double *values) {
  int failed = 0;
  for (long long k = 0; k < times; ++k) failed |= uk_follow(table, t[k], (int)count, values + 3 * count * k);
  return failed;
}

#ifdef UK_ONE_STATE
/* What rows of the structure follow at the time in the memory, from a table; null: zero. 0, or 1: it has no value. */
static UK_OPTIONAL int uk_follow_structure(uk_memory *m, double *table) {
#if UK_FOLLOWS
  return uk_follow(table, m->t, UK_M, m->followed);
#else
  (void)m, (void)table;
  return 0;
#endif
}
#endif

/* The same for lanes with tables of their own, at times of their own, or of one table and one time; lanes
 * where something is not finite. */
static UK_OPTIONAL uk_mask uk_follow_lanes(double *const *tables, int alike, uk_lanes t, int count,
                                           uk_lanes *to) {
#if UK_WIDTH == 1
  (void)alike;
  return uk_follow(*tables, t, count, to) != 0;
#else
  uk_mask failed = uk_none();
  double values[3 * count];
  UK_EACH(l, alike ? 1 : UK_WIDTH) {
    if (uk_follow(tables[l], UK_PART(t, l), count, values)) failed |= alike ? uk_not(uk_none()) : uk_lane(l);
    if (alike) UK_EACH(i, 3 * count) to[i] = uk_all(values[i]);
    else UK_EACH(i, 3 * count) UK_PART(to[i], l) = values[i];
  }
  return failed;
#endif
}
