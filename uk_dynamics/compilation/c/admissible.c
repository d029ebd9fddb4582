/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Coordinates of the motions that the structure admits, at the states whose rows were pivoted last: they
 * stand behind those that it holds, which the reflections of row_elimination.c lead to. */
#pragma once

#include "attributes.h"
#include "uk_evaluation.h"

/* Coordinates of a generalized force in its place, zero where the structure holds them; the size that it
 * had. */
static UK_OPTIONAL uk_lanes uk_admissible(const uk_lanes_memory *m, uk_lanes *x) {
  uk_lanes_whiten(m, x);
  const uk_lanes square = uk_dot(x, x, UK_NV);
#if UK_M > 0
  uk_basis b = uk_rows_of(m);
  if (UK_WIDTH == 1) b.rank = (int)UK_PART(m->rank, 0);
  uk_rotate(&b, x);
  UK_EACH(k, b.rank) x[k] = uk_pick(uk_is_independent(&b, k), uk_all(0.0), x[k]);
#endif
  return uk_lanes_sqrt(square);
}

#ifdef UK_ONE_STATE

/* Back to an acceleration, without the coordinates that the structure holds. */
static UK_OPTIONAL void uk_admitted(const uk_lanes_memory *m, int rank, double *x) {
  for (int i = 0; i < rank; ++i) x[i] = 0.0;
#if UK_M > 0
  uk_basis b = uk_rows_of(m);
  b.rank = rank;
  uk_rotate_back(&b, x);
#endif
  uk_lanes_unwhiten(m, x);
}

#endif
