/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Symmetric matrices, (n, n), as L L^T, with one over the diagonal of L on it. A lane is a matrix. */
#pragma once

#include "uk_lanes.h"

/* L in the place of the lower triangle; the lanes where each pivot is more than a part of the diagonal. */
UK_INLINE uk_mask uk_factor_symmetric(uk_lanes *L, int n, double part) {
  uk_mask sure = uk_not(uk_none());
  UK_EACH(i, n) {
    uk_lanes *row = L + i * n;
    UK_EACH(j, i) row[j] = (row[j] - uk_dot(row, L + j * n, j)) * L[j * (n + 1)];
    const uk_lanes pivot = row[i] - uk_dot(row, row, i);
    sure &= pivot > part * row[i];
    row[i] = 1.0 / uk_lanes_sqrt(pivot);
  }
  return sure;
}

/* L^-1 x in its place. */
UK_INLINE void uk_solve_lower(const uk_lanes *L, int n, uk_lanes *x) {
  UK_EACH(i, n) x[i] = (x[i] - uk_dot(L + i * n, x, i)) * L[i * (n + 1)];
}

/* L^-T x in its place. */
UK_INLINE void uk_solve_upper(const uk_lanes *L, int n, uk_lanes *x) {
  for (int i = n - 1; i >= 0; --i) {
    x[i] *= L[i * (n + 1)];
    uk_add(x, -x[i], L + i * n, i);
  }
}
