/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* A single state: projection_lanes.c with one lane. */
#pragma once

#include "projection_lanes.c"

#if UK_M > 0 && !defined(UK_OF_CLUSTERS)

/* Rows that act and are of a kind, eliminated: factors stand in the place of M. 0, or as uk_evaluate. */
static UK_OPTIONAL int uk_eliminate_kind(uk_memory *m, const double *kind, double tolerance, int *rank) {
  double total = 0.0;
  uk_lanes_linearize(m, kind, tolerance);
  *rank = (int)m->rank;
  for (int r = 0; r < UK_M; ++r) total += m->square[r];
  return m->singular ? UK_SINGULAR_MASS : isfinite(total) ? 0 : UK_NOT_NUMBERS;
}

/* Project q alone; as uk_project_there. M, A and residuals are those there. */
static UK_OPTIONAL int uk_project_place(uk_memory *m, uk_kept *kept) {
  uk_lanes_way way;
  m->singular = 0.0;
  uk_lanes_close(m, kept, 1, &way);
  if (way.smallest <= UK_REACHED) return 0;
  return m->singular ? UK_SINGULAR_MASS : isfinite(way.smallest) ? UK_OPEN_LOOPS : UK_NOT_NUMBERS;
}

#endif

/* Project q and v in the memory, where `followed` is that of the time there; what is kept is then of
 * the configuration there. 0; 1 or 2 as uk_evaluate, 3 where the loops stay open. */
static UK_OPTIONAL int uk_project_there(uk_memory *m, uk_kept *kept) {
  double why;
  uk_lanes_project(m, kept, 1, &why);
  return (int)why;
}

static inline int uk_project(uk_memory *m) {
  uk_kept kept;
  kept.known = 0;
  return uk_project_there(m, &kept);
}
