/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Many states, one after another; arrays are the caller's, and those that are not wanted are null,
 * those of forces all together.
 * Strides count doubles from one state to the next; 0: all have the same. */
#pragma once

/* Answers as of a single state, and how many numbers each state has of them. */
#include "uk_batch_fields.h"
#define UK_BATCH_RATES(F) F(double, residual, UK_M) F(double, rate, UK_M)
#define UK_POINTER(type, name, count) type *name;

typedef struct {
  void *tree;                          /* tables of clusters, of one call at a time; else null */
  long long count, t_stride, followed_stride, p_stride;
  double stabilize;                    /* 1: b contains the stabilisation, 0: it does not */
  const double *t, *q, *v;             /* (1 or count), (count, UK_NQ), (count, UK_NV) */
  const double *tau;                   /* (count, UK_NV); null: none */
  const double *active;                /* (UK_M): 1 for rows that act */
  const double *followed;              /* (1 or count, 3 UK_M): values, rates, accelerations */
  const double *p;                     /* (1 or count, UK_NP): parameters; null: there are none */
  UK_BATCH_ANSWERS(UK_POINTER) UK_BATCH_FORCES(UK_POINTER) UK_BATCH_RATES(UK_POINTER)
} uk_batch;
