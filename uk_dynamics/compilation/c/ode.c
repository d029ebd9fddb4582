/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The motion as x' = f(x, u), x = (q, v), and its derivatives, for functions with CasADi's interface: arg and
 * res are arrays, null where an argument is zero or a result is not wanted, matrices column by column.
 * Each returns 0, or as uk_answer.
 */
#pragma once

#include <stddef.h>

#include "derivatives_of_one.c"
#include "uk_motors.h"
#include "uk_ode.h"

#define UK_NX (2 * UK_NV)

/* The answer at a state, with derivatives where they are wanted. */
static int uk_ode_answer(const double *x, const double *u, uk_memory *m, int derivatives) {
  memset(m, 0, sizeof *m);
  m->stabilize = 1.0;
  for (int r = 0; r < UK_M; ++r) m->active[r] = uk_acts[r];
  for (int i = 0; x && i < UK_NV; ++i) {
    m->q[i] = x[i];
    m->v[i] = x[UK_NV + i];
  }
  for (int k = 0; u && k < UK_NU; ++k)
    uk_add(m->tau, u[k], uk_motors[k], UK_NV);
  return derivatives ? uk_differentiate(m) : uk_answer(m, 0);
}

static void uk_rate(const double *x, const uk_memory *m, double *rate) {
  for (int i = 0; rate && i < UK_NV; ++i) {
    rate[i] = x ? x[UK_NV + i] : 0.0;
    rate[UK_NV + i] = m->qdd[i];
  }
}

/* df_i by entry j of (x, u) */
static double uk_ode_derivative(const uk_memory *m, int i, int j) {
  if (i < UK_NV) return j == UK_NV + i;
  const double *row = m->qdd_derivatives + (i - UK_NV) * UK_ROW_LENGTH;
  return j < UK_NX ? row[j] : uk_dot(row + UK_STRIDE, uk_motors[j - UK_NX], UK_NV);
}

/* Y = df/dx S, both (UK_NX, columns) */
static void uk_change_along(const uk_memory *m, const double *S, double *Y, int columns) {
  for (int c = 0; c < columns; ++c) {
    const double *s = S + c * UK_NX;
    for (int i = 0; i < UK_NV; ++i) {
      Y[c * UK_NX + i] = s[UK_NV + i];
      Y[c * UK_NX + UK_NV + i] = uk_dot(m->qdd_derivatives + i * UK_ROW_LENGTH, s, UK_NX);
    }
  }
}

/* (x, u) -> x' */
static int uk_ode(const double **arg, double **res, uk_memory *m) {
  const int failed = uk_ode_answer(arg[0], arg[1], m, 0);
  if (failed) return failed;
  uk_rate(arg[0], m, res[0]);
  return 0;
}

/* (x, u, x') -> dx'/dx, dx'/du, the entries of their patterns alone */
static int uk_ode_jacobian(const double **arg, double **res, uk_memory *m) {
  const int failed = uk_ode_answer(arg[0], arg[1], m, 1);
  if (failed) return failed;
  for (int by = 0; by < 2; ++by) { /* x, u */
    const int columns = by ? UK_NU : UK_NX;
    const casadi_int *start = (by ? uk_effort_pattern : uk_state_pattern) + 2, *row = start + columns + 1;
    for (int j = 0; res[by] && j < columns; ++j)
      for (int k = (int)start[j]; k < (int)start[j + 1]; ++k)
        res[by][k] = uk_ode_derivative(m, (int)row[k], by * UK_NX + j);
  }
  return 0;
}

/* (x, Sx, Su, u, p) -> x', dx'/dx Sx, dx'/dx Su + dx'/du */
static int uk_ode_forward(const double **arg, double **res, uk_memory *m) {
  const int failed = uk_ode_answer(arg[0], arg[3], m, 1);
  if (failed) return failed;
  uk_rate(arg[0], m, res[0]);
  if (res[1]) memset(res[1], 0, sizeof(double) * UK_NX * UK_NX);
  if (res[1] && arg[1]) uk_change_along(m, arg[1], res[1], UK_NX);
  if (!res[2]) return 0;
  memset(res[2], 0, sizeof(double) * UK_NX * UK_NU);
  if (arg[2]) uk_change_along(m, arg[2], res[2], UK_NU);
  for (int k = 0; k < UK_NU; ++k)
    for (int i = UK_NV; i < UK_NX; ++i) res[2][k * UK_NX + i] += uk_ode_derivative(m, i, UK_NX + k);
  return 0;
}

/* (x, lambda, u, p) -> (dx'/d(x, u))^T lambda */
static int uk_ode_adjoint(const double **arg, double **res, uk_memory *m) {
  const int failed = uk_ode_answer(arg[0], arg[2], m, 1);
  if (failed) return failed;
  if (!res[0]) return 0;
  for (int j = 0; j < UK_NX + UK_NU; ++j) {
    double sum = 0.0;
    for (int i = 0; arg[1] && i < UK_NX; ++i) sum += arg[1][i] * uk_ode_derivative(m, i, j);
    res[0][j] = sum;
  }
  return 0;
}
