/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Coordinates of the motions that the structure admits, at the states whose rows were pivoted last: they
 * stand behind those that it holds, which the reflections of solve_lanes.c lead to. */
#pragma once

#include "attributes.h"
#include "uk_evaluation.h"

/* Coordinates of a generalized force in its place, zero where the structure holds them; the size that it
 * had. */
static UK_OPTIONAL uk_lanes uk_admissible(const uk_lanes_memory *m, uk_lanes *x) {
  uk_lanes square = uk_all(0.0);
  uk_lanes_whiten(m, x);
  UK_EACH(i, UK_NV) square += x[i] * x[i];
#if UK_M > 0
  const int most = UK_WIDTH > 1 ? UK_COUNT : (int)UK_PART(m->rank, 0);
  UK_EACH(k, most) uk_lanes_reflect(m, k, x);
  UK_EACH(k, most) x[k] = uk_pick(m->independent[k], uk_all(0.0), x[k]);
#endif
  return uk_lanes_sqrt(square);
}

#ifdef UK_ONE_STATE

/* Back to an acceleration, without the coordinates that the structure holds. */
static UK_OPTIONAL void uk_admitted(const uk_lanes_memory *m, int rank, double *x) {
  for (int i = 0; i < rank; ++i) x[i] = 0.0;
#if UK_M > 0
  for (int k = rank - 1; k >= 0; --k) uk_lanes_reflect(m, k, x);
#endif
  uk_lanes_unwhiten(m, x);
}

#endif
