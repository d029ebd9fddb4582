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
  const uk_basis b = uk_eliminated_rows(m);
  uk_rotate(&b, x);
  UK_EACH(k, b.rank) x[k] = uk_pick(uk_is_independent(&b, k), uk_all(0.0), x[k]);
#endif
  return uk_lanes_sqrt(square);
}

/* The same of columns, (UK_NV, count), so that each step is one of all of them; what the structure holds is not made
 * zero. Room: (count). */
UK_INLINE void uk_admissible_columns(const uk_lanes_memory *m, uk_lanes *x, const int count, uk_lanes *size,
                                     uk_lanes *room) {
  for (int i = UK_NV - 1; i >= 0; --i) {
    uk_lanes *own = x + i * count;
    UK_EACH(k, count) own[k] *= m->inverse_pivot[i];
    for (int j = uk_parent[i]; j >= 0; j = uk_parent[j]) uk_add(x + j * count, -m->H[i * UK_NV + j], own, count);
  }
  UK_EACH(k, count) size[k] = uk_all(0.0);
  UK_EACH(i, UK_NV) UK_EACH(k, count) size[k] += x[i * count + k] * x[i * count + k];
  UK_EACH(k, count) size[k] = uk_lanes_sqrt(size[k]);
#if UK_M > 0
  const uk_basis b = uk_rows_of(m);
  UK_EACH(r, UK_WIDTH == 1 ? (int)UK_PART(m->rank, 0) : b.rank) {
    const uk_lanes *v = b.rows + r * UK_NV;
    UK_EACH(k, count) room[k] = uk_all(0.0);
    for (int i = r; i < UK_NV; ++i) uk_add(room, v[i] * b.beta[r], x + i * count, count);
    for (int i = r; i < UK_NV; ++i) uk_add(x + i * count, -v[i], room, count);
  }
#else
  (void)room;
#endif
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
