/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
#pragma once

#include "completion.h"

/* All memory is the caller's, zeros at first; jump and singular_tolerance have to be set. Call
 * uk_complete_start for the first measurement and uk_complete for those that follow. Both return
 * UK_COMPLETE, or why there is no state. */
int uk_complete(uk_completion *completion, double t, const double *measured, const double *rates);
int uk_complete_start(uk_completion *completion, double t, const double *measured,
                      const double *rates, int steps);
void uk_rates(const uk_completion *completion, const double *rates, double *v);
