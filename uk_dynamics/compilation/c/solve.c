/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The fundamental equation with the terms above: mass factor of the tree, elimination of rows with
 * their rank, acceleration and forces. UK_* sizes and tables stand above; all memory is the caller's.
 *
 * M = H^T H with H lower triangular and as sparse as the tree (Featherstone, section 6.5); L = H^T
 * is the factor of the fundamental equation. Rows of B = A L^-T are scaled to their own size.
 */
#pragma once

#include <math.h>
#include <string.h>

#include "uk_config.h"
#include "uk_mechanism.h"
#include "uk_tables.h"

/* L^-1 x in place: leaves first. */
static void uk_whiten(const uk_memory *m, double *x) {
  for (int i = UK_NV - 1; i >= 0; --i) {
    const double xi = x[i] *= m->inverse_pivot[i];
    const double *row = m->H + i * UK_NV;
    for (int j = uk_parent[i]; j >= 0; j = uk_parent[j]) x[j] -= row[j] * xi;
  }
}

/* L^-T x in place: root first. */
static void uk_unwhiten(const uk_memory *m, double *x) {
  for (int i = 0; i < UK_NV; ++i) {
    const double *row = m->H + i * UK_NV;
    double sum = x[i];
    for (int j = uk_parent[i]; j >= 0; j = uk_parent[j]) sum -= row[j] * x[j];
    x[i] = sum * m->inverse_pivot[i];
  }
}

/* H from M, whose lower triangle it overwrites; 0 where M is positive definite. */
static int uk_factor_mass(uk_memory *m) {
  double lost = 0.0;
  for (int i = 0; i < UK_NV; ++i) m->diagonal[i] = m->H[i * UK_NV + i];
  for (int k = UK_NV - 1; k >= 0; --k) {
    double *row = m->H + k * UK_NV;
    const double pivot = row[k];
    if (!(pivot > 0.0)) return 1;
    lost += m->diagonal[k] / pivot;
    const double root = sqrt(pivot), inverse = 1.0 / root;
    row[k] = root;
    m->inverse_pivot[k] = inverse;
    for (int i = uk_parent[k]; i >= 0; i = uk_parent[i]) row[i] *= inverse;
    for (int i = uk_parent[k]; i >= 0; i = uk_parent[i]) {
      double *above = m->H + i * UK_NV;
      for (int j = i; j >= 0; j = uk_parent[j]) above[j] -= row[i] * row[j];
    }
  }
  return !(lost < UK_LOST_PIVOTS);
}

#if UK_M > 0

#include "row_elimination.c"

/* y = L x. */
static void uk_multiply_factor(const uk_memory *m, const double *x, double *y) {
  for (int j = 0; j < UK_NV; ++j) y[j] = 0.0;
  for (int i = 0; i < UK_NV; ++i) {
    const double *row = m->H + i * UK_NV;
    for (int j = i; j >= 0; j = uk_parent[j]) y[j] += row[j] * x[i];
  }
}

/* Row i of B, L^-1 applied to the row of A where the tree lets it be nonzero; scaled. */
static int uk_whiten_rows(uk_memory *m) {
  for (int r = 0; r < UK_M; ++r) {
    double *x = m->W + r * UK_NV;
    memcpy(x, m->A + r * UK_NV, sizeof(double) * UK_NV);
    for (int s = uk_support_start[r]; s < uk_support_start[r + 1]; ++s) {
      const int i = uk_support[s];
      const double xi = x[i] *= m->inverse_pivot[i];
      const double *row = m->H + i * UK_NV;
      for (int j = uk_parent[i]; j >= 0; j = uk_parent[j]) x[j] -= row[j] * xi;
    }
    const double norm = sqrt(uk_square(m, x, 0));
    if (!isfinite(norm)) return 1;
    const double least = UK_LEAST_PART * uk_natural_scale[r] + UK_TINY;
    const double inverse = uk_handicap[r] / (norm > least ? norm : least);
    m->inverse_scale[r] = inverse;
    for (int i = 0; i < UK_NV; ++i) x[i] *= inverse;
    m->square[r] = m->reference[r] = norm * inverse * norm * inverse;
  }
  return 0;
}

/* Tell dependent rows that hold from near-dependent and from contradicting ones. */
static void uk_check(uk_memory *m, int rank) {
  int failed = 0, exact = 0;
  double *size = m->scratch;
  memcpy(size, m->force, sizeof(double) * UK_NV);
  uk_whiten(m, size);
  uk_unwhiten(m, size);
  for (int i = 0; i < UK_NV; ++i) size[i] = fabs(size[i]) + fabs(m->qdd[i]);
  for (int d = rank; d < UK_M; ++d) {
    const int r = (int)m->order[d];
    double scale = fabs(m->b[r]) + UK_NEGLIGIBLE_ACCELERATION;
    for (int i = 0; i < UK_NV; ++i) scale += fabs(m->A[r * UK_NV + i]) * size[i];
    m->offends[r] = 0.0;
    if (fabs(m->violation[r]) <= UK_CONSISTENCY_TOLERANCE * scale) continue;
    const int rounding = sqrt(uk_square(m, m->W + r * UK_NV, rank)) <= UK_EXACTLY_DEPENDENT;
    m->offends[r] = rounding ? 2.0 : 1.0;
    if (rounding) ++exact;
    else ++failed;
  }
  m->status = exact ? UK_INCONSISTENT : failed ? UK_NEAR_SINGULAR : UK_OK;
}

#endif
