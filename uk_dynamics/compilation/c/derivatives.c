/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Derivatives of the acceleration, of one state or of several, one in each lane. What the equations change by
 * while it and the multipliers are held, r and s, they answer with
 *
 *   M dq'' - A^T dlambda = r,  A dq'' = s:    dq'' = z + N (r - M z),  z = C s,
 *
 * N = K^T K over the admissible motions, and A C = 1 on the independent rows. Where rows were pivoted, C is
 * the one with K M C = 0. Columns of r and s: the velocity coordinates of q, those of v, t; or parameters.
 *
 * Rows of them stand UK_SPAN apart. A uk_block of a row is UK_BLOCK columns of one state, and rows are filled
 * up to whole ones; of several states it is one column, a state in each lane, and columns that are zero by
 * structure are left out of sums. */

#pragma once

#include <string.h>

#include "uk_columns.h"
#include "uk_config.h"
#include "uk_lanes.h"
#include "uk_mechanism.h"
#include "uk_motions.h"
#include "uk_tables.h"
#include "uk_traced.h"

#define UK_ROW_LENGTH (UK_SPAN + UK_NV) /* with columns of tau */
#define UK_WHOLE ((UK_NV + UK_BLOCK - 1) / UK_BLOCK * UK_BLOCK)
#define UK_ALIGNED(name, count) uk_lanes name[count] __attribute__((aligned(sizeof(uk_block))))
#define UK_TRACED_STATE m->t, m->stabilize, m->q, m->v, UK_FOLLOWED UK_P

#ifdef UK_ONE_STATE
typedef uk_memory uk_derivative_memory;
#else
typedef struct {
  uk_lanes t, q[UK_NQ], v[UK_NV], tau[UK_NV], followed[3 * UK_ROWS], stabilize;
  uk_lanes qdd[UK_NV], multipliers[UK_ROWS], sure[2];
  uk_lanes force[UK_NV], residual[UK_ROWS], rate[UK_ROWS], bias[UK_ROWS];
  uk_lanes A[UK_ROWS * UK_NV], H[UK_NV * UK_NV];
  uk_lanes free_motions[UK_MOST_FREE * UK_NV], corrections[UK_ROWS * UK_NV];
  uk_lanes motion_derivatives[UK_NV * UK_SPAN];
  uk_lanes row_derivatives[UK_ROWS * UK_SPAN], rate_derivatives[UK_ROWS * UK_SPAN];
#if UK_NP > 0
  uk_lanes p[UK_NP];
#endif
} uk_derivative_memory;
#endif

static void uk_zero(uk_lanes *x, int count) { UK_EACH(k, count) x[k] = uk_all(0.0); }

/* Whether it is zero in all lanes. */
UK_INLINE int uk_vanishes(uk_lanes x) { return !uk_any(uk_not(x == 0.0)); }

/* An entry of M, whose lower triangle stands in a matrix. */
static UK_OPTIONAL uk_lanes uk_mass(const uk_lanes *M, int i, int j) {
  return M[(j < i ? i : j) * UK_NV + (j < i ? j : i)];
}

/* Those of several rows that are not zero by structure; without a list those that are not zero. */
typedef struct {
  int count;
  const int *which;
} uk_some;
#define UK_ALL(n) ((uk_some){n, NULL})
#define UK_SOME(list, k) ((uk_some){list##_start[(k) + 1] - list##_start[k], list + list##_start[k]})

/* With lists of what is not zero by structure where the rows of a uk_rank `of` were not pivoted. */
#if UK_MOTIONS
#define UK_STRUCTURE(list, k, n) (of.pivoted ? UK_ALL(n) : UK_SOME(list, k))
#else
#define UK_STRUCTURE(list, k, n) UK_ALL(n)
#endif

/* Independent rows, with how many of all they begin. */
typedef struct {
  int rank;
  const int *order;
  int pivoted; /* 0: they are the same at all regular states, and lists say what is zero */
} uk_rank;

/* What the rows of dq'' are made of. */
typedef struct {
  UK_ALIGNED(z, UK_NV * UK_SPAN);
  UK_ALIGNED(product, UK_MOST_FREE * UK_SPAN); /* K (r - M z) */
  UK_ALIGNED(motions, UK_WHOLE > UK_NV ? UK_NV * UK_WHOLE : 1); /* the free ones, in whole vectors */
  UK_ALIGNED(rest, UK_NV * UK_SPAN); /* of one state: r - M z */
} uk_response;

/* Sums of rows, in the order that is quickest: of one state in whole vectors, of several column by column,
 * without those that are zero by structure. */
#ifdef UK_ONE_STATE

#define UK_COLUMNS_OF(k, list, r) for (int k = 0; k < UK_DIRECTIONS; ++k) /* that may differ from zero */

#define UK_REGISTERS 8 /* vectors that are added up at a time */

/* Rows, which stand `length` apart or in an order, and factors, which stand `apart`. */
typedef struct {
  uk_some some;
  const double *factors;
  int apart;
  const double *rows;
  int length;
  const int *order;
} uk_product;

UK_INLINE void uk_add_vectors(double *y, const double *x, const uk_product p, int first,
                              const int vectors) {
  uk_block sum[UK_REGISTERS];
  for (int b = 0; b < vectors; ++b)
    sum[b] = x ? *(const uk_block *)(x + first + b * UK_BLOCK) : (uk_block){0};
  for (int k = 0; k < p.some.count; ++k) {
    const int r = p.some.which ? p.some.which[k] : k;
    const double factor = p.factors[r * p.apart];
    if (!p.some.which && factor == 0.0) continue;
    const double *row = p.rows + (p.order ? p.order[r] : r) * p.length + first;
    for (int b = 0; b < vectors; ++b) sum[b] += factor * *(const uk_block *)(row + b * UK_BLOCK);
  }
  for (int b = 0; b < vectors; ++b) *(uk_block *)(y + first + b * UK_BLOCK) = sum[b];
}

/* y = x and the sum of factors times rows, in whole vectors of columns; without x the sum alone. */
UK_INLINE void uk_add_product(double *y, const double *x, const uk_product p,
                              const int columns) {
  const int vectors = columns / UK_BLOCK, parts = (vectors + UK_REGISTERS - 1) / UK_REGISTERS;
  const int together = (vectors + parts - 1) / parts;
  int first = 0;
  for (; first + together <= vectors; first += together)
    uk_add_vectors(y, x, p, first * UK_BLOCK, together);
  if (vectors % together) uk_add_vectors(y, x, p, first * UK_BLOCK, vectors % together);
}

/* z = C s */
UK_INLINE void uk_correct(const uk_memory *m, uk_response *x, const double *s, const uk_rank of) {
  UK_EACH(i, UK_NV)
    uk_add_product(x->z + i * UK_SPAN, NULL,
                   (uk_product){UK_STRUCTURE(uk_corrections, i, of.rank), m->corrections + i, UK_NV, s,
                                UK_SPAN, of.order},
                   UK_SPAN);
}

/* K (r - M z); where rows were pivoted K M z = 0 */
UK_INLINE void uk_reduce(const uk_memory *m, uk_response *x, const double *r, const uk_rank of) {
  const double *rest = r;
#if UK_MOTIONS
  for (int j = 0; !of.pivoted && j < UK_NV; ++j) {
    double inertia[UK_NV];
    const uk_some some = UK_SOME(uk_inertia, j);
    UK_EACH(k, some.count) inertia[some.which[k]] = -uk_mass(m->H, some.which[k], j);
    uk_add_product(x->rest + j * UK_SPAN, r + j * UK_SPAN,
                   (uk_product){some, inertia, 1, x->z, UK_SPAN, NULL}, UK_SPAN);
  }
  if (!of.pivoted) rest = x->rest;
#endif
  UK_EACH(f, UK_NV - of.rank) {
    const double *motion = m->free_motions + f * UK_NV;
    uk_add_product(x->product + f * UK_SPAN, NULL,
                   (uk_product){UK_STRUCTURE(uk_moved, f, UK_NV), motion, 1, rest, UK_SPAN, NULL},
                   UK_SPAN);
    if (UK_WHOLE == UK_NV) continue;
    memcpy(x->motions + f * UK_WHOLE, motion, UK_NV * sizeof *motion);
    uk_zero(x->motions + f * UK_WHOLE + UK_NV, UK_WHOLE - UK_NV);
  }
}

/* Row i of x and K^T rows, in so many columns. */
UK_INLINE void uk_expand(const uk_memory *m, double *y, int i, const double *x, const double *rows,
                         int length, const int columns, const uk_rank of) {
  uk_add_product(y, x,
                 (uk_product){UK_STRUCTURE(uk_moving, i, UK_NV - of.rank), m->free_motions + i, UK_NV,
                              rows, length, NULL},
                 columns);
}

#else

#define UK_COLUMNS_OF(k, list, r)                                                    \
  for (int k, at_##k = list##_start[r];                                      \
       at_##k < list##_start[(r) + 1] && (k = list[at_##k], 1); ++at_##k)

UK_INLINE void uk_correct(const uk_derivative_memory *m, uk_response *x, const uk_lanes *s,
                          const uk_rank of) {
  UK_EACH(i, UK_NV) {
    uk_lanes *z = x->z + i * UK_SPAN;
    const uk_some some = UK_SOME(uk_corrections, i);
    UK_COLUMNS_OF(k, uk_z_columns, i) z[k] = uk_all(0.0);
    UK_EACH(n, some.count) {
      const int c = some.which[n], row = of.order[c];
      const uk_lanes factor = m->corrections[c * UK_NV + i];
      UK_COLUMNS_OF(k, uk_rows_columns, row) z[k] += factor * s[row * UK_SPAN + k];
    }
  }
}

UK_INLINE void uk_reduce(const uk_derivative_memory *m, uk_response *x, const uk_lanes *r,
                         const uk_rank of) {
  const int free = UK_NV - of.rank;
  uk_lanes moved[UK_NV][UK_MOST_FREE] = {0}; /* K M */
  UK_EACH(i, UK_NV) for (int j = i; j >= 0; j = uk_parent[j]) {
    const uk_lanes inertia = m->H[i * UK_NV + j];
    UK_EACH(f, free) moved[i][f] += m->free_motions[f * UK_NV + j] * inertia;
    UK_EACH(f, j < i ? free : 0) moved[j][f] += m->free_motions[f * UK_NV + i] * inertia;
  }
  uk_zero(x->product, UK_MOST_FREE * UK_SPAN);
  UK_EACH(i, UK_NV) {
    uk_lanes motion[UK_MOST_FREE];
    UK_EACH(f, free) motion[f] = m->free_motions[f * UK_NV + i];
    UK_COLUMNS_OF(k, uk_motion_columns, i) UK_EACH(f, free)
      x->product[f * UK_SPAN + k] += motion[f] * r[i * UK_SPAN + k];
    UK_COLUMNS_OF(k, uk_z_columns, i) UK_EACH(f, free)
      x->product[f * UK_SPAN + k] -= moved[i][f] * x->z[i * UK_SPAN + k];
  }
}

UK_INLINE void uk_expand(const uk_derivative_memory *m, uk_lanes *y, int i, const uk_lanes *x,
                         const uk_lanes *rows, int length, const int columns, const uk_rank of) {
  uk_lanes motion[UK_MOST_FREE];
  UK_EACH(f, UK_NV - of.rank) motion[f] = m->free_motions[f * UK_NV + i];
  UK_EACH(k, columns) {
    uk_lanes sum = uk_all(0.0);
    UK_EACH(f, UK_NV - of.rank) sum += motion[f] * rows[f * length + k];
    y[k] = sum;
  }
  if (x) UK_COLUMNS_OF(k, uk_z_columns, i) y[k] += x[k];
}

#endif

/* For r, in rows of the velocities, and s, in rows of the constraints. */
UK_INLINE void uk_find_response(const uk_derivative_memory *m, uk_response *x, const uk_lanes *r,
                                const uk_lanes *s, const uk_rank of) {
  uk_correct(m, x, s, of);
  uk_reduce(m, x, r, of);
}

/* Row i of z + N (r - M z). */
UK_INLINE void uk_response_row(const uk_derivative_memory *m, const uk_response *x, int i,
                               uk_lanes *row, const uk_rank of) {
  uk_expand(m, row, i, x->z + i * UK_SPAN, x->product, UK_SPAN, UK_SPAN, of);
}

/* Row i of dq'', by all columns: those of tau behind the others. */
UK_INLINE void uk_acceleration_row(const uk_derivative_memory *m, const uk_response *x, int i,
                                   uk_lanes *row, const uk_rank of) {
  uk_lanes by_tau[UK_WHOLE], *to = UK_WHOLE > UK_NV ? by_tau : row + UK_SPAN;
  uk_response_row(m, x, i, row, of);
  uk_expand(m, to, i, NULL, UK_WHOLE > UK_NV ? x->motions : m->free_motions, UK_WHOLE, UK_WHOLE, of);
  if (UK_WHOLE > UK_NV) memcpy(row + UK_SPAN, by_tau, UK_NV * sizeof *by_tau);
}
