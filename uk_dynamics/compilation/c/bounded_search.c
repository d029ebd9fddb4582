/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Least squares within bounds, where only some motions are allowed: a primal active set, step by
 * step as core/linalg/bounded_least_squares.py has it. */
#pragma once

#include "nonnegative.c"

typedef struct {
  double x[UK_UNKNOWNS], lower[UK_UNKNOWNS], upper[UK_UNKNOWNS];
  int count;                                /* of motions */
  double motions[UK_UNKNOWNS][UK_UNKNOWNS]; /* of each unknown along each of them */
  int held[UK_UNKNOWNS];
  uk_basis_room rooms[2];
  uk_basis basis, range;
} uk_search;

/* From here to the least squares of the motions that leave no held unknown, in motions. */
static void uk_search_step(uk_search *s, const double *rows, int m, const double *sizes,
                           const double *residual, double *step) {
  const int n = UK_UNKNOWNS, f = s->count;
  double turned[UK_BASIS_ROWS * UK_UNKNOWNS], z[UK_UNKNOWNS];
  uk_basis_room room;
  uk_basis held = uk_basis_in(&room);
  held.n = f, held.count = 0, held.rank = 0;
  for (int i = 0; i < n; ++i)
    if (s->held[i]) {
      memcpy(held.rows + held.count * f, s->motions[i], sizeof(double) * f);
      ++held.count;
    }
  double ones[UK_UNKNOWNS];
  for (int i = 0; i < n; ++i) ones[i] = 1.0;
  if (held.count) uk_factor_rows(&held, ones, UK_DEPENDENT);
  const int q = held.rank, g = f - q;
  for (int i = 0; i < f; ++i) step[i] = 0.0;
  if (!g) return;
  for (int k = 0; k < m; ++k) {
    double x[UK_UNKNOWNS];
    memcpy(x, rows + k * f, sizeof(double) * f);
    uk_rotate(&held, x);
    for (int i = 0; i < g; ++i) turned[k * g + i] = x[q + i];
  }
  uk_least_solution(&s->basis, &s->range, turned, m, g, sizes, UK_TASK_RANK_TOLERANCE, residual,
                    z);
  for (int i = 0; i < g; ++i) step[q + i] = z[i];
  uk_rotate_back(&held, step);
}

/* Go as far as bounds allow; which unknown blocks the rest, or -1. */
static int uk_advance(uk_search *s, const double *along, double factor) {
  const int n = UK_UNKNOWNS;
  double pace[UK_UNKNOWNS], fastest = 0.0, part = 1.0;
  int blocked = -1;
  for (int i = 0; i < n; ++i) {
    pace[i] = 0.0;
    for (int k = 0; k < s->count; ++k) pace[i] += s->motions[i][k] * along[k];
    pace[i] *= factor;
    if (fabs(pace[i]) > fastest) fastest = fabs(pace[i]);
  }
  for (int i = 0; i < n; ++i) {
    if (s->held[i] || !(fabs(pace[i]) > UK_STILL * fastest)) {
      pace[i] = 0.0;
      continue;
    }
    const double room = (pace[i] > 0.0 ? s->upper[i] : s->lower[i]) - s->x[i];
    if (room / pace[i] < part) part = room / pace[i], blocked = i;
  }
  if (part < 0.0) part = 0.0;
  for (int i = 0; i < n; ++i) {
    double x = s->x[i] + part * pace[i];
    if (x < s->lower[i]) x = s->lower[i];
    if (x > s->upper[i]) x = s->upper[i];
    s->x[i] = x;
  }
  if (blocked >= 0) s->x[blocked] = pace[blocked] > 0.0 ? s->upper[blocked] : s->lower[blocked];
  return blocked;
}

/* d - C x. */
static void uk_residual(const uk_search *s, const double *C, int m, const double *d, double *rest) {
  const int n = UK_UNKNOWNS;
  for (int k = 0; k < m; ++k) {
    rest[k] = d[k];
    for (int i = 0; i < n; ++i) rest[k] -= C[k * n + i] * s->x[i];
  }
}

/* Part of a direction that leaves no bound, in place, and how hard each bound is pushed. */
static int uk_within_cone(uk_search *s, double *direction, const double *outward, double *push) {
  const int n = UK_UNKNOWNS, f = s->count;
  double normals[UK_UNKNOWNS * UK_UNKNOWNS], y[UK_UNKNOWNS];
  int place[UK_UNKNOWNS], at = 0;
  for (int i = 0; i < n; ++i) {
    push[i] = 0.0;
    if (!s->held[i]) continue;
    for (int k = 0; k < f; ++k) normals[at * f + k] = s->motions[i][k] * outward[i];
    place[at++] = i;
  }
  if (!at) return 1;
  if (!uk_nonnegative(&s->basis, at, f, normals, direction, y)) return 0;
  for (int j = 0; j < at; ++j) {
    push[place[j]] = y[j];
    for (int k = 0; k < f; ++k) direction[k] -= y[j] * normals[j * f + k];
  }
  return 1;
}

/* Lets x become the least squares of C x - d, (m, nu), and leaves the motions along which it stays
 * the least. 1: it is; 0: the search was cut short; -1: it failed. */
static int uk_bounded(uk_search *s, const double *C, int m, const double *d) {
  const int n = UK_UNKNOWNS, f = s->count;
  double rows[UK_BASIS_ROWS * UK_UNKNOWNS], span[UK_UNKNOWNS * UK_UNKNOWNS], outward[UK_UNKNOWNS], push[UK_UNKNOWNS];
  const double tolerance = UK_TASK_RANK_TOLERANCE;
  for (int i = 0; i < n; ++i) /* what motions hardly move: an earlier problem has fixed that */
    if (uk_squares(s->motions[i], 0, f) <= tolerance * tolerance)
      for (int k = 0; k < f; ++k) s->motions[i][k] = 0.0;
  for (int k = 0; k < m; ++k)
    for (int g = 0; g < f; ++g) {
      double sum = 0.0;
      for (int i = 0; i < n; ++i) sum += C[k * n + i] * s->motions[i][g];
      rows[k * f + g] = sum;
    }
  for (int k = 0; k < m; ++k) { /* rounding of rows that earlier problems have fixed */
    const double least = tolerance * sqrt(uk_squares(C + k * n, 0, n));
    if (sqrt(uk_squares(rows + k * f, 0, f)) <= least)
      for (int g = 0; g < f; ++g) rows[k * f + g] = 0.0;
  }
  s->basis.n = f, s->basis.count = m;
  memcpy(s->basis.rows, rows, sizeof(double) * m * f);
  uk_factor_rows(&s->basis, NULL, tolerance);
  const int rank = s->basis.rank;
  for (int k = 0; k < rank; ++k) {
    double *x = span + k * f;
    for (int g = 0; g < f; ++g) x[g] = g == k;
    uk_rotate_back(&s->basis, x);
  }
  if (rank < (m < f ? m : f)) /* what is too weak does not count */
    for (int k = 0; k < m; ++k) {
      double x[UK_UNKNOWNS];
      for (int g = 0; g < f; ++g) x[g] = 0.0;
      for (int r = 0; r < rank; ++r) {
        double sum = 0.0;
        for (int g = 0; g < f; ++g) sum += rows[k * f + g] * span[r * f + g];
        for (int g = 0; g < f; ++g) x[g] += sum * span[r * f + g];
      }
      memcpy(rows + k * f, x, sizeof(double) * f);
    }
  int strict[UK_UNKNOWNS], finished = 0;
  for (int i = 0; i < n; ++i) {
    s->held[i] = s->x[i] <= s->lower[i] || s->x[i] >= s->upper[i];
    strict[i] = 0;
  }
  double sizes[UK_BASIS_ROWS];
  for (int k = 0; k < m; ++k) sizes[k] = sqrt(uk_squares(rows + k * f, 0, f));
  const double size = sqrt(uk_squares(sizes, 0, m));
  const double asked = sqrt(uk_squares(d, 0, m)), strength = sqrt(uk_squares(C, 0, m * n));
  for (int round = 0; round < UK_STEPS_PER_UNKNOWN * n + 1; ++round) {
    double rest[UK_BASIS_ROWS], step[UK_UNKNOWNS], direction[UK_UNKNOWNS];
    uk_residual(s, C, m, d, rest);
    uk_search_step(s, rows, m, sizes, rest, step);
    const int blocked = uk_advance(s, step, 1.0);
    if (blocked >= 0) {
      s->held[blocked] = 1;
      continue;
    }
    uk_residual(s, C, m, d, rest);
    for (int g = 0; g < f; ++g) {
      direction[g] = 0.0;
      for (int k = 0; k < m; ++k) direction[g] += rest[k] * rows[k * f + g];
    }
    const double missing = sqrt(uk_squares(rest, 0, m));
    const double flat = UK_FLAT * missing
                        + UK_SEARCH_ROUNDING * (asked + strength * sqrt(uk_squares(s->x, 0, n)));
    for (int i = 0; i < n; ++i)
      outward[i] = (s->x[i] >= s->upper[i] ? 1.0 : 0.0) - (s->x[i] <= s->lower[i] ? 1.0 : 0.0);
    if (!uk_within_cone(s, direction, outward, push)) return -1;
    const double least = flat > tolerance * missing ? flat : tolerance * missing;
    for (int i = 0; i < n; ++i) strict[i] = push[i] > least * size;
    const double left = uk_squares(direction, 0, f), length = sqrt(left);
    double gain = 0.0;
    int weak = 1; /* rows hardly change along it */
    for (int k = 0; k < m; ++k) {
      double sum = 0.0;
      for (int g = 0; g < f; ++g) sum += rows[k * f + g] * direction[g];
      gain += sum * sum;
      if (!(fabs(sum) <= tolerance * sizes[k] * length)) weak = 0;
    }
    if (length <= flat * size || weak) {
      finished = 1;
      break;
    }
    for (int i = 0; i < n; ++i) s->held[i] = s->held[i] && push[i] > 0.0;
    uk_advance(s, direction, left / gain);
    for (int i = 0; i < n; ++i)
      if ((s->x[i] <= s->lower[i] || s->x[i] >= s->upper[i]) && outward[i] == 0.0) s->held[i] = 1;
  }
  /* what the rows and the bounds that are pushed leave */
  double ones[UK_BASIS_ROWS];
  int kept = rank;
  memcpy(s->basis.rows, span, sizeof(double) * rank * f);
  for (int i = 0; i < n; ++i)
    if (strict[i]) memcpy(s->basis.rows + kept++ * f, s->motions[i], sizeof(double) * f);
  for (int k = 0; k < kept; ++k) ones[k] = 1.0;
  s->basis.n = f, s->basis.count = kept, s->basis.rank = 0;
  if (kept) uk_factor_rows(&s->basis, ones, tolerance);
  s->count = f - s->basis.rank;
  for (int i = 0; i < n; ++i) {
    double x[UK_UNKNOWNS];
    memcpy(x, s->motions[i], sizeof(double) * f);
    uk_rotate(&s->basis, x);
    for (int g = 0; g < s->count; ++g) /* not even as little as a rank tolerance leaves */
      s->motions[i][g] = strict[i] ? 0.0 : x[s->basis.rank + g];
  }
  return finished;
}
