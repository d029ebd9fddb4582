/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Multipliers of least norm, by combinations of rows that vanish, or all that do not. A lane is a state. */
#pragma once

#include "uk_config.h"
#include "uk_lanes.h"

/* Make rows of m numbers orthonormal: Gram-Schmidt, twice. */
static inline void uk_orthonormalize(uk_lanes *rows, int count, int m) {
  UK_EACH(d, count) {
    uk_lanes *x = rows + d * m;
    UK_EACH(round, d > 0 ? 3 : 1) {
      UK_EACH(e, round > 0 ? d : 0) {
        const uk_lanes *y = rows + e * m;
        uk_lanes s = uk_all(0.0);
        UK_EACH(r, m) s += x[r] * y[r];
        UK_EACH(r, m) x[r] -= s * y[r];
      }
      uk_lanes size = uk_all(0.0);
      UK_EACH(r, m) size += x[r] * x[r];
      size = uk_pick(size > 0.0, 1.0 / uk_lanes_sqrt(size), uk_all(0.0));
      UK_EACH(r, m) x[r] *= size;
    }
  }
}

/* Those of least norm in the place of multipliers z of m rows, and which are unique. `kernel`, (count, m):
 * combinations of scaled rows that vanish, or else all that is orthogonal to them, which are lost. */
static inline void uk_least_multipliers(uk_lanes *kernel, int count, int m, int vanishing, const uk_lanes *scale,
                                        uk_lanes *z, uk_lanes *unique, uk_lanes *room) {
  uk_lanes *rest = vanishing ? z : room;
  uk_orthonormalize(kernel, count, m);
  UK_EACH(r, m) {
    uk_lanes share = uk_all(0.0);
    UK_EACH(d, count) share += kernel[d * m + r] * kernel[d * m + r];
    if (!vanishing) share = 1.0 - share;
    unique[r] = uk_pick(share <= UK_KERNEL_ROUNDING * UK_KERNEL_ROUNDING, uk_all(1.0), uk_all(0.0));
    const uk_lanes own = vanishing ? scale[r] : 1.0 / scale[r]; /* the same of the rows themselves */
    UK_EACH(d, count) kernel[d * m + r] *= own;
  }
  uk_orthonormalize(kernel, count, m);
  UK_EACH(r, vanishing ? 0 : m) rest[r] = uk_all(0.0);
  UK_EACH(d, count) {
    const uk_lanes *x = kernel + d * m;
    uk_lanes s = uk_all(0.0);
    UK_EACH(r, m) s += x[r] * z[r];
    UK_EACH(r, m) rest[r] += vanishing ? -s * x[r] : s * x[r];
  }
  UK_EACH(r, vanishing ? 0 : m) z[r] = rest[r];
}
