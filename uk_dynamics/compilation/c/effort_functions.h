/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
#pragma once

#include "effort_derivatives.h"
#include "uk_mechanism.h"

/* Double precision, no allocation, no global state: one uk_memory per thread, all zeros at first.
 * Set t, q, v, task_followed: values, rates, accelerations of the task rows, and what else
 * uk_effort_start has not set; call uk_effort_derivatives, read limited, the efforts within lower
 * and upper, and effort_derivatives, row by row, by the groups of columns above. Columns of q are
 * those of the velocities, t is alone while references are held, and the others have a column for
 * each task row. held marks motors at a limit. It returns 0; 1 where the mass matrix is singular, 2
 * where something is not finite, 3 where the search within limits fails; 4 where the rank changes, 5
 * where efforts are a compromise between tasks, 6 where a motor is about to reach a limit, or to
 * leave one: there are no derivatives then, and effort_derivatives are not numbers. Where rows of
 * the structure are redundant they mean something along motions, the first `allowed` rows, alone.
 * The lists of motors mark which columns of each group may differ from zero. */
void uk_effort_start(uk_memory *memory);
int uk_effort_derivatives(uk_memory *memory);
/* Does so for many states. */
int uk_effort_derivatives_batch(uk_memory *memory, const uk_effort_batch *batch);
