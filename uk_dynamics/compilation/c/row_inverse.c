/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* K and C of derivatives.c for some rows of the constraints. */

#pragma once

#include "derivatives_of_one.c"
#include "uk_closing.h"

#if UK_M > 0

/* K and C of the rows of a kind, at M and A; 0, or as uk_evaluate. */
static int uk_invert_kind(uk_memory *m, const double *kind, const double *M, const double *A,
                          int *rank) {
  memcpy(m->H, M, sizeof m->H);
  memcpy(m->A, A, sizeof m->A);
  const int failed = uk_eliminate_kind(m, kind, UK_RANK_TOLERANCE, rank);
  if (!failed) uk_inverse(m, *rank);
  return failed;
}

#endif
