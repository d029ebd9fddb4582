/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Multipliers of least norm of rows that were eliminated, by combinations of rows that vanish, or all that do
 * not. A lane is a state. */
#pragma once

#include "row_elimination.c"

/* Make rows of m numbers orthonormal: Gram-Schmidt, twice. */
static inline void uk_orthonormalize(uk_lanes *rows, int count, int m) {
  UK_EACH(d, count) {
    uk_lanes *x = rows + d * m;
    UK_EACH(round, d > 0 ? 3 : 1) {
      UK_EACH(e, round > 0 ? d : 0) uk_add(x, -uk_dot(x, rows + e * m, m), rows + e * m, m);
      uk_lanes size = uk_dot(x, x, m);
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
    const uk_lanes *x = kernel + d * m, s = uk_dot(x, z, m);
    uk_add(rest, vanishing ? -s : s, x, m);
  }
  UK_EACH(r, vanishing ? 0 : m) z[r] = rest[r];
}

/* Rows of these combinations, by place, for all lanes alike, whichever are fewer, since each costs as many
 * products as those before it; how many, and which of both they are. `x`: room for the rank. */
static inline int uk_find_kernel(const uk_basis *b, uk_lanes *kernel, uk_lanes *x, int *vanishing) {
  const uk_lanes zero = uk_all(0.0), one = uk_all(1.0);
  const int m = b->count;
  int first = 0, most = 0;
  while (first < m && !uk_any(uk_not(uk_is_independent(b, first)))) ++first;
  while (most < b->rank && uk_any(uk_is_independent(b, most))) ++most;
  *vanishing = m - first <= most;
  const int count = *vanishing ? m - first : most;
  for (int k = 0; k < count * m; ++k) kernel[k] = zero;
  for (int k = 0; !*vanishing && k < count; ++k) kernel[k * m + k] = uk_pick(uk_is_independent(b, k), one, zero);
  for (int d = first; d < m; ++d) {
    const uk_mask independent = uk_is_independent(b, d);
    for (int k = 0; k < b->rank; ++k) x[k] = uk_pick(independent, zero, b->rows[d * b->n + k]);
    uk_solve_triangle(b, x);
    for (int k = 0; k < most; ++k)
      if (*vanishing) kernel[(d - first) * m + k] = -x[k];
      else kernel[k * m + d] += x[k];
    if (*vanishing) kernel[(d - first) * m + d] = uk_pick(independent, zero, one);
  }
  return count;
}

/* Multipliers of the ideal force with coordinates z, which are lost, and which of them are unique. Room:
 * `kernel`, (count, fewer of n and count), and, (count) each, z, unique and x. */
static inline void uk_find_multipliers(const uk_basis *b, uk_lanes *z, uk_lanes *kernel, uk_lanes *unique,
                                   uk_lanes *x, uk_lanes *multipliers, uk_lanes *determined) {
  int vanishing, dependent = 0;
  uk_solve_triangle(b, z);
  for (int k = 0; k < b->count; ++k) {
    const uk_mask independent = uk_is_independent(b, k);
    z[k] = k < b->rank ? z[k] * b->scale[k] : uk_all(0.0);
    unique[k] = uk_all(1.0);
    dependent |= uk_any(uk_not(independent));
  }
  if (dependent) {
    const int count = uk_find_kernel(b, kernel, x, &vanishing);
    uk_least_multipliers(kernel, count, b->count, vanishing, b->scale, z, unique, x);
  }
  uk_to_rows(b, z, multipliers);
  uk_to_rows(b, unique, determined);
}
