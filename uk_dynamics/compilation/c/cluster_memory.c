/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Evaluation and projection of a mechanism in clusters, as evaluate.c and projection.c have them for
 * others: inputs and answers of the tables, whose address is in the memory, are those of the memory. */
#pragma once

#include "cluster_evaluate.c"
#include "uk_mechanism.h"

typedef uk_memory uk_lanes_memory;

typedef struct { /* what is kept from one configuration to the next is with the tables */
  int known;
} uk_kept;

#define UK_OF_MEMORY(type, name, count) t->name = (double *)&m->name;

static uk_tree *uk_tree_of(const uk_memory *m) {
  uk_tree *t;
  memcpy(&t, &m->tree, sizeof t);
  if (t->t != &m->t) {
    UK_ANSWERED_FIELDS(UK_OF_MEMORY)
  }
  return t;
}

/* Constrained acceleration of the inputs in the memory, and forces where they are wanted; 0, or why
 * there is none, as uk_evaluate. */
static int uk_answer(uk_memory *m, int forces) {
  const uk_tree *t = uk_tree_of(m);
  const int failed = uk_answer_tree(uk_tree_of(m), forces);
  for (int r = 0; forces && !failed && r < UK_M; ++r)
    m->residual[t->row[r]] = t->residual[r], m->rate[t->row[r]] = t->rate[r];
  return failed;
}

static UK_OPTIONAL double uk_answer_pivoted(uk_memory *m, int forces) { return m->failed = uk_answer(m, forces); }

static int uk_answer_there(uk_memory *m, uk_kept *kept, int forces) {
  (void)kept;
  return uk_answer(m, forces);
}

UK_EXPORT int uk_evaluate(uk_memory *m) { return uk_answer(m, 1); }

/* As project of core/equation/projection.py; 0, or why not. */
static int uk_project(uk_memory *m) { return uk_project_tree(uk_tree_of(m)); }

static UK_OPTIONAL int uk_project_there(uk_memory *m, uk_kept *kept) {
  (void)kept;
  return uk_project(m);
}

/* What friction and damping of the joints oppose to their motion. */
static UK_OPTIONAL void uk_resist(const uk_memory *m, double *tau) {
  const uk_tree *t = uk_tree_of(m);
  memset(tau, 0, sizeof(double) * UK_NV);
  for (int j = 0; t->passive && j < t->joints; ++j) {
    const int i = t->link[j].velocity;
    tau[i] = uk_joint_resistance(t->passive + j, m->v[i]);
  }
}
