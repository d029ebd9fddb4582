/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Many states, one after another; arrays are the caller's, and those that are not wanted are null.
 * Strides count doubles from one state to the next; 0: all have the same. */
#pragma once

typedef struct {
  long long count, t_stride, followed_stride, p_stride;
  double stabilize;                    /* 1: b contains the stabilisation, 0: it does not */
  const double *t, *q, *v;             /* (1 or count), (count, UK_NQ), (count, UK_NV) */
  const double *tau;                   /* (count, UK_NV); null: none */
  const double *active;                /* (UK_M): 1 for rows that act */
  const double *followed;              /* (1 or count, 3 UK_M): values, rates, accelerations */
  const double *p;                     /* (1 or count, UK_NP): parameters; null: there are none */
  double *qdd, *violation;             /* (count, UK_NV), (count, UK_M) */
  double *ideal_force;                 /* (count, UK_NV); null: no multipliers either */
  double *multipliers, *determined;    /* (count, UK_M) */
  double *rank, *status, *failed;      /* (count): as of a single state */
} uk_batch;
