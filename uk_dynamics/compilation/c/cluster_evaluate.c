/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Acceleration, forces, projection and trajectories of a mechanism that tables describe. */
#pragma once

#include "batch.h"
#include "cluster_solve.c"
#include "rollout.h"
#include "uk_projection.h"

enum { UK_PLACED = 1, UK_FACTORED };

/* Bodies and rows at the state in the memory; a step begins where the one before it was projected
 * to, and bodies that are placed there stay. */
static void uk_update(uk_tree *t, int moving) {
  const size_t size = sizeof(double) * t->positions;
  const int stay = *t->ready && !memcmp(t->placed, t->q, size);
  for (int k = 0; k < t->clusters; ++k) {
    if (!stay) uk_place_cluster(t, k);
    if (moving) uk_move_cluster(t, k);
    if (t->cluster[k].rows) uk_fill_rows(t, k, moving);
  }
  if (stay) return;
  memcpy(t->placed, t->q, size);
  *t->ready = UK_PLACED;
}

/* Whether there are factors already; else all is ready for them, from the last cluster inward. */
static int uk_begin_inward(uk_tree *t, double rank_tolerance) {
  if (*t->ready == UK_FACTORED) {
    if (t->ready[1] == rank_tolerance) return 1;
    for (int k = 0; k < t->clusters; ++k) uk_place_cluster(t, k);
  }
  t->extremes[0] = INFINITY, t->extremes[1] = 0.0;
  *t->ready = 0.0;
  return 0;
}

static void uk_end_inward(uk_tree *t, double rank_tolerance) {
  t->ready[0] = UK_FACTORED, t->ready[1] = rank_tolerance;
}

/* Whether coordinates are so different in their inertia that the interpreted evaluator decides. */
static int uk_massless(const uk_tree *t) {
  return t->joints && !(t->extremes[0] > UK_MASSLESS * t->extremes[1]);
}

/* 0, or why there is no answer. */
static int uk_answer_tree(uk_tree *t, int forces) {
  uk_update(t, 1);
  const int known = uk_begin_inward(t, t->rank_tolerance);
  for (int k = t->clusters - 1; k >= 0; --k) {
    const uk_cluster *c = t->cluster + k;
    for (int j = c->first; j < c->first + c->joints; ++j) {
      const int i = t->link[j].velocity;
      t->joint_force[j] = t->tau[i];
      if (t->passive) t->joint_force[j] += uk_passive_force(t->passive + j, t->q[t->link[j].position], t->v[i]);
    }
    if (!known && uk_factor(t, k)) return UK_SINGULAR_MASS;
    if (c->rows) uk_particular(t, k, t->b);
    uk_load_cluster(t, k, t->joint_force);
  }
  uk_end_inward(t, t->rank_tolerance);
  if (uk_massless(t)) return UK_SINGULAR_MASS;
  double sum = 0.0, square = 0.0;
  *t->status = UK_OK, *t->rank = 0.0;
  for (int k = 0; k < t->clusters; ++k) {
    const uk_cluster *c = t->cluster + k;
    *t->rank += t->ground[k].rank;
    uk_outward(t, k);
    for (int j = c->first; j < c->first + c->joints; ++j)
      sum += t->qdd[t->link[j].velocity] = t->joint_qdd[j];
    if (!forces) continue;
    uk_react(t, k, t->joint_ideal);
    for (int j = c->first; j < c->first + c->joints; ++j)
      t->ideal_force[t->link[j].velocity] = t->joint_ideal[j];
    for (int r = c->first_row; r < c->first_row + c->rows; ++r) {
      const int row = t->row[r];
      t->violation[row] = t->row_violation[r];
      t->multipliers[row] = t->row_multipliers[r];
      t->determined[row] = t->row_determined[r];
      t->offends[row] = 0.0;
      square += t->row_violation[r] * t->row_violation[r];
    }
  }
  const double admitted = t->consistency_tolerance * UK_NEGLIGIBLE_ACCELERATION;
  if (forces && *t->rank < t->rows && !(square <= admitted * admitted))
    *t->status = uk_check_rows(t, t->joint_force);
  return isfinite(sum + square) ? 0 : UK_NOT_NUMBERS;
}

/* Factors after an update; 1 where there are none. */
static int uk_linearize(uk_tree *t, double rank_tolerance) {
  if (!uk_begin_inward(t, rank_tolerance)) {
    const double usual = t->rank_tolerance;
    t->rank_tolerance = rank_tolerance;
    int failed = 0;
    for (int k = t->clusters - 1; k >= 0 && !failed; --k) failed = uk_factor(t, k);
    t->rank_tolerance = usual;
    if (failed) return 1;
    uk_end_inward(t, rank_tolerance);
  }
  return uk_massless(t);
}

/* The x of least x^T M x whose rows are `wanted`, joint by joint. */
static void uk_correct_tree(uk_tree *t, const double *wanted) {
  for (int j = 0; j < t->joints; ++j) memset(t->body[j].P, 0, sizeof t->body[j].P);
  for (int k = t->clusters - 1; k >= 0; --k) {
    if (t->cluster[k].rows) uk_particular(t, k, wanted);
    uk_load_cluster(t, k, NULL);
  }
  for (int k = 0; k < t->clusters; ++k) uk_outward(t, k);
}

/* Largest residual at the positions in the memory. */
static double uk_open(uk_tree *t) {
  double largest = 0.0;
  uk_update(t, 0);
  for (int r = 0; r < t->rows; ++r)
    if (!(fabs(t->residual[r]) <= largest)) largest = fabs(t->residual[r]);
  return largest;
}

/* Velocities of a floating root, which come first; its positions are one more. */
static int uk_root(const uk_tree *t) { return t->positions > t->joints ? 6 : 0; }

/* Positions at the tangent vector w from others. */
static void uk_reach_tree(uk_tree *t, const double *from, const double *w) {
  const int root = uk_root(t), more = root ? 1 : 0;
  if (root) uk_float_along(from, w, t->q);
  for (int i = root; i < t->joints; ++i) t->q[i + more] = from[i + more] + w[i];
}

/* Positions, then velocities in the memory, onto the constraints: as project_position and
 * project_velocity of core/equation/projection.py. 0, or why not. */
static int uk_project_tree(uk_tree *t) {
  double smallest = uk_open(t), size = smallest, tolerance;
  int ready = 1; /* whether everything is up to date at the best positions */
  memcpy(t->best, t->q, sizeof(double) * t->positions);
  for (int step = 0; step < UK_NEWTON_STEPS && smallest > UK_ROUNDING; ++step) {
    tolerance = size / t->length;
    tolerance = tolerance > UK_LOOSEST ? UK_LOOSEST : tolerance;
    if (!(tolerance > t->rank_tolerance)) tolerance = t->rank_tolerance;
    if (uk_linearize(t, tolerance)) { /* a massless link needs every row that holds it */
      if (tolerance == t->rank_tolerance) return UK_SINGULAR_MASS;
      uk_open(t);
      if (uk_linearize(t, t->rank_tolerance)) return UK_SINGULAR_MASS;
    }
    for (int r = 0; r < t->rows; ++r) t->b[r] = -t->residual[r];
    uk_correct_tree(t, t->b);
    for (int j = 0; j < t->joints; ++j) t->sum_q[t->link[j].velocity] = t->joint_qdd[j];
    memcpy(t->start_q, t->q, sizeof(double) * t->positions);
    uk_reach_tree(t, t->start_q, t->sum_q);
    size = uk_open(t);
    ready = size < smallest;
    if (ready) {
      const int stalled = size > 0.5 * smallest && size <= UK_REACHED;
      memcpy(t->best, t->q, sizeof(double) * t->positions);
      smallest = size;
      if (stalled) break;
    } else if (smallest <= UK_REACHED || !(size <= UK_DIVERGING * smallest)) {
      break;
    }
  }
  if (!(smallest <= UK_REACHED)) return UK_OPEN_LOOPS;
  if (!ready) {
    memcpy(t->q, t->best, sizeof(double) * t->positions);
    uk_open(t);
  }
  tolerance = smallest / t->length;
  if (!(tolerance > t->rank_tolerance)) tolerance = t->rank_tolerance;
  if (uk_linearize(t, tolerance)) return UK_SINGULAR_MASS;
  for (int r = 0; r < t->rows; ++r) t->b[r] = t->rate[r];
  uk_correct_tree(t, t->b);
  double sum = 0.0;
  for (int j = 0; j < t->joints; ++j) sum += t->v[t->link[j].velocity] -= t->joint_qdd[j];
  for (int i = 0; i < t->positions; ++i) sum += t->q[i];
  return isfinite(sum) ? 0 : UK_NOT_NUMBERS;
}

static void uk_put(double *to, const double *from, long long count, long long state) {
  if (to) memcpy(to + state * count, from, sizeof(double) * count);
}

/* Many states one after the other; 0. */
UK_EXPORT int uk_cluster_batch(uk_tree *t, const uk_batch *c) {
  const long long n = t->joints, m = t->rows;
  *t->stabilize = c->stabilize;
  for (long long k = 0; k < c->count; ++k) {
    memcpy(t->q, c->q + k * t->positions, sizeof(double) * t->positions);
    memcpy(t->v, c->v + k * n, sizeof(double) * n);
    if (c->tau) memcpy(t->tau, c->tau + k * n, sizeof(double) * n);
    else memset(t->tau, 0, sizeof(double) * n);
    c->failed[k] = uk_answer_tree(t, c->ideal_force != NULL);
    c->rank[k] = *t->rank, c->status[k] = *t->status;
    uk_put(c->qdd, t->qdd, n, k);
    uk_put(c->ideal_force, t->ideal_force, n, k);
    uk_put(c->violation, t->violation, m, k);
    uk_put(c->multipliers, t->multipliers, m, k);
    uk_put(c->determined, t->determined, m, k);
  }
  return 0;
}

/* One step from the state in the memory; 0, or why not. */
static int uk_step(uk_tree *t, double h, int euler) {
  static const double offset[] = {0.0, 0.5, 0.5, 1.0}, weight[] = {1.0, 2.0, 2.0, 1.0};
  const int n = t->joints;
  const double end = euler ? h : h / 6.0;
  double *q = t->start_q, *v = t->start_v, *dq = t->sum_q, *dv = t->sum_v;
  double *rate = t->rate_q, *moved = t->moved;
  memcpy(q, t->q, sizeof(double) * t->positions), memcpy(v, t->v, sizeof(double) * n);
  memset(dq, 0, sizeof(double) * n), memset(dv, 0, sizeof(double) * n);
  memcpy(rate, v, sizeof(double) * n);
  for (int s = 0; s < (euler ? 1 : 4); ++s) {
    if (s > 0) {
      const double part = h * offset[s];
      for (int i = 0; i < n; ++i) moved[i] = part * rate[i], t->v[i] = v[i] + part * t->qdd[i];
      uk_reach_tree(t, q, moved);
      memcpy(rate, t->v, sizeof(double) * n);
      if (uk_root(t)) uk_float_rate(moved, t->v, rate);
    }
    const int failed = uk_answer_tree(t, 0);
    if (failed) return failed;
    for (int i = 0; i < n; ++i) dq[i] += weight[s] * rate[i], dv[i] += weight[s] * t->qdd[i];
  }
  for (int i = 0; i < n; ++i) t->v[i] = v[i] + end * dv[i], moved[i] = end * (euler ? t->v[i] : dq[i]);
  uk_reach_tree(t, q, moved);
  return 0;
}

/* Trajectories one after the other, as uk_rollout of rollout.c: `stopped` has the number of the step
 * that fails, from 1 for the start, `reason` why; what follows stays as it was. 0. */
UK_EXPORT int uk_cluster_rollout(uk_tree *t, const uk_trajectories *c) {
  const long long n = t->joints, nq = t->positions, samples = c->steps / c->every + 1;
  *t->stabilize = c->stabilize;
  for (long long k = 0; k < c->count; ++k) {
    memcpy(t->q, c->q + k * nq, sizeof(double) * nq);
    memcpy(t->v, c->v + k * n, sizeof(double) * n);
    memset(t->tau, 0, sizeof(double) * n);
    c->stopped[k] = c->reason[k] = 0.0;
    for (long long step = 0; step <= c->steps; ++step) {
      int failed = 0;
      if (step > 0) {
        if (c->tau)
          memcpy(t->tau, c->tau + k * c->tau_state + (step - 1) * c->tau_step, sizeof(double) * n);
        failed = uk_step(t, c->dt, c->euler != 0);
      }
      if (!failed && c->project) failed = uk_project_tree(t);
      if (failed) {
        c->stopped[k] = step + 1, c->reason[k] = failed;
        break;
      }
      if (step % c->every) continue;
      uk_put(c->q_out, t->q, nq, k * samples + step / c->every);
      uk_put(c->v_out, t->v, n, k * samples + step / c->every);
    }
  }
  return 0;
}
