/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What derivatives.c does at regular states, one state per lane. Slopes stand one behind the other as the
 * tables list them, row by row, and so do C by velocity and z = C s; K is stored by velocity. */

#define UK_FREE (UK_NV - UK_MOTIONS)
#define UK_FREES (UK_FREE > 0 ? UK_FREE : 1)
#define UK_ROWS (UK_M > 0 ? UK_M : 1)
#define UK_DIRECTIONS (2 * UK_NV + 1)
#define UK_COLUMNS (UK_DIRECTIONS + UK_NV)
#define UK_LISTED(k, start, i) for (int k = (start)[i]; k < (start)[(i) + 1]; ++k)

typedef struct {
  uk_lanes t, q[UK_NQ], v[UK_NV], tau[UK_NV], followed[3 * UK_ROWS], stabilize;
  uk_lanes qdd[UK_NV], multipliers[UK_ROWS], sure[2];
  uk_lanes force[UK_NV], residual[UK_ROWS], rate[UK_ROWS], bias[UK_ROWS];
  uk_lanes A[UK_ROWS * UK_NV], H[UK_NV * UK_NV];
  uk_lanes K[UK_NV * UK_FREES], KM[UK_NV * UK_FREES], C[UK_ROWS * UK_NV];
  uk_lanes motion[UK_MOTION_SLOPES], rows[UK_ROW_SLOPES], rates[UK_RATE_SLOPES];
  uk_lanes z[UK_Z_SLOPES], product[UK_DIRECTIONS * UK_FREES], row[UK_COLUMNS];
  uk_lanes shared[UK_TANGENTS_SHARED];
#if UK_DEPENDENT_ROWS
  uk_lanes left[UK_DEPENDENT_ROWS * 2 * UK_NV], size[UK_DEPENDENT_ROWS * 2 * UK_NV];
#endif
} uk_lanes_slopes;

/* z = C s */
static void uk_lanes_corrections(uk_lanes_slopes *m) {
  uk_lanes *whole = m->row;
  UK_EACH(i, UK_NV) {
    UK_LISTED(k, uk_z_start, i) whole[uk_z_column[k]] = uk_all(0.0);
    UK_LISTED(at, uk_corrections_start, i) {
      const int c = uk_corrections[at], r = uk_motion_rows[c];
      const uk_lanes factor = m->C[c * UK_NV + i];
      UK_LISTED(k, uk_rows_start, r) whole[uk_rows_column[k]] += factor * m->rows[k];
    }
    UK_LISTED(k, uk_z_start, i) m->z[k] = whole[uk_z_column[k]];
  }
}

/* K^T (r - M z), a column of UK_FREES for each direction */
static void uk_lanes_rest(uk_lanes_slopes *m) {
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
    UK_LISTED(k, uk_motion_start, i) {
      uk_lanes *to = m->product + uk_motion_column[k] * UK_FREES;
      UK_EACH(f, UK_FREE) to[f] += m->K[i * UK_FREES + f] * m->motion[k];
    }
    UK_LISTED(k, uk_z_start, i) {
      uk_lanes *to = m->product + uk_z_column[k] * UK_FREES;
      UK_EACH(f, UK_FREE) to[f] -= m->KM[i * UK_FREES + f] * m->z[k];
    }
  }
}

#if UK_DEPENDENT_ROWS
/* What a dependent row's derivative is off by, and what it is made of, for one velocity's share. */
static void uk_lanes_share(uk_lanes_slopes *m, int i) {
  UK_EACH(d, UK_DEPENDENT_ROWS) {
    const uk_lanes factor = m->A[uk_dependent_rows[d] * UK_NV + i];
    uk_lanes *left = m->left + d * 2 * UK_NV, *size = m->size + d * 2 * UK_NV;
    UK_EACH(k, 2 * UK_NV) {
      const uk_lanes part = factor * m->row[k];
      left[k] += part;
      size[k] += uk_lanes_fabs(part);
    }
  }
}

static void uk_lanes_begin_shares(uk_lanes_slopes *m) {
  UK_EACH(k, UK_DEPENDENT_ROWS * 2 * UK_NV) m->left[k] = m->size[k] = uk_all(0.0);
  UK_EACH(d, UK_DEPENDENT_ROWS) UK_LISTED(k, uk_rows_start, uk_dependent_rows[d]) {
    const int column = uk_rows_column[k];
    if (column == 2 * UK_NV) continue;
    m->left[d * 2 * UK_NV + column] = -m->rows[k];
    m->size[d * 2 * UK_NV + column] = uk_lanes_fabs(m->rows[k]);
  }
}

/* Whether dependent rows do not follow along the motions: (K, -C rates K) of q and v, (0, K). */
static uk_mask uk_lanes_offend(uk_lanes_slopes *m) {
  uk_mask off = (uk_mask)uk_all(0.0);
  uk_lanes turned[UK_NV], wanted[UK_ROWS];
  UK_EACH(f, UK_FREE) {
    UK_EACH(i, UK_NV) turned[i] = uk_all(0.0);
    UK_EACH(r, UK_M) {
      wanted[r] = uk_all(0.0);
      UK_LISTED(k, uk_rates_start, r)
        if (uk_rates_column[k] < UK_NV)
          wanted[r] -= m->rates[k] * m->K[uk_rates_column[k] * UK_FREES + f];
    }
    UK_EACH(i, UK_NV) UK_LISTED(at, uk_corrections_start, i) {
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

/* Rows of derivatives of states from `first` on; whether the rank changes there. */
static uk_mask uk_lanes_derivatives(uk_lanes_slopes *m, double *to, int lanes) {
#if UK_DEPENDENT_ROWS
  uk_lanes_begin_shares(m);
#endif
  UK_EACH(i, UK_NV) {
    uk_lanes own[UK_FREES];
    UK_EACH(f, UK_FREE) own[f] = m->K[i * UK_FREES + f];
    UK_EACH(k, UK_DIRECTIONS) {
      uk_lanes sum = uk_all(0.0);
      UK_EACH(f, UK_FREE) sum += own[f] * m->product[k * UK_FREES + f];
      m->row[k] = sum;
    }
    UK_LISTED(k, uk_z_start, i) m->row[uk_z_column[k]] += m->z[k];
    UK_EACH(k, UK_NV) {
      uk_lanes sum = uk_all(0.0);
      UK_EACH(f, UK_FREE) sum += own[f] * m->K[k * UK_FREES + f];
      m->row[UK_DIRECTIONS + k] = sum;
    }
#if UK_DEPENDENT_ROWS
    uk_lanes_share(m, i);
#endif
    uk_store_part(to + i * UK_COLUMNS, m->row, UK_COLUMNS, UK_NV * UK_COLUMNS, lanes);
  }
#if UK_DEPENDENT_ROWS
  return uk_lanes_offend(m);
#else
  return (uk_mask)uk_all(0.0);
#endif
}

/* 0; 1 where there is no memory. */
UK_EXPORT int uk_differentiate_batch(const uk_derivative_batch *c) {
  uk_lanes_slopes *m = aligned_alloc(64, (sizeof *m + 63) / 64 * 64);
  if (m == NULL) return 1;
  memset(m, 0, sizeof *m); /* entries of A and C that are always zero are never written */
  m->stabilize = uk_all(c->stabilize);
  m->t = uk_all(c->t[0]);
  if (c->followed != NULL) UK_EACH(i, 3 * UK_ROWS) m->followed[i] = uk_all(c->followed[i]);
  for (long long first = 0; first < c->count; first += UK_WIDTH) {
    const long long left = c->count - first;
    const int lanes = left < UK_WIDTH ? (int)left : UK_WIDTH;
    if (c->t_stride) uk_load(&m->t, c->t + first, 1, lanes);
    uk_load(m->q, c->q + first * UK_NQ, UK_NQ, lanes);
    uk_load(m->v, c->v + first * UK_NV, UK_NV, lanes);
    if (c->tau != NULL) uk_load(m->tau, c->tau + first * UK_NV, UK_NV, lanes);
    if (c->followed != NULL && c->followed_stride)
      uk_load(m->followed, c->followed + first * c->followed_stride, 3 * UK_ROWS, lanes);
    uk_lanes_terms(m->t, m->q, m->v, m->followed, m->H, m->force, m->A, m->bias, m->residual,
                   m->rate);
    uk_lanes_regular_motions(m->stabilize, m->tau, m->H, m->force, m->A, m->bias, m->residual,
                             m->rate, m->qdd, m->multipliers, m->K, m->C, m->sure);
    uk_lanes_tangents(m->t, m->stabilize, m->q, m->v, m->followed, m->qdd, m->multipliers,
                      m->motion, m->rows, m->rates, m->shared);
#if UK_DEPENDENT_ROWS
    uk_lanes_rate_tangents(m->t, m->stabilize, m->q, m->v, m->followed, m->qdd, m->multipliers,
                           m->motion, m->rows, m->rates, m->shared);
#endif
    uk_lanes_corrections(m);
    uk_lanes_rest(m);
    uk_lanes total = uk_all(0.0);
    UK_EACH(i, UK_NV) total += m->qdd[i];
    UK_EACH(k, UK_MOTION_SLOPES) total += m->motion[k];
    const uk_mask sure = (m->sure[0] < UK_LOST_PIVOTS) & (m->sure[1] < 1.0) & uk_finite(total);
    const uk_mask off = uk_lanes_derivatives(m, c->slopes + first * UK_NV * UK_COLUMNS, lanes);
    uk_store(c->qdd, m->qdd, UK_NV, first, lanes);
    const uk_lanes exist = uk_pick(off, uk_all(UK_RANK_CHANGES), uk_all(UK_EXIST));
    uk_store_one(c->status, uk_pick(sure, exist, uk_all(UK_ALONE)), first, lanes);
  }
  free(m);
  return 0;
}
