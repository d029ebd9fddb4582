/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Elimination of the rows of one state block by block, where the velocities of a mechanism fall into blocks, as
 * those of legs do: rows that always act have some of one block, and of those that blocks share.
 *
 * With B_P = R Q^T in the columns P of a block, rows of which these hold a safe part are eliminated there: of a
 * whitened motion x = (Q y, x_S) they prescribe y_1 = c - T x_S, with T = R^-1 B_S and c = R^-1 b. There remain x_S,
 * in the metric K = 1 + sum T^T T = L L^T, and what they leave of each y: the coordinates w = (L^T x_S, y_2, ...),
 * which are orthonormal. In these all other rows are pivoted, as contacts and what is nearly dependent; they are as
 * long there as the rows before them leave of them, which is what the rank rule asks. Where it finds a row dependent
 * but for more than rounding, the order of all rows decides, and they are eliminated together. */
#pragma once

#include "fundamental_equation.c"
#include "symmetric_factor.c"

#define UK_BY_BLOCKS (UK_BLOCKS && UK_WIDTH == 1)

#if UK_BY_BLOCKS

typedef struct {
  uk_basis block[UK_BLOCKS], rest; /* rows in the columns of each block; others in the coordinates w */
  int free;                        /* how many coordinates */
  int sure;                        /* 1: these rows are eliminated here; 0: in the memory */
  double rows[UK_BLOCK_CELLS], room[6 * UK_BLOCK_ROWS]; /* those of the blocks */
  double shares[UK_BLOCK_ROWS * UK_SHARED_ROOM];        /* T, by place; of rows behind: what is left in S */
  double L[UK_SHARED_ROOM * UK_SHARED_ROOM];            /* one over its diagonal there */
  double rest_room[6 * UK_M];
  int row[UK_BLOCK_ROWS], other[UK_M]; /* which they are */
} uk_blocks;

/* A row that acts in x, whitened and scaled; its scale, 0: it is none. */
static double uk_scaled_row(const uk_memory *m, int r, double acts, double *x) {
  const double norm = acts == 0.0 ? 0.0 : uk_lanes_whiten_row(m, r, acts, x);
  if (!(norm > 0.0)) return 0.0;
  const double scale = uk_lanes_row_scale(r, norm);
  for (int i = 0; i < UK_NV; ++i) x[i] *= scale;
  return scale;
}


/* Coordinates w of a whitened force, and its parts along what rows in blocks hold, one after the other, unless null. */
static void uk_reduce(const uk_blocks *f, const double *x, double *held, double *w) {
  int at = UK_SHARED;
  for (int i = 0; i < UK_SHARED; ++i) w[i] = x[uk_shared[i]];
  for (int k = 0; k < UK_BLOCKS; ++k) {
    const uk_basis *b = f->block + k;
    const int *column = uk_block_column + uk_block_column_start[k];
    double own[UK_NV];
    for (int i = 0; i < b->n; ++i) own[i] = x[column[i]];
    const int any = uk_largest(own, b->n) != 0.0;
    if (any) uk_rotate(b, own);
    for (int p = 0; p < b->rank && any; ++p)
      uk_add(w, -own[p], f->shares + (uk_block_row_start[k] + p) * UK_SHARED, UK_SHARED);
    for (int p = 0; p < b->rank && held; ++p) *held++ = own[p];
    for (int i = b->rank; i < b->n; ++i) w[at++] = own[i];
  }
  uk_solve_lower(f->L, UK_SHARED, w);
}

/* The whitened motion x with coordinates w, which are lost, and of what rows in blocks want: c, one after the other. */
static void uk_expand(const uk_blocks *f, double *w, const double *c, double *x) {
  int at = UK_SHARED;
  uk_solve_upper(f->L, UK_SHARED, w);
  for (int i = 0; i < UK_SHARED; ++i) x[uk_shared[i]] = w[i];
  for (int k = 0; k < UK_BLOCKS; ++k) {
    const uk_basis *b = f->block + k;
    const int *column = uk_block_column + uk_block_column_start[k], first = uk_block_row_start[k];
    double own[UK_NV];
    for (int p = 0; p < b->rank; ++p) own[p] = *c++ - uk_dot(f->shares + (first + p) * UK_SHARED, w, UK_SHARED);
    for (int i = b->rank; i < b->n; ++i) own[i] = w[at++];
    uk_rotate_back(b, own);
    for (int i = 0; i < b->n; ++i) x[column[i]] = own[i];
  }
}

/* Rows of a block in its columns, and T. */
static void uk_factor_block(const uk_memory *m, uk_blocks *f, int k, const double *acts, double tolerance) {
  uk_basis *b = f->block + k;
  const int *column = uk_block_column + uk_block_column_start[k], first = uk_block_row_start[k];
  double x[UK_NV], side[UK_MOST_BLOCK_ROWS * UK_SHARED_ROOM];
  int count = 0;
  for (int a = first; a < uk_block_row_start[k + 1]; ++a) {
    const int r = uk_block_row[a];
    const double scale = uk_scaled_row(m, r, acts[r], x);
    if (scale == 0.0) continue;
    double *row = b->rows + count * b->n;
    for (int i = 0; i < b->n; ++i) row[i] = x[column[i]];
    for (int i = 0; i < UK_SHARED; ++i) side[count * UK_SHARED + i] = x[uk_shared[i]];
    b->row[count] = count, b->scale[count] = scale, f->row[first + count] = r;
    b->square[count] = b->reference[count] = uk_dot(row, row, b->n);
    ++count;
  }
  b->count = count;
  uk_eliminate_rows(b, tolerance);
  for (int p = 0; p < count; ++p) {
    double *t = f->shares + (first + p) * UK_SHARED;
    memcpy(t, side + (int)b->row[p] * UK_SHARED, sizeof(double) * UK_SHARED);
    for (int j = 0; j < p && j < b->rank; ++j)
      uk_add(t, -b->rows[p * b->n + j], f->shares + (first + j) * UK_SHARED, UK_SHARED);
    if (p >= b->rank) continue;
    for (int i = 0; i < UK_SHARED; ++i) t[i] *= b->inverse_R[p];
    for (int i = 0; i < UK_SHARED; ++i) uk_add(f->L + i * UK_SHARED, t[i], t, i + 1);
  }
}

/* The row in coordinates w that is in its place, among others; unless they depend on blocks. */
static void uk_add_row(uk_blocks *f, int r, double scale, double tolerance) {
  uk_basis *b = &f->rest;
  const double *row = b->rows + b->count * b->n, square = uk_dot(row, row, b->n);
  if (!(square > tolerance * tolerance)) {
    f->sure &= square <= UK_EXACTLY_DEPENDENT * UK_EXACTLY_DEPENDENT;
    return;
  }
  b->row[b->count] = b->count, b->scale[b->count] = scale, f->other[b->count] = r;
  b->square[b->count] = b->reference[b->count] = square;
  ++b->count;
}

/* Eliminate the rows that act, at the factor of M in the memory, where that is sure. */
static UK_OPTIONAL void uk_factor_blocks(uk_memory *m, uk_blocks *f, const double *acts, double tolerance) {
  double *rows = f->rows, x[UK_NV];
  memset(f->L, 0, sizeof f->L);
  for (int i = 0; i < UK_SHARED; ++i) f->L[i * (UK_SHARED + 1)] = 1.0;
  f->free = UK_NV, f->sure = 1;
  for (int k = 0; k < UK_BLOCKS; ++k) {
    const int first = uk_block_row_start[k], count = uk_block_row_start[k + 1] - first;
    const int n = uk_block_column_start[k + 1] - uk_block_column_start[k];
    f->block[k] = uk_basis_at(n, count, 0, rows, f->room + 6 * first);
    rows += n * count;
    uk_factor_block(m, f, k, acts, tolerance > UK_SAFE_PIVOT ? tolerance : UK_SAFE_PIVOT);
    f->free -= f->block[k].rank;
  }
  uk_factor_symmetric(f->L, UK_SHARED, 0.0);
  uk_basis *rest = &f->rest;
  *rest = uk_basis_at(f->free, UK_M, 0, &m->W[0][0], f->rest_room);
  rest->count = 0;
  for (int k = 0, at = UK_SHARED; k < UK_BLOCKS; ++k) { /* what blocks leave of their own */
    const uk_basis *b = f->block + k;
    const int first = uk_block_row_start[k];
    for (int p = b->rank; p < b->count; ++p) {
      double *w = rest->rows + rest->count * rest->n;
      memset(w, 0, sizeof(double) * rest->n);
      memcpy(w, f->shares + (first + p) * UK_SHARED, sizeof(double) * UK_SHARED);
      uk_solve_lower(f->L, UK_SHARED, w);
      for (int i = b->rank; i < b->n; ++i) w[at + i - b->rank] = b->rows[p * b->n + i];
      uk_add_row(f, f->row[first + (int)b->row[p]], b->scale[p], tolerance);
    }
    at += b->n - b->rank;
  }
  for (int a = 0; a < UK_OTHER_ROWS; ++a) {
    const int r = uk_other_row[a];
    const double scale = uk_scaled_row(m, r, acts[r], x);
    if (scale == 0.0) continue;
    uk_reduce(f, x, NULL, rest->rows + rest->count * rest->n);
    uk_add_row(f, r, scale, tolerance);
  }
  uk_eliminate_rows(rest, tolerance);
  for (int j = rest->rank; j < rest->count; ++j)
    f->sure &= rest->square[j] <= UK_EXACTLY_DEPENDENT * UK_EXACTLY_DEPENDENT;
  m->rank = UK_NV - f->free + rest->rank;
}

/* Coordinates z of the least motion that rows send to `right`: c, and w as the rest of them rotates it. */
static void uk_least_by_blocks(const uk_memory *m, const uk_blocks *f, const double *right, double *z) {
  double *c = z, *w = z + UK_NV - f->free, h[UK_SHARED_ROOM] = {0.0};
  memset(w, 0, sizeof(double) * f->free);
  for (int k = 0; k < UK_BLOCKS; ++k) {
    const uk_basis *b = f->block + k;
    const int first = uk_block_row_start[k];
    for (int p = 0; p < b->rank; ++p) {
      const double asked = right[f->row[first + (int)b->row[p]]] * b->scale[p];
      c[p] = (asked - uk_dot(b->rows + p * b->n, c, p)) * b->inverse_R[p];
      uk_add(h, c[p], f->shares + (first + p) * UK_SHARED, UK_SHARED);
    }
    c += b->rank;
  }
  uk_solve_lower(f->L, UK_SHARED, h);
  memcpy(w, h, sizeof(double) * UK_SHARED);
  if (!f->rest.rank) return;
  double y[UK_M], none[UK_NV] = {0.0}, x[UK_NV];
  uk_expand(f, none, z, x); /* what blocks want, at w = 0 */
  uk_lanes_unwhiten(m, x);
  for (int j = 0; j < f->rest.count; ++j)
    y[j] = right[f->other[j]] - uk_dot(m->A + f->other[j] * UK_NV, x, UK_NV);
  uk_rotate(&f->rest, w);
  uk_find_coordinates(&f->rest, y, w);
}

/* The whitened motion of coordinates, which are lost. */
static void uk_move_by_blocks(const uk_blocks *f, double *z, double *x) {
  double *w = z + UK_NV - f->free;
  uk_rotate_back(&f->rest, w);
  uk_expand(f, w, z, x);
}

/* The whitened motion nearest to x of those that rows send to `right`, in its place. */
static void uk_answer_by_blocks(const uk_memory *m, const uk_blocks *f, const double *right, double *x) {
  double w[UK_NV], z[UK_NV];
  uk_reduce(f, x, NULL, w);
  uk_rotate(&f->rest, w);
  uk_least_by_blocks(m, f, right, z);
  for (int i = f->rest.rank; i < f->free; ++i) z[UK_NV - f->free + i] += w[i];
  uk_move_by_blocks(f, z, x);
}

/* Coordinates of a whitened force in its place, those that the structure holds first. */
static UK_OPTIONAL void uk_coordinates_by_blocks(const uk_blocks *f, double *x) {
  double z[UK_NV];
  uk_reduce(f, x, z, z + UK_NV - f->free);
  uk_rotate(&f->rest, z + UK_NV - f->free);
  memcpy(x, z, sizeof z);
}

typedef uk_blocks uk_eliminated;
#else
typedef int uk_eliminated;
#endif

#if UK_M > 0

/* Eliminate the rows that act, at the factor of M: in blocks, where `by` has room for them and that is sure, or
 * in the memory. */
static UK_OPTIONAL void uk_eliminate(uk_lanes_memory *m, const uk_lanes *acts, uk_lanes tolerance,
                                     uk_eliminated *by) {
#if UK_BY_BLOCKS
  if (by) uk_factor_blocks(m, by, acts, tolerance);
  if (by && by->sure) return;
#else
  (void)by;
#endif
  uk_lanes_whiten_rows(m, acts);
  uk_lanes_eliminate(m, tolerance);
}

/* Coordinates of the least motion that these rows send to `right`: those that they hold, first, and in blocks some
 * others. */
static UK_OPTIONAL void uk_least_coordinates(const uk_lanes_memory *m, const uk_eliminated *by, const uk_lanes *right,
                                             uk_lanes *z) {
#if UK_BY_BLOCKS
  if (by->sure) {
    uk_least_by_blocks(m, by, right, z);
    return;
  }
#else
  (void)by;
#endif
  const uk_basis b = uk_eliminated_rows(m);
  memset(z, 0, sizeof(uk_lanes) * UK_NV);
  uk_find_coordinates(&b, right, z);
}

/* The motion of coordinates, in their place. */
static UK_OPTIONAL void uk_move_along(const uk_lanes_memory *m, const uk_eliminated *by, uk_lanes *z) {
#if UK_BY_BLOCKS
  if (by->sure) {
    double x[UK_NV];
    uk_move_by_blocks(by, z, x);
    memcpy(z, x, sizeof x);
    uk_lanes_unwhiten(m, z);
    return;
  }
#else
  (void)by;
#endif
  const uk_basis b = uk_eliminated_rows(m);
  uk_rotate_back(&b, z);
  uk_lanes_unwhiten(m, z);
}

/* The whitened motion nearest to x of those that these rows send to `right`, in its place. */
static UK_OPTIONAL void uk_answer_rows(const uk_lanes_memory *m, const uk_eliminated *by, const uk_lanes *right,
                                       uk_lanes *x) {
#if UK_BY_BLOCKS
  if (by->sure) {
    uk_answer_by_blocks(m, by, right, x);
    return;
  }
#else
  (void)by;
#endif
  const uk_basis b = uk_eliminated_rows(m);
  uk_rotate(&b, x);
  uk_find_coordinates(&b, right, x);
  uk_rotate_back(&b, x);
}

#endif
