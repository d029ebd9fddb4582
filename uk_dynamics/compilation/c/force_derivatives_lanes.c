/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What force_derivatives.c does at regular states, one state per lane. B is one on the independent rows, D on
 * the others, so that the multipliers of least norm are
 *
 *   S^-1 D x  on these,  x - D^T S^-1 D x  on those,    S = 1 + D D^T.
 */

#pragma once

#include "derivatives_lanes.c"

/* M dq'' less the forces that act. */
static void uk_lanes_inertia_derivatives(uk_derivative_lanes *m) {
  UK_EACH(k, UK_NV * UK_COLUMNS) m->held[k] = uk_all(0.0);
  UK_EACH(i, UK_NV) {
    m->held[i * UK_COLUMNS + UK_DIRECTIONS + i] -= 1.0;
    for (int j = i; j >= 0; j = uk_parent[j]) {
      const uk_lanes inertia = m->H[i * UK_NV + j];
      uk_lanes *own = m->held + i * UK_COLUMNS, *other = m->held + j * UK_COLUMNS;
      UK_EACH(k, UK_COLUMNS) own[k] += inertia * m->by_qdd[j * UK_COLUMNS + k];
      if (j == i) continue;
      UK_EACH(k, UK_COLUMNS) other[k] += inertia * m->by_qdd[i * UK_COLUMNS + k];
    }
  }
}

/* C^T (M dq'' - r) in rows of the independent constraints. */
static void uk_lanes_carried(uk_derivative_lanes *m) {
  UK_EACH(k, UK_ROWS * UK_COLUMNS) m->carried[k] = uk_all(0.0);
  UK_EACH(i, UK_NV) {
    memcpy(m->row, m->held + i * UK_COLUMNS, sizeof m->row);
    UK_LISTED(k, uk_motion_columns, i) m->row[uk_motion_columns[k]] -= m->motion[k];
    UK_LISTED(at, uk_corrections, i) {
      const int c = uk_corrections[at];
      const uk_lanes factor = m->C[c * UK_NV + i];
      uk_lanes *to = m->carried + uk_motion_rows[c] * UK_COLUMNS;
      UK_EACH(k, UK_COLUMNS) to[k] += factor * m->row[k];
    }
  }
}

#if UK_DEPENDENT_ROWS
/* From those of the independent rows alone to those of least norm. */
static void uk_lanes_share_out(uk_derivative_lanes *m) {
  uk_lanes D[UK_DEPENDENT_ROWS * UK_MOTIONS], S[UK_DEPENDENT_ROWS * UK_DEPENDENT_ROWS];
  uk_lanes changed[UK_NV], none[UK_ROWS];
  UK_EACH(d, UK_DEPENDENT_ROWS) UK_EACH(c, UK_MOTIONS) {
    uk_lanes sum = uk_all(0.0);
    UK_EACH(i, UK_NV) sum += m->A[uk_dependent_rows[d] * UK_NV + i] * m->C[c * UK_NV + i];
    D[d * UK_MOTIONS + c] = sum;
  }
  UK_EACH(d, UK_DEPENDENT_ROWS) UK_EACH(e, d + 1) { /* Cholesky's factor, 1 / its diagonal */
    uk_lanes sum = uk_all(d == e);
    UK_EACH(c, UK_MOTIONS) sum += D[d * UK_MOTIONS + c] * D[e * UK_MOTIONS + c];
    UK_EACH(k, e) sum -= S[d * UK_DEPENDENT_ROWS + k] * S[e * UK_DEPENDENT_ROWS + k];
    S[d * UK_DEPENDENT_ROWS + e] =
        d == e ? 1.0 / uk_lanes_sqrt(sum) : sum * S[e * UK_DEPENDENT_ROWS + e];
  }
  /* lambda = A w; what A w changes by: derivatives of A q'' - b less those of A (q'' + w) - b */
  memcpy(changed, m->qdd, sizeof changed);
  UK_EACH(c, UK_MOTIONS) UK_EACH(i, UK_NV)
    changed[i] += m->C[c * UK_NV + i] * m->multipliers[uk_motion_rows[c]];
  UK_EACH(r, UK_ROWS) none[r] = uk_all(0.0);
  uk_lanes_traced_derivatives(m->t, m->stabilize, m->q, m->v, m->followed UK_P, changed, none, m->motion,
                    m->other_rows, m->rates, m->shared);
  UK_EACH(k, UK_ROW_ENTRIES) m->other_rows[k] = m->rows[k] - m->other_rows[k];
  UK_EACH(c, UK_MOTIONS) { /* less B^T of it */
    const int r = uk_motion_rows[c];
    uk_lanes *x = m->carried + r * UK_COLUMNS;
    UK_LISTED(k, uk_rows_columns, r) x[uk_rows_columns[k]] -= m->other_rows[k];
    UK_EACH(d, UK_DEPENDENT_ROWS) UK_LISTED(k, uk_rows_columns, uk_dependent_rows[d])
      x[uk_rows_columns[k]] -= D[d * UK_MOTIONS + c] * m->other_rows[k];
  }
  UK_EACH(d, UK_DEPENDENT_ROWS) { /* forward */
    uk_lanes *y = m->carried + uk_dependent_rows[d] * UK_COLUMNS;
    UK_EACH(c, UK_MOTIONS) UK_EACH(k, UK_COLUMNS)
      y[k] += D[d * UK_MOTIONS + c] * m->carried[uk_motion_rows[c] * UK_COLUMNS + k];
    UK_EACH(e, d) UK_EACH(k, UK_COLUMNS)
      y[k] -= S[d * UK_DEPENDENT_ROWS + e] * m->carried[uk_dependent_rows[e] * UK_COLUMNS + k];
    UK_EACH(k, UK_COLUMNS) y[k] *= S[d * UK_DEPENDENT_ROWS + d];
  }
  for (int d = UK_DEPENDENT_ROWS - 1; d >= 0; --d) { /* and back */
    uk_lanes *y = m->carried + uk_dependent_rows[d] * UK_COLUMNS;
    for (int e = d + 1; e < UK_DEPENDENT_ROWS; ++e) UK_EACH(k, UK_COLUMNS)
      y[k] -= S[e * UK_DEPENDENT_ROWS + d] * m->carried[uk_dependent_rows[e] * UK_COLUMNS + k];
    UK_EACH(k, UK_COLUMNS) y[k] *= S[d * UK_DEPENDENT_ROWS + d];
    UK_EACH(c, UK_MOTIONS) UK_EACH(k, UK_COLUMNS)
      m->carried[uk_motion_rows[c] * UK_COLUMNS + k] -= D[d * UK_MOTIONS + c] * y[k];
  }
  UK_EACH(r, UK_M) UK_LISTED(k, uk_rows_columns, r)
    m->carried[r * UK_COLUMNS + uk_rows_columns[k]] += m->other_rows[k];
}
#endif

/* Rows of derivatives of multipliers and of A^T lambda, from those of the acceleration. */
static void uk_lanes_forces(uk_derivative_lanes *m, const uk_derivative_batch *c, long long first,
                            int lanes) {
  double *multipliers = c->multipliers + first * UK_M * UK_COLUMNS;
  double *force = c->force + first * UK_NV * UK_COLUMNS;
  uk_lanes none[UK_ROWS];
  UK_EACH(r, UK_ROWS) none[r] = uk_all(0.0);
  uk_lanes_inertia_derivatives(m);
  uk_lanes_carried(m);
  uk_lanes_traced_derivatives(m->t, m->stabilize, m->q, m->v, m->followed UK_P, m->qdd, none, m->unloaded,
                    m->rows, m->rates, m->shared);
#if UK_DEPENDENT_ROWS
  uk_lanes_share_out(m);
#endif
  UK_EACH(r, UK_M)
    uk_store_part(multipliers + r * UK_COLUMNS, m->carried + r * UK_COLUMNS, UK_COLUMNS,
                  UK_M * UK_COLUMNS, lanes);
  UK_EACH(i, UK_NV) {
    uk_lanes *row = m->held + i * UK_COLUMNS;
    UK_LISTED(k, uk_motion_columns, i) row[uk_motion_columns[k]] -= m->unloaded[k];
    uk_store_part(force + i * UK_COLUMNS, row, UK_COLUMNS, UK_NV * UK_COLUMNS, lanes);
  }
}
