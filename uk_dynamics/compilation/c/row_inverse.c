/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* K and C of derivatives.c for some rows of the constraints. */

#pragma once

#include "derivatives_of_one.c"
#include "uk_closing.h"

#if UK_M > 0

/* K and C of the rows that act and are of a kind, at M and A; 0, or as uk_evaluate. */
static int uk_invert_kind(uk_memory *m, const double *kind, const double *M, const double *A,
                          int *rank) {
  memcpy(m->H, M, sizeof m->H);
  memcpy(m->A, A, sizeof m->A);
  uk_lanes_linearize(m, kind, UK_RANK_TOLERANCE, NULL);
  *rank = (int)m->rank;
  if (m->singular) return UK_SINGULAR_MASS;
  if (!isfinite(uk_total(m->square, UK_M))) return UK_NOT_NUMBERS;
  uk_inverse(m, *rank);
  return 0;
}

#endif
