/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What follows uk_differentiate at the same state. */

#pragma once

#include "derivatives_of_one.c"
#include "force_derivatives.c"

/* Derivatives of the multipliers and of the constraint force; see derivative_functions.h. */
UK_EXPORT void uk_force_derivatives(uk_memory *m, double *multipliers, double *force) {
#if UK_M > 0
  double shared[UK_TRACED_SHARED];
  int order[UK_ROWS];
  uk_terms_again(m);
  const uk_rank of = uk_pivoted(m, (int)m->rank, order);
  uk_find_forces(m, of, m->qdd_derivatives, multipliers, force, m->rest, m->turned, shared);
  UK_EACH(i, UK_NV) uk_force_row(i, m->rest, force + i * UK_ROW_LENGTH);
  if (of.rank < UK_M) uk_share(m, of, multipliers, m->rest, m->turned, shared);
#else
  (void)m, (void)multipliers;
  uk_zero(force, UK_NV * UK_ROW_LENGTH);
#endif
}

#if UK_NP > 0
/* Which parameters have derivatives: where redundant rows part, A dq'' = s does not hold in all of them. */
UK_EXPORT void uk_exist(uk_memory *m, double *exist) {
#if UK_M > 0
  int order[UK_ROWS];
  uk_parting x;
  if (m->rank < UK_M) uk_terms_again(m);
  uk_parameters_exist(m, uk_pivoted(m, (int)m->rank, order), &x, exist);
#else
  (void)m;
  UK_EACH(k, UK_NP) exist[k] = 1.0;
#endif
}
#endif
