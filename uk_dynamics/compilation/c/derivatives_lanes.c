/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What derivatives.c does at regular states, one state per lane. Derivatives stand one behind the other as the
 * tables list them, row by row, and so do C by velocity and z = C s; K is stored by velocity.
 *
 * One state keeps a source of its own, derivatives.c: it has the columns of its one state in vectors, and pivots.
 * This one compiled with width 1 takes twice its time (stewart_platform, AVX-512: 14.6 against 7.3 us). */

#pragma once

#include "derivatives_lanes.h"
#include "lanes_states.c"
#include "uk_columns.h"
#include "uk_config.h"
#include "uk_mechanism.h"
#include "uk_tables.h"
#include "uk_traced_lanes.h"

#define UK_FREE (UK_NV - UK_MOTIONS)
#define UK_FREES (UK_FREE > 0 ? UK_FREE : 1)
#define UK_COLUMNS (UK_DIRECTIONS + UK_NV)
#define UK_FOLLOWED_COLUMNS (UK_NP > 0 ? UK_NP : 2 * UK_NV) /* not by t */
#define UK_LISTED(k, list, i) for (int k = list##_start[i]; k < list##_start[(i) + 1]; ++k)

typedef struct {
  uk_lanes t, q[UK_NQ], v[UK_NV], tau[UK_NV], followed[3 * UK_ROWS], stabilize;
  uk_lanes qdd[UK_NV], multipliers[UK_ROWS], sure[2];
  uk_lanes force[UK_NV], residual[UK_ROWS], rate[UK_ROWS], bias[UK_ROWS];
  uk_lanes A[UK_ROWS * UK_NV], H[UK_NV * UK_NV];
  uk_lanes K[UK_NV * UK_FREES], KM[UK_NV * UK_FREES], C[UK_ROWS * UK_NV];
  uk_lanes motion[UK_MOTION_ENTRIES], rows[UK_ROW_ENTRIES], rates[UK_RATE_ENTRIES];
  uk_lanes z[UK_Z_ENTRIES], product[UK_DIRECTIONS * UK_FREES], row[UK_COLUMNS];
  uk_lanes by_qdd[UK_NV * UK_COLUMNS], held[UK_NV * UK_COLUMNS], carried[UK_ROWS * UK_COLUMNS];
  uk_lanes unloaded[UK_MOTION_ENTRIES], other_rows[UK_ROW_ENTRIES];
  uk_lanes shared[UK_TRACED_SHARED];
#if UK_DEPENDENT_ROWS
  uk_lanes left[UK_DEPENDENT_ROWS * UK_FOLLOWED_COLUMNS];
  uk_lanes size[UK_DEPENDENT_ROWS * UK_FOLLOWED_COLUMNS];
#endif
#if UK_NP > 0
  uk_lanes p[UK_NP], exist[UK_NP];
#endif
} uk_derivative_lanes;

/* z = C s */
static void uk_lanes_corrections(uk_derivative_lanes *m) {
  uk_lanes *whole = m->row;
  UK_EACH(i, UK_NV) {
    UK_LISTED(k, uk_z_columns, i) whole[uk_z_columns[k]] = uk_all(0.0);
    UK_LISTED(at, uk_corrections, i) {
      const int c = uk_corrections[at], r = uk_motion_rows[c];
      const uk_lanes factor = m->C[c * UK_NV + i];
      UK_LISTED(k, uk_rows_columns, r) whole[uk_rows_columns[k]] += factor * m->rows[k];
    }
    UK_LISTED(k, uk_z_columns, i) m->z[k] = whole[uk_z_columns[k]];
  }
}

/* K^T (r - M z), a column of UK_FREES for each direction */
static void uk_lanes_rest(uk_derivative_lanes *m) {
  UK_EACH(k, UK_NV * UK_FREES) m->KM[k] = uk_all(0.0);
  UK_EACH(k, UK_DIRECTIONS * UK_FREES) m->product[k] = uk_all(0.0);
  UK_EACH(i, UK_NV) {
    for (int j = i; j >= 0; j = uk_parent[j]) {
      const uk_lanes inertia = m->H[i * UK_NV + j];
      UK_EACH(f, UK_FREE) m->KM[i * UK_FREES + f] += m->K[j * UK_FREES + f] * inertia;
      if (j == i) continue;
      UK_EACH(f, UK_FREE) m->KM[j * UK_FREES + f] += m->K[i * UK_FREES + f] * inertia;
    }
  }
  UK_EACH(i, UK_NV) {
    UK_LISTED(k, uk_motion_columns, i) {
      uk_lanes *to = m->product + uk_motion_columns[k] * UK_FREES;
      UK_EACH(f, UK_FREE) to[f] += m->K[i * UK_FREES + f] * m->motion[k];
    }
    UK_LISTED(k, uk_z_columns, i) {
      uk_lanes *to = m->product + uk_z_columns[k] * UK_FREES;
      UK_EACH(f, UK_FREE) to[f] -= m->KM[i * UK_FREES + f] * m->z[k];
    }
  }
}

#if UK_DEPENDENT_ROWS
/* What a dependent row's derivative is off by, and what it is made of, for one velocity's share. */
static void uk_lanes_share(uk_derivative_lanes *m, int i, const uk_lanes *row) {
  UK_EACH(d, UK_DEPENDENT_ROWS) {
    const uk_lanes factor = m->A[uk_dependent_rows[d] * UK_NV + i];
    uk_lanes *left = m->left + d * UK_FOLLOWED_COLUMNS, *size = m->size + d * UK_FOLLOWED_COLUMNS;
    UK_EACH(k, UK_FOLLOWED_COLUMNS) {
      const uk_lanes part = factor * row[k];
      left[k] += part;
      size[k] += uk_lanes_fabs(part);
    }
  }
}

static void uk_lanes_begin_shares(uk_derivative_lanes *m) {
  UK_EACH(k, UK_DEPENDENT_ROWS * UK_FOLLOWED_COLUMNS) m->left[k] = m->size[k] = uk_all(0.0);
  UK_EACH(d, UK_DEPENDENT_ROWS) UK_LISTED(k, uk_rows_columns, uk_dependent_rows[d]) {
    const int column = uk_rows_columns[k];
    if (column >= UK_FOLLOWED_COLUMNS) continue;
    m->left[d * UK_FOLLOWED_COLUMNS + column] = -m->rows[k];
    m->size[d * UK_FOLLOWED_COLUMNS + column] = uk_lanes_fabs(m->rows[k]);
  }
}

#if UK_NP > 0
/* Parameters that move dependent rows apart, where others do not: they have no derivatives. */
static uk_mask uk_lanes_offend(uk_derivative_lanes *m) {
  UK_EACH(k, UK_NP) {
    uk_mask off = (uk_mask)uk_all(0.0);
    UK_EACH(d, UK_DEPENDENT_ROWS) {
      const int at = d * UK_NP + k;
      off |= uk_lanes_fabs(m->left[at]) > UK_FOLLOWS_WITHIN * (1.0 + m->size[at]);
    }
    m->exist[k] = uk_pick(off, uk_all(0.0), uk_all(1.0));
  }
  return (uk_mask)uk_all(0.0);
}
#else
/* Whether dependent rows do not follow along the motions: (K, -C rates K) of q and v, (0, K). */
static uk_mask uk_lanes_offend(uk_derivative_lanes *m) {
  uk_mask off = (uk_mask)uk_all(0.0);
  uk_lanes turned[UK_NV], wanted[UK_ROWS];
  UK_EACH(f, UK_FREE) {
    UK_EACH(i, UK_NV) turned[i] = uk_all(0.0);
    UK_EACH(r, UK_M) {
      wanted[r] = uk_all(0.0);
      UK_LISTED(k, uk_rates_columns, r)
        if (uk_rates_columns[k] < UK_NV)
          wanted[r] -= m->rates[k] * m->K[uk_rates_columns[k] * UK_FREES + f];
    }
    UK_EACH(i, UK_NV) UK_LISTED(at, uk_corrections, i) {
      const int c = uk_corrections[at];
      turned[i] += m->C[c * UK_NV + i] * wanted[uk_motion_rows[c]];
    }
    UK_EACH(d, UK_DEPENDENT_ROWS) {
      const uk_lanes *left = m->left + d * 2 * UK_NV, *size = m->size + d * 2 * UK_NV;
      uk_lanes place = uk_all(0.0), speed = place, most = uk_all(1.0), largest = most;
      UK_EACH(i, UK_NV) {
        const uk_lanes x = m->K[i * UK_FREES + f];
        place += left[i] * x + left[UK_NV + i] * turned[i];
        speed += left[UK_NV + i] * x;
        most += size[i] * uk_lanes_fabs(x) + size[UK_NV + i] * uk_lanes_fabs(turned[i]);
        largest += size[UK_NV + i] * uk_lanes_fabs(x);
      }
      off |= uk_lanes_fabs(place) > UK_FOLLOWS_WITHIN * most;
      off |= uk_lanes_fabs(speed) > UK_FOLLOWS_WITHIN * largest;
    }
  }
  return off;
}
#endif
#endif

/* Rows of derivatives of so many states, kept where forces need them; whether the rank changes there. */
static uk_mask uk_lanes_derivatives(uk_derivative_lanes *m, double *to, int lanes, int kept) {
#if UK_DEPENDENT_ROWS
  uk_lanes_begin_shares(m);
#endif
  UK_EACH(i, UK_NV) {
    uk_lanes own[UK_FREES], *row = kept ? m->by_qdd + i * UK_COLUMNS : m->row;
    UK_EACH(f, UK_FREE) own[f] = m->K[i * UK_FREES + f];
    UK_EACH(k, UK_DIRECTIONS) {
      uk_lanes sum = uk_all(0.0);
      UK_EACH(f, UK_FREE) sum += own[f] * m->product[k * UK_FREES + f];
      row[k] = sum;
    }
    UK_LISTED(k, uk_z_columns, i) row[uk_z_columns[k]] += m->z[k];
    UK_EACH(k, UK_NV) {
      uk_lanes sum = uk_all(0.0);
      UK_EACH(f, UK_FREE) sum += own[f] * m->K[k * UK_FREES + f];
      row[UK_DIRECTIONS + k] = sum;
    }
#if UK_DEPENDENT_ROWS
    uk_lanes_share(m, i, row);
#endif
    uk_store_part(to + i * UK_COLUMNS, row, UK_COLUMNS, UK_NV * UK_COLUMNS, lanes);
  }
#if UK_DEPENDENT_ROWS
  return uk_lanes_offend(m);
#else
  return (uk_mask)uk_all(0.0);
#endif
}
