/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Where every state needs pivoting. */
#pragma once

#include "attributes.h"
#include "derivatives_lanes.h"

UK_EXPORT int uk_differentiate_batch(const uk_derivative_batch *c) {
  for (long long k = 0; k < c->count; ++k) c->status[k] = UK_ALONE;
  return 0;
}
