/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The fundamental equation with the terms of the states, one in each lane: mass factor of the tree,
 * elimination of rows with their rank, acceleration and forces. UK_* sizes and tables are generated.
 *
 * M = H^T H with H lower triangular and as sparse as the tree (Featherstone, section 6.5); L = H^T
 * is the factor of the fundamental equation. Rows of B = A L^-T are scaled to their own size, and
 * eliminated as row_elimination.c has it. A single state is a lane. */
#pragma once

#include <string.h>

#include "least_multipliers.c"
#include "row_elimination.c"
#include "uk_config.h"
#include "uk_lanes.h"
#include "uk_lanes_memory.h"
#include "uk_mechanism.h"
#include "uk_tables.h"

#define UK_COUNT (UK_M < UK_NV ? UK_M : UK_NV)

/* Whether the tree leaves little of M. */
#define UK_SPARSE_MASS (UK_NV * UK_NV > 6 * UK_TREE_ENTRIES)

/* Whether sums over what is before a velocity are taken over all velocities of smaller numbers, as vectors: entries of
 * others in H are zeros that are never written. */
#define UK_DENSE (UK_WIDTH == 1 && UK_VECTORS && !UK_SPARSE_MASS)

/* y += a x of the velocities before i towards the root, x a row of H. */
UK_INLINE void uk_add_before(uk_lanes *restrict y, uk_lanes a, const uk_lanes *restrict x, int i) {
  if (UK_DENSE) uk_add(y, a, x, i);
  for (int j = UK_DENSE ? -1 : uk_parent[i]; j >= 0; j = uk_parent[j]) y[j] += a * x[j];
}

static inline void uk_lanes_whiten(const uk_lanes_memory *m, uk_lanes *x) {
  for (int i = UK_NV - 1; i >= 0; --i) {
    if (UK_WIDTH == 1 && !uk_any(x[i] != uk_all(0.0))) continue;
    x[i] *= m->inverse_pivot[i];
    uk_add_before(x, -x[i], m->H + i * UK_NV, i);
  }
}

#if UK_M > 0 && UK_DENSE

/* The same of rows, four at once: they do not wait for each other. */
static void uk_lanes_whiten_some(const uk_lanes_memory *m, double *const *rows, int count) {
  int r = 0;
  for (; r + 4 <= count; r += 4) {
    double *restrict x = rows[r], *restrict y = rows[r + 1], *restrict z = rows[r + 2], *restrict w = rows[r + 3];
    for (int i = UK_NV - 1; i >= 0; --i) {
      const double *restrict before = m->H + i * UK_NV;
      const double inverse = m->inverse_pivot[i];
      const double a = x[i] *= inverse, b = y[i] *= inverse, c = z[i] *= inverse, d = w[i] *= inverse;
      if (a == 0.0 && b == 0.0 && c == 0.0 && d == 0.0) continue;
      for (int j = 0; j < i; ++j)
        x[j] -= a * before[j], y[j] -= b * before[j], z[j] -= c * before[j], w[j] -= d * before[j];
    }
  }
  for (; r < count; ++r) uk_lanes_whiten(m, rows[r]);
}

#endif

static inline void uk_lanes_unwhiten(const uk_lanes_memory *m, uk_lanes *x) {
  UK_EACH(i, UK_NV) {
    uk_lanes sum = x[i];
    for (int j = uk_parent[i]; j >= 0; j = uk_parent[j]) sum -= m->H[i * UK_NV + j] * x[j];
    x[i] = sum * m->inverse_pivot[i];
  }
}

static void uk_lanes_factor_mass(uk_lanes_memory *m) {
  uk_lanes lost = uk_all(0.0), *diagonal = m->scratch;
  uk_mask singular = uk_none();
  UK_EACH(i, UK_NV) diagonal[i] = m->H[i * UK_NV + i];
  for (int k = UK_NV - 1; k >= 0; --k) {
    uk_lanes *row = m->H + k * UK_NV;
    const uk_lanes pivot = row[k], root = uk_lanes_sqrt(pivot), inverse = 1.0 / root;
    singular |= uk_not(pivot > 0.0);
    lost += diagonal[k] * inverse * inverse;
    row[k] = root;
    m->inverse_pivot[k] = inverse;
    for (int i = uk_parent[k]; i >= 0; i = uk_parent[i]) row[i] *= inverse;
    for (int i = uk_parent[k]; i >= 0; i = uk_parent[i]) {
      uk_lanes *above = m->H + i * UK_NV;
      above[i] -= row[i] * row[i];
      uk_add_before(above, -row[i], row, i);
    }
  }
  m->singular = singular | uk_not(lost < UK_LOST_PIVOTS);
}

/* M, or its factor, to a place of its own, and back: what the tree leaves of it, where that is little. */
#define UK_MASS_ROOM (UK_SPARSE_MASS ? UK_TREE_ENTRIES : UK_NV * UK_NV)

static UK_OPTIONAL void uk_lanes_keep_mass(const uk_lanes_memory *m, uk_lanes *kept) {
  if (!UK_SPARSE_MASS) {
    memcpy(kept, m->H, sizeof(uk_lanes) * UK_MASS_ROOM);
    return;
  }
  UK_EACH(i, UK_NV)
    for (int j = i; j >= 0; j = uk_parent[j]) *kept++ = m->H[i * UK_NV + j];
}

static UK_OPTIONAL void uk_lanes_take_mass(uk_lanes_memory *m, const uk_lanes *kept) {
  if (!UK_SPARSE_MASS) {
    memcpy(m->H, kept, sizeof(uk_lanes) * UK_MASS_ROOM);
    return;
  }
  UK_EACH(i, UK_NV)
    for (int j = i; j >= 0; j = uk_parent[j]) m->H[i * UK_NV + j] = *kept++;
}

#if UK_M > 0

static inline void uk_lanes_multiply_factor(const uk_lanes_memory *m, const uk_lanes *x, uk_lanes *y) {
  UK_EACH(j, UK_NV) y[j] = uk_all(0.0);
  UK_EACH(i, UK_NV)
    for (int j = i; j >= 0; j = uk_parent[j]) y[j] += m->H[i * UK_NV + j] * x[i];
}

/* The rows, to be eliminated or where they are. */
UK_INLINE uk_basis uk_rows_of(const uk_lanes_memory *m) {
  uk_basis b;
  b.n = UK_NV, b.count = UK_M, b.rank = UK_COUNT, b.sparse = UK_SWITCHED, b.ordered = (int)m->ordered;
  b.rows = (uk_lanes *)m->W, b.row = (uk_lanes *)m->row, b.handicap = uk_handicap;
  b.scale = (uk_lanes *)m->scale, b.beta = (uk_lanes *)m->beta, b.inverse_R = (uk_lanes *)m->inverse_R;
  b.square = (uk_lanes *)m->square, b.reference = (uk_lanes *)m->reference;
  return b;
}

/* Those that were eliminated; of one state with their rank. */
UK_INLINE uk_basis uk_eliminated_rows(const uk_lanes_memory *m) {
  uk_basis b = uk_rows_of(m);
  if (UK_WIDTH == 1) b.rank = (int)UK_PART(m->rank, 0);
  return b;
}

/* The norm of a whitened row, which is none where that is rounding. */
UK_INLINE uk_lanes uk_lanes_row_norm(int r, uk_lanes *x) {
  const uk_lanes norm = uk_lanes_sqrt(uk_dot(x, x, UK_NV));
  if (!UK_SWITCHED || uk_any(norm > UK_ZERO_ROW * uk_natural_scale[r])) return norm;
  memset(x, 0, sizeof(uk_lanes) * UK_NV); /* to be passed over */
  return uk_all(0.0);
}

/* A row, whitened, and its norm. */
UK_INLINE uk_lanes uk_lanes_whiten_row(const uk_lanes_memory *m, int r, uk_lanes acts, uk_lanes *x) {
  UK_EACH(i, UK_NV) x[i] = acts * m->A[r * UK_NV + i];
  const int none = UK_SWITCHED && !uk_any(acts != uk_all(0.0));
  for (int s = uk_support_start[r]; s < uk_support_start[r + 1] && !none; ++s) {
    const int i = uk_support[s];
    x[i] *= m->inverse_pivot[i];
    uk_add_before(x, -x[i], m->H + i * UK_NV, i);
  }
  return uk_lanes_row_norm(r, x);
}

/* What a row of this norm is multiplied by. */
static inline uk_lanes uk_lanes_row_scale(int r, uk_lanes norm) {
  const uk_lanes least = uk_all(UK_LEAST_PART * uk_natural_scale[r] + UK_TINY);
  return uk_handicap[r] / uk_lanes_larger(norm, least);
}

static void uk_lanes_whiten_rows(uk_lanes_memory *m, const uk_lanes *acts) {
  const uk_basis b = uk_rows_of(m);
#if UK_DENSE
  double *some[UK_M];
  int count = 0;
  UK_EACH(r, UK_M) {
    UK_EACH(i, UK_NV) m->W[r][i] = acts[r] * m->A[r * UK_NV + i];
    if (acts[r] != 0.0) some[count++] = m->W[r];
  }
  uk_lanes_whiten_some(m, some, count);
#endif
  UK_EACH(r, UK_M) {
    const uk_lanes norm = UK_DENSE ? uk_lanes_row_norm(r, m->W[r]) : uk_lanes_whiten_row(m, r, acts[r], m->W[r]);
    uk_scale_row(&b, r, norm, uk_lanes_row_scale(r, norm));
  }
}

/* Eliminate them. */
UK_EVALUATION void uk_lanes_eliminate(uk_lanes_memory *m, uk_lanes tolerance) {
  uk_basis b = uk_rows_of(m);
  m->rank = uk_eliminate_rows(&b, tolerance);
  m->ordered = b.ordered;
}

/* Whether rows depend on others in some lane. */
static inline int uk_lanes_depend(const uk_lanes_memory *m) { return uk_any(m->rank < uk_all(UK_M)); }


UK_EVALUATION void uk_lanes_multipliers(uk_lanes_memory *m) {
  const uk_basis b = uk_rows_of(m);
  uk_find_multipliers(&b, m->z, &m->kernel[0][0], m->scratch, m->right, m->multipliers, m->determined);
}

static void uk_lanes_check(uk_lanes_memory *m) {
  const uk_basis b = uk_rows_of(m);
  uk_lanes size[UK_NV];
#ifdef UK_ONE_STATE
  uk_lanes *off = m->offends;
#else
  uk_lanes off[UK_ROWS];
#endif
  memcpy(size, m->force, sizeof size);
  uk_lanes_whiten(m, size);
  uk_lanes_unwhiten(m, size);
  UK_EACH(i, UK_NV) size[i] = uk_lanes_fabs(size[i]) + uk_lanes_fabs(m->qdd[i]);
  m->status = uk_check_rows(&b, m->A, m->b, m->violation, size, UK_CONSISTENCY_TOLERANCE, m->right, off);
}

#endif
