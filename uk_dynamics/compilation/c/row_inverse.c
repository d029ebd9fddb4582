/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* K and C of derivatives.c for some rows of the constraints. */

#pragma once

#include "derivatives_of_one.c"
#include "uk_closing.h"

#if UK_M > 0

/* K and C of the rows that act and are of a kind, at M and A; 0, or as uk_evaluate. */
static int uk_invert_kind(uk_memory *m, const double *kind, const double *M, const double *A,
                          int *rank) {
  double total = 0.0;
  memcpy(m->H, M, sizeof m->H);
  memcpy(m->A, A, sizeof m->A);
  uk_lanes_linearize(m, kind, UK_RANK_TOLERANCE);
  *rank = (int)m->rank;
  for (int r = 0; r < UK_M; ++r) total += m->square[r];
  if (m->singular || !isfinite(total)) return m->singular ? UK_SINGULAR_MASS : UK_NOT_NUMBERS;
  uk_inverse(m, *rank);
  return 0;
}

#endif
