/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Motions that the structure admits, at the state whose rows were pivoted last. */
#pragma once

#include "attributes.h"
#include "pivoted_rows.c"
#include "uk_evaluation.h"

#if !defined(UK_OF_CLUSTERS)

/* Coordinates of a generalized force behind those that the structure holds, in place; its size. */
static UK_OPTIONAL double uk_admissible(const uk_memory *m, int rank, double *x) {
  uk_lanes_whiten(m, x);
  const double size = sqrt(uk_squares(x, 0, UK_NV));
#if UK_M > 0
  for (int k = 0; k < rank; ++k) uk_lanes_reflect(m, k, x);
#else
  (void)rank;
#endif
  return size;
}

/* Back to an acceleration, without the coordinates that the structure holds. */
static UK_OPTIONAL void uk_admitted(const uk_memory *m, int rank, double *x) {
  for (int i = 0; i < rank; ++i) x[i] = 0.0;
#if UK_M > 0
  for (int k = rank - 1; k >= 0; --k) uk_lanes_reflect(m, k, x);
#endif
  uk_lanes_unwhiten(m, x);
}

#endif
