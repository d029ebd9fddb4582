/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Elimination of scaled rows with their rank, and multipliers: rows of W, (UK_M, UK_NV), are reduced by
 * Householder reflections, the row with the largest residual norm first; one whose norm is at most
 * the tolerance depends on the others. Sizes are constants of a mechanism or fields of a
 * cluster.
 */
#pragma once

#include <math.h>

#include "uk_config.h"
#include "uk_row_block.h"

static double uk_square(const uk_memory *m, const double *x, int from) {
  (void)m;
  double sum = 0.0;
  for (int i = from; i < UK_NV; ++i) sum += x[i] * x[i];
  return sum;
}

/* Row of W that stands at place k of the elimination. */
static double *uk_row(const uk_memory *m, int k) {
  return (double *)m->W + (int)m->order[k] * UK_NV;
}

static void uk_reflect(const uk_memory *m, int k, double *x) {
  const double *v = uk_row(m, k);
  double s = 0.0;
  for (int i = k; i < UK_NV; ++i) s += v[i] * x[i];
  s *= m->beta[k];
  for (int i = k; i < UK_NV; ++i) x[i] -= s * v[i];
}

/* Pivoted elimination; the rank. Row k keeps R above its diagonal in W and the reflector behind. */
static int uk_eliminate(uk_memory *m, double tolerance) {
  const int count = UK_M < UK_NV ? UK_M : UK_NV;
  for (int r = 0; r < UK_M; ++r) m->order[r] = r;
  for (int k = 0; k < count; ++k) {
    int best = k;
    for (int j = k + 1; j < UK_M; ++j)
      if (m->square[(int)m->order[j]] > m->square[(int)m->order[best]]) best = j;
    const double chosen = m->order[best];
    for (int j = best; j > k; --j) m->order[j] = m->order[j - 1];
    m->order[k] = chosen;
    double *v = uk_row(m, k);
    const double norm = sqrt(uk_square(m, v, k));
    if (!(norm > tolerance)) return k;
    const double diagonal = v[k] > 0.0 ? -norm : norm;
    m->beta[k] = 1.0 / (norm * (norm + fabs(v[k])));
    v[k] -= diagonal;
    m->R[k] = diagonal;
    for (int j = k + 1; j < UK_M; ++j) {
      const int r = (int)m->order[j];
      double *x = m->W + r * UK_NV;
      uk_reflect(m, k, x);
      m->square[r] -= x[k] * x[k];
      if (!(m->square[r] > UK_DOWNDATE * m->reference[r]))
        m->square[r] = m->reference[r] = uk_square(m, x, k + 1);
    }
  }
  return count;
}

/* R^-1 z for the independent rows, in place. */
static void uk_solve_upper(const uk_memory *m, int rank, double *z) {
  for (int k = rank - 1; k >= 0; --k) {
    double sum = z[k];
    for (int i = k + 1; i < rank; ++i) sum -= uk_row(m, i)[k] * z[i];
    z[k] = sum / m->R[k];
  }
}

static void uk_normalize(const uk_memory *m, double *x) {
  (void)m;
  double size = 0.0;
  for (int r = 0; r < UK_M; ++r) size += x[r] * x[r];
  size = 1.0 / sqrt(size);
  for (int r = 0; r < UK_M; ++r) x[r] *= size;
}

/* Make the first rows of the kernel orthonormal: Gram-Schmidt, twice. */
static void uk_orthonormalize(uk_memory *m, int count) {
  for (int d = 0; d < count; ++d) {
    double *x = m->kernel + d * UK_M;
    uk_normalize(m, x);
    for (int twice = 0; d > 0 && twice < 2; ++twice) {
      for (int e = 0; e < d; ++e) {
        const double *y = m->kernel + e * UK_M;
        double s = 0.0;
        for (int r = 0; r < UK_M; ++r) s += x[r] * y[r];
        for (int r = 0; r < UK_M; ++r) x[r] -= s * y[r];
      }
      uk_normalize(m, x);
    }
  }
}

/* Orthonormal rows in the kernel: combinations of scaled rows that vanish, or, where those are more
 * than the independent rows, all that is orthogonal to them; how many. Each costs as many products as
 * those before it, so that the fewer are taken. */
static int uk_kernel(uk_memory *m, int rank, int vanishing) {
  const int count = vanishing ? UK_M - rank : rank;
  for (int i = 0; i < count * UK_M; ++i) m->kernel[i] = 0.0;
  for (int k = 0; !vanishing && k < rank; ++k) m->kernel[k * UK_M + (int)m->order[k]] = 1.0;
  for (int d = rank; d < UK_M; ++d) {
    const int own = (int)m->order[d];
    const double *row = uk_row(m, d);
    for (int k = 0; k < rank; ++k) m->scratch[k] = row[k];
    uk_solve_upper(m, rank, m->scratch);
    double *x = m->kernel + (d - rank) * UK_M;
    for (int k = 0; k < rank; ++k)
      if (vanishing) x[(int)m->order[k]] = -m->scratch[k];
      else m->kernel[k * UK_M + own] = m->scratch[k];
    if (vanishing) x[own] = 1.0;
  }
  uk_orthonormalize(m, count);
  return count;
}

/* Multipliers of least norm of the ideal force with coordinates z, and which of them are unique. */
static void uk_multipliers(uk_memory *m, int rank, double *z) {
  for (int r = 0; r < UK_M; ++r) m->multipliers[r] = 0.0, m->determined[r] = 1.0;
  uk_solve_upper(m, rank, z);
  for (int k = 0; k < rank; ++k) {
    const int r = (int)m->order[k];
    m->multipliers[r] = z[k] * m->inverse_scale[r];
  }
  if (rank == UK_M) return;
  const int vanishing = UK_M - rank <= rank, count = uk_kernel(m, rank, vanishing);
  for (int r = 0; r < UK_M; ++r) {
    double share = 0.0;
    for (int d = 0; d < count; ++d) share += m->kernel[d * UK_M + r] * m->kernel[d * UK_M + r];
    if (!vanishing) share = 1.0 - share;
    m->determined[r] = share <= UK_KERNEL_ROUNDING * UK_KERNEL_ROUNDING;
  }
  /* the same of the rows themselves */
  for (int d = 0; d < count; ++d)
    for (int r = 0; r < UK_M; ++r) {
      const double scale = m->inverse_scale[r];
      m->kernel[d * UK_M + r] *= vanishing ? scale : 1.0 / scale;
    }
  uk_orthonormalize(m, count);
  for (int r = 0; !vanishing && r < UK_M; ++r) m->scratch[r] = 0.0;
  for (int d = 0; d < count; ++d) {
    const double *x = m->kernel + d * UK_M;
    double *rest = vanishing ? m->multipliers : m->scratch;
    double s = 0.0;
    for (int r = 0; r < UK_M; ++r) s += x[r] * m->multipliers[r];
    for (int r = 0; r < UK_M; ++r) rest[r] += vanishing ? -s * x[r] : s * x[r];
  }
  for (int r = 0; !vanishing && r < UK_M; ++r) m->multipliers[r] = m->scratch[r];
}
