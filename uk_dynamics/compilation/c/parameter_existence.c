/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
#pragma once

#include "force_derivatives.c"

/* Behind uk_differentiate by parameters: 1 for those that have derivatives, 0 for those that move redundant
 * rows apart, as lengths may: then A dq'' = s does not hold in all rows. */
UK_EXPORT void uk_exist(uk_memory *m, double *exist) {
  for (int k = 0; k < UK_NP; ++k) exist[k] = 1.0;
#if UK_M > 0
  double left[UK_STRIDE], size[UK_STRIDE];
  if ((int)m->rank == UK_M) return;
  uk_terms_again(m);
  for (int r = 0; r < UK_M; ++r) {
    if (m->active[r] == 0.0) continue;
    for (int k = 0; k < UK_NP; ++k) {
      left[k] = -m->row_derivatives[r * UK_STRIDE + k];
      size[k] = fabs(left[k]);
    }
    for (int i = 0; i < UK_NV; ++i) {
      const double factor = m->A[r * UK_NV + i];
      if (factor == 0.0) continue;
      for (int k = 0; k < UK_NP; ++k) {
        const double part = factor * m->qdd_derivatives[i * UK_ROW_LENGTH + k];
        left[k] += part;
        size[k] += fabs(part);
      }
    }
    for (int k = 0; k < UK_NP; ++k)
      if (fabs(left[k]) > UK_FOLLOWS_WITHIN * (1.0 + size[k])) exist[k] = 0.0;
  }
#else
  (void)m;
#endif
}
