/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* A single state: evaluate_lanes.c with one lane. */
#pragma once

#include "evaluate_lanes.c"

typedef uk_lanes_kept uk_kept;

/* Constrained acceleration of the inputs in the memory, and forces where they are wanted; 0, or why
 * there is none: 1 the mass matrix is singular, 2 something is not finite. */
static UK_OPTIONAL int uk_answer_there(uk_memory *m, uk_kept *kept, int forces) {
  m->forces = forces;
  uk_lanes_evaluate(m, kept, 1);
  return (int)m->failed;
}

static inline int uk_answer(uk_memory *m, int forces) {
  uk_kept kept;
  kept.known = 0;
  return uk_answer_there(m, &kept, forces);
}

UK_EXPORT int uk_evaluate(uk_memory *m) { return uk_answer(m, 1); }
