/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Which rows of a small matrix are independent, and what they span: as RowBasis of the interpreted
 * evaluator, with the same scales, preferences and tolerance. Reflections as in solve_lanes.c. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "attributes.h"
#include "uk_allocation.h"
#include "uk_config.h"
#include "uk_evaluation.h"
#include "uk_motors.h"
#include "uk_sizes.h"

#define UK_MOST(a, b) ((a) > (b) ? (a) : (b))
#if defined(UK_OF_CLUSTERS) /* no law takes rows of the structure, or of all joints */
#define UK_BASIS_ROWS (UK_MT + 2 * UK_NU)
#else
#define UK_BASIS_ROWS UK_MOST(UK_MT + 2 * UK_NU, UK_MOST(UK_M, UK_NV)) /* most rows of a basis, and */
#endif
#define UK_LONGEST UK_MOST(UK_NV, UK_MOST(UK_MT, UK_NU)) /* their greatest length */

typedef struct {
  int n, count, rank;                /* length of the rows, how many, how many independent */
  double rows[UK_BASIS_ROWS * UK_LONGEST];  /* (count, n): R before the diagonal, reflectors behind */
  int order[UK_BASIS_ROWS];                /* independent rows first, in order */
  double inverse_scale[UK_BASIS_ROWS], beta[UK_BASIS_ROWS], R[UK_BASIS_ROWS];
} uk_basis;

static double uk_squares(const double *x, int from, int to) {
  double sum = 0.0;
  for (int i = from; i < to; ++i) sum += x[i] * x[i];
  return sum;
}

static void uk_basis_reflect(const uk_basis *b, int k, double *x) {
  const double *v = b->rows + b->order[k] * b->n;
  double s = 0.0;
  for (int i = k; i < b->n; ++i) s += v[i] * x[i];
  s *= b->beta[k];
  for (int i = k; i < b->n; ++i) x[i] -= s * v[i];
}

/* Q^T x in place: the first entries are coordinates in the basis. */
static void uk_rotate(const uk_basis *b, double *x) {
  for (int k = 0; k < b->rank; ++k) uk_basis_reflect(b, k, x);
}

/* Q x in place. */
static void uk_rotate_back(const uk_basis *b, double *x) {
  for (int k = b->rank - 1; k >= 0; --k) uk_basis_reflect(b, k, x);
}

/* Part of x that is orthogonal to the basis, in place. */
static UK_APART void uk_orthogonal_part(const uk_basis *b, double *x) {
  uk_rotate(b, x);
  for (int k = 0; k < b->rank; ++k) x[k] = 0.0;
  uk_rotate_back(b, x);
}

/* Factor the rows that stand in b->rows, which they leave. Without natural sizes each row is as
 * large as it is. */
static UK_APART void uk_factor_rows(uk_basis *b, const double *natural, double tolerance) {
  const int n = b->n, count = b->count, most = n < count ? n : count;
  double square[UK_BASIS_ROWS], reference[UK_BASIS_ROWS], largest = 0.0;
  for (int r = 0; r < count; ++r) {
    b->order[r] = r;
    square[r] = sqrt(uk_squares(b->rows + r * n, 0, n));
    if (square[r] > largest) largest = square[r];
  }
  for (int r = 0; r < count; ++r) {
    double *x = b->rows + r * n, size = square[r] + UK_TINY;
    double inverse = uk_task_handicap[r];
    if (natural) {
      const double least = UK_LEAST_PART * natural[r] + UK_TINY;
      size = square[r] > least ? square[r] : least;
    } else if (square[r] <= UK_ZERO_ROW * largest) {
      inverse = 0.0;
    }
    b->inverse_scale[r] = inverse /= size;
    for (int i = 0; i < n; ++i) x[i] *= inverse;
    square[r] = reference[r] = uk_squares(x, 0, n);
  }
  for (b->rank = 0; b->rank < most; ++b->rank) {
    const int k = b->rank;
    int best = k;
    for (int j = k + 1; j < count; ++j)
      if (square[b->order[j]] > square[b->order[best]]) best = j;
    const int chosen = b->order[best];
    for (int j = best; j > k; --j) b->order[j] = b->order[j - 1];
    b->order[k] = chosen;
    double *v = b->rows + chosen * n;
    const double norm = sqrt(uk_squares(v, k, n));
    if (!(norm > tolerance)) return;
    const double diagonal = v[k] > 0.0 ? -norm : norm;
    b->beta[k] = 1.0 / (norm * (norm + fabs(v[k])));
    v[k] -= diagonal;
    b->R[k] = diagonal;
    for (int j = k + 1; j < count; ++j) {
      const int r = b->order[j];
      double *x = b->rows + r * n;
      uk_basis_reflect(b, k, x);
      square[r] -= x[k] * x[k];
      if (!(square[r] > UK_DOWNDATE * reference[r]))
        square[r] = reference[r] = uk_squares(x, k + 1, n);
    }
  }
}

/* The x of least norm with which the independent rows give their part of y. */
static UK_APART void uk_solve_rows(const uk_basis *b, const double *y, double *x) {
  for (int i = 0; i < b->n; ++i) x[i] = 0.0;
  for (int k = 0; k < b->rank; ++k) {
    const int r = b->order[k];
    double sum = y[r] * b->inverse_scale[r];
    for (int i = 0; i < k; ++i) sum -= b->rows[r * b->n + i] * x[i];
    x[k] = sum / b->R[k];
  }
  uk_rotate_back(b, x);
}

/* The combination of rows, all of them independent, that is nearest to y, which is lost. */
static UK_APART void uk_nearest_combination(const uk_basis *b, double *y, double *x) {
  uk_rotate(b, y);
  for (int k = b->rank - 1; k >= 0; --k) {
    for (int i = k + 1; i < b->rank; ++i) y[k] -= b->rows[b->order[i] * b->n + k] * y[i];
    y[k] /= b->R[k];
  }
  for (int k = 0; k < b->rank; ++k) x[b->order[k]] = y[k] * b->inverse_scale[b->order[k]];
}

/* The x of least norm, (n,), and of these the one of least |rows x - wanted|; a basis of the rows,
 * (count, n), and, where some of them depend on others, one of what they reach. */
static UK_APART void uk_least_solution(uk_basis *basis, uk_basis *range, const double *rows, int count,
                              int n, const double *natural, double tolerance,
                              const double *wanted, double *x) {
  basis->n = n, basis->count = count;
  memcpy(basis->rows, rows, sizeof(double) * count * n);
  uk_factor_rows(basis, natural, tolerance);
  range->n = count, range->count = range->rank = 0;
  if (basis->rank == count || basis->rank == 0) {
    uk_solve_rows(basis, wanted, x);
    return;
  }
  range->count = basis->rank;
  for (int r = 0; r < count; ++r) {
    double turned[UK_LONGEST];
    memcpy(turned, rows + r * n, sizeof(double) * n);
    uk_rotate(basis, turned);
    for (int k = 0; k < basis->rank; ++k) range->rows[k * count + r] = turned[k];
  }
  uk_factor_rows(range, NULL, 0.0);
  double asked[UK_LONGEST];
  memcpy(asked, wanted, sizeof(double) * count);
  for (int i = 0; i < n; ++i) x[i] = 0.0;
  uk_nearest_combination(range, asked, x);
  uk_rotate_back(basis, x);
}

#if !defined(UK_OF_CLUSTERS)

/* Coordinates of a generalized force behind those that the structure holds, in place, at the state
 * that was solved last; the size that it had. */
static double uk_admissible(const uk_memory *m, int rank, double *x) {
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
static void uk_admitted(const uk_memory *m, int rank, double *x) {
  for (int i = 0; i < rank; ++i) x[i] = 0.0;
#if UK_M > 0
  for (int k = rank - 1; k >= 0; --k) uk_lanes_reflect(m, k, x);
#endif
  uk_lanes_unwhiten(m, x);
}

#endif
