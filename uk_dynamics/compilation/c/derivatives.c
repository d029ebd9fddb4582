/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Derivatives of the acceleration. What the equations change by while it and the multipliers are held, r
 * and s, they answer with
 *
 *   M dq'' - A^T dlambda = r,  A dq'' = s:    dq'' = z + N (r - M z),  z = C s,
 *
 * N = K^T K over the admissible motions, and A C = 1 on the independent rows. Where rows were pivoted, C is
 * the one with K M C = 0. Columns of r and s: the velocity coordinates of q, those of v, t; rows of
 * them are filled up to whole vectors.
 */

#define UK_SLOPES (UK_STRIDE + UK_NV)
#define UK_BLOCK 8 /* columns at a time, in registers */
typedef double uk_block __attribute__((vector_size(8 * UK_BLOCK), aligned(8), may_alias));

static void uk_zero(double *x, int count) {
  for (int k = 0; k < count; ++k) x[k] = 0.0;
}

/* y += sum of factors times rows; factors stand `apart` from each other. */
static inline void uk_add_rows(double *restrict y, int count, const double *factors, int apart,
                               const double *rows, const double *order) {
  int used[UK_NV + UK_M + 1], n = 0;
  for (int r = 0; r < count; ++r)
    if (factors[r * apart] != 0.0) used[n++] = r;
  for (int first = 0; first < UK_STRIDE; first += UK_BLOCK) {
    uk_block sum = *(uk_block *)(y + first);
    for (int k = 0; k < n; ++k) {
      const int r = used[k], row = order ? (int)order[r] : r;
      sum += factors[r * apart] * *(const uk_block *)(rows + row * UK_STRIDE + first);
    }
    *(uk_block *)(y + first) = sum;
  }
}

/* r - M z in the place of r, for one row of M. */
static inline void uk_subtract(double *restrict y, double factor, const double *restrict z) {
  for (int first = 0; first < UK_STRIDE; first += UK_BLOCK)
    *(uk_block *)(y + first) -= factor * *(const uk_block *)(z + first);
}

/* Rows of K transposed and of C transposed. */
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
    double *x = m->corrections + c * UK_NV;
    uk_zero(x, UK_NV);
    for (int k = c; k < rank; ++k) {
      double sum = k == c ? m->inverse_scale[(int)m->order[c]] : 0.0;
      const double *row = uk_row(m, k);
      for (int i = c; i < k; ++i) sum -= row[i] * x[i];
      x[k] = sum / m->R[k];
    }
    for (int k = rank - 1; k >= 0; --k) uk_reflect(m, k, x);
    uk_unwhiten(m, x);
  }
#endif
}

static void uk_acceleration_slopes(uk_memory *m, int rank, int pivoted) {
  const int free = UK_NV - rank;
  memcpy(m->rest, m->motion_slopes, sizeof m->rest); /* whose zeros are written only once */
#if UK_M > 0
  for (int i = 0; i < UK_NV; ++i) {
    double *z = m->qdd_slopes + i * UK_SLOPES;
    uk_zero(z, UK_SLOPES);
    int moves = 0;
    for (int c = 0; c < rank; ++c) moves |= m->corrections[c * UK_NV + i] != 0.0;
    if (!moves) continue;
    uk_add_rows(z, rank, m->corrections + i, UK_NV, m->row_slopes, m->order);
    for (int j = 0; !pivoted && j < UK_NV; ++j) {
      const double inertia = m->H[(j < i ? i : j) * UK_NV + (j < i ? j : i)];
      if (inertia != 0.0) uk_subtract(m->rest + j * UK_STRIDE, inertia, z);
    }
  }
#else
  (void)pivoted;
  uk_zero(m->qdd_slopes, UK_NV * UK_SLOPES);
#endif
  for (int f = 0; f < free; ++f) {
    double *x = m->product + f * UK_STRIDE;
    uk_zero(x, UK_STRIDE);
    uk_add_rows(x, UK_NV, m->free_motions + f * UK_NV, 1, m->rest, NULL);
  }
  for (int i = 0; i < UK_NV; ++i) {
    double *x = m->qdd_slopes + i * UK_SLOPES;
    uk_add_rows(x, free, m->free_motions + i, UK_NV, m->product, NULL);
    for (int f = 0; f < free; ++f) {
      const double *row = m->free_motions + f * UK_NV;
      for (int k = 0; k < UK_NV; ++k) x[UK_STRIDE + k] += row[i] * row[k];
    }
  }
}

static void uk_find_slopes(uk_memory *m, double *shared) {
  uk_tangents(m->t, m->stabilize, m->q, m->v, UK_FOLLOWED UK_P, m->qdd, m->multipliers,
              m->motion_slopes, m->row_slopes, m->rate_slopes, shared);
  for (int r = 0; r < UK_M; ++r)
    if (m->active[r] == 0.0) uk_zero(m->row_slopes + r * UK_STRIDE, UK_STRIDE);
}

/* The slopes of the equations at a state, acceleration and multipliers that are in the memory. */
UK_EXPORT void uk_equation_slopes(uk_memory *m) {
  double shared[UK_TANGENTS_SHARED];
  uk_find_slopes(m, shared);
  uk_rate_tangents(m->t, m->stabilize, m->q, m->v, UK_FOLLOWED UK_P, m->qdd, m->multipliers,
                   m->motion_slopes, m->row_slopes, m->rate_slopes, shared);
  for (int r = 0; r < UK_M; ++r)
    if (m->active[r] == 0.0) uk_zero(m->rate_slopes + r * UK_STRIDE, UK_STRIDE);
}

/* Solution and derivatives of the inputs in the memory; 0, or as uk_evaluate. */
UK_EXPORT int uk_differentiate(uk_memory *m) {
  double shared[UK_TANGENTS_SHARED];
#if UK_MOTIONS
  double sure[2];
  uk_terms(m->t, m->q, m->v, UK_FOLLOWED UK_P, m->H, m->force, m->A, m->bias, m->residual, m->rate);
  uk_zero(m->corrections, UK_M * UK_NV); /* where they are never written */
  uk_regular_motions(m->stabilize, m->tau, m->H, m->force, m->A, m->bias, m->residual, m->rate,
                     m->qdd, m->multipliers, m->free_motions, m->corrections, sure);
  if (sure[0] < UK_LOST_PIVOTS && sure[1] < 1.0) {
    for (int c = 0; c < UK_MOTIONS; ++c) m->order[c] = uk_motion_rows[c];
    m->rank = UK_MOTIONS;
    uk_find_slopes(m, shared);
    uk_acceleration_slopes(m, UK_MOTIONS, 0);
    return 0;
  }
#endif
  const int failed = uk_answer(m, 1);
  if (failed) return failed;
  uk_find_slopes(m, shared);
  uk_inverse(m, (int)m->rank);
  uk_acceleration_slopes(m, (int)m->rank, 1);
  return 0;
}
