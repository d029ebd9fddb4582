/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Constrained acceleration of the terms in the memory, rows pivoted; as uk_answer. */
#pragma once

#include "row_elimination.c"
#include "uk_regular.h"

static inline int uk_answer_pivoted(uk_memory *m, const int forces) {
  (void)forces;
  for (int i = 0; i < UK_NV; ++i) m->force[i] += m->tau[i];
  m->status = UK_OK;
  m->rank = 0.0;
#if UK_M > 0
  memset(m->offends, 0, sizeof m->offends);
#endif
  if (uk_factor_mass(m)) return 1;
  memcpy(m->qdd, m->force, sizeof(double) * UK_NV);
  uk_whiten(m, m->qdd);
#if UK_M > 0
  for (int r = 0; r < UK_M; ++r) {
    const double on = m->active[r];
    if (on == 0.0) {
      for (int i = 0; i < UK_NV; ++i) m->A[r * UK_NV + i] = 0.0;
      m->residual[r] = m->rate[r] = m->b[r] = 0.0;
      continue;
    }
    m->b[r] = -(m->bias[r] + m->stabilize * (uk_damping[r] * m->rate[r]
                                             + uk_stiffness[r] * m->residual[r]));
  }
  if (uk_whiten_rows(m)) return 2;
  const int rank = uk_eliminate(m, UK_RANK_TOLERANCE);
  m->rank = rank;
  double *z = m->coordinates;
  for (int k = 0; k < rank; ++k) uk_reflect(m, k, m->qdd);
  for (int i = 0; i < UK_NV; ++i) m->scratch[i] = 0.0;
  for (int k = 0; k < rank; ++k) {
    const double *row = uk_row(m, k);
    const int r = (int)m->order[k];
    double y = m->b[r] * m->inverse_scale[r];
    for (int i = 0; i < k; ++i) y -= row[i] * z[i];
    z[k] = y / m->R[k];
  }
  for (int k = 0; k < rank; ++k) {
    const double y = z[k];
    m->scratch[k] = z[k] = y - m->qdd[k];
    m->qdd[k] = y;
  }
  for (int k = rank - 1; k >= 0; --k) uk_reflect(m, k, m->qdd);
  if (forces) {
    for (int k = rank - 1; k >= 0; --k) uk_reflect(m, k, m->scratch);
    uk_multiply_factor(m, m->scratch, m->ideal_force);
    uk_multipliers(m, rank, z);
  }
#else
  for (int i = 0; i < UK_NV; ++i) m->ideal_force[i] = 0.0;
#endif
  uk_unwhiten(m, m->qdd);
  double sum = 0.0;
  for (int i = 0; i < UK_NV; ++i) sum += m->qdd[i];
#if UK_M > 0
  for (int r = 0; forces && r < UK_M; ++r) {
    double rest = -m->b[r];
    for (int i = 0; i < UK_NV; ++i) rest += m->A[r * UK_NV + i] * m->qdd[i];
    m->violation[r] = rest;
    sum += rest;
  }
  if (forces && rank < UK_M) uk_check(m, rank);
#endif
  return isfinite(sum) ? 0 : 2;
}

/* M, A and residuals at the configuration in the memory, unless they stand there. */
static void uk_configure(uk_memory *m, uk_kept *kept) {
  if (uk_is_kept(m, kept)) return;
  uk_terms_configuration(m->t, m->q, m->v, UK_FOLLOWED UK_P, m->H, m->force, m->A, m->bias,
                         m->residual, m->rate, kept->terms);
  uk_mark(m, kept);
}

static void uk_find_rates(uk_memory *m, uk_kept *kept) {
  uk_terms_rates(m->t, m->q, m->v, UK_FOLLOWED UK_P, m->H, m->force, m->A, m->bias, m->residual,
                 m->rate, kept->terms);
}

/* Constrained acceleration of the inputs in the memory, and forces where they are wanted; 0, or why
 * there is none: 1 the mass matrix is singular, 2 something is not finite. What is kept of this
 * configuration is not computed again. */
static inline int uk_answer_there(uk_memory *m, uk_kept *kept, const int forces) {
  uk_configure(m, kept);
  uk_find_rates(m, kept);
  uk_terms_forces(m->t, m->q, m->v, UK_FOLLOWED UK_P, m->H, m->force, m->A, m->bias, m->residual,
                  m->rate, kept->terms);
#if UK_REGULAR
  if (uk_regular(m, kept, forces)) {
    m->status = UK_OK;
    m->rank = UK_REGULAR;
    for (int r = 0; r < UK_M; ++r) m->offends[r] = 0.0;
    double total = 0.0;
    for (int i = 0; i < UK_NV; ++i) total += m->qdd[i];
    if (isfinite(total)) return 0;
  }
#endif
  kept->known = 0; /* the factor comes in the place of M */
  return uk_answer_pivoted(m, forces);
}

static inline int uk_answer(uk_memory *m, const int forces) {
  uk_kept kept;
  kept.known = 0;
  return uk_answer_there(m, &kept, forces);
}

UK_EXPORT int uk_evaluate(uk_memory *m) { return uk_answer(m, 1); }
