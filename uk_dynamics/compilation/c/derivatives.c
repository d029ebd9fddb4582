/* Derivatives of acceleration and multipliers. What the equations change by while both are held, r and s,
 * they answer with
 *
 *   M dq'' - A^T dlambda = r,  A dq'' = s:    dq'' = N r + C s,  dlambda = Y^T Y s - C^T r,
 *
 * N = K^T K over the admissible motions. Columns of r and s: the velocity coordinates of q, those of v, t.
 * Factors and independent rows are those that uk_answer leaves in the memory.
 */

#define UK_DIRECTIONS (2 * UK_NV + 1)
#define UK_SLOPES (UK_DIRECTIONS + UK_NV)

/* y += factor x */
static inline void uk_add(double *restrict y, double factor, const double *restrict x, int count) {
  for (int k = 0; k < count; ++k) y[k] += factor * x[k];
}

static void uk_zero(double *x, int count) {
  for (int k = 0; k < count; ++k) x[k] = 0.0;
}

/* Rows of K, of C transposed, and of Y transposed. */
static void uk_inverse(uk_memory *m, int rank) {
  for (int f = rank; f < UK_NV; ++f) {
    double *x = m->free_motions + (f - rank) * UK_NV;
    for (int i = 0; i < UK_NV; ++i) x[i] = i == f;
#if UK_M > 0
    for (int k = rank - 1; k >= 0; --k) uk_reflect(m, k, x);
#endif
    uk_unwhiten(m, x);
  }
#if UK_M > 0
  for (int c = 0; c < rank; ++c) {
    double *x = m->corrections + c * UK_NV, *y = m->unit_rows + c * UK_M;
    uk_zero(x, UK_NV);
    uk_zero(y, UK_M);
    for (int k = c; k < rank; ++k) {
      double sum = k == c ? m->inverse_scale[(int)m->order[c]] : 0.0;
      const double *row = uk_row(m, k);
      for (int i = c; i < k; ++i) sum -= row[i] * y[i];
      x[k] = y[k] = sum / m->R[k];
    }
    for (int k = rank - 1; k >= 0; --k) uk_reflect(m, k, x);
    uk_unwhiten(m, x);
  }
#endif
}

static void uk_acceleration_slopes(uk_memory *m, int rank) {
  const int free = UK_NV - rank;
  for (int f = 0; f < free; ++f) {
    const double *row = m->free_motions + f * UK_NV;
    double *x = m->product + f * UK_DIRECTIONS;
    uk_zero(x, UK_DIRECTIONS);
    for (int i = 0; i < UK_NV; ++i)
      if (row[i] != 0.0) uk_add(x, row[i], m->motion_slopes + i * UK_DIRECTIONS, UK_DIRECTIONS);
  }
  for (int i = 0; i < UK_NV; ++i) {
    double *x = m->qdd_slopes + i * UK_SLOPES;
    uk_zero(x, UK_SLOPES);
    for (int f = 0; f < free; ++f) {
      const double *row = m->free_motions + f * UK_NV;
      uk_add(x, row[i], m->product + f * UK_DIRECTIONS, UK_DIRECTIONS);
      uk_add(x + UK_DIRECTIONS, row[i], row, UK_NV);
    }
#if UK_M > 0
    for (int c = 0; c < rank; ++c)
      uk_add(x, m->corrections[c * UK_NV + i],
             m->row_slopes + (int)m->order[c] * UK_DIRECTIONS, UK_DIRECTIONS);
#endif
  }
}

#if UK_M > 0

static void uk_multiplier_slopes(uk_memory *m, int rank) {
  uk_zero(m->multiplier_slopes, UK_M * UK_SLOPES);
  for (int c = 0; c < rank; ++c) {
    double *x = m->multiplier_slopes + (int)m->order[c] * UK_SLOPES;
    const double *correction = m->corrections + c * UK_NV, *y = m->unit_rows + c * UK_M;
    for (int i = 0; i < UK_NV; ++i) {
      uk_add(x, -correction[i], m->motion_slopes + i * UK_DIRECTIONS, UK_DIRECTIONS);
      x[UK_DIRECTIONS + i] = -correction[i];
    }
    for (int d = 0; d < rank; ++d) {
      const double *other = m->unit_rows + d * UK_M;
      double square = 0.0;
      for (int k = 0; k < rank; ++k) square += y[k] * other[k];
      uk_add(x, square, m->row_slopes + (int)m->order[d] * UK_DIRECTIONS, UK_DIRECTIONS);
    }
  }
}

/* x -= k (k^T x) of all columns, for every combination k of rows that vanishes; or x += k (k^T y). */
static void uk_along_kernel(uk_memory *m, int rank, const double *y, int width, double sign) {
  for (int d = 0; d < UK_M - rank; ++d) {
    const double *k = m->kernel + d * UK_M;
    uk_zero(m->product, width);
    for (int r = 0; r < UK_M; ++r) uk_add(m->product, k[r], y + r * width, width);
    for (int r = 0; r < UK_M; ++r)
      uk_add(m->multiplier_slopes + r * UK_SLOPES, sign * k[r], m->product, width);
  }
}

#endif

/* The slopes of the equations at a state, acceleration and multipliers that are in the memory. */
UK_EXPORT void uk_equation_slopes(uk_memory *m) {
  uk_tangents(m->t, m->stabilize, m->q, m->v, UK_FOLLOWED, m->qdd, m->multipliers, m->motion_slopes,
              m->row_slopes, m->rate_slopes);
#if UK_M > 0
  for (int r = 0; r < UK_M; ++r) {
    if (m->active[r] != 0.0) continue;
    uk_zero(m->row_slopes + r * UK_DIRECTIONS, UK_DIRECTIONS);
    uk_zero(m->rate_slopes + r * UK_DIRECTIONS, UK_DIRECTIONS);
  }
#endif
}

/* Solution and derivatives of the inputs in the memory; 0, or as uk_answer. */
UK_EXPORT int uk_differentiate(uk_memory *m) {
  const int failed = uk_answer(m, 1);
  if (failed) return failed;
  const int rank = (int)m->rank;
  uk_equation_slopes(m);
  uk_inverse(m, rank);
  uk_acceleration_slopes(m, rank);
#if UK_M > 0
  uk_multiplier_slopes(m, rank);
  if (rank == UK_M) return 0;
  uk_along_kernel(m, rank, m->multiplier_slopes, UK_SLOPES, -1.0);
  /* the combinations turn: with lambda = A w, K^T dlambda = K^T dA w */
  double *kept = m->kept;
  memcpy(kept, m->row_slopes, sizeof m->row_slopes);
  memcpy(kept + UK_M * UK_DIRECTIONS, m->qdd, sizeof m->qdd);
  double *change = kept + UK_M * UK_DIRECTIONS + UK_NV;
  uk_zero(m->qdd, UK_NV);
  uk_equation_slopes(m);
  memcpy(change, m->row_slopes, sizeof m->row_slopes);
  for (int c = 0; c < rank; ++c)
    uk_add(m->qdd, m->multipliers[(int)m->order[c]], m->corrections + c * UK_NV, UK_NV);
  uk_equation_slopes(m);
  for (int k = 0; k < UK_M * UK_DIRECTIONS; ++k) change[k] -= m->row_slopes[k];
  uk_along_kernel(m, rank, change, UK_DIRECTIONS, 1.0);
  memcpy(m->row_slopes, kept, sizeof m->row_slopes);
  memcpy(m->qdd, kept + UK_M * UK_DIRECTIONS, sizeof m->qdd);
#endif
  return 0;
}
