/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What the rows of the structure follow, of one state. */
#pragma once

#include "references.c"
#include "uk_following.h"
#include "uk_mechanism.h"

/* At the time in the memory, from a table; null: zero. 0, or 1: it has no value. */
static int uk_follow_structure(uk_memory *m, double *table) {
#if UK_FOLLOWS
  return uk_follow(table, m->t, UK_M, m->followed);
#else
  (void)m, (void)table;
  return 0;
#endif
}
