/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The fundamental equation with the terms of the states, one in each lane: mass factor of the tree,
 * elimination of rows with their rank, acceleration and forces. UK_* sizes and tables are generated.
 *
 * M = H^T H with H lower triangular and as sparse as the tree (Featherstone, section 6.5); L = H^T
 * is the factor of the fundamental equation. Rows of B = A L^-T are scaled to their own size. Every
 * lane takes rows in an order of its own and has a rank of its own: its independent rows stand first,
 * `row` has their numbers, `independent` says which they are. A single state is a lane. */
#pragma once

#include <string.h>

#include "least_multipliers.c"
#include "uk_config.h"
#include "uk_lanes.h"
#include "uk_mechanism.h"
#include "uk_tables.h"

#define UK_COUNT (UK_M < UK_NV ? UK_M : UK_NV)
#define UK_FEWER (UK_ROWS < UK_NV ? UK_ROWS : UK_NV)

#ifdef UK_ONE_STATE /* its memory is a program's: the same fields, all of them doubles */
typedef uk_memory uk_lanes_memory;
#else
typedef struct {
  uk_lanes t, q[UK_NQ], v[UK_NV], tau[UK_NV], active[UK_ROWS], followed[3 * UK_ROWS];
#if UK_NP > 0
  uk_lanes p[UK_NP];
#endif
  double stabilize;
  int forces;
  uk_lanes qdd[UK_NV], violation[UK_ROWS], ideal_force[UK_NV], multipliers[UK_ROWS];
  uk_lanes determined[UK_ROWS], rank, status, failed;
  uk_lanes force[UK_NV], residual[UK_ROWS], rate[UK_ROWS], bias[UK_ROWS], b[UK_ROWS];
  uk_lanes A[UK_ROWS * UK_NV], H[UK_NV * UK_NV], inverse_pivot[UK_NV];
  uk_lanes W[UK_ROWS][UK_NV], scale[UK_ROWS], square[UK_ROWS], reference[UK_ROWS];
  uk_lanes row[UK_ROWS], beta[UK_ROWS], inverse_R[UK_ROWS], z[UK_ROWS], right[UK_ROWS];
  uk_lanes scratch[UK_NV > UK_ROWS ? UK_NV : UK_ROWS], kernel[UK_FEWER][UK_ROWS];
  uk_mask independent[UK_ROWS], singular, dependent;
  int ordered;
} uk_lanes_memory;
#endif

static inline void uk_lanes_whiten(const uk_lanes_memory *m, uk_lanes *x) {
  for (int i = UK_NV - 1; i >= 0; --i) {
    const uk_lanes xi = x[i] *= m->inverse_pivot[i];
    for (int j = uk_parent[i]; j >= 0; j = uk_parent[j]) x[j] -= m->H[i * UK_NV + j] * xi;
  }
}

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
      for (int j = i; j >= 0; j = uk_parent[j]) above[j] -= row[i] * row[j];
    }
  }
  m->singular = singular | uk_not(lost < UK_LOST_PIVOTS);
}

#if UK_M > 0

static inline uk_lanes uk_lanes_square(const uk_lanes *x, int from) {
  uk_lanes sum = uk_all(0.0);
  for (int i = from; i < UK_NV; ++i) sum += x[i] * x[i];
  return sum;
}

static inline void uk_lanes_multiply_factor(const uk_lanes_memory *m, const uk_lanes *x, uk_lanes *y) {
  UK_EACH(j, UK_NV) y[j] = uk_all(0.0);
  UK_EACH(i, UK_NV)
    for (int j = i; j >= 0; j = uk_parent[j]) y[j] += m->H[i * UK_NV + j] * x[i];
}

static void uk_lanes_whiten_rows(uk_lanes_memory *m, const uk_lanes *acts) {
  UK_EACH(r, UK_M) {
    uk_lanes *x = m->W[r];
    UK_EACH(i, UK_NV) x[i] = acts[r] * m->A[r * UK_NV + i];
    const int none = UK_SWITCHED && !uk_any(acts[r] != uk_all(0.0));
    for (int s = uk_support_start[r]; s < uk_support_start[r + 1] && !none; ++s) {
      const int i = uk_support[s];
      const uk_lanes xi = x[i] *= m->inverse_pivot[i];
      for (int j = uk_parent[i]; j >= 0; j = uk_parent[j]) x[j] -= m->H[i * UK_NV + j] * xi;
    }
    const uk_lanes norm = uk_lanes_sqrt(uk_lanes_square(x, 0));
    const uk_lanes least = uk_all(UK_LEAST_PART * uk_natural_scale[r] + UK_TINY);
    const uk_lanes scale = m->scale[r] = uk_handicap[r] / uk_lanes_larger(norm, least);
    UK_EACH(i, UK_NV) x[i] *= scale;
    m->square[r] = m->reference[r] = norm * scale * norm * scale;
    m->row[r] = uk_all(r);
  }
}

static inline void uk_lanes_exchange(uk_mask where, uk_lanes *x, uk_lanes *y) {
  const uk_lanes old = *x;
  *x = uk_pick(where, *y, old);
  *y = uk_pick(where, old, *y);
}

/* Bring the row with the largest residual norm to place k. */
static inline void uk_lanes_choose(uk_lanes_memory *m, int k) {
  uk_lanes most = m->square[k], best = uk_all(k);
  for (int j = k + 1; j < UK_M; ++j) {
    const uk_mask better = m->square[j] > most;
    most = uk_pick(better, m->square[j], most);
    best = uk_pick(better, uk_all(j), best);
  }
  for (int j = k + 1; j < UK_M; ++j) {
    const uk_mask here = best == uk_all(j);
    if (!uk_any(here)) continue;
    m->ordered = 0;
    uk_lanes_exchange(here, m->square + k, m->square + j);
    uk_lanes_exchange(here, m->reference + k, m->reference + j);
    uk_lanes_exchange(here, m->scale + k, m->scale + j);
    uk_lanes_exchange(here, m->row + k, m->row + j);
    UK_EACH(i, UK_NV) uk_lanes_exchange(here, m->W[k] + i, m->W[j] + i);
  }
}

static inline void uk_lanes_reflect(const uk_lanes_memory *m, int k, uk_lanes *x) {
  const uk_lanes *v = m->W[k];
  uk_lanes s = uk_all(0.0);
  for (int i = k; i < UK_NV; ++i) s += v[i] * x[i];
  s *= m->beta[k];
  for (int i = k; i < UK_NV; ++i) x[i] -= s * v[i];
}

/* Pivoted elimination. Where a lane has no further independent row its
 * reflectors are zero. */
UK_EVALUATION void uk_lanes_eliminate(uk_lanes_memory *m, uk_lanes tolerance) {
  const uk_lanes zero = uk_all(0.0), one = uk_all(1.0);
  uk_mask going = uk_not(uk_none());
  m->ordered = 1;
  m->rank = zero;
  UK_EACH(k, UK_M) m->independent[k] = uk_none(), m->beta[k] = m->inverse_R[k] = zero;
  UK_EACH(k, UK_COUNT) {
    uk_lanes_choose(m, k);
    uk_lanes *v = m->W[k];
    const uk_lanes norm = uk_lanes_sqrt(uk_lanes_square(v, k));
    going &= norm > tolerance;
    if (!uk_any(going)) break;
    m->independent[k] = going;
    m->rank += uk_pick(going, one, zero);
    const uk_lanes diagonal = uk_pick(v[k] > 0.0, -norm, norm);
    const uk_lanes both = 1.0 / (norm * (norm + uk_lanes_fabs(v[k])));
    m->beta[k] = uk_pick(going, both, zero);
    m->inverse_R[k] = uk_pick(going, both * (norm + uk_lanes_fabs(v[k])), zero);
    m->inverse_R[k] = uk_pick(v[k] > 0.0, -m->inverse_R[k], m->inverse_R[k]);
    v[k] = uk_pick(going, v[k] - diagonal, v[k]);
    for (int j = k + 1; j < UK_M; ++j) {
      uk_lanes *x = m->W[j];
      if (UK_SWITCHED && !uk_any(m->reference[j] > zero)) continue; /* nothing is left of it */
      uk_lanes_reflect(m, k, x);
      const uk_lanes rest = m->square[j] - x[k] * x[k];
      m->square[j] = uk_pick(going, rest, m->square[j]);
      const uk_mask lost = going & uk_not(rest > UK_DOWNDATE * m->reference[j]);
      if (!uk_any(lost)) continue;
      const uk_lanes fresh = uk_lanes_square(x, k + 1);
      m->square[j] = uk_pick(lost, fresh, m->square[j]);
      m->reference[j] = uk_pick(lost, fresh, m->reference[j]);
    }
  }
  uk_mask dependent = uk_none();
  UK_EACH(k, UK_M) dependent |= uk_not(m->independent[k]);
  m->dependent = dependent;
}

/* What a lane has of a row, from where the row stands in it; and back. */
static inline void uk_lanes_to_places(const uk_lanes_memory *m, const uk_lanes *x, uk_lanes *y) {
  UK_EACH(k, UK_M) {
    y[k] = x[k];
    UK_EACH(l, m->ordered ? 0 : UK_WIDTH) UK_PART(y[k], l) = UK_PART(x[(int)UK_PART(m->row[k], l)], l);
  }
}

static inline void uk_lanes_to_rows(const uk_lanes_memory *m, const uk_lanes *x, uk_lanes *y) {
  if (m->ordered) memcpy(y, x, sizeof(uk_lanes) * UK_M);
  UK_EACH(k, m->ordered ? 0 : UK_M)
    UK_EACH(l, UK_WIDTH) UK_PART(y[(int)UK_PART(m->row[k], l)], l) = UK_PART(x[k], l);
}

/* Coordinates z of the smallest x with B x = right on the independent rows. */
static void uk_lanes_coordinates(uk_lanes_memory *m, const uk_lanes *right) {
  uk_lanes_to_places(m, right, m->right);
  UK_EACH(k, UK_COUNT) {
    uk_lanes y = m->right[k] * m->scale[k];
    for (int i = 0; i < k; ++i) y -= m->W[k][i] * m->z[i];
    m->z[k] = uk_pick(m->independent[k], y * m->inverse_R[k], uk_all(0.0));
  }
}

/* The d of least d^T M d with A d = right on the independent rows. */
static UK_OPTIONAL void uk_lanes_correction(uk_lanes_memory *m, const uk_lanes *right, uk_lanes *d) {
  uk_lanes_coordinates(m, right);
  UK_EACH(i, UK_NV) d[i] = i < UK_COUNT ? m->z[i] : uk_all(0.0);
  for (int k = UK_COUNT - 1; k >= 0; --k) uk_lanes_reflect(m, k, d);
  uk_lanes_unwhiten(m, d);
}

static inline void uk_lanes_solve_upper(const uk_lanes_memory *m, uk_lanes *z) {
  for (int k = UK_COUNT - 1; k >= 0; --k) {
    uk_lanes sum = z[k];
    for (int i = k + 1; i < UK_COUNT; ++i) sum -= m->W[i][k] * z[i];
    z[k] = uk_pick(m->independent[k], sum * m->inverse_R[k], uk_all(0.0));
  }
}

/* Rows, by place, for all lanes alike, of the combinations of rows that vanish, or of those
 * that do not, whichever are fewer; how many, and which of both they are. */
static int uk_lanes_kernel(uk_lanes_memory *m, int *vanishing) {
  const uk_lanes zero = uk_all(0.0), one = uk_all(1.0);
  uk_lanes *x = m->right;
  int first = 0, most = 0;
  while (first < UK_M && !uk_any(uk_not(m->independent[first]))) ++first;
  while (most < UK_COUNT && uk_any(m->independent[most])) ++most;
  *vanishing = UK_M - first <= most;
  const int count = *vanishing ? UK_M - first : most;
  UK_EACH(d, count) UK_EACH(k, UK_M) m->kernel[d][k] = zero;
  for (int k = 0; !*vanishing && k < count; ++k)
    m->kernel[k][k] = uk_pick(m->independent[k], one, zero);
  for (int d = first; d < UK_M; ++d) {
    const uk_mask left_out = uk_not(m->independent[d]);
    UK_EACH(k, UK_COUNT) x[k] = uk_pick(m->independent[k], uk_pick(left_out, m->W[d][k], zero), zero);
    uk_lanes_solve_upper(m, x);
    UK_EACH(k, most)
      if (*vanishing) m->kernel[d - first][k] = -x[k];
      else m->kernel[k][d] += x[k];
    if (*vanishing) m->kernel[d - first][d] = uk_pick(left_out, one, zero);
  }
  return count;
}

UK_EVALUATION void uk_lanes_multipliers(uk_lanes_memory *m) {
  uk_lanes *z = m->z, *unique = m->scratch;
  for (int k = UK_COUNT; k < UK_M; ++k) z[k] = uk_all(0.0);
  uk_lanes_solve_upper(m, z);
  UK_EACH(k, UK_COUNT) z[k] *= m->scale[k];
  UK_EACH(k, UK_M) unique[k] = uk_all(1.0);
  if (uk_any(m->dependent)) {
    int vanishing;
    const int count = uk_lanes_kernel(m, &vanishing);
    uk_least_multipliers(&m->kernel[0][0], count, UK_M, vanishing, m->scale, z, unique, m->right);
  }
  uk_lanes_to_rows(m, z, m->multipliers);
  uk_lanes_to_rows(m, unique, m->determined);
}

static void uk_lanes_check(uk_lanes_memory *m) {
  const uk_lanes zero = uk_all(0.0);
  uk_lanes size[UK_NV], rest[UK_ROWS], left_out[UK_ROWS];
  UK_EACH(i, UK_NV) size[i] = m->force[i];
  uk_lanes_whiten(m, size);
  uk_lanes_unwhiten(m, size);
  UK_EACH(i, UK_NV) size[i] = uk_lanes_fabs(size[i]) + uk_lanes_fabs(m->qdd[i]);
  UK_EACH(k, UK_M) {
    uk_lanes sum = zero;
    UK_EACH(i, UK_NV) {
      const uk_lanes square = m->W[k][i] * m->W[k][i];
      sum += i < UK_COUNT ? uk_pick(m->independent[i], zero, square) : square;
    }
    m->right[k] = sum;
  }
  uk_lanes_to_rows(m, m->right, rest);
  UK_EACH(k, UK_M) m->right[k] = uk_pick(m->independent[k], zero, uk_all(1.0));
  uk_lanes_to_rows(m, m->right, left_out);
  uk_lanes status = zero;
  UK_EACH(r, UK_M) {
    uk_lanes scale = uk_lanes_fabs(m->b[r]) + UK_NEGLIGIBLE_ACCELERATION;
    UK_EACH(i, UK_NV) scale += uk_lanes_fabs(m->A[r * UK_NV + i]) * size[i];
    const uk_mask off = (left_out[r] > zero)
                        & (uk_lanes_fabs(m->violation[r]) > UK_CONSISTENCY_TOLERANCE * scale);
    const uk_mask exact = uk_lanes_sqrt(rest[r]) <= UK_EXACTLY_DEPENDENT;
    const uk_lanes level = uk_pick(exact, uk_all(UK_INCONSISTENT), uk_all(UK_NEAR_SINGULAR));
    status = uk_lanes_larger(status, uk_pick(off, level, zero));
#ifdef UK_ONE_STATE
    m->offends[r] = off ? 1.0 + exact : 0.0;
#endif
  }
  m->status = status;
}

#endif
