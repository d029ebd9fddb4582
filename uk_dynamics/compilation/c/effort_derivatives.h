/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The servo law at many states, with the derivatives of its efforts; arrays are the caller's. Strides count
 * doubles from one state to the next; 0: all have the same. */
#pragma once

typedef struct {
  long long count, t_stride, followed_stride, task_followed_stride;
  const double *t, *q, *v;     /* (1 or count), (count, UK_NQ), (count, UK_NV) */
  const double *followed;      /* (1 or count, 3 UK_M): values, rates, accelerations; null: none */
  const double *task_followed; /* (1 or count, 3 UK_MT): likewise, of the tasks */
  double *efforts, *derivatives;    /* (count, UK_NU), (count, UK_NU, UK_EFFORT_COLUMNS) */
  double *held;                /* (count, UK_NU): 1 for motors at a limit */
  double *status;              /* (count): as uk_effort_derivatives returns it */
} uk_effort_batch;
