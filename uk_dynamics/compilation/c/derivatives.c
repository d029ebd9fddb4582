/* Derivatives of the acceleration. What the equations change by while it and the multipliers are held, r
 * and s, they answer with
 *
 *   M dq'' - A^T dlambda = r,  A dq'' = s:    dq'' = N r + C s,
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

/* Rows of K and of C transposed. */
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
  return 0;
}
