/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Non-negative least squares, Lawson and Hanson's active set. */
#pragma once

#include "least_solution.c"

#define UK_NORMALS UK_MOST(UK_UNKNOWNS, UK_INEQUALITIES) /* most of them */
#define UK_WEAK 1e-13 /* of what it would be if nothing cancelled: a gradient below is rounding */

/* The y >= 0 of least |sum y_j normal_j - u|; normals are (count, n); rest: u less that sum. Whether it was found.
 * Of normals that differ in their last entries only the rest is right to the size of these: it is turned out of
 * the basis, not a difference. */
static int uk_nonnegative(uk_basis *basis, int count, int n, const double *normals,
                          const double *u, double *y, double *rest) {
  int in[UK_NORMALS], barred[UK_NORMALS], place[UK_NORMALS], used = 0;
  double turned[UK_LONGEST + 1]; /* u, as the basis has it */
  const double size = sqrt(uk_squares(u, 0, n));
  memcpy(turned, u, sizeof(double) * n);
  basis->n = n, basis->count = basis->rank = 0, basis->ordered = 1;
  for (int j = 0; j < count; ++j) y[j] = 0.0, in[j] = barred[j] = 0;
  for (int round = 0; round < 10 * count + 1; ++round) {
    double steepest = 0.0;
    int next = -1;
    for (int i = 0; i < n; ++i) rest[i] = i < used ? 0.0 : turned[i];
    uk_rotate_back(basis, rest);
    for (int j = 0; j < count; ++j) {
      if (in[j] || barred[j]) continue;
      const double *x = normals + j * n;
      double slope = 0.0;
      for (int i = 0; i < n; ++i) slope += x[i] * rest[i];
      if (slope > steepest && slope > UK_WEAK * size * sqrt(uk_squares(x, 0, n)))
        steepest = slope, next = j;
    }
    if (next < 0) return 1;
    if (!uk_append_row(basis, normals + next * n, UK_DEPENDENT)) { /* nothing that the others do not give */
      barred[next] = 1;
      continue;
    }
    uk_reflect(basis, used, turned);
    in[next] = 1, place[used++] = next;
    for (;;) {
      int worst = -1, at = 0;
      double part[UK_LONGEST + 1], step = 1.0;
      memcpy(part, turned, sizeof(double) * used);
      uk_solve_triangle(basis, part);
      for (int k = 0; k < used; ++k) {
        part[k] *= basis->scale[k];
        const int j = place[k];
        if (part[k] > 0.0) continue;
        const double way = y[j] > 0.0 ? y[j] / (y[j] - part[k]) : 0.0;
        if (worst < 0 || way < step) step = way, worst = j, at = k;
      }
      for (int k = 0; k < used; ++k) y[place[k]] += step * (part[k] - y[place[k]]);
      if (worst < 0) {
        for (int j = 0; in[next] && j < count; ++j) barred[j] = 0;
        break;
      }
      if (worst == next && y[next] <= 0.0) barred[next] = 1; /* rounding said it would help */
      in[worst] = 0;
      y[worst] = 0.0;
      --used;
      for (int k = at; k < used; ++k) place[k] = place[k + 1];
      for (int k = used; k >= at; --k) uk_reflect(basis, k, turned);
      basis->rank = basis->count = at; /* the factor begins again where the row was */
      for (int k = at; k < used; ++k) {
        uk_append_row(basis, normals + place[k] * n, 0.0);
        uk_reflect(basis, k, turned);
      }
    }
  }
  return 0;
}
