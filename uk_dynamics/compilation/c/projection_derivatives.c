/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Derivatives of the projection, at closed loops; as derivatives/projection_derivatives.py. Positions change
 * by the projector P of the rows that determine them. With w = v' - v and M w = A^T mu, velocities change by
 * what answers the changes of M w - A^T mu and of the rows' rates, as in derivatives.c, by K and C of the rows
 * that determine velocities. */

#pragma once

#include "projection_derivatives.h"
#include "row_inverse.c"
#include "uk_following.h"
#include "uk_units.h"

#define UK_BY_STATE (2 * UK_NV + 1) /* columns: velocity coordinates of q, v, t */

#if UK_M > 0

/* C changes + N forces, in rows of UK_STRIDE. */
static void uk_respond(const uk_memory *m, int rank, const double *forces, const double *changes,
                       double *y) {
  int order[UK_ROWS];
  const uk_rank of = uk_pivoted(m, rank, order);
  uk_response x;
  uk_find_response(m, &x, forces, changes, of);
  UK_EACH(i, UK_NV) uk_response_row(m, &x, i, y + i * UK_STRIDE, of);
}


/* Whether dependent rows of the velocities follow the others along what positions may do. */
static int uk_rates_follow(const uk_memory *m, int rank, const double *A, const double *place,
                           const double *velocity) {
  for (int d = rank; d < UK_M; ++d) {
    const int r = (int)m->row[d];
    if (uk_motion_row[r] * m->active[r] == 0.0) continue;
    for (int j = 0; j < UK_NV; ++j) {
      double motion = 0.0, rate = 0.0;
      for (int i = 0; i < UK_NV; ++i) {
        motion += A[r * UK_NV + i] * velocity[i * UK_STRIDE + j];
        rate += m->rate_derivatives[r * UK_STRIDE + i] * place[i * UK_STRIDE + j];
      }
      if (!(fabs(motion + rate) <= UK_FOLLOWS_WITHIN * (1.0 + fabs(motion) + fabs(rate)))) return 0;
    }
  }
  return 1;
}

#endif

/* The projection of the state in the memory and its derivatives; see projection_functions.h. */
UK_EXPORT int uk_projection_derivatives(uk_memory *m, double *derivatives) {
#if UK_M > 0
  double M[UK_NV * UK_NV], A[UK_M * UK_NV], v[UK_NV], w[UK_NV], rate[UK_M];
  UK_ALIGNED(forces, UK_NV * UK_STRIDE) = {0};
  UK_ALIGNED(changes, UK_M * UK_STRIDE) = {0};
  UK_ALIGNED(place, UK_NV * UK_STRIDE); /* q' by q, -, t */
  UK_ALIGNED(velocity, UK_NV * UK_STRIDE);   /* v' by q', v, t; then by q, v, t */
  uk_kept kept;
  kept.known = 0;
  uk_lanes_configure(m, &kept);
  for (int r = 0; r < UK_M; ++r) {
    const double size = fabs(uk_position_row[r] * m->active[r] * m->residual[r]);
    if (!isfinite(size)) return 2;
    if (size > UK_REACHED * uk_unit[r]) return 3;
  }
  int rank = 0, failed = uk_project_place(m, &kept);
  if (failed) return failed;
  uk_lanes_find_rates(m, &kept);
  memcpy(rate, m->rate, sizeof rate);
  memcpy(v, m->v, sizeof v);
  uk_zero(m->v, UK_NV);
  uk_lanes_find_rates(m, &kept);
  memcpy(M, m->H, sizeof M);
  memcpy(A, m->A, sizeof A);

  for (int i = 0; i < UK_NV; ++i)
    for (int j = 0; j < UK_NV; ++j) forces[i * UK_STRIDE + j] = uk_mass(M, i, j);
  for (int r = 0; r < UK_M; ++r) changes[r * UK_STRIDE + 2 * UK_NV] = -m->rate[r];
  failed = uk_invert_kind(m, uk_position_row, M, A, &rank);
  if (failed) return failed;
  uk_respond(m, rank, forces, changes, place);

  if (!UK_ALL_ROWS_HOLD) failed = uk_invert_kind(m, uk_motion_row, M, A, &rank);
  if (failed) return failed;
  uk_zero(w, UK_NV);
  for (int c = 0; c < rank; ++c) uk_add(w, -rate[(int)m->row[c]], m->corrections + c * UK_NV, UK_NV);
  for (int i = 0; i < UK_NV; ++i) m->v[i] = v[i] + w[i];
  uk_zero(m->qdd, UK_NV);
  uk_zero(m->multipliers, UK_M);
  uk_equation_derivatives(m);
  memcpy(m->rest, m->motion_derivatives, sizeof m->rest);
  memcpy(m->qdd, w, sizeof w);
  for (int c = 0; c < rank; ++c)
    for (int i = 0; i < UK_NV; ++i)
      for (int j = 0; j < UK_NV; ++j)
        m->multipliers[(int)m->row[c]] += m->corrections[c * UK_NV + i] * uk_mass(M, i, j) * w[j];
  uk_equation_derivatives(m);
  for (int i = 0; i < UK_NV; ++i)
    for (int j = 0; j < UK_NV; ++j) {
      const int at = i * UK_STRIDE + j;
      forces[at] = m->motion_derivatives[at] - m->rest[at];
      forces[at + UK_NV] = uk_mass(M, i, j);
    }
  for (int r = 0; r < UK_M; ++r)
    for (int k = 0; k <= 2 * UK_NV; ++k)
      if (k < UK_NV || k == 2 * UK_NV)
        changes[r * UK_STRIDE + k] = -m->rate_derivatives[r * UK_STRIDE + k];
  uk_respond(m, rank, forces, changes, velocity);
  double sum = 0.0;
  for (int i = 0; i < UK_NV; ++i) {
    double *row = velocity + i * UK_STRIDE, by_place[UK_NV];
    memcpy(by_place, row, sizeof by_place);
    uk_zero(row, UK_NV);
    uk_add_product(row, row, (uk_product){UK_ALL(UK_NV), by_place, 1, place, UK_STRIDE, NULL},
                   UK_STRIDE);
    memcpy(derivatives + i * UK_BY_STATE, place + i * UK_STRIDE, sizeof(double) * UK_BY_STATE);
    memcpy(derivatives + (UK_NV + i) * UK_BY_STATE, row, sizeof(double) * UK_BY_STATE);
    for (int k = 0; k < UK_BY_STATE; ++k) sum += place[i * UK_STRIDE + k] + row[k];
  }
  if (!isfinite(sum)) return 2;
  return uk_rates_follow(m, rank, A, place, velocity) ? 0 : 4;
#else
  uk_kept kept;
  kept.known = 0;
  uk_lanes_configure(m, &kept);
  uk_lanes_factor_mass(m);
  if (m->singular) return 1; /* as where there are rows */
  uk_zero(derivatives, 2 * UK_NV * UK_BY_STATE);
  for (int i = 0; i < 2 * UK_NV; ++i) derivatives[i * UK_BY_STATE + i] = 1.0;
  return uk_project(m);
#endif
}

/* The same of many states, with the settings in the memory; 0. */
UK_EXPORT int uk_projection_batch(uk_memory *m, const uk_projected_states *c) {
  for (long long k = 0; k < c->count; ++k) {
    m->t = c->t[k * c->t_stride];
    memcpy(m->q, c->q + k * UK_NQ, sizeof m->q);
    memcpy(m->v, c->v + k * UK_NV, sizeof m->v);
#if UK_FOLLOWS
    if (c->followed) memcpy(m->followed, c->followed + k * c->followed_stride, sizeof m->followed);
#endif
    c->status[k] = uk_projection_derivatives(m, c->derivatives + k * 2 * UK_NV * UK_BY_STATE);
    memcpy(c->q_out + k * UK_NQ, m->q, sizeof m->q);
    memcpy(c->v_out + k * UK_NV, m->v, sizeof m->v);
  }
  return 0;
}
