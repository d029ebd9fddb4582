/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Derivatives of the projection, at closed loops; as derivatives/projection_derivatives.py. Positions change
 * by the projector P of the rows that determine them. With w = v' - v and M w = A^T mu, velocities change by
 * what answers the changes of M w - A^T mu and of the rows' rates, as in derivatives.c, by K and C of the rows
 * that determine velocities. */

#define UK_BY_STATE (2 * UK_NV + 1) /* columns: velocity coordinates of q, v, t */

#if UK_M > 0

/* K^T K x, (UK_NV, columns) from rows of x; `from` are K's. */
static void uk_admit_columns(const double *K, int free, const double *x, int stride, int columns,
                             double *y) {
  double part[UK_NV];
  for (int k = 0; k < columns; ++k) {
    for (int f = 0; f < free; ++f) {
      part[f] = 0.0;
      for (int i = 0; i < UK_NV; ++i) part[f] += K[f * UK_NV + i] * x[i * stride + k];
    }
    for (int i = 0; i < UK_NV; ++i) {
      double sum = 0.0;
      for (int f = 0; f < free; ++f) sum += K[f * UK_NV + i] * part[f];
      y[i * UK_BY_STATE + k] = sum;
    }
  }
}

/* Whether dependent rows of the velocities follow the others along what positions may do. */
static int uk_rates_follow(const uk_memory *m, int rank, const double *A, const double *slopes) {
  const double *by_q = slopes + UK_NV * UK_BY_STATE;
  for (int d = rank; d < UK_M; ++d) {
    const int r = (int)m->order[d];
    if (uk_motion_row[r] * m->active[r] == 0.0) continue;
    for (int j = 0; j < UK_NV; ++j) {
      double motion = 0.0, rate = 0.0;
      for (int i = 0; i < UK_NV; ++i) {
        motion += A[r * UK_NV + i] * by_q[i * UK_BY_STATE + j];
        rate += m->rate_slopes[r * UK_STRIDE + i] * slopes[i * UK_BY_STATE + j];
      }
      if (!(fabs(motion + rate) <= UK_FOLLOWS_WITHIN * (1.0 + fabs(motion) + fabs(rate)))) return 0;
    }
  }
  return 1;
}

#endif

/* Project q and v in the memory, and differentiate by q, v, t: rows of UK_BY_STATE, those of q', then those of
 * v'. 0; 1 or 2 as uk_evaluate, 3: the loops are open, 4: redundant rows part here, so that there are no
 * derivatives, though numbers. */
UK_EXPORT int uk_projection_slopes(uk_memory *m, double *slopes) {
  uk_zero(slopes, 2 * UK_NV * UK_BY_STATE);
#if UK_M > 0
  double M[UK_NV * UK_NV], A[UK_M * UK_NV], drift[UK_M], w[UK_NV], by_q[UK_NV * UK_BY_STATE];
  double *of_v = slopes + UK_NV * UK_BY_STATE;
  uk_kept kept;
  kept.known = 0;
  uk_configure(m, &kept);
  for (int r = 0; r < UK_M; ++r) {
    const double size = fabs(uk_position_row[r] * m->active[r] * m->residual[r]);
    if (!isfinite(size)) return 2;
    if (size > UK_REACHED * uk_unit[r]) return 3;
  }
  memcpy(w, m->v, sizeof w);
  int failed = uk_project_there(m, &kept), rank = 0;
  if (failed) return failed;
  for (int i = 0; i < UK_NV; ++i) w[i] = m->v[i] - w[i];

  double v[UK_NV];
  memcpy(v, m->v, sizeof v);
  uk_zero(m->v, UK_NV);
  uk_terms(m->t, m->q, m->v, UK_FOLLOWED UK_P, m->H, m->force, m->A, m->bias, m->residual, m->rate);
  memcpy(m->v, v, sizeof v);
  memcpy(drift, m->rate, sizeof drift);
  memcpy(M, m->H, sizeof M);
  memcpy(A, m->A, sizeof A);

  double whole[UK_NV * UK_NV];
  for (int i = 0; i < UK_NV; ++i)
    for (int j = 0; j < UK_NV; ++j) whole[i * UK_NV + j] = uk_mass(M, i, j);
  failed = uk_invert_kind(m, uk_position_row, M, A, &rank);
  if (failed) return failed;
  uk_admit_columns(m->free_motions, UK_NV - rank, whole, UK_NV, UK_NV, slopes);
  for (int i = 0; i < UK_NV; ++i)
    slopes[i * UK_BY_STATE + 2 * UK_NV] = uk_corrected(m, rank, i, drift, 1);

  if (!UK_ALL_ROWS_HOLD) failed = uk_invert_kind(m, uk_motion_row, M, A, &rank);
  if (failed) return failed;
  uk_zero(m->qdd, UK_NV);
  uk_zero(m->multipliers, UK_M);
  uk_equation_slopes(m);
  memcpy(m->rest, m->motion_slopes, sizeof m->rest);
  memcpy(m->qdd, w, sizeof w);
  for (int c = 0; c < rank; ++c)
    for (int i = 0; i < UK_NV; ++i)
      for (int j = 0; j < UK_NV; ++j)
        m->multipliers[(int)m->order[c]] +=
            m->corrections[c * UK_NV + i] * whole[i * UK_NV + j] * w[j];
  uk_equation_slopes(m);
  for (int k = 0; k < UK_NV * UK_STRIDE; ++k) m->motion_slopes[k] -= m->rest[k];
  uk_admit_columns(m->free_motions, UK_NV - rank, m->motion_slopes, UK_STRIDE, UK_NV, by_q);
  uk_admit_columns(m->free_motions, UK_NV - rank, whole, UK_NV, UK_NV, of_v + UK_NV);
  for (int i = 0; i < UK_NV; ++i) {
    double *row = by_q + i * UK_BY_STATE, *to = of_v + i * UK_BY_STATE;
    for (int j = 0; j < UK_NV; ++j)
      row[j] += uk_corrected(m, rank, i, m->rate_slopes + j, UK_STRIDE);
    to[2 * UK_NV] = uk_corrected(m, rank, i, m->rate_slopes + 2 * UK_NV, UK_STRIDE);
    for (int k = 0; k < UK_NV; ++k) { /* by way of q' */
      const double *place = slopes + k * UK_BY_STATE;
      for (int j = 0; j < UK_NV; ++j) to[j] += row[k] * place[j];
      to[2 * UK_NV] += row[k] * place[2 * UK_NV];
    }
  }
  double sum = 0.0;
  for (int k = 0; k < 2 * UK_NV * UK_BY_STATE; ++k) sum += slopes[k];
  if (!isfinite(sum)) return 2;
  return uk_rates_follow(m, rank, A, slopes) ? 0 : 4;
#else
  uk_kept kept;
  kept.known = 0;
  uk_configure(m, &kept);
  if (uk_factor_mass(m)) return 1; /* as where there are rows */
  for (int i = 0; i < 2 * UK_NV; ++i) slopes[i * UK_BY_STATE + i] = 1.0;
  return uk_project(m);
#endif
}

/* The same of many states, with the settings in the memory. */
UK_EXPORT void uk_project_many(uk_memory *m, const uk_projections *c) {
  for (long long k = 0; k < c->count; ++k) {
    m->t = c->t[k * c->t_stride];
    memcpy(m->q, c->q + k * UK_NQ, sizeof m->q);
    memcpy(m->v, c->v + k * UK_NV, sizeof m->v);
#if UK_FOLLOWS
    if (c->followed) memcpy(m->followed, c->followed + k * c->followed_stride, sizeof m->followed);
#endif
    c->status[k] = uk_projection_slopes(m, c->slopes + k * 2 * UK_NV * UK_BY_STATE);
    memcpy(c->q_out + k * UK_NQ, m->q, sizeof m->q);
    memcpy(c->v_out + k * UK_NV, m->v, sizeof m->v);
  }
}
