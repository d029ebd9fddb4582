/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* States into lanes and back. */
#pragma once

#include <stddef.h>
#include <string.h>

#include "attributes.h"
#include "uk_lanes.h"

/* Vectors of n entries of states that stand one after the other; where there are fewer states than
 * lanes, the last one stands in the others as well. Of all states two entries are turned at a time,
 * in an odd number the last two overlap. */
static inline void uk_load_lanes(uk_lanes *to, const double *from, int n, int lanes) {
#if UK_WIDTH > 2
  if (lanes == UK_WIDTH && n > 1) {
    for (int next = 0; next < n; next += 2) {
      const int i = next < n - 1 ? next : n - 2;
      uk_interleave(uk_pairs(from + i, 2 * n), uk_pairs(from + n + i, 2 * n), to + i, to + i + 1);
    }
    return;
  }
#endif
  UK_EACH(l, UK_WIDTH) {
    const double *state = from + (l < lanes ? l : lanes - 1) * n;
    UK_EACH(i, n) UK_PART(to[i], l) = state[i];
  }
}

/* Entries to states that stand `stride` doubles apart. */
static inline void uk_store_part(double *to, const uk_lanes *from, int n, long long stride,
                                 int lanes) {
#if UK_WIDTH > 2
  if (lanes == UK_WIDTH && n > 1) {
    for (int next = 0; next < n; next += 2) {
      const int i = next < n - 1 ? next : n - 2;
      uk_lanes even, odd;
      uk_interleave(from[i], from[i + 1], &even, &odd);
      uk_store_pairs(to + i, 2 * (int)stride, even);
      uk_store_pairs(to + stride + i, 2 * (int)stride, odd);
    }
    return;
  }
#endif
  UK_EACH(l, lanes) UK_EACH(i, n) to[l * stride + i] = UK_PART(from[i], l);
}

static inline void uk_store_one(double *to, uk_lanes from, long long first, int lanes) {
  if (lanes == UK_WIDTH) memcpy(to + first, &from, sizeof from);
  else UK_EACH(l, lanes) to[first + l] = UK_PART(from, l);
}

static inline void uk_store(double *to, const uk_lanes *from, int n, long long first, int lanes) {
  if (to == NULL) return;
  if (n == 1) uk_store_one(to, *from, first, lanes);
  else uk_store_part(to + first * n, from, n, n, lanes);
}

/* States that are evaluated together. */
UK_EXPORT int uk_width(void) { return UK_WIDTH; }
