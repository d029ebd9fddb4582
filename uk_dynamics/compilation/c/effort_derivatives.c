/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Derivatives of the efforts of the servo law, as derivatives/effort_derivatives.py: with p, r, nu for the two
 * equations of motion and the tasks, efforts are least where
 *
 *   M p + A^T r + B^T nu = 0,  A p = 0,  S^T p = W (u - s)  for motors that are not at a limit,
 *
 * and follow B q'' = b_t. Both are differentiated; K and C of derivatives.c answer what M and A do, so that
 *
 *   G du = g,  du = W^-1 (S^T y - G^T dnu),    G = B N S, N = K^T K,
 *
 * is left: du is the least one in the metric of W, and what y asks for where the tasks leave freedom. */

#pragma once

#include "rank_change.c"
#include "effort_derivatives.h"
#include "row_inverse.c"
#include "pivoted_law.c"
#include "uk_following.h"
#include "uk_task_derivatives.h"

#define UK_TASK_DERIVATIVES (UK_MOST(UK_MT, 1) * UK_EFFORT_STRIDE)

typedef struct {
  uk_rank of;
  int order[UK_ROWS];
  double M[UK_NV * UK_NV], A[UK_ROWS * UK_NV];
  double motion[UK_NV * UK_STRIDE], rows[UK_ROWS * UK_STRIDE]; /* of the equations of motion */
  double adjoint[UK_NV * UK_EFFORT_STRIDE];                    /* of M p + A^T r + B^T nu */
  double adjoint_rows[UK_ROWS * UK_STRIDE];                    /* of A p */
  double asked[UK_TASK_DERIVATIVES];                           /* of the tasks */
  double wished[UK_NU * UK_EFFORT_STRIDE];                     /* of W (u - s) */
  double left[UK_TASK_DERIVATIVES], size[UK_TASK_DERIVATIVES]; /* of dependent tasks, and what it is made of */
#if UK_M > 0
  uk_parting parting;
#endif
  uk_basis_room room;
  uk_basis tasks; /* rows of G W^-1/2, without motors at a limit */
} uk_effort_system;

/* N x */
static void uk_admit_force(const uk_memory *m, const uk_rank of, const double *x, double *y) {
  uk_zero(y, UK_NV);
  for (int f = 0; f < UK_NV - of.rank; ++f) {
    const double *motion = m->free_motions + f * UK_NV;
    uk_add(y, uk_dot(motion, x, UK_NV), motion, UK_NV);
  }
}

/* C^T x in the places of the independent rows, zero in others. */
static void uk_carry(const uk_memory *m, const uk_rank of, const double *x, double *rows) {
  uk_zero(rows, UK_ROWS);
  for (int c = 0; c < of.rank; ++c) rows[of.order[c]] = uk_dot(m->corrections + c * UK_NV, x, UK_NV);
}

/* y and what N r + C s is along x: r in rows of so many columns, s in rows of UK_STRIDE. */
UK_INLINE void uk_add_answer(const uk_memory *m, const uk_rank of, const double *x, const double *r,
                             const int columns, const double *s, double *y) {
  double motion[UK_NV], rows[UK_ROWS];
  uk_admit_force(m, of, x, motion);
  uk_carry(m, of, x, rows);
  uk_add_product(y, y, (uk_product){UK_ALL(UK_M), rows, 1, s, UK_STRIDE, NULL}, UK_STRIDE);
  uk_add_product(y, y, (uk_product){UK_ALL(UK_NV), motion, 1, r, columns, NULL}, columns);
}

/* The efforts, within limits where there are some; which motors are at one: 1 above, -1 below; whether they
 * miss a task. 0, or as uk_effort_derivatives. */
static int uk_efforts_there(uk_memory *m, double *side, int *missed) {
  int finite = 0;
  uk_zero(m->tau, UK_NV);
  uk_errors(m);
  for (int r = 0; r < UK_MT; ++r)
    m->desired[r] = m->feedback[r] = -(m->task_damping[r] * m->tracking_rate[r]
                                       + m->task_stiffness[r] * m->tracking_error[r]);
  const int failed = uk_law(m, 1);
  if (failed) return failed;
  for (int j = 0; j < UK_NU; ++j) finite |= isfinite(m->lower[j]) || isfinite(m->upper[j]);
  memcpy(m->limited, m->efforts, sizeof m->limited);
  memset(m->pushed, 0, sizeof m->pushed);
  if (finite && uk_allocate(m)) return 3;
  const double near = UK_HELD_WITHIN * (1.0 + uk_largest(m->limited, UK_NU));
  for (int j = 0; j < UK_NU; ++j) {
    const double u = m->limited[j];
    side[j] = u >= m->upper[j] - near ? 1.0 : u <= m->lower[j] + near ? -1.0 : 0.0;
    m->held[j] = side[j] != 0.0;
  }
  *missed = 0;
  for (int r = 0; r < UK_MT; ++r) {
    const double served = uk_dot(m->map + r * UK_NU, m->limited, UK_NU);
    *missed |= fabs(finite ? m->wanted[r] - served : m->shortfall[r]) > UK_MET * m->size[r];
  }
  return 0;
}

/* What the terms change by while the unknowns are held; 0 where a limit is about to let go. */
static int uk_effort_equations(uk_memory *m, uk_effort_system *x, const double *root,
                               const double *side) {
  double pressed[UK_NU], nu[UK_MOST(UK_MT, 1)] = {0}, force[UK_NV] = {0}, ideal[UK_NV], p[UK_NV];
  double carried[UK_ROWS], pushed[UK_ROWS];
  for (int j = 0; j < UK_NU; ++j)
    pressed[j] = m->held[j] != 0.0 ? 0.0 : root[j] * (m->limited[j] - m->preload[j]);
  uk_nearest_combination(&x->tasks, pressed, nu);
  for (int r = 0; r < UK_MT; ++r) {
    uk_add(force, nu[r], m->A_t + r * UK_NV, UK_NV); /* -B^T nu */
    nu[r] = -nu[r];
  }
  uk_admit_force(m, x->of, force, p);
  for (int j = 0; j < UK_NU; ++j)
    pressed[j] = uk_dot(uk_motors[j], p, UK_NV) - m->weights[j] * (m->limited[j] - m->preload[j]);
  const double most = uk_largest(pressed, UK_NU);
  int held = 1;
  for (int j = 0; j < UK_NU; ++j)
    held &= side[j] == 0.0 || side[j] * pressed[j] > UK_HELD_BY * (1.0 + most);
  for (int i = 0; i < UK_NV; ++i) {
    ideal[i] = -m->force[i];
    for (int k = 0; k < UK_NV; ++k) {
      ideal[i] += uk_mass(x->M, i, k) * m->qdd[k];
      force[i] -= uk_mass(x->M, i, k) * p[k];
    }
    for (int j = 0; j < UK_NU; ++j) ideal[i] -= uk_motors[j][i] * m->limited[j];
  }
  uk_carry(m, x->of, ideal, carried);
  uk_carry(m, x->of, force, pushed); /* r */
  double task_force[UK_NV * UK_EFFORT_STRIDE] = {0};
  uk_zero(x->asked, UK_TASK_DERIVATIVES);
  uk_zero(x->wished, UK_NU * UK_EFFORT_STRIDE);
  uk_task_derivatives(m->t, m->q, m->v, m->task_followed, m->qdd, nu, m->limited, UK_EFFORT_SETTINGS,
                      x->asked, task_force, x->wished);
  memcpy(m->multipliers, carried, sizeof m->multipliers);
  uk_equation_derivatives(m);
  memcpy(x->motion, m->motion_derivatives, sizeof x->motion);
  memcpy(x->rows, m->row_derivatives, sizeof x->rows);
#if UK_M > 0
  uk_find_parting(m, x->of, &x->parting);
#endif
  uk_zero(m->qdd, UK_NV);
  uk_zero(m->multipliers, UK_ROWS);
  uk_equation_derivatives(m);
  memcpy(m->rest, m->motion_derivatives, sizeof m->rest);
  memcpy(x->adjoint_rows, m->row_derivatives, sizeof x->adjoint_rows);
  memcpy(m->qdd, p, sizeof p);
  for (int r = 0; r < UK_M; ++r) m->multipliers[r] = -pushed[r];
  uk_equation_derivatives(m);
  for (int k = 0; k < UK_ROWS * UK_STRIDE; ++k)
    x->adjoint_rows[k] = m->row_derivatives[k] - x->adjoint_rows[k];
  for (int i = 0; i < UK_NV; ++i)
    for (int k = 0; k < UK_EFFORT_STRIDE; ++k) {
      const int at = i * UK_STRIDE + k;
      const double own = k < UK_DIRECTIONS ? m->motion_derivatives[at] - m->rest[at] : 0.0;
      x->adjoint[i * UK_EFFORT_STRIDE + k] = own - task_force[i * UK_EFFORT_STRIDE + k];
    }
  return held;
}

/* Rows of the effort derivatives; and what dependent tasks are off by. */
static void uk_solve_efforts(uk_memory *m, uk_effort_system *x, const double *root) {
  const int columns = UK_EFFORT_STRIDE;
  double along[UK_NV], unit[UK_LONGEST], one[UK_NU];
  double served[UK_NU * UK_MOST(UK_MT, 1)], free[UK_NU * UK_NU]; /* what answers g, and h */
  UK_ALIGNED(g, UK_MOST(UK_MT, 1) * UK_EFFORT_STRIDE);           /* of tasks: what du has to give */
  UK_ALIGNED(h, UK_NU * UK_EFFORT_STRIDE);                       /* of motors: what y asks for */
  UK_ALIGNED(row, UK_EFFORT_STRIDE);
  for (int r = 0; r < UK_MT; ++r) {
    double *of_task = g + r * columns;
    for (int i = 0; i < UK_NV; ++i) along[i] = -m->A_t[r * UK_NV + i];
    for (int k = 0; k < columns; ++k) of_task[k] = -x->asked[r * columns + k];
    uk_add_answer(m, x->of, along, x->motion, UK_STRIDE, x->rows, of_task);
    uk_zero(unit, UK_MT);
    unit[r] = 1.0;
    uk_solve_rows(&x->tasks, unit, one);
    for (int j = 0; j < UK_NU; ++j) served[j * UK_MT + r] = one[j] / root[j];
  }
  for (int j = 0; j < UK_NU; ++j) {
    const double part = m->held[j] != 0.0 ? 0.0 : 1.0 / root[j];
    for (int i = 0; i < UK_NV; ++i) along[i] = part * uk_motors[j][i];
    for (int k = 0; k < columns; ++k) h[j * columns + k] = -part * x->wished[j * columns + k];
    uk_add_answer(m, x->of, along, x->adjoint, columns, x->adjoint_rows, h + j * columns);
    uk_zero(one, UK_NU);
    one[j] = 1.0;
    uk_orthogonal_part(&x->tasks, one);
    for (int k = 0; k < UK_NU; ++k) free[k * UK_NU + j] = one[k] / root[k];
  }
  for (int j = 0; j < UK_NU; ++j) {
    uk_add_product(row, NULL, (uk_product){UK_ALL(UK_MT), served + j * UK_MT, 1, g, columns, NULL},
                   columns);
    uk_add_product(row, row, (uk_product){UK_ALL(UK_NU), free + j * UK_NU, 1, h, columns, NULL},
                   columns);
    memcpy(m->effort_derivatives + j * UK_EFFORT_COLUMNS, row, sizeof(double) * UK_EFFORT_COLUMNS);
  }
  for (int d = x->tasks.rank; d < UK_MT; ++d) {
    const int r = (int)x->tasks.row[d];
    for (int k = 0; k < UK_EFFORT_COLUMNS; ++k) {
      const int at = r * columns + k;
      x->left[at] = -g[at], x->size[at] = fabs(x->asked[at]) + fabs(g[at] + x->asked[at]);
      for (int j = 0; j < UK_NU; ++j) {
        const double part = m->map[r * UK_NU + j] * m->effort_derivatives[j * UK_EFFORT_COLUMNS + k];
        x->left[at] += part, x->size[at] += fabs(part);
      }
    }
  }
}

/* Whether something of so much and of what size vanishes along all motions that keep the loops closed. */
static int uk_stays(const uk_memory *m, const double *left, const double *size) {
  int stays = 1;
  for (int f = 0; f < (int)m->allowed; ++f) {
    const double *motion = m->motions + f * 2 * UK_NV;
    stays &= !uk_parts(left, size, motion, motion + UK_NV);
  }
  return stays;
}

/* Whether dependent tasks follow what is asked of the others. */
static int uk_tasks_follow(const uk_memory *m, const uk_effort_system *x) {
  int follow = 1;
  for (int d = x->tasks.rank; d < UK_MT; ++d) {
    const int row = (int)x->tasks.row[d] * UK_EFFORT_STRIDE;
    for (int k = 2 * UK_NV; k < UK_EFFORT_COLUMNS; ++k)
      follow &= fabs(x->left[row + k]) <= UK_FOLLOWS_WITHIN * (1.0 + x->size[row + k]);
    follow &= uk_stays(m, x->left + row, x->size + row);
  }
  return follow;
}

/* The motions that keep the loops closed; whether dependent rows of the structure follow along them. Rows
 * of K and C are lost. -1: there are none, as the masses are singular. */
static int uk_loops_follow(uk_memory *m, const uk_effort_system *x) {
  int rank = x->of.rank, follow = 1;
#if UK_M > 0
  int order[UK_ROWS];
  if (!UK_ALL_ROWS_HOLD && uk_invert_kind(m, uk_position_row, x->M, x->A, &rank)) return -1;
#endif
  uk_zero(m->motions, 4 * UK_NV * UK_NV);
  const int places = UK_NV - rank;
  for (int f = 0; f < places; ++f)
    memcpy(m->motions + f * 2 * UK_NV, m->free_motions + f * UK_NV, sizeof(double) * UK_NV);
#if UK_M > 0
  if (!UK_ALL_ROWS_HOLD && uk_invert_kind(m, uk_motion_row, x->M, x->A, &rank)) return -1;
  for (int f = 0; f < places; ++f) {
    double *motion = m->motions + f * 2 * UK_NV;
    uk_turn(m, uk_pivoted(m, rank, order), motion, motion + UK_NV);
  }
#endif
  for (int f = 0; f < UK_NV - rank; ++f)
    memcpy(m->motions + (places + f) * 2 * UK_NV + UK_NV, m->free_motions + f * UK_NV,
           sizeof(double) * UK_NV);
  m->allowed = places + UK_NV - rank;
#if UK_M > 0
  for (int d = 0; d < UK_M - x->of.rank; ++d)
    follow &= uk_stays(m, x->parting.left + d * 2 * UK_NV, x->parting.size + d * 2 * UK_NV);
#endif
  return follow;
}

/* The efforts of the law and their derivatives; see effort_functions.h. */
UK_EXPORT int uk_effort_derivatives(uk_memory *m) {
  uk_effort_system x;
  double root[UK_NU], side[UK_NU];
  int missed = 0;
  for (int k = 0; k < UK_NU * UK_EFFORT_COLUMNS; ++k) m->effort_derivatives[k] = NAN;
  const int failed = uk_efforts_there(m, side, &missed);
  if (failed) return failed;
  x.of = uk_pivoted(m, (int)m->rank, x.order);
  uk_inverse(m, x.of.rank);
  uk_terms_again(m);
  memcpy(x.M, m->H, sizeof x.M);
  memcpy(x.A, m->A, sizeof x.A);
  for (int i = 0; i < UK_NV; ++i)
    for (int j = 0; j < UK_NU; ++j) m->qdd[i] += m->response[i * UK_NU + j] * m->limited[j];
  x.tasks = uk_basis_in(&x.room);
  x.tasks.n = UK_NU, x.tasks.count = UK_MT;
  for (int j = 0; j < UK_NU; ++j) {
    root[j] = sqrt(m->weights[j]);
    for (int r = 0; r < UK_MT; ++r)
      x.tasks.rows[r * UK_NU + j] = m->held[j] != 0.0 ? 0.0 : m->map[r * UK_NU + j] / root[j];
  }
  uk_factor_rows(&x.tasks, NULL, UK_SERVED);
  const int held = uk_effort_equations(m, &x, root, side);
  if (!missed) uk_solve_efforts(m, &x, root);
  const int loops = uk_loops_follow(m, &x);
  const double sum = missed ? 0.0 : uk_total(m->effort_derivatives, UK_NU * UK_EFFORT_COLUMNS);
  const int status = loops < 0         ? 1
                     : missed          ? 5
                     : !loops          ? 4
                     : !held           ? 6
                     : !isfinite(sum)  ? 4
                     : !uk_tasks_follow(m, &x) ? 4
                                       : 0;
  for (int k = 0; status && k < UK_NU * UK_EFFORT_COLUMNS; ++k) m->effort_derivatives[k] = NAN;
  return status;
}

/* The same at many states, with the settings in the memory; 0. */
UK_EXPORT int uk_effort_derivatives_batch(uk_memory *m, const uk_effort_batch *c) {
  for (long long k = 0; k < c->count; ++k) {
    m->t = c->t[k * c->t_stride];
    memcpy(m->q, c->q + k * UK_NQ, sizeof m->q);
    memcpy(m->v, c->v + k * UK_NV, sizeof m->v);
    memcpy(m->task_followed, c->task_followed + k * c->task_followed_stride, sizeof m->task_followed);
#if UK_FOLLOWS
    if (c->followed) memcpy(m->followed, c->followed + k * c->followed_stride, sizeof m->followed);
#endif
    c->status[k] = uk_effort_derivatives(m);
    memcpy(c->efforts + k * UK_NU, m->limited, sizeof m->limited);
    memcpy(c->held + k * UK_NU, m->held, sizeof m->held);
    memcpy(c->derivatives + k * UK_NU * UK_EFFORT_COLUMNS, m->effort_derivatives,
           sizeof m->effort_derivatives);
  }
  return 0;
}
