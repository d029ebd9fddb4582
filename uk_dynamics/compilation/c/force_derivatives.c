/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Derivatives of the constraint force Q = A^T lambda = M q'' - F - tau and of the multipliers of least
 * norm, where uk_differentiate has left those of the acceleration. With g = M dq'' - r,
 *
 *   dQ = M dq'' + d(M q'' - F)|q'',    A^T dlambda = g.
 *
 * All rows are combinations B = A C of the independent ones, so B^T dlambda = C^T g, of least norm by
 * (B^T B)^-1; and where some rows depend on others, combinations K of K^T A = 0 turn with the state:
 * lambda = A w asks for K^T dlambda = K^T dA w.
 */

#pragma once

#include "derivatives.c"

#if UK_M > 0
/* M and A at the state again: rows that were pivoted left the factor and zeros in their places. */
static void uk_terms_again(uk_memory *m) {
  uk_lanes_terms(m->t, m->q, m->v, UK_FOLLOWED UK_P, m->H, m->force, m->A, m->bias, m->residual, m->rate);
  for (int r = 0; r < UK_M; ++r)
    for (int i = 0; m->active[r] == 0.0 && i < UK_NV; ++i) m->A[r * UK_NV + i] = 0.0;
}

/* M dq'', rows of UK_ROW_LENGTH. */
static void uk_inertia_derivatives(const uk_memory *m, double *restrict to) {
  uk_zero(to, UK_NV * UK_ROW_LENGTH);
  for (int i = 0; i < UK_NV; ++i)
    for (int j = 0; j < UK_NV; ++j) {
      const double inertia = m->H[(j < i ? i : j) * UK_NV + (j < i ? j : i)];
      if (inertia == 0.0) continue;
      const double *by = m->qdd_derivatives + j * UK_ROW_LENGTH;
      for (int k = 0; k < UK_ROW_LENGTH; ++k) to[i * UK_ROW_LENGTH + k] += inertia * by[k];
    }
}

/* Cholesky's factor of B^T B in its lower triangle; B holds unit rows, so that there is one. */
static void uk_factor_gram(const double *B, int rank, double *gram) {
  for (int i = 0; i < rank; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = 0.0;
      for (int r = 0; r < UK_M; ++r) sum += B[r * UK_M + i] * B[r * UK_M + j];
      for (int k = 0; k < j; ++k) sum -= gram[i * UK_M + k] * gram[j * UK_M + k];
      gram[i * UK_M + j] = i == j ? sqrt(sum) : sum / gram[j * UK_M + j];
    }
}

/* B (B^T B)^-1 x, (UK_M,), for x, (rank,), which is lost. */
static void uk_least(const double *B, int rank, const double *gram, double *x, double *y) {
  for (int i = 0; i < rank; ++i) {
    for (int k = 0; k < i; ++k) x[i] -= gram[i * UK_M + k] * x[k];
    x[i] /= gram[i * UK_M + i];
  }
  for (int i = rank - 1; i >= 0; --i) {
    for (int k = i + 1; k < rank; ++k) x[i] -= gram[k * UK_M + i] * x[k];
    x[i] /= gram[i * UK_M + i];
  }
  for (int r = 0; r < UK_M; ++r) {
    y[r] = 0.0;
    for (int i = 0; i < rank; ++i) y[r] += B[r * UK_M + i] * x[i];
  }
}

/* C^T g in rows of the independent constraints, the others zero. */
static void uk_carried(const uk_memory *m, int rank, const double *g, double *to) {
  uk_zero(to, UK_M * UK_ROW_LENGTH);
  for (int c = 0; c < rank; ++c) {
    double *row = to + (int)m->row[c] * UK_ROW_LENGTH;
    for (int i = 0; i < UK_NV; ++i) {
      const double factor = m->corrections[c * UK_NV + i];
      if (factor == 0.0) continue;
      for (int k = 0; k < UK_ROW_LENGTH; ++k) row[k] += factor * g[i * UK_ROW_LENGTH + k];
    }
  }
}

/* From those of the independent rows alone to those of least norm. */
static void uk_share(uk_memory *m, int rank, double *derivatives, double *shared) {
  double B[UK_M * UK_M] = {0}, gram[UK_M * UK_M] = {0}; /* all of them, or compilers warn */
  double x[UK_M], y[UK_M], changed[UK_NV], none[UK_M];
  for (int r = 0; r < UK_M; ++r)
    for (int c = 0; c < rank; ++c) {
      double sum = 0.0;
      for (int i = 0; i < UK_NV; ++i) sum += m->A[r * UK_NV + i] * m->corrections[c * UK_NV + i];
      B[r * UK_M + c] = sum;
    }
  uk_factor_gram(B, rank, gram);
  /* w = C lambda on the independent rows; derivatives of A (q'' + w) - b less those of A q'' - b */
  memcpy(changed, m->qdd, sizeof changed);
  for (int c = 0; c < rank; ++c)
    for (int i = 0; i < UK_NV; ++i)
      changed[i] += m->corrections[c * UK_NV + i] * m->multipliers[(int)m->row[c]];
  uk_zero(none, UK_M);
  memcpy(m->rate_derivatives, m->row_derivatives, sizeof m->rate_derivatives);
  uk_traced_derivatives(m->t, m->stabilize, m->q, m->v, UK_FOLLOWED UK_P, changed, none, m->rest,
              m->row_derivatives, m->rate_derivatives, shared);
  for (int k = 0; k < UK_ROW_LENGTH; ++k) {
    double turned[UK_M];
    for (int r = 0; r < UK_M; ++r) {
      const int at = r * UK_STRIDE + k, acts = k < UK_STRIDE && m->active[r] != 0.0;
      turned[r] = acts ? m->rate_derivatives[at] - m->row_derivatives[at] : 0.0;
    }
    for (int c = 0; c < rank; ++c) {
      x[c] = derivatives[(int)m->row[c] * UK_ROW_LENGTH + k];
      for (int r = 0; r < UK_M; ++r) x[c] -= B[r * UK_M + c] * turned[r];
    }
    uk_least(B, rank, gram, x, y);
    for (int r = 0; r < UK_M; ++r) derivatives[r * UK_ROW_LENGTH + k] = y[r] + turned[r];
  }
  memcpy(m->row_derivatives, m->rate_derivatives, sizeof m->row_derivatives);
}
#endif

/* Behind uk_differentiate at the same state; rows of UK_ROW_LENGTH as in qdd_derivatives. */
UK_EXPORT void uk_force_derivatives(uk_memory *m, double *multipliers, double *force) {
  uk_zero(force, UK_NV * UK_ROW_LENGTH);
#if UK_M > 0
  const int rank = (int)m->rank;
  double shared[UK_TRACED_SHARED], none[UK_M], g[UK_NV * UK_ROW_LENGTH];
  uk_terms_again(m);
  uk_inertia_derivatives(m, force);
  for (int i = 0; i < UK_NV; ++i) force[i * UK_ROW_LENGTH + UK_STRIDE + i] -= 1.0;
  memcpy(g, force, sizeof g);
  uk_zero(none, UK_M);
  memcpy(m->rest, m->motion_derivatives, sizeof m->rest); /* for the zeros that are never written */
  uk_traced_derivatives(m->t, m->stabilize, m->q, m->v, UK_FOLLOWED UK_P, m->qdd, none, m->rest,
              m->row_derivatives, m->rate_derivatives, shared);
  for (int r = 0; r < UK_M; ++r)
    if (m->active[r] == 0.0) uk_zero(m->row_derivatives + r * UK_STRIDE, UK_STRIDE);
  for (int i = 0; i < UK_NV; ++i)
    for (int k = 0; k < UK_STRIDE; ++k) {
      g[i * UK_ROW_LENGTH + k] -= m->motion_derivatives[i * UK_STRIDE + k];
      force[i * UK_ROW_LENGTH + k] -= m->rest[i * UK_STRIDE + k];
    }
  uk_carried(m, rank, g, multipliers);
  if (rank < UK_M) uk_share(m, rank, multipliers, shared);
#else
  (void)m, (void)multipliers;
#endif
}
