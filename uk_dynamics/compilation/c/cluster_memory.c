/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Evaluation of a mechanism in clusters, as evaluate.c has it for others, and corrections of its
 * states: inputs and answers of the tables, whose address is in the memory, are those of the memory. */
#pragma once

#include "cluster_evaluate.c"
#include "uk_mechanism.h"

typedef uk_memory uk_lanes_memory;

typedef struct { /* what is kept from one configuration to the next is with the tables */
  int known;
} uk_lanes_kept;
typedef uk_lanes_kept uk_kept;

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

/* As those of evaluate.c. */
static UK_OPTIONAL void uk_lanes_evaluate(uk_memory *m, uk_lanes_kept *kept, int groups) {
  (void)kept, (void)groups;
  m->failed = uk_answer(m, m->forces != 0.0);
}

static UK_OPTIONAL void uk_lanes_configure(uk_memory *m, uk_lanes_kept *kept) {
  uk_tree *t = uk_tree_of(m);
  (void)kept;
  uk_update(t, 0);
  for (int r = 0; r < t->rows; ++r) m->residual[t->row[r]] = t->residual[r], m->rate[t->row[r]] = t->rate[r];
}

static UK_OPTIONAL void uk_lanes_find_rates(uk_memory *m, uk_lanes_kept *kept) { uk_lanes_configure(m, kept); }

/* As that of projection.c, on all rows; nothing where there is no factor. */
static UK_OPTIONAL void uk_lanes_correct(uk_memory *m, uk_lanes_kept *kept, const double *right, const double *kind,
                                         double tolerance, void *way, double *d) {
  uk_tree *t = uk_tree_of(m);
  (void)kept, (void)kind, (void)way;
  int failed = uk_linearize(t, tolerance);
  if (failed && tolerance != t->rank_tolerance) { /* a massless link needs every row that holds it */
    uk_update(t, 0);
    failed = uk_linearize(t, t->rank_tolerance);
  }
  m->singular = failed;
  memset(d, 0, sizeof(double) * UK_NV);
  if (failed) return;
  for (int r = 0; r < t->rows; ++r) t->b[r] = right[t->row[r]];
  uk_correct_tree(t, t->b);
  for (int j = 0; j < t->joints; ++j) d[t->link[j].velocity] = t->joint_qdd[j];
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
