/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
#pragma once

#include "projection_derivatives.h"
#include "uk_mechanism.h"

/* Projects q and v onto the constraints, from closed loops, and gives the derivatives of the
 * projected q, then v, by q, v, t, row by row, (2 UK_NV, 2 UK_NV + 1); it changes qdd and
 * multipliers. It returns 0; 1 or 2 as uk_differentiate; 3 where the loops are open by more than
 * UK_REACHED; 4 where redundant rows have no derivatives along the constraints. The lists of q' and
 * v' mark which by q | v | t may differ from zero. The other function does so for many states. */
int uk_projection_derivatives(uk_memory *memory, double *derivatives);
int uk_projection_batch(uk_memory *memory, const uk_projected_states *projections);
