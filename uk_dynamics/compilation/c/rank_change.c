/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Where derivatives exist: dependent rows are combinations D of the independent ones, and their derivatives
 * have to be, too, by parameters or along all motions that the rows allow. */

#pragma once

#include "derivatives.c"

/* Whether what is left of a row, and of what size, vanishes along no change of positions, if there is one,
 * and of velocities. */
UK_INLINE uk_mask uk_parts(const uk_lanes *left, const uk_lanes *size, const uk_lanes *place,
                           const uk_lanes *speed) {
  const uk_lanes *const changes[] = {place, speed};
  uk_lanes sum = uk_all(0.0), most = uk_all(1.0);
  for (int half = place ? 0 : 1; half < 2; ++half) UK_EACH(i, UK_NV) {
    const uk_lanes change = changes[half][i];
    sum += left[half * UK_NV + i] * change;
    most += size[half * UK_NV + i] * uk_lanes_fabs(change);
  }
  return uk_lanes_fabs(sum) > UK_FOLLOWS_WITHIN * most;
}

#if UK_M > 0

#ifdef UK_ONE_STATE
#define uk_active(m, r) ((m)->active[r] != 0.0)
#else
#define uk_active(m, r) 1.0
#endif
#define UK_FOLLOWED_COLUMNS (UK_NP > 0 ? UK_NP : 2 * UK_NV) /* not by t */

/* What dependent rows are off by, by each column, and what that is made of. */
typedef struct {
  uk_lanes left[UK_MOST_DEPENDENT * UK_FOLLOWED_COLUMNS], size[UK_MOST_DEPENDENT * UK_FOLLOWED_COLUMNS];
} uk_parting;

/* D = A C */
UK_INLINE void uk_dependence(const uk_derivative_memory *m, const uk_rank of, uk_lanes *D) {
  UK_EACH(d, UK_M - of.rank) UK_EACH(c, of.rank)
    D[d * UK_MOST_INDEPENDENT + c] =
        uk_dot(m->A + of.order[of.rank + d] * UK_NV, m->corrections + c * UK_NV, UK_NV);
}

UK_INLINE void uk_find_parting(const uk_derivative_memory *m, const uk_rank of, uk_parting *x) {
  uk_lanes D[UK_MOST_DEPENDENT * UK_MOST_INDEPENDENT];
  uk_dependence(m, of, D);
  uk_zero(x->left, (UK_M - of.rank) * UK_FOLLOWED_COLUMNS);
  uk_zero(x->size, (UK_M - of.rank) * UK_FOLLOWED_COLUMNS);
  UK_EACH(d, UK_M - of.rank) UK_EACH(c, of.rank + 1) {
    const int r = c < of.rank ? of.order[c] : of.order[of.rank + d];
    const uk_lanes factor = c < of.rank ? D[d * UK_MOST_INDEPENDENT + c] : uk_all(-1.0);
    UK_COLUMNS_OF(k, uk_rows_columns, r) {
      if (k >= UK_FOLLOWED_COLUMNS) break;
      const uk_lanes part = factor * m->row_derivatives[r * UK_SPAN + k];
      x->left[d * UK_FOLLOWED_COLUMNS + k] += part;
      x->size[d * UK_FOLLOWED_COLUMNS + k] += uk_lanes_fabs(part);
    }
  }
}

#if UK_NP > 0
/* 1 for parameters that have derivatives, 0 for those that move rows apart, as lengths may. */
UK_INLINE void uk_parameters_exist(const uk_derivative_memory *m, const uk_rank of, uk_parting *x,
                                   uk_lanes *exist) {
  uk_find_parting(m, of, x);
  UK_EACH(k, UK_NP) {
    exist[k] = uk_all(1.0);
    UK_EACH(d, UK_M - of.rank) {
      const int at = d * UK_NP + k;
      const uk_mask off = uk_lanes_fabs(x->left[at]) > UK_FOLLOWS_WITHIN * (1.0 + x->size[at]);
      exist[k] = uk_pick(off, uk_all(0.0), exist[k]);
    }
  }
}
#else
/* How velocities have to change with positions: -C rates motion. */
UK_INLINE void uk_turn(const uk_derivative_memory *m, const uk_rank of, const uk_lanes *motion,
                       uk_lanes *turned) {
  uk_zero(turned, UK_NV);
  UK_EACH(c, of.rank) {
    const int r = of.order[c];
    uk_lanes rate = uk_all(0.0);
    UK_COLUMNS_OF(k, uk_rates_columns, r) {
      if (k >= UK_NV) break;
      rate -= m->rate_derivatives[r * UK_SPAN + k] * motion[k];
    }
    uk_add(turned, rate, m->corrections + c * UK_NV, UK_NV);
  }
}

/* Whether dependent rows do not follow along the motions: (K, -C rates K) of q and v, (0, K). */
static UK_OPTIONAL uk_mask uk_motions_part(const uk_derivative_memory *m, const uk_rank of, uk_parting *x) {
  uk_mask off = uk_none();
  uk_find_parting(m, of, x);
  UK_EACH(f, UK_NV - of.rank) {
    const uk_lanes *motion = m->free_motions + f * UK_NV;
    uk_lanes turned[UK_NV];
    uk_turn(m, of, motion, turned);
    UK_EACH(d, UK_M - of.rank) {
      const uk_lanes *left = x->left + d * 2 * UK_NV, *size = x->size + d * 2 * UK_NV;
      off |= uk_parts(left, size, motion, turned) | uk_parts(left, size, NULL, motion);
    }
  }
  return off;
}
#endif
#endif
