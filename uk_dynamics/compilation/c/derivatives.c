/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Derivatives of the acceleration. What the equations change by while it and the multipliers are held, r
 * and s, they answer with
 *
 *   M dq'' - A^T dlambda = r,  A dq'' = s:    dq'' = z + N (r - M z),  z = C s,
 *
 * N = K^T K over the admissible motions, and A C = 1 on the independent rows. Where rows were pivoted, C is
 * the one with K M C = 0. Columns of r and s: the velocity coordinates of q, those of v, t; rows of
 * them are filled up to whole vectors.
 */

#pragma once

#include "uk_columns.h"
#include "uk_evaluation.h"
#include "uk_motions.h"
#include "uk_traced.h"

#define UK_ROW_LENGTH (UK_STRIDE + UK_NV)
#define UK_ALIGNED(name, count) double name[count] __attribute__((aligned(8 * UK_BLOCK)))
#define UK_WHOLE ((UK_NV + UK_BLOCK - 1) / UK_BLOCK * UK_BLOCK)

/* An entry of M, whose lower triangle stands in a matrix. */
static UK_OPTIONAL double uk_mass(const double *M, int i, int j) {
  return M[(j < i ? i : j) * UK_NV + (j < i ? j : i)];
}

static void uk_zero(double *x, int count) {
  for (int k = 0; k < count; ++k) x[k] = 0.0;
}

#define UK_REGISTERS 8 /* vectors that are added up at a time */

/* Those of several rows that are not zero by structure; without a list those that are not zero. */
typedef struct {
  int count;
  const int *which;
} uk_some;
#define UK_ALL(n) ((uk_some){n, NULL})
#define UK_SOME(list, k) ((uk_some){list##_start[(k) + 1] - list##_start[k], list + list##_start[k]})

/* Rows, which stand `length` apart or in an order, and factors, which stand `apart`. */
typedef struct {
  uk_some some;
  const double *factors;
  int apart;
  const double *rows;
  int length;
  const double *order;
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
    const double *row = p.rows + (p.order ? (int)p.order[r] : r) * p.length + first;
    for (int b = 0; b < vectors; ++b) sum[b] += factor * *(const uk_block *)(row + b * UK_BLOCK);
  }
  for (int b = 0; b < vectors; ++b) *(uk_block *)(y + first + b * UK_BLOCK) = sum[b];
}

/* y = x and the sum of factors times rows, in whole vectors of columns; without x the sum alone. */
UK_INLINE void uk_add_product(double *y, const double *x, const uk_product p, const int columns) {
  const int vectors = columns / UK_BLOCK, parts = (vectors + UK_REGISTERS - 1) / UK_REGISTERS;
  const int together = (vectors + parts - 1) / parts;
  int first = 0;
  for (; first + together <= vectors; first += together)
    uk_add_vectors(y, x, p, first * UK_BLOCK, together);
  if (vectors % together) uk_add_vectors(y, x, p, first * UK_BLOCK, vectors % together);
}

/* Rows of K transposed and of C transposed. */
static void uk_inverse(uk_memory *m, int rank) {
  for (int f = rank; f < UK_NV; ++f) {
    double *x = m->free_motions + (f - rank) * UK_NV;
    for (int i = 0; i < UK_NV; ++i) x[i] = i == f;
#if UK_M > 0
    for (int k = rank - 1; k >= 0; --k) uk_lanes_reflect(m, k, x);
#endif
    uk_lanes_unwhiten(m, x);
  }
#if UK_M > 0
  for (int c = 0; c < rank; ++c) {
    double *x = m->corrections + c * UK_NV;
    uk_zero(x, UK_NV);
    for (int k = c; k < rank; ++k) {
      double sum = k == c ? m->scale[c] : 0.0;
      const double *row = m->W[k];
      for (int i = c; i < k; ++i) sum -= row[i] * x[i];
      x[k] = sum * m->inverse_R[k];
    }
    for (int k = rank - 1; k >= 0; --k) uk_lanes_reflect(m, k, x);
    uk_lanes_unwhiten(m, x);
  }
#endif
}

/* With lists of what is not zero by structure where rows were not pivoted. */
#if UK_MOTIONS
#define UK_STRUCTURE(list, k, n) (pivoted ? UK_ALL(n) : UK_SOME(list, k))
#else
#define UK_STRUCTURE(list, k, n) UK_ALL(n)
#endif

UK_INLINE void uk_acceleration_derivatives(uk_memory *m, const int rank, const int pivoted) {
  const int free = UK_NV - rank;
  (void)pivoted;
  UK_ALIGNED(motions, UK_NV * UK_WHOLE) = {0}; /* the free ones, in whole vectors */
  UK_ALIGNED(z, UK_NV * UK_STRIDE);
  UK_ALIGNED(product, UK_NV * UK_STRIDE);
  const double *rest = m->motion_derivatives;
  for (int i = 0; i < UK_NV; ++i)
    uk_add_product(z + i * UK_STRIDE, NULL,
                   (uk_product){UK_STRUCTURE(uk_corrections, i, rank), m->corrections + i, UK_NV,
                                m->row_derivatives, UK_STRIDE, m->row},
                   UK_STRIDE);
#if UK_MOTIONS
  UK_ALIGNED(left, UK_NV * UK_STRIDE);
  for (int j = 0; !pivoted && j < UK_NV; ++j) {
    double inertia[UK_NV];
    const uk_some some = UK_SOME(uk_inertia, j);
    for (int k = 0; k < some.count; ++k) {
      const int i = some.which[k];
      inertia[i] = -uk_mass(m->H, i, j);
    }
    uk_add_product(left + j * UK_STRIDE, m->motion_derivatives + j * UK_STRIDE,
                   (uk_product){some, inertia, 1, z, UK_STRIDE, NULL}, UK_STRIDE);
    rest = left;
  }
#endif
  for (int f = 0; f < free; ++f) {
    const double *motion = m->free_motions + f * UK_NV;
    uk_add_product(product + f * UK_STRIDE, NULL,
                   (uk_product){UK_STRUCTURE(uk_moved, f, UK_NV), motion, 1, rest, UK_STRIDE, NULL},
                   UK_STRIDE);
    memcpy(motions + f * UK_WHOLE, motion, UK_NV * sizeof *motion);
  }
  for (int i = 0; i < UK_NV; ++i) {
    double by_tau[UK_WHOLE];
    uk_product p = {UK_STRUCTURE(uk_moving, i, free), m->free_motions + i, UK_NV, product,
                    UK_STRIDE, NULL};
    uk_add_product(m->qdd_derivatives + i * UK_ROW_LENGTH, z + i * UK_STRIDE, p, UK_STRIDE);
    p.rows = motions, p.length = UK_WHOLE;
    uk_add_product(by_tau, NULL, p, UK_WHOLE);
    memcpy(m->qdd_derivatives + i * UK_ROW_LENGTH + UK_STRIDE, by_tau, UK_NV * sizeof *by_tau);
  }
}

static void uk_find_derivatives(uk_memory *m, double *shared) {
  uk_traced_derivatives(m->t, m->stabilize, m->q, m->v, UK_FOLLOWED UK_P, m->qdd, m->multipliers,
              m->motion_derivatives, m->row_derivatives, m->rate_derivatives, shared);
  for (int r = 0; r < UK_M; ++r)
    if (m->active[r] == 0.0) uk_zero(m->row_derivatives + r * UK_STRIDE, UK_STRIDE);
}

/* The derivatives of the equations at a state, acceleration and multipliers that are in the memory. */
UK_EXPORT void uk_equation_derivatives(uk_memory *m) {
  double shared[UK_TRACED_SHARED];
  uk_find_derivatives(m, shared);
  uk_traced_rates(m->t, m->stabilize, m->q, m->v, UK_FOLLOWED UK_P, m->qdd, m->multipliers,
                   m->motion_derivatives, m->row_derivatives, m->rate_derivatives, shared);
  for (int r = 0; r < UK_M; ++r)
    if (m->active[r] == 0.0) uk_zero(m->rate_derivatives + r * UK_STRIDE, UK_STRIDE);
}

/* Solution and derivatives of the inputs in the memory; 0, or as uk_evaluate. */
UK_EXPORT int uk_differentiate(uk_memory *m) {
  double shared[UK_TRACED_SHARED];
#if UK_MOTIONS
  double sure[2];
  uk_lanes_terms(m->t, m->q, m->v, UK_FOLLOWED UK_P, m->H, m->force, m->A, m->bias, m->residual, m->rate);
  uk_zero(m->corrections, UK_M * UK_NV); /* where they are never written */
  uk_regular_motions(m->stabilize, m->tau, m->H, m->force, m->A, m->bias, m->residual, m->rate,
                     m->qdd, m->multipliers, m->free_motions, m->corrections, sure);
  double total = 0.0;
  for (int i = 0; i < UK_NV; ++i) total += m->qdd[i];
  if (sure[0] < UK_LOST_PIVOTS && sure[1] < 1.0 && isfinite(total)) {
    for (int c = 0; c < UK_MOTIONS; ++c) m->row[c] = uk_motion_rows[c];
    m->rank = UK_MOTIONS;
    uk_find_derivatives(m, shared);
    uk_acceleration_derivatives(m, UK_MOTIONS, 0);
    return 0;
  }
#endif
  const int failed = uk_answer(m, 1);
  if (failed) return failed;
  uk_find_derivatives(m, shared);
  uk_inverse(m, (int)m->rank);
  uk_acceleration_derivatives(m, (int)m->rank, 1);
  return 0;
}
