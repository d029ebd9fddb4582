/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
#pragma once

#include "batch.h"

/* C11 with the vectors of GCC or Clang; -O3 -march=native for wide ones. Memory is allocated during
 * a call, and there is no global state, so threads may share the states of a batch among them.
 * Functions return 0, or 1 where memory could not be allocated. */
int uk_evaluate_batch(const uk_batch *batch);
