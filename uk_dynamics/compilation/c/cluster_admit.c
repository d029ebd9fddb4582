/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What admit.c says of other mechanisms: coordinates of the admissible motions are those of each
 * cluster that its rows leave, in the metric of its articulated inertia. */
#pragma once

#include <math.h>
#include <string.h>

#include "uk_evaluation.h"
#include "uk_motors.h"
#include "uk_sizes.h"
#include "uk_task_rows.h"

typedef struct {
  int n;                     /* coordinates */
  double *task, *motor;      /* of both, row by row */
  double size[UK_MT];        /* of task rows, with what the structure holds */
} uk_admitted_rows;

/* Coordinates of a row or a force, given by velocity, in the admissible motions; P of all bodies is
 * zero before and after. What no part of it loads is left out. */
static void uk_coordinates_of(uk_tree *t, const double *given, double *found) {
  int at = t->joints - (int)*t->rank;
  for (int j = 0; j < t->joints; ++j) t->joint_ideal[j] = given[t->link[j].velocity];
  for (int k = t->clusters - 1; k >= 0; --k) {
    const uk_cluster *c = t->cluster + k;
    const int free = c->joints - (int)t->ground[k].rank;
    double any = 0.0;
    for (int j = c->first; j < c->first + c->joints; ++j) {
      any += fabs(t->joint_ideal[j]);
      for (int i = 0; i < 6; ++i) any += fabs(t->body[j].P[i]);
    }
    double *y = t->whitened + c->first;
    if (any == 0.0) {
      memset(y, 0, sizeof(double) * c->joints);
    } else {
      uk_load_cluster(t, k, t->joint_ideal);
      for (int j = c->first; j < c->first + c->joints; ++j)
        memset(t->body[j].P, 0, sizeof t->body[j].P);
    }
    at -= free;
    memcpy(found + at, y, sizeof(double) * free);
  }
}

/* The motion with these coordinates, by velocity, in their place; `offset` zeros stand before them. */
static void uk_admitted(const uk_memory *m, int offset, double *turned) {
  uk_tree *t = uk_tree_of(m);
  const double *given = turned + offset;
  for (int k = 0; k < t->clusters; ++k) {
    const int free = t->cluster[k].joints - (int)t->ground[k].rank;
    memcpy(t->whitened + t->cluster[k].first, given, sizeof(double) * free);
    given += free;
    uk_outward(t, k);
  }
  for (int j = 0; j < t->joints; ++j) turned[t->link[j].velocity] = t->joint_qdd[j];
}

/* Accelerations without motors, and the above; 0, or as uk_evaluate. */
static int uk_admit(uk_memory *m, int answers, uk_admitted_rows *x) {
  uk_task_terms(m->t, m->q, m->v, m->task_followed UK_P, m->A_t, m->bias_t);
  const int failed = uk_answer(m, answers);
  if (failed) return failed;
  uk_tree *t = uk_tree_of(m);
  const int n = x->n = UK_NV - (int)m->rank;
  x->task = m->task_part, x->motor = m->motor_part;
  memset(t->particular, 0, sizeof(double) * t->joints);
  for (int j = 0; j < t->joints; ++j) memset(t->body[j].P, 0, sizeof t->body[j].P);
  for (int r = 0; r < UK_MT; ++r) {
    const double *row = m->A_t + r * UK_NV;
    double square = 0.0;
    for (int j = 0; j < t->joints; ++j) {
      const double entry = t->scale[j] * row[t->link[j].velocity];
      square += entry * entry;
    }
    x->size[r] = sqrt(square);
    uk_coordinates_of(t, row, x->task + r * n);
  }
  for (int j = 0; j < UK_NU; ++j) uk_coordinates_of(t, uk_motors[j], x->motor + j * n);
  return 0;
}

/* Largest residual of a structural row; not a number where one is none. */
UK_EXPORT double uk_closure_error(uk_memory *m) {
  uk_tree *t = uk_enter(m);
  double largest = 0.0;
  uk_update(t, 0);
  for (int r = 0; r < t->rows; ++r) {
    const double size = fabs(t->residual[r]) / uk_residual_unit[t->row[r]];
    if (!(size <= largest)) largest = size;
  }
  return largest;
}
