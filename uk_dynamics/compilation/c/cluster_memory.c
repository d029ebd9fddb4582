/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Evaluation and projection of a mechanism in clusters, as evaluate.c and projection.c have them for
 * others: between the memory, whose sizes are constants, and the tables, whose address is in it. */
#pragma once

#include "cluster_evaluate.c"
#include "uk_mechanism.h"

typedef struct { /* what is kept from one configuration to the next is with the tables */
  int known;
} uk_kept;

static uk_tree *uk_tree_of(const uk_memory *m) {
  uk_tree *t;
  memcpy(&t, &m->tree, sizeof t);
  return t;
}

static uk_tree *uk_enter(const uk_memory *m) {
  uk_tree *t = uk_tree_of(m);
  *t->t = m->t, *t->stabilize = m->stabilize;
  memcpy(t->q, m->q, sizeof m->q);
  memcpy(t->v, m->v, sizeof m->v);
  return t;
}

/* Constrained acceleration of the inputs in the memory, and forces where they are wanted; 0, or why
 * there is none, as uk_evaluate. */
static int uk_answer(uk_memory *m, int forces) {
  uk_tree *t = uk_enter(m);
  memcpy(t->tau, m->tau, sizeof m->tau);
  const int failed = uk_answer_tree(t, forces);
  if (failed) return failed;
  m->status = *t->status, m->rank = *t->rank;
  memcpy(m->qdd, t->qdd, sizeof m->qdd);
  if (!forces) return 0;
  memcpy(m->ideal_force, t->ideal_force, sizeof m->ideal_force);
  for (int r = 0; r < UK_M; ++r) {
    m->violation[r] = t->violation[r], m->offends[r] = t->offends[r];
    m->multipliers[r] = t->multipliers[r], m->determined[r] = t->determined[r];
    m->residual[t->row[r]] = t->residual[r], m->rate[t->row[r]] = t->rate[r];
  }
  return 0;
}

static int uk_answer_there(uk_memory *m, uk_kept *kept, int forces) {
  (void)kept;
  return uk_answer(m, forces);
}

UK_EXPORT int uk_evaluate(uk_memory *m) { return uk_answer(m, 1); }

/* As project of core/equation/projection.py; 0, or why not. */
static int uk_project(uk_memory *m) {
  uk_tree *t = uk_enter(m);
  const int failed = uk_project_tree(t);
  if (failed) return failed;
  double sum = 0.0;
  for (int i = 0; i < UK_NQ; ++i) sum += t->q[i];
  for (int i = 0; i < UK_NV; ++i) sum += t->v[i];
  memcpy(m->q, t->q, sizeof m->q);
  memcpy(m->v, t->v, sizeof m->v);
  return isfinite(sum) ? 0 : UK_NOT_NUMBERS;
}

static UK_OPTIONAL int uk_project_there(uk_memory *m, uk_kept *kept) {
  (void)kept;
  return uk_project(m);
}

/* What friction and damping of the joints oppose to their motion. */
static UK_OPTIONAL void uk_resist(const uk_memory *m, double *tau) {
  const uk_tree *t = uk_tree_of(m);
  memset(tau, 0, sizeof(double) * UK_NV);
  for (int j = 0; t->passive && j < t->joints; ++j) {
    const uk_passive *c = t->passive + j;
    const int i = t->link[j].velocity;
    tau[i] = -c->damping * m->v[i];
    if (c->friction != 0.0) tau[i] -= c->friction * tanh(m->v[i] / c->friction_velocity);
  }
}
