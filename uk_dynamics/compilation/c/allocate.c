/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Efforts within limits: least task slack by priority, then least distance from what is preferred,
 * as core/servo/limited_allocation.py has it. */
#pragma once

#include "bounded_search.c"

typedef struct {
  int levels, rows;             /* priorities; rows of the map */
  const int *level;             /* of each row; null: all have the first one */
  const double *weights, *lower, *upper, *preferred; /* (UK_NU) */
  const double *map, *wanted;   /* (rows, UK_NU), (rows) */
  double *last, *warm;          /* where the search ended, (UK_NU), and whether there was one */
  double *efforts, *finished;   /* answers: (UK_NU), and 1 where there are no better ones */
} uk_allocation;

/* 0, or 1: none. */
static UK_APART int uk_allocate_efforts(const uk_allocation *a) {
  uk_search search;
  double root[UK_NU], goal[UK_NU], C[UK_BASIS_ROWS * UK_NU], d[UK_BASIS_ROWS];
  search.count = 0;
  search.basis = uk_basis_in(search.rooms), search.range = uk_basis_in(search.rooms + 1);
  for (int i = 0; i < UK_NU; ++i) {
    root[i] = sqrt(a->weights[i]);
    search.lower[i] = root[i] * a->lower[i];
    search.upper[i] = root[i] * a->upper[i];
    goal[i] = root[i] * a->preferred[i];
    double x = *a->warm != 0.0 ? a->last[i] : goal[i];
    if (x < search.lower[i]) x = search.lower[i];
    if (x > search.upper[i]) x = search.upper[i];
    search.x[i] = x;
    for (int j = 0; j < UK_NU; ++j) search.motions[i][j] = 0.0;
  }
  for (int i = 0; i < UK_NU; ++i) /* a motor whose limits leave no choice has no motion */
    if (search.lower[i] < search.upper[i]) search.motions[i][search.count++] = 1.0;
  *a->finished = 1.0;
  for (int stage = 0; stage <= a->levels && search.count; ++stage) {
    int rows = 0;
    if (stage == a->levels) {
      for (rows = 0; rows < UK_NU; ++rows) {
        d[rows] = goal[rows];
        for (int j = 0; j < UK_NU; ++j) C[rows * UK_NU + j] = rows == j;
      }
    } else {
      for (int r = 0; r < a->rows; ++r) {
        if (a->level && a->level[r] != stage) continue;
        d[rows] = a->wanted[r];
        for (int j = 0; j < UK_NU; ++j) C[rows * UK_NU + j] = a->map[r * UK_NU + j] / root[j];
        ++rows;
      }
    }
    const int found = uk_bounded(&search, C, rows, d);
    if (found < 0) return 1;
    if (!found) *a->finished = 0.0;
  }
  double sum = 0.0;
  for (int i = 0; i < UK_NU; ++i) {
    a->last[i] = search.x[i];
    double u = search.x[i] / root[i];
    if (u < a->lower[i]) u = a->lower[i];
    if (u > a->upper[i]) u = a->upper[i];
    a->efforts[i] = u;
    sum += u;
  }
  *a->warm = isfinite(sum) ? 1.0 : 0.0;
  return !isfinite(sum);
}
