/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
#pragma once

#include "uk_mechanism.h"

/* Double precision, no allocation, no global state: one uk_memory per thread, all zeros at first.
 * Set t, q, v, tau, stabilize and active (1 for rows that act), call uk_evaluate, and read qdd,
 * ideal_force, multipliers, rank and status. It returns 0, or 1 where the mass matrix is singular
 * and 2 where something is not finite; then there is no answer. */
int uk_evaluate(uk_memory *memory);
