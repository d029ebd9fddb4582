/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Which rows of a small matrix are independent, and what they span, as RowBasis of the interpreted
 * evaluator: rows are reduced by Householder reflections, the one with the largest residual norm
 * first; one whose norm is at most the tolerance depends on the others. Structures of one state and of
 * many, clusters, the law and the estimation of joint states have their sizes and memory.
 *
 * A lane is a matrix, with an order and a rank of its own: rows change places under masks, and where a
 * lane has no further independent row, its reflectors are zero. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "attributes.h"
#include "uk_config.h"
#include "uk_lanes.h"

typedef struct {
  int n, count; /* length of the rows, how many */
  int rank;     /* independent ones, of the lane that has most */
  int ordered;  /* 1: no row has left its place */
  int sparse;   /* 1: rows may be zero, and are passed over */
  uk_lanes *rows; /* (count, n), independent ones first: R before the diagonal, reflectors behind */
  uk_lanes *row;  /* which they are, by place, as the following */
  uk_lanes *scale, *beta, *inverse_R; /* the last two are zero where there is no independent row */
  uk_lanes *square, *reference;
  const double *handicap; /* of each row in ties; null: none */
} uk_basis;

/* A basis whose rows and six numbers of each are in given memory. */
static inline uk_basis uk_basis_at(int n, int count, int rank, uk_lanes *rows, uk_lanes *room) {
  uk_basis b;
  b.n = n, b.count = count, b.rank = rank, b.ordered = b.sparse = 0, b.rows = rows, b.handicap = NULL;
  b.row = room, b.scale = room + count, b.beta = room + 2 * count, b.inverse_R = room + 3 * count;
  b.square = room + 4 * count, b.reference = room + 5 * count;
  return b;
}


/* x reflected by the row at place k. */
static inline void uk_reflect(const uk_basis *b, int k, uk_lanes *x) {
  const uk_lanes *v = b->rows + k * b->n + k;
  uk_add(x + k, -b->beta[k] * uk_dot(v, x + k, b->n - k), v, b->n - k);
}

/* Rows of x, as long as those of the basis, reflected by the row at place k. Of one state four at once: their sums
 * do not wait for each other. */
static inline void uk_reflect_rows(const uk_basis *b, int k, uk_lanes *x, int count) {
  int j = 0;
#if UK_WIDTH == 1
  const int n = b->n;
  const double *restrict v = b->rows + k * n;
  for (; j + 4 <= count; j += 4) {
    double *restrict p = x + j * n, *restrict q = p + n, *restrict r = q + n, *restrict s = r + n;
    double of_p = 0.0, of_q = 0.0, of_r = 0.0, of_s = 0.0;
    for (int i = k; i < n; ++i) of_p += v[i] * p[i], of_q += v[i] * q[i], of_r += v[i] * r[i], of_s += v[i] * s[i];
    of_p *= b->beta[k], of_q *= b->beta[k], of_r *= b->beta[k], of_s *= b->beta[k];
    for (int i = k; i < n; ++i) p[i] -= of_p * v[i], q[i] -= of_q * v[i], r[i] -= of_r * v[i], s[i] -= of_s * v[i];
  }
#endif
  for (; j < count; ++j) uk_reflect(b, k, x + j * b->n);
}

/* Q^T x in place: the first entries are coordinates in the basis. */
static inline void uk_rotate(const uk_basis *b, uk_lanes *x) {
  for (int k = 0; k < b->rank; ++k) uk_reflect(b, k, x);
}

/* Q x in place. */
static inline void uk_rotate_back(const uk_basis *b, uk_lanes *x) {
  for (int k = b->rank - 1; k >= 0; --k) uk_reflect(b, k, x);
}

/* The lanes in which the row at place k is independent. */
UK_INLINE uk_mask uk_is_independent(const uk_basis *b, int k) { return b->beta[k] > uk_all(0.0); }

/* What x, by row, has of the row at place k. */
UK_INLINE uk_lanes uk_at_place(const uk_basis *b, const uk_lanes *x, int k) {
  uk_lanes y = x[k];
  UK_EACH(l, b->ordered ? 0 : UK_WIDTH) UK_PART(y, l) = UK_PART(x[(int)UK_PART(b->row[k], l)], l);
  return y;
}

/* From places to rows. */
static inline void uk_to_rows(const uk_basis *b, const uk_lanes *x, uk_lanes *y) {
  if (b->ordered) memcpy(y, x, sizeof(uk_lanes) * b->count);
  UK_EACH(k, b->ordered ? 0 : b->count)
    UK_EACH(l, UK_WIDTH) UK_PART(y[(int)UK_PART(b->row[k], l)], l) = UK_PART(x[k], l);
}

/* The row at place r, which has this norm, in units of 1 / scale. */
static inline void uk_scale_row(const uk_basis *b, int r, uk_lanes norm, uk_lanes scale) {
  for (int i = 0; i < b->n; ++i) b->rows[r * b->n + i] *= scale;
  b->scale[r] = scale;
  b->square[r] = b->reference[r] = norm * scale * norm * scale;
  b->row[r] = uk_all(r);
}

static inline void uk_exchange(uk_mask where, uk_lanes *x, uk_lanes *y) {
  const uk_lanes old = *x;
  *x = uk_pick(where, *y, old);
  *y = uk_pick(where, old, *y);
}

/* Bring the row with the largest residual norm, of the first ones, to place k. */
static inline void uk_choose_row(uk_basis *b, int k, int count) {
  uk_lanes most = b->square[k], best = uk_all(k);
  for (int j = k + 1; j < count; ++j) {
    const uk_mask better = b->square[j] > most;
    most = uk_pick(better, b->square[j], most);
    best = uk_pick(better, uk_all(j), best);
  }
  const int alone = UK_WIDTH == 1, first = (int)UK_PART(best, 0); /* of one state it is known which */
  if (alone && first == k) return;
  for (int j = alone ? first : k + 1; j < (alone ? first + 1 : count); ++j) {
    const uk_mask here = best == uk_all(j);
    if (!uk_any(here)) continue;
    b->ordered = 0;
    uk_exchange(here, b->square + k, b->square + j);
    uk_exchange(here, b->reference + k, b->reference + j);
    uk_exchange(here, b->scale + k, b->scale + j);
    uk_exchange(here, b->row + k, b->row + j);
    for (int i = 0; i < b->n; ++i) uk_exchange(here, b->rows + k * b->n + i, b->rows + j * b->n + i);
  }
}

/* The reflector of the row at place k, which has this norm from there on, in some lanes; in others zero. */
UK_INLINE void uk_make_reflector(uk_basis *b, int k, uk_lanes norm, uk_mask where) {
  uk_lanes *v = b->rows + k * b->n + k;
  const uk_lanes zero = uk_all(0.0), both = norm + uk_lanes_fabs(*v);
  b->beta[k] = uk_pick(where, 1.0 / (norm * both), zero);
  b->inverse_R[k] = uk_pick(where, b->beta[k] * uk_pick(*v > 0.0, -both, both), zero);
  *v += uk_pick(where, uk_pick(*v > 0.0, norm, -norm), zero);
}

/* Eliminate rows, which the factors replace; the rank of each lane. Where sizes are constants, the
 * compiler uses them. */
UK_INLINE uk_lanes uk_eliminate_rows(uk_basis *b, uk_lanes tolerance) {
  const int n = b->n;
  int count = b->count;
  const uk_lanes zero = uk_all(0.0);
  uk_lanes rank = zero;
  uk_mask going = uk_not(uk_none());
  b->ordered = 1, b->rank = 0;
  for (int k = 0; k < count; ++k) b->beta[k] = b->inverse_R[k] = zero;
  while (b->sparse && count > 0 && !uk_any(b->square[count - 1] > zero)) --count;
  for (int k = 0; k < (n < count ? n : count); ++k) {
    uk_choose_row(b, k, count);
    uk_lanes *v = b->rows + k * n;
    const uk_lanes norm = uk_lanes_sqrt(uk_dot(v + k, v + k, n - k));
    going &= norm > tolerance;
    if (!uk_any(going)) break;
    b->rank = k + 1;
    rank += uk_pick(going, uk_all(1.0), zero);
    uk_make_reflector(b, k, norm, going);
    for (int j = k + 1, end; j < count; j = end + 1) { /* rows side by side of which something is left */
      for (end = j; end < count && (!b->sparse || uk_any(b->reference[end] > zero)); ++end) continue;
      uk_reflect_rows(b, k, b->rows + j * n, end - j);
    }
    for (int j = k + 1; j < count; ++j) {
      const uk_lanes *x = b->rows + j * n;
      const uk_lanes rest = b->square[j] - x[k] * x[k];
      b->square[j] = uk_pick(going, rest, b->square[j]);
      const uk_mask lost = going & uk_not(rest > UK_DOWNDATE * b->reference[j]);
      if (!uk_any(lost)) continue;
      const uk_lanes fresh = uk_dot(x + k + 1, x + k + 1, n - k - 1);
      b->square[j] = uk_pick(lost, fresh, b->square[j]);
      b->reference[j] = uk_pick(lost, fresh, b->reference[j]);
    }
  }
  return rank;
}

/* Coordinates z in the basis, of the smallest x with which the independent rows give their part of y. */
static inline void uk_find_coordinates(const uk_basis *b, const uk_lanes *y, uk_lanes *z) {
  for (int k = 0; k < b->rank; ++k) {
    z[k] = (uk_at_place(b, y, k) * b->scale[k] - uk_dot(b->rows + k * b->n, z, k)) * b->inverse_R[k];
  }
}


/* R^-1 z for the independent rows, in place. */
static inline void uk_solve_triangle(const uk_basis *b, uk_lanes *z) {
  for (int k = b->rank - 1; k >= 0; --k) {
    z[k] *= b->inverse_R[k];
    uk_add(z, -z[k], b->rows + k * b->n, k);
  }
}

/* How dependent rows of A x = right are off at an x, (count): 1 where the row is nearly dependent, 2 where it
 * contradicts others, 0 where rounding explains it; the worst. `size`: of x and of what cancels in it; room:
 * (count). */
static inline uk_lanes uk_check_rows(const uk_basis *b, const uk_lanes *A, const uk_lanes *right,
                                 const uk_lanes *violation, const uk_lanes *size, double tolerance,
                                 uk_lanes *room, uk_lanes *off) {
  const uk_lanes zero = uk_all(0.0);
  const int n = b->n;
  uk_lanes worst = zero;
  for (int k = 0; k < b->count; ++k) { /* what is left of it; below zero: it is independent */
    uk_lanes sum = zero;
    for (int i = 0; i < n; ++i) {
      const uk_lanes square = b->rows[k * n + i] * b->rows[k * n + i];
      sum += i < b->rank ? uk_pick(uk_is_independent(b, i), zero, square) : square;
    }
    room[k] = uk_pick(uk_is_independent(b, k), uk_all(-1.0), sum);
  }
  uk_to_rows(b, room, off);
  for (int r = 0; r < b->count; ++r) {
    uk_lanes scale = uk_lanes_fabs(right[r]) + UK_NEGLIGIBLE_ACCELERATION;
    for (int i = 0; i < n; ++i) scale += uk_lanes_fabs(A[r * n + i]) * size[i];
    const uk_mask violated = (off[r] >= zero) & (uk_lanes_fabs(violation[r]) > tolerance * scale);
    const uk_mask exact = off[r] <= UK_EXACTLY_DEPENDENT * UK_EXACTLY_DEPENDENT;
    const uk_lanes level = uk_pick(exact, uk_all(UK_INCONSISTENT), uk_all(UK_NEAR_SINGULAR));
    off[r] = uk_pick(violated, level, zero);
    worst = uk_lanes_larger(worst, off[r]);
  }
  return worst;
}

#if UK_WIDTH == 1 /* with sizes that are known as it runs, and one matrix at a time */

/* Rows as they stand in b->rows, and the largest of their norms. */
UK_INLINE double uk_begin_rows(uk_basis *b) {
  double largest = 0.0;
  for (int r = 0; r < b->count; ++r) {
    b->row[r] = r, b->scale[r] = 1.0;
    b->square[r] = b->reference[r] = uk_dot(b->rows + r * b->n, b->rows + r * b->n, b->n);
    if (b->square[r] > largest) largest = b->square[r];
  }
  return sqrt(largest);
}

/* Factors of rows in units of their own size, which is at least a part of the natural one; without
 * natural sizes rows are zero that are small beside others. */
static UK_APART UK_OPTIONAL void uk_factor_rows(uk_basis *b, const double *natural, double tolerance) {
  const double largest = uk_begin_rows(b);
  for (int r = 0; r < b->count; ++r) {
    const double norm = sqrt(b->square[r]), part = b->handicap ? b->handicap[r] : 1.0;
    const double least = natural ? UK_LEAST_PART * natural[r] + UK_TINY : UK_TINY;
    const double zero = natural == NULL && norm <= UK_ZERO_ROW * largest;
    uk_scale_row(b, r, norm, zero ? 0.0 : part / (norm > least ? norm : least));
  }
  uk_eliminate_rows(b, tolerance);
}

/* Part of x that is orthogonal to the basis, in place. */
static UK_APART UK_OPTIONAL void uk_orthogonal_part(const uk_basis *b, double *x) {
  uk_rotate(b, x);
  for (int k = 0; k < b->rank; ++k) x[k] = 0.0;
  uk_rotate_back(b, x);
}

/* The x of least norm with which the independent rows give their part of y. */
static UK_APART UK_OPTIONAL void uk_solve_rows(const uk_basis *b, const double *y, double *x) {
  uk_find_coordinates(b, y, x);
  for (int i = b->rank; i < b->n; ++i) x[i] = 0.0;
  uk_rotate_back(b, x);
}

/* The combination of the independent rows that is nearest to y, which is lost; what it takes of others
 * stays as it was. */
static UK_APART UK_OPTIONAL void uk_nearest_combination(const uk_basis *b, double *y, double *x) {
  uk_rotate(b, y);
  uk_solve_triangle(b, y);
  for (int k = 0; k < b->rank; ++k) x[(int)b->row[k]] = y[k] * b->scale[k];
}

#endif
