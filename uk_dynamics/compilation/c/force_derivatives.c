/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Derivatives of the constraint force Q = A^T lambda = M q'' - F - tau and of the multipliers of least
 * norm, from those of the acceleration. With g = M dq'' - r,
 *
 *   dQ = M dq'' + d(M q'' - F)|q'',    A^T dlambda = g.
 *
 * All rows are combinations A C of the independent ones, 1 on these and D on the others, so that x = C^T g
 * gives the multipliers of least norm
 *
 *   S^-1 D x  on the others,  x - D^T S^-1 D x  on the independent rows,    S = 1 + D D^T;
 *
 * and where there are others, combinations K of K^T A = 0 turn with the state: lambda = A w asks for
 * K^T dlambda = K^T dA w. */

#pragma once

#include "rank_change.c"
#include "symmetric_factor.c"

#if UK_M > 0

/* M dq'' less the forces that act; by: rows of dq''. */
static void uk_inertia_derivatives(const uk_derivative_memory *m, const uk_lanes *restrict by,
                                   uk_lanes *restrict held) {
  uk_zero(held, UK_NV * UK_ROW_LENGTH);
  UK_EACH(i, UK_NV) {
    held[i * UK_ROW_LENGTH + UK_SPAN + i] -= 1.0;
    for (int j = i; j >= 0; j = uk_parent[j]) {
      const uk_lanes inertia = m->H[i * UK_NV + j];
      uk_lanes *own = held + i * UK_ROW_LENGTH, *other = held + j * UK_ROW_LENGTH;
      uk_add(own, inertia, by + j * UK_ROW_LENGTH, UK_ROW_LENGTH);
      if (j != i) uk_add(other, inertia, by + i * UK_ROW_LENGTH, UK_ROW_LENGTH);
    }
  }
}

/* C^T (M dq'' - r) in rows of the independent constraints. */
UK_INLINE void uk_carry_derivatives(const uk_derivative_memory *m, const uk_rank of,
                                    const uk_lanes *held, uk_lanes *carried) {
  uk_zero(carried, UK_M * UK_ROW_LENGTH);
  UK_EACH(i, UK_NV) {
    const uk_some some = UK_STRUCTURE(uk_corrections, i, of.rank);
    uk_lanes row[UK_ROW_LENGTH];
    memcpy(row, held + i * UK_ROW_LENGTH, sizeof row);
    UK_COLUMNS_OF(k, uk_motion_columns, i) row[k] -= m->motion_derivatives[i * UK_SPAN + k];
    UK_EACH(n, some.count) {
      const int c = some.which ? some.which[n] : n;
      const uk_lanes factor = m->corrections[c * UK_NV + i];
      if (!some.which && uk_vanishes(factor)) continue;
      uk_add(carried + of.order[c] * UK_ROW_LENGTH, factor, row, UK_ROW_LENGTH);
    }
  }
}

/* From those of the independent rows alone to those of least norm. */
UK_INLINE void uk_share(uk_derivative_memory *m, const uk_rank of, uk_lanes *carried,
                        uk_lanes *unloaded, uk_lanes *turned, uk_lanes *shared) {
  const int *others = of.order + of.rank, count = UK_M - of.rank;
  uk_lanes D[UK_MOST_DEPENDENT * UK_MOST_INDEPENDENT], S[UK_MOST_DEPENDENT * UK_MOST_DEPENDENT];
  uk_lanes changed[UK_NV], none[UK_M];
  uk_dependence(m, of, D);
  UK_EACH(d, count) UK_EACH(e, d + 1)
    S[d * count + e] = uk_all(d == e) + uk_dot(D + d * UK_MOST_INDEPENDENT, D + e * UK_MOST_INDEPENDENT, of.rank);
  uk_factor_symmetric(S, count, 0.0);
  /* lambda = A w; what A w changes by: derivatives of A q'' - b less those of A (q'' + w) - b */
  memcpy(changed, m->qdd, sizeof changed);
  UK_EACH(c, of.rank) UK_EACH(i, UK_NV)
    changed[i] += m->corrections[c * UK_NV + i] * m->multipliers[of.order[c]];
  uk_zero(none, UK_M);
  uk_traced_derivatives(UK_TRACED_STATE, changed, none, unloaded, turned, NULL, shared);
  UK_EACH(at, UK_M) UK_COLUMNS_OF(k, uk_rows_columns, at) {
    uk_lanes *x = turned + at * UK_SPAN + k;
    *x = uk_active(m, at) * (m->row_derivatives[at * UK_SPAN + k] - *x);
  }
  UK_EACH(c, of.rank) { /* less B^T of it */
    uk_lanes *x = carried + of.order[c] * UK_ROW_LENGTH;
    UK_COLUMNS_OF(k, uk_rows_columns, of.order[c]) x[k] -= turned[of.order[c] * UK_SPAN + k];
    UK_EACH(d, count) UK_COLUMNS_OF(k, uk_rows_columns, others[d])
      x[k] -= D[d * UK_MOST_INDEPENDENT + c] * turned[others[d] * UK_SPAN + k];
  }
  UK_EACH(d, count) { /* forward */
    uk_lanes *y = carried + others[d] * UK_ROW_LENGTH;
    UK_EACH(c, of.rank)
      uk_add(y, D[d * UK_MOST_INDEPENDENT + c], carried + of.order[c] * UK_ROW_LENGTH, UK_ROW_LENGTH);
    UK_EACH(e, d) uk_add(y, -S[d * count + e], carried + others[e] * UK_ROW_LENGTH, UK_ROW_LENGTH);
    UK_EACH(k, UK_ROW_LENGTH) y[k] *= S[d * count + d];
  }
  for (int d = count - 1; d >= 0; --d) { /* and back */
    uk_lanes *y = carried + others[d] * UK_ROW_LENGTH;
    for (int e = d + 1; e < count; ++e)
      uk_add(y, -S[e * count + d], carried + others[e] * UK_ROW_LENGTH, UK_ROW_LENGTH);
    UK_EACH(k, UK_ROW_LENGTH) y[k] *= S[d * count + d];
    UK_EACH(c, of.rank)
      uk_add(carried + of.order[c] * UK_ROW_LENGTH, -D[d * UK_MOST_INDEPENDENT + c], y, UK_ROW_LENGTH);
  }
  UK_EACH(at, UK_M) UK_COLUMNS_OF(k, uk_rows_columns, at)
    carried[at * UK_ROW_LENGTH + k] += turned[at * UK_SPAN + k];
}

/* Rows of derivatives of multipliers, on independent rows alone, and M dq'' - dtau, from rows of dq'', with M
 * and A in the memory. Room to work in, for derivatives of motion and rows, is zero where they are by
 * structure. Then follow uk_force_row, and uk_share where there are dependent rows. */
UK_INLINE void uk_find_forces(uk_derivative_memory *m, const uk_rank of, const uk_lanes *by,
                              uk_lanes *multipliers, uk_lanes *force, uk_lanes *unloaded,
                              uk_lanes *turned, uk_lanes *shared) {
  uk_lanes none[UK_M];
  uk_zero(none, UK_M);
  uk_inertia_derivatives(m, by, force);
  uk_carry_derivatives(m, of, force, multipliers);
  uk_traced_derivatives(UK_TRACED_STATE, m->qdd, none, unloaded, turned, NULL, shared);
}

/* Row i of the derivatives of A^T lambda, where it holds M dq'' - dtau. */
UK_INLINE void uk_force_row(int i, const uk_lanes *unloaded, uk_lanes *row) {
  UK_COLUMNS_OF(k, uk_motion_columns, i) row[k] -= unloaded[i * UK_SPAN + k];
}

#endif
