/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Efforts whose only effect are forces in the loops; see control/internal_efforts.py. */
#pragma once

#include "least_solution.c"

/* At the rows in m->A. `named`, (UK_M): rows of constraints that forces are given for; `added`:
 * these forces; `unit`: natural efforts, (UK_NU). 0, or 5: motors do not determine them. */
static UK_APART int uk_internal(const uk_memory *m, const double *named, const double *added,
                       const double *unit, double *efforts) {
  uk_basis_room rooms[3];
  uk_basis others = uk_basis_in(rooms), motors = uk_basis_in(rooms + 1), range = uk_basis_in(rooms + 2);
  double desired[UK_NV], demand[UK_NV], driven[UK_NV][UK_NU];
  for (int j = 0; j < UK_NU; ++j) efforts[j] = 0.0;
  for (int i = 0; i < UK_NV; ++i) desired[i] = 0.0;
  others.n = UK_NV, others.count = 0;
#if UK_M > 0
  for (int r = 0; r < UK_M; ++r) {
    const double *row = m->A + r * UK_NV;
    if (m->active[r] == 0.0) continue;
    if (named[r] != 0.0)
      uk_add(desired, -added[r], row, UK_NV);
    else
      memcpy(others.rows + others.count++ * UK_NV, row, sizeof desired);
  }
#else
  (void)m, (void)named, (void)added;
#endif
  uk_factor_rows(&others, NULL, UK_INDEPENDENT);
  memcpy(demand, desired, sizeof demand);
  uk_orthogonal_part(&others, demand);
  const double size = uk_largest(desired, UK_NV);
  if (size == 0.0) return 0;
  if (!(uk_largest(demand, UK_NV) > UK_INTERNAL_REACHED * size)) return 5;
  for (int j = 0; j < UK_NU; ++j) {
    double column[UK_NV];
    for (int i = 0; i < UK_NV; ++i) column[i] = uk_motors[j][i] * unit[j];
    uk_orthogonal_part(&others, column);
    for (int i = 0; i < UK_NV; ++i) driven[i][j] = column[i];
  }
  uk_least_solution(&motors, &range, &driven[0][0], UK_NV, UK_NU, NULL, UK_INDEPENDENT, demand,
                    efforts);
  for (int i = 0; i < UK_NV; ++i)
    if (!(fabs(uk_dot(driven[i], efforts, UK_NU) - demand[i]) <= UK_INTERNAL_REACHED * size)) return 5;
  for (int j = 0; j < UK_NU; ++j) efforts[j] *= unit[j];
  return 0;
}
