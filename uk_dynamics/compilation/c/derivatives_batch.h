/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Derivatives at many states; arrays are the caller's. Strides count doubles from one state to the
 * next; 0: all have the same. */
#pragma once

#include "uk_mechanism.h"

typedef struct {
  long long count, t_stride, followed_stride;
  double stabilize;       /* 1: b contains the stabilisation, 0: it does not */
  const double *t, *q, *v; /* (1 or count), (count, UK_NQ), (count, UK_NV) */
  const double *tau;      /* (count, UK_NV); null: none */
  const double *followed; /* (1 or count, 3 UK_M): values, rates, accelerations; null: none */
  double *qdd;            /* (count, UK_NV) */
  double *acceleration;   /* (count, UK_NV, UK_DIRECTIONS + UK_NV): of qdd by q, v, t or by p; by tau */
  double *multipliers;    /* (count, UK_M, ...): of those of least norm; null: no forces */
  double *force;          /* (count, UK_NV, ...): of the constraint force; null likewise */
  double *status;         /* (count): UK_EXIST, UK_RANK_CHANGES or UK_ALONE */
#if UK_NP > 0
  const double *p;        /* (UK_NP): parameters, the same in all states */
  double *exist;          /* (count, UK_NP): 0 where one moves redundant rows apart; null: not said */
#endif
} uk_derivative_batch;

#define UK_EXIST 0
#define UK_RANK_CHANGES 1 /* rows hold here alone: there are no derivatives along them */
#define UK_ALONE 2        /* no numbers: this state needs pivoting, as uk_differentiate does */
