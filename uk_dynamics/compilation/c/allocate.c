/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Efforts within limits: least task slack by priority, then least distance from what is preferred,
 * as core/servo/limited_allocation.py has it. Unknowns behind the efforts are what bounded rows are beyond
 * their bounds. */
#pragma once

#include "bounded_search.c"

typedef struct {
  int levels, rows;             /* priorities; rows of the map */
  const int *level;             /* of each row; null: all have the first one */
  const double *side;           /* 1 or -1 where a row is bounded, 0 where not; null: none is */
  const double *weights, *lower, *upper, *preferred; /* (UK_NU) */
  const double *map, *wanted;   /* (rows, UK_NU), (rows) */
  double *last, *warm;          /* where the search ended, (UK_NU), and whether there was one */
  double *efforts, *finished;   /* answers: (UK_NU), and 1 where there are no better ones */
} uk_allocation;

/* Least residual of each level of rows, (rows, n), without harm to those before, then of the last ones; whether
 * all searches ended, or -1. A level of null: all rows have the first one. */
static int uk_in_stages(uk_search *s, int levels, const int *level, int rows, const double *C, const double *wanted,
                        int last, const double *parts, const double *goal) {
  const int n = UK_UNKNOWNS;
  double own[UK_BASIS_ROWS * UK_UNKNOWNS], d[UK_BASIS_ROWS];
  int finished = 1;
  for (int stage = 0; stage <= levels && s->count; ++stage) {
    int count = 0;
    for (int r = 0; r < rows && stage < levels; ++r) {
      if (level && level[r] != stage) continue;
      memcpy(own + count * n, C + r * n, sizeof(double) * n);
      d[count++] = wanted[r];
    }
    const int found = stage < levels ? uk_bounded(s, own, count, d) : uk_bounded(s, parts, last, goal);
    if (found < 0) return -1;
    finished &= found;
  }
  return finished;
}

/* 0, or 1: none. */
static UK_APART int uk_allocate_efforts(const uk_allocation *a) {
  uk_search search;
  enum { n = UK_UNKNOWNS };
  double root[UK_NU], goal[UK_NU], C[UK_BASIS_ROWS * n] = {0.0}, parts[UK_NU * n] = {0.0};
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
    parts[i * n + i] = 1.0;
  }
  for (int r = 0, slack = UK_NU; r < a->rows; ++r) {
    double *row = C + r * n, beyond = -a->wanted[r];
    for (int j = 0; j < UK_NU; ++j) {
      row[j] = a->map[r * UK_NU + j] / root[j];
      beyond += row[j] * search.x[j];
    }
    if (!UK_BOUNDED || !a->side || a->side[r] == 0.0) continue;
    double size = sqrt(uk_squares(row, 0, UK_NU));
    if (size == 0.0) size = 1.0;
    beyond *= a->side[r] / size;
    row[slack] = -a->side[r] * size;
    search.x[slack] = beyond > 0.0 ? beyond : 0.0;
    search.lower[slack] = 0.0, search.upper[slack++] = INFINITY;
  }
  memset(search.motions, 0, sizeof search.motions);
  for (int i = 0; i < n; ++i) /* a motor whose limits leave no choice has no motion */
    if (search.lower[i] < search.upper[i]) search.motions[i][search.count++] = 1.0;
  const int found = uk_in_stages(&search, a->levels, a->level, a->rows, C, a->wanted, UK_NU, parts, goal);
  if (found < 0) return 1;
  *a->finished = found;
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
