/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Projections of many states and their derivatives; arrays are the caller's. Strides count doubles from one
 * state to the next; 0: all have the same. */
#pragma once

typedef struct {
  long long count, t_stride, followed_stride;
  const double *t, *q, *v; /* (1 or count), (count, UK_NQ), (count, UK_NV) */
  const double *followed;  /* (1 or count, 3 UK_M): values, rates, accelerations; null: none */
  double *q_out, *v_out;   /* the projected states, as above */
  double *derivatives;          /* (count, 2 UK_NV, 2 UK_NV + 1): as of one state */
  double *status;          /* (count): as of one state */
} uk_projected_states;
