/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Functions of Python on tables, whose address is what they are bound to; see python_calls.c. */
#pragma once

#include "cluster_evaluate.c"
#include "python_calls.c"

/* Nothing is kept from one call to the next: those who ask again and again want to know how long it
 * takes. */
static UK_OPTIONAL int uk_answer_afresh(uk_tree *t, int forces) {
  *t->ready = 0.0;
  return uk_answer_tree(t, forces);
}

UK_EXPORT int uk_evaluate(uk_tree *t) { return uk_answer_afresh(t, 1); }

#ifdef UK_PYTHON

static uk_bound uk_bound_to(void *data) {
  const uk_tree *t = *(uk_tree **)data;
  return (uk_bound){t->t, t->stabilize, t->q, t->v, t->tau, t->qdd, t->positions, t->joints, t->answered};
}

static int uk_bound_answer(void *data, int forces) {
  return uk_answer_afresh(*(uk_tree **)data, forces);
}

#endif
