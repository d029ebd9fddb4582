/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
#pragma once

#include "derivatives_batch.h"

/* Fill a uk_derivative_batch, call this, and read qdd, acceleration and status. Regular states are
 * computed side by side in the lanes of the processor's vectors. A state whose status is UK_ALONE
 * has no numbers: it needs pivoting, so pass it to uk_differentiate. The return value is 0, or 1
 * where memory could not be allocated. Needs the vectors of GCC or Clang: cc -O3 -march=native. */
int uk_differentiate_batch(const uk_derivative_batch *batch);
