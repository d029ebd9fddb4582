/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Derivatives at one state, regular or not: rows are pivoted where it is not, which batches leave to this. */

#pragma once

#include "derivatives.c"
#include "uk_evaluation.h"

/* Which rows are independent, in whole numbers; order: room for UK_ROWS of them. */
static UK_OPTIONAL uk_rank uk_pivoted(const uk_memory *m, int rank, int *order) {
  UK_EACH(r, UK_M) order[r] = (int)m->row[r];
  return (uk_rank){rank, order, 1};
}

/* Rows of K transposed and of C transposed. */
static void uk_inverse(uk_memory *m, int rank) {
#if UK_M > 0
  uk_basis b = uk_rows_of(m);
  b.rank = rank;
#endif
  for (int f = rank; f < UK_NV; ++f) {
    double *x = m->free_motions + (f - rank) * UK_NV;
    for (int i = 0; i < UK_NV; ++i) x[i] = i == f;
#if UK_M > 0
    uk_rotate_back(&b, x);
#endif
    uk_lanes_unwhiten(m, x);
  }
#if UK_M > 0
  for (int c = 0; c < rank; ++c) {
    double *x = m->corrections + c * UK_NV;
    uk_zero(x, UK_NV);
    for (int k = c; k < rank; ++k) {
      const double sum = k == c ? m->scale[c] : 0.0;
      x[k] = (sum - uk_dot(m->W[k] + c, x + c, k - c)) * m->inverse_R[k];
    }
    uk_rotate_back(&b, x);
    uk_lanes_unwhiten(m, x);
  }
#endif
}

/* Rows that do not act have none. */
static void uk_leave_inactive(const uk_memory *m, double *rows) {
  UK_EACH(r, UK_M) if (m->active[r] == 0.0) uk_zero(rows + r * UK_STRIDE, UK_STRIDE);
}

static void uk_find_derivatives(uk_memory *m, double *shared) {
  uk_traced_derivatives(UK_TRACED_STATE, m->qdd, m->multipliers, m->motion_derivatives,
                        m->row_derivatives, m->rate_derivatives, shared);
  uk_leave_inactive(m, m->row_derivatives);
}

/* The derivatives of the equations at a state, acceleration and multipliers that are in the memory. */
UK_EXPORT void uk_equation_derivatives(uk_memory *m) {
  double shared[UK_TRACED_SHARED];
  uk_find_derivatives(m, shared);
  uk_traced_rates(UK_TRACED_STATE, m->qdd, m->multipliers, m->motion_derivatives, m->row_derivatives,
                  m->rate_derivatives, shared);
  uk_leave_inactive(m, m->rate_derivatives);
}

UK_INLINE void uk_answer_equations(uk_memory *m, const uk_rank of) {
  double shared[UK_TRACED_SHARED];
  uk_response x;
  uk_find_derivatives(m, shared);
  uk_find_response(m, &x, m->motion_derivatives, m->row_derivatives, of);
  UK_EACH(i, UK_NV) uk_acceleration_row(m, &x, i, m->qdd_derivatives + i * UK_ROW_LENGTH, of);
}

/* Solution and derivatives of the inputs in the memory; 0, or as uk_evaluate. */
UK_EXPORT int uk_differentiate(uk_memory *m) {
#if UK_MOTIONS
  double sure[2];
  uk_lanes_terms(UK_STATE_TERMS);
  uk_zero(m->corrections, UK_M * UK_NV); /* where they are never written */
  uk_regular_motions(m->stabilize, m->tau, m->H, m->force, m->A, m->bias, m->residual, m->rate,
                     m->qdd, m->multipliers, m->free_motions, m->corrections, sure);
  if (sure[0] < UK_LOST_PIVOTS && sure[1] < 1.0 && isfinite(uk_total(m->qdd, UK_NV))) {
    UK_EACH(r, UK_M) m->row[r] = uk_motion_rows[r];
    m->rank = UK_MOTIONS;
    uk_answer_equations(m, (uk_rank){UK_MOTIONS, uk_motion_rows, 0});
    return 0;
  }
#endif
  int order[UK_ROWS];
  const int failed = uk_answer(m, 1);
  if (failed) return failed;
  uk_inverse(m, (int)m->rank);
  uk_answer_equations(m, uk_pivoted(m, (int)m->rank, order));
  return 0;
}

/* M and A at the state again: rows that were pivoted left the factor and zeros in their places. */
static UK_OPTIONAL void uk_terms_again(uk_memory *m) {
  uk_lanes_terms(UK_STATE_TERMS);
  UK_EACH(r, UK_M) if (m->active[r] == 0.0) uk_zero(m->A + r * UK_NV, UK_NV);
}
