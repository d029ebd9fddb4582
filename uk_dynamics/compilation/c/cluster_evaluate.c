/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Acceleration and forces of a mechanism that tables describe, and corrections of its states. */
#pragma once

#include "cluster_solve.c"

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
    *t->status = uk_check_clusters(t, t->joint_force);
  return isfinite(sum + square) ? 0 : UK_NOT_NUMBERS;
}

/* Factors after an update; 1 where there are none. */
static UK_OPTIONAL int uk_linearize(uk_tree *t, double rank_tolerance) {
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
static UK_OPTIONAL void uk_correct_tree(uk_tree *t, const double *wanted) {
  for (int j = 0; j < t->joints; ++j) memset(t->body[j].P, 0, sizeof t->body[j].P);
  for (int k = t->clusters - 1; k >= 0; --k) {
    if (t->cluster[k].rows) uk_particular(t, k, wanted);
    uk_load_cluster(t, k, NULL);
  }
  for (int k = 0; k < t->clusters; ++k) uk_outward(t, k);
}
