/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What admissible.c has for other mechanisms: coordinates of the admissible motions are those of each
 * cluster that its rows leave, in the metric of its articulated inertia. */
#pragma once

#include "uk_evaluation.h"
#include "uk_task_rows.h"

/* Coordinates of a generalized force in its place, zero where the structure holds them; the size that it
 * had. What no part of it loads is left out. */
static double uk_admissible(const uk_memory *m, double *x) {
  uk_tree *t = uk_tree_of(m);
  int at = t->joints;
  double square = 0.0;
  memset(t->particular, 0, sizeof(double) * t->joints);
  for (int j = 0; j < t->joints; ++j) {
    const double force = t->joint_ideal[j] = x[t->link[j].velocity];
    square += t->scale[j] * force * t->scale[j] * force;
    memset(t->body[j].P, 0, sizeof t->body[j].P);
  }
  for (int k = t->clusters - 1; k >= 0; --k) {
    const uk_cluster *c = t->cluster + k;
    const int free = c->joints - (int)t->ground[k].rank;
    double any = 0.0, *y = t->whitened + c->first;
    for (int j = c->first; j < c->first + c->joints; ++j) {
      any += fabs(t->joint_ideal[j]);
      for (int i = 0; i < 6; ++i) any += fabs(t->body[j].P[i]);
    }
    if (any == 0.0) memset(y, 0, sizeof(double) * c->joints);
    else uk_load_cluster(t, k, t->joint_ideal);
    at -= free;
    memcpy(x + at, y, sizeof(double) * free);
  }
  memset(x, 0, sizeof(double) * at);
  return sqrt(square);
}

/* Back to an acceleration, without the coordinates that the structure holds. */
static void uk_admitted(const uk_memory *m, int rank, double *x) {
  uk_tree *t = uk_tree_of(m);
  const double *given = x + rank;
  for (int k = 0; k < t->clusters; ++k) {
    const int free = t->cluster[k].joints - (int)t->ground[k].rank;
    memcpy(t->whitened + t->cluster[k].first, given, sizeof(double) * free);
    given += free;
    uk_outward(t, k);
  }
  for (int j = 0; j < t->joints; ++j) x[t->link[j].velocity] = t->joint_qdd[j];
}

/* Residuals of structural rows per m or rad. */
static void uk_residuals(uk_memory *m, double *residual) {
  uk_tree *t = uk_tree_of(m);
  uk_update(t, 0);
  for (int r = 0; r < t->rows; ++r)
    residual[t->row[r]] = t->residual[r] / uk_residual_unit[t->row[r]];
}
