/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Derivatives at many states, a vector of them at a time. */

#pragma once

#include "attributes.h"
#include "derivatives_batch.h"
#include "lanes_states.c"
#include "uk_motions.h"

#if UK_MOTIONS
#include "force_derivatives.c"

#define UK_COLUMNS UK_ROW_LENGTH

typedef struct {
  uk_derivative_memory memory;
  uk_response response;
  uk_parting parting;
  uk_lanes shared[UK_TRACED_SHARED], row[UK_COLUMNS];
#if UK_NP > 0
  uk_lanes exist[UK_NP];
#endif
  /* where forces are wanted */
  uk_lanes acceleration[UK_NV * UK_COLUMNS], force[UK_NV * UK_COLUMNS], multipliers[UK_M * UK_COLUMNS];
} uk_derivative_lanes;

static const uk_rank uk_regular_rank = {UK_MOTIONS, uk_motion_rows, 0};

static void uk_load_states(uk_derivative_memory *m, const uk_derivative_batch *c, long long first,
                           int lanes) {
  if (c->t_stride) uk_load_lanes(&m->t, c->t + first, 1, lanes);
  uk_load_lanes(m->q, c->q + first * UK_NQ, UK_NQ, lanes);
  uk_load_lanes(m->v, c->v + first * UK_NV, UK_NV, lanes);
  if (c->tau != NULL) uk_load_lanes(m->tau, c->tau + first * UK_NV, UK_NV, lanes);
  if (c->followed != NULL && c->followed_stride)
    uk_load_lanes(m->followed, c->followed + first * c->followed_stride, 3 * UK_ROWS, lanes);
}

static UK_APART void uk_store_row(double *to, const uk_lanes *row, int i, int count, long long first, int lanes) {
  uk_store_part(to + (first * count + i) * UK_COLUMNS, row, UK_COLUMNS, count * UK_COLUMNS, lanes);
}

/* Whether the states are regular. */
static uk_mask uk_solve_regular(uk_derivative_memory *m, uk_lanes *shared) {
  uk_lanes_terms(UK_STATE_TERMS);
  uk_regular_motions(m->stabilize, m->tau, m->H, m->force, m->A, m->bias, m->residual, m->rate,
                     m->qdd, m->multipliers, m->free_motions, m->corrections, m->sure);
  uk_traced_derivatives(UK_TRACED_STATE, m->qdd, m->multipliers, m->motion_derivatives,
                        m->row_derivatives, NULL, shared);
#if UK_M > UK_MOTIONS && UK_NP == 0
  uk_traced_rates(UK_TRACED_STATE, m->qdd, m->multipliers, m->motion_derivatives, m->row_derivatives,
                  m->rate_derivatives, shared);
#endif
  uk_lanes total = uk_all(0.0);
  UK_EACH(i, UK_NV) {
    total += m->qdd[i];
    UK_COLUMNS_OF(k, uk_motion_columns, i) total += m->motion_derivatives[i * UK_SPAN + k];
  }
  return (m->sure[0] < UK_LOST_PIVOTS) & (m->sure[1] < 1.0) & uk_finite(total);
}

/* 0; 1 where there is no memory. */
UK_EXPORT int uk_differentiate_batch(const uk_derivative_batch *c) {
  const size_t needed = offsetof(uk_derivative_lanes, acceleration);
  uk_derivative_lanes *x = aligned_alloc(64, ((c->multipliers ? sizeof *x : needed) + 63) / 64 * 64);
  if (x == NULL) return 1;
  uk_derivative_memory *m = &x->memory;
  /* entries that are always zero are never written, and none of derivatives is read */
  memset(m, 0, offsetof(uk_derivative_memory, motion_derivatives));
  m->stabilize = uk_all(c->stabilize);
  m->t = uk_all(c->t[0]);
  if (c->followed != NULL) UK_EACH(i, 3 * UK_ROWS) m->followed[i] = uk_all(c->followed[i]);
#if UK_NP > 0
  UK_EACH(k, UK_NP) m->p[k] = uk_all(c->p[k]);
#endif
  for (long long first = 0; first < c->count; first += UK_WIDTH) {
    const long long left = c->count - first;
    const int lanes = left < UK_WIDTH ? (int)left : UK_WIDTH;
    uk_mask off = uk_none();
    uk_load_states(m, c, first, lanes);
    const uk_mask sure = uk_solve_regular(m, x->shared);
    uk_find_response(m, &x->response, m->motion_derivatives, m->row_derivatives, uk_regular_rank);
    UK_EACH(i, UK_NV) {
      uk_lanes *row = c->multipliers ? x->acceleration + i * UK_COLUMNS : x->row;
      uk_acceleration_row(m, &x->response, i, row, uk_regular_rank);
      uk_store_row(c->acceleration, row, i, UK_NV, first, lanes);
    }
#if UK_NP > 0
    uk_parameters_exist(m, uk_regular_rank, &x->parting, x->exist);
    uk_store(c->exist, x->exist, UK_NP, first, lanes);
#elif UK_M > UK_MOTIONS
    off = uk_motions_part(m, uk_regular_rank, &x->parting);
#endif
    if (c->multipliers) {
      uk_find_forces(m, uk_regular_rank, x->acceleration, x->multipliers, x->force, x->response.rest,
                     m->rate_derivatives, x->shared);
      UK_EACH(i, UK_NV) {
        uk_lanes *row = x->force + i * UK_COLUMNS;
        uk_force_row(i, x->response.rest, row);
        uk_store_row(c->force, row, i, UK_NV, first, lanes);
      }
      if (UK_M > UK_MOTIONS)
        uk_share(m, uk_regular_rank, x->multipliers, x->response.rest, m->rate_derivatives, x->shared);
      UK_EACH(r, UK_M)
        uk_store_row(c->multipliers, x->multipliers + r * UK_COLUMNS, r, UK_M, first, lanes);
    }
    uk_store(c->qdd, m->qdd, UK_NV, first, lanes);
    const uk_lanes exist = uk_pick(off, uk_all(UK_RANK_CHANGES), uk_all(UK_EXIST));
    uk_store_one(c->status, uk_pick(sure, exist, uk_all(UK_ALONE)), first, lanes);
  }
  free(x);
  return 0;
}

#else /* every state needs pivoting */

UK_EXPORT int uk_differentiate_batch(const uk_derivative_batch *c) {
  for (long long k = 0; k < c->count; ++k) c->status[k] = UK_ALONE;
  return 0;
}

#endif
