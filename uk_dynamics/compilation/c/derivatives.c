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
#define UK_WHOLE ((UK_NV + UK_BLOCK - 1) / UK_BLOCK * UK_BLOCK)

static void uk_zero(double *x, int count) {
  for (int k = 0; k < count; ++k) x[k] = 0.0;
}

/* y += sum of factors times rows of a length, in whole vectors of columns; factors stand `apart`. */
static inline void uk_add_rows(double *restrict y, int columns, int count, const double *factors,
                               int apart, const double *rows, int length, const double *order) {
  const double *used[UK_NV + UK_M + 1];
  double by[UK_NV + UK_M + 1];
  int n = 0, first = 0;
  for (int r = 0; r < count; ++r)
    if (factors[r * apart] != 0.0) {
      by[n] = factors[r * apart];
      used[n++] = rows + (order ? (int)order[r] : r) * length;
    }
  for (; first + 4 * UK_BLOCK <= columns; first += 4 * UK_BLOCK) { /* one factor for four */
    uk_block *at = (uk_block *)(y + first), a = at[0], b = at[1], c = at[2], d = at[3];
    for (int k = 0; k < n; ++k) {
      const uk_block *row = (const uk_block *)(used[k] + first);
      a += by[k] * row[0];
      b += by[k] * row[1];
      c += by[k] * row[2];
      d += by[k] * row[3];
    }
    at[0] = a, at[1] = b, at[2] = c, at[3] = d;
  }
  for (; first < columns; first += UK_BLOCK) {
    uk_block sum = *(uk_block *)(y + first);
    for (int k = 0; k < n; ++k) sum += by[k] * *(const uk_block *)(used[k] + first);
    *(uk_block *)(y + first) = sum;
  }
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
  double motions[UK_NV * UK_WHOLE] = {0}; /* the free ones, in whole vectors */
  memcpy(m->rest, m->motion_slopes, sizeof m->rest); /* whose zeros are written only once */
  uk_zero(m->qdd_slopes, UK_NV * UK_SLOPES);
#if UK_M > 0
  double factors[UK_NV];
  int moves[UK_NV];
  for (int i = 0; i < UK_NV; ++i) {
    moves[i] = 0;
    for (int c = 0; c < rank; ++c) moves[i] |= m->corrections[c * UK_NV + i] != 0.0;
    uk_add_rows(m->qdd_slopes + i * UK_SLOPES, UK_STRIDE, rank, m->corrections + i, UK_NV,
                m->row_slopes, UK_STRIDE, m->order);
  }
  for (int j = 0; !pivoted && j < UK_NV; ++j) {
    for (int i = 0; i < UK_NV; ++i)
      factors[i] = moves[i] ? -m->H[(j < i ? i : j) * UK_NV + (j < i ? j : i)] : 0.0;
    uk_add_rows(m->rest + j * UK_STRIDE, UK_STRIDE, UK_NV, factors, 1, m->qdd_slopes, UK_SLOPES,
                NULL);
  }
#else
  (void)pivoted;
#endif
  for (int f = 0; f < free; ++f) {
    double *x = m->product + f * UK_STRIDE;
    uk_zero(x, UK_STRIDE);
    uk_add_rows(x, UK_STRIDE, UK_NV, m->free_motions + f * UK_NV, 1, m->rest, UK_STRIDE, NULL);
    memcpy(motions + f * UK_WHOLE, m->free_motions + f * UK_NV, UK_NV * sizeof *motions);
  }
  for (int i = 0; i < UK_NV; ++i) {
    double *x = m->qdd_slopes + i * UK_SLOPES, by_tau[UK_WHOLE] = {0};
    uk_add_rows(x, UK_STRIDE, free, m->free_motions + i, UK_NV, m->product, UK_STRIDE, NULL);
    uk_add_rows(by_tau, UK_WHOLE, free, m->free_motions + i, UK_NV, motions, UK_WHOLE, NULL);
    memcpy(x + UK_STRIDE, by_tau, UK_NV * sizeof *by_tau);
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
