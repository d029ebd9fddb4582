/* The fundamental equation with the terms above: mass factor of the tree, elimination of rows with
 * their rank, acceleration and forces. UK_* sizes and tables stand above; all memory is the caller's.
 *
 * M = H^T H with H lower triangular and as sparse as the tree (Featherstone, section 6.5); L = H^T
 * is the factor of the fundamental equation. Rows of B = A L^-T are scaled to their own size and
 * reduced by Householder reflections, the row with the largest residual norm first: one whose norm
 * is at most the rank tolerance depends on the others.
 */

#include <string.h>

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

/* y = L x. */
static void uk_multiply_factor(const uk_memory *m, const double *x, double *y) {
  for (int j = 0; j < UK_NV; ++j) y[j] = 0.0;
  for (int i = 0; i < UK_NV; ++i) {
    const double *row = m->H + i * UK_NV;
    for (int j = i; j >= 0; j = uk_parent[j]) y[j] += row[j] * x[i];
  }
}

static double uk_square(const double *x, int from) {
  double sum = 0.0;
  for (int i = from; i < UK_NV; ++i) sum += x[i] * x[i];
  return sum;
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
    const double norm = sqrt(uk_square(x, 0));
    if (!isfinite(norm)) return 1;
    const double least = UK_LEAST_PART * uk_natural_scale[r] + UK_TINY;
    const double inverse = uk_handicap[r] / (norm > least ? norm : least);
    m->inverse_scale[r] = inverse;
    for (int i = 0; i < UK_NV; ++i) x[i] *= inverse;
    m->square[r] = m->reference[r] = norm * inverse * norm * inverse;
  }
  return 0;
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
    const double norm = sqrt(uk_square(v, k));
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
        m->square[r] = m->reference[r] = uk_square(x, k + 1);
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

static void uk_normalize(double *x) {
  double size = 0.0;
  for (int r = 0; r < UK_M; ++r) size += x[r] * x[r];
  size = 1.0 / sqrt(size);
  for (int r = 0; r < UK_M; ++r) x[r] *= size;
}

/* Make the first rows of the kernel orthonormal: Gram-Schmidt, twice. */
static void uk_orthonormalize(uk_memory *m, int count) {
  for (int d = 0; d < count; ++d) {
    double *x = m->kernel + d * UK_M;
    uk_normalize(x);
    for (int twice = 0; d > 0 && twice < 2; ++twice) {
      for (int e = 0; e < d; ++e) {
        const double *y = m->kernel + e * UK_M;
        double s = 0.0;
        for (int r = 0; r < UK_M; ++r) s += x[r] * y[r];
        for (int r = 0; r < UK_M; ++r) x[r] -= s * y[r];
      }
      uk_normalize(x);
    }
  }
}

/* Orthonormal combinations of scaled rows that vanish, as rows of the kernel. */
static void uk_kernel(uk_memory *m, int rank) {
  for (int d = rank; d < UK_M; ++d) {
    double *x = m->kernel + (d - rank) * UK_M;
    const double *row = uk_row(m, d);
    for (int r = 0; r < UK_M; ++r) x[r] = 0.0;
    for (int k = 0; k < rank; ++k) m->scratch[k] = row[k];
    uk_solve_upper(m, rank, m->scratch);
    for (int k = 0; k < rank; ++k) x[(int)m->order[k]] = -m->scratch[k];
    x[(int)m->order[d]] = 1.0;
  }
  uk_orthonormalize(m, UK_M - rank);
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
  uk_kernel(m, rank);
  for (int r = 0; r < UK_M; ++r) {
    double sum = 0.0;
    for (int d = 0; d < UK_M - rank; ++d) sum += m->kernel[d * UK_M + r] * m->kernel[d * UK_M + r];
    m->determined[r] = sqrt(sum) <= UK_KERNEL_ROUNDING;
  }
  /* the same of the rows themselves */
  for (int d = 0; d < UK_M - rank; ++d)
    for (int r = 0; r < UK_M; ++r) m->kernel[d * UK_M + r] *= m->inverse_scale[r];
  uk_orthonormalize(m, UK_M - rank);
  for (int d = 0; d < UK_M - rank; ++d) {
    const double *x = m->kernel + d * UK_M;
    double s = 0.0;
    for (int r = 0; r < UK_M; ++r) s += x[r] * m->multipliers[r];
    for (int r = 0; r < UK_M; ++r) m->multipliers[r] -= s * x[r];
  }
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
    const int rounding = sqrt(uk_square(m->W + r * UK_NV, rank)) <= UK_EXACTLY_DEPENDENT;
    m->offends[r] = rounding ? 2.0 : 1.0;
    if (rounding) ++exact;
    else ++failed;
  }
  m->status = exact ? UK_INCONSISTENT : failed ? UK_NEAR_SINGULAR : UK_OK;
}

#endif
