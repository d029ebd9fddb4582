/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Which rows of a small matrix are independent, and what they span, as RowBasis of the interpreted
 * evaluator: rows are reduced by Householder reflections, the one with the largest residual norm
 * first; one whose norm is at most the tolerance depends on the others. Clusters, the law and the
 * estimation of joint states have their sizes and memory. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "attributes.h"
#include "uk_config.h"

typedef struct {
  int n, count, rank;       /* length of the rows, how many, how many independent */
  double *rows;             /* (count, n): R before the diagonal, reflectors behind */
  double *order;            /* independent rows first, in order */
  double *scale, *beta, *R; /* of each row; by place in the order */
  double *square, *reference;
  const double *handicap;   /* of each row in ties; null: none */
} uk_basis;

/* A basis whose rows and six numbers of each are in given memory. */
static inline uk_basis uk_basis_at(int n, int count, int rank, double *rows, double *room) {
  return (uk_basis){n,        count,           rank,           rows,           room,
                    room + count, room + 2 * count, room + 3 * count, room + 4 * count, room + 5 * count,
                    NULL};
}

UK_INLINE double uk_squares(const double *x, int from, int to) {
  double sum = 0.0;
  for (int i = from; i < to; ++i) sum += x[i] * x[i];
  return sum;
}

/* The row at a place of the order. */
UK_INLINE double *uk_row_at(const uk_basis *b, int k) { return b->rows + (int)b->order[k] * b->n; }

UK_INLINE void uk_reflect_by(const double *v, double beta, int from, int n, double *x) {
  double s = 0.0;
  for (int i = from; i < n; ++i) s += v[i] * x[i];
  s *= beta;
  for (int i = from; i < n; ++i) x[i] -= s * v[i];
}

UK_INLINE void uk_reflect_at(const uk_basis *b, int k, double *x) {
  uk_reflect_by(uk_row_at(b, k), b->beta[k], k, b->n, x);
}

/* Q^T x in place: the first entries are coordinates in the basis. */
UK_INLINE void uk_rotate(const uk_basis *b, double *x) {
  for (int k = 0; k < b->rank; ++k) uk_reflect_at(b, k, x);
}

/* Q x in place. */
UK_INLINE void uk_rotate_back(const uk_basis *b, double *x) {
  for (int k = b->rank - 1; k >= 0; --k) uk_reflect_at(b, k, x);
}

/* Part of x that is orthogonal to the basis, in place. */
static UK_APART UK_OPTIONAL void uk_orthogonal_part(const uk_basis *b, double *x) {
  uk_rotate(b, x);
  for (int k = 0; k < b->rank; ++k) x[k] = 0.0;
  uk_rotate_back(b, x);
}

/* Rows as they stand in b->rows, and the largest of their norms. */
UK_INLINE double uk_begin_rows(uk_basis *b) {
  double largest = 0.0;
  for (int r = 0; r < b->count; ++r) {
    b->order[r] = r, b->scale[r] = 1.0;
    b->square[r] = b->reference[r] = uk_squares(b->rows + r * b->n, 0, b->n);
    if (b->square[r] > largest) largest = b->square[r];
  }
  return sqrt(largest);
}

/* Rows in units of their own size, which is at least a part of the natural one; without natural sizes
 * rows are zero that are small beside others. */
static void uk_scale_rows(uk_basis *b, const double *natural, double largest) {
  for (int r = 0; r < b->count; ++r) {
    const double norm = sqrt(b->square[r]), part = b->handicap ? b->handicap[r] : 1.0;
    const double least = natural ? UK_LEAST_PART * natural[r] + UK_TINY : UK_TINY;
    const double zero = natural == NULL && norm <= UK_ZERO_ROW * largest;
    const double scale = b->scale[r] = zero ? 0.0 : part / (norm > least ? norm : least);
    for (int i = 0; i < b->n; ++i) b->rows[r * b->n + i] *= scale;
    b->square[r] = b->reference[r] = norm * scale * norm * scale;
  }
}

/* Eliminate rows, which the factors replace; where sizes are constants, the compiler uses them. */
UK_INLINE void uk_reduce_rows(uk_basis *b, double tolerance) {
  const int n = b->n, count = b->count, most = n < count ? n : count;
  double *square = b->square;
  for (b->rank = 0; b->rank < most; ++b->rank) {
    const int k = b->rank;
    int best = k;
    double most = square[(int)b->order[k]];
    for (int j = k + 1; j < count; ++j) {
      const double size = square[(int)b->order[j]];
      if (size > most) best = j, most = size;
    }
    const double chosen = b->order[best];
    for (int j = best; j > k; --j) b->order[j] = b->order[j - 1];
    b->order[k] = chosen;
    double *v = uk_row_at(b, k);
    const double norm = sqrt(uk_squares(v, k, n));
    if (!(norm > tolerance)) return;
    const double diagonal = v[k] > 0.0 ? -norm : norm;
    const double beta = b->beta[k] = 1.0 / (norm * (norm + fabs(v[k])));
    v[k] -= diagonal;
    b->R[k] = diagonal;
    for (int j = k + 1; j < count; ++j) {
      const int r = (int)b->order[j];
      double *x = b->rows + r * n;
      uk_reflect_by(v, beta, k, n, x);
      square[r] -= x[k] * x[k];
      if (!(square[r] > UK_DOWNDATE * b->reference[r]))
        square[r] = b->reference[r] = uk_squares(x, k + 1, n);
    }
  }
}

/* Factors of scaled rows. */
static UK_APART UK_OPTIONAL void uk_factor_rows(uk_basis *b, const double *natural, double tolerance) {
  uk_scale_rows(b, natural, uk_begin_rows(b));
  uk_reduce_rows(b, tolerance);
}

/* The x of least norm with which the independent rows give their part of y. */
static UK_APART UK_OPTIONAL void uk_solve_rows(const uk_basis *b, const double *y, double *x) {
  for (int i = 0; i < b->n; ++i) x[i] = 0.0;
  for (int k = 0; k < b->rank; ++k) {
    const double *row = uk_row_at(b, k);
    const int r = (int)b->order[k];
    double sum = y[r] * b->scale[r];
    for (int i = 0; i < k; ++i) sum -= row[i] * x[i];
    x[k] = sum / b->R[k];
  }
  uk_rotate_back(b, x);
}

/* R^-1 z for the independent rows, in place. */
UK_INLINE void uk_solve_triangle(const uk_basis *b, double *z) {
  for (int k = b->rank - 1; k >= 0; --k) {
    for (int i = k + 1; i < b->rank; ++i) z[k] -= uk_row_at(b, i)[k] * z[i];
    z[k] /= b->R[k];
  }
}

/* The combination of the independent rows that is nearest to y, which is lost; what it takes of others
 * stays as it was. */
UK_INLINE void uk_combine_rows(const uk_basis *b, double *y, double *x) {
  uk_rotate(b, y);
  uk_solve_triangle(b, y);
  for (int k = 0; k < b->rank; ++k) {
    const int r = (int)b->order[k];
    x[r] = y[k] * b->scale[r];
  }
}

static UK_APART UK_OPTIONAL void uk_nearest_combination(const uk_basis *b, double *y, double *x) {
  uk_combine_rows(b, y, x);
}
