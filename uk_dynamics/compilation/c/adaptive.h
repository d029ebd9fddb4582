/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* How a motion goes with error control: Dormand and Prince's method of order 8, whose steps end on
 * the constraints, with its interpolant of order 7. Its way goes on in the next call where one ends
 * between two instants. */
#pragma once

#include "motion.h"

typedef struct {
  double rtol, atol, max_step; /* error control, longest step in s */
  double next;                 /* step to try next, in s; 0: it is estimated */
  long long room, patience;    /* samples and evaluations after which a call ends */
  long long under_way;         /* 1: the last call ended between two instants */
  long long rejected;          /* steps, counted up */
  double largest;              /* correction of the end of a step, in m, rad or their rates */
  const double *breaks;        /* (stops): 1 where steps end, since forces jump there */
  void *way;                   /* uk_way_size() bytes, the caller's */
} uk_adaptive;

#define UK_PAUSED 3 /* the call has ended early; the next one goes on */
