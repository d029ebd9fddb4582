/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* One-sided constraints of a mechanism for its motion in fixed steps; arrays are the caller's. */
#pragma once

#include "uk_mechanism.h"

/* What modes are: it separates; it is closed and slides, or has no friction; it does not move. */
#define UK_OPEN 0
#define UK_SLIPS 1
#define UK_STICKS 2

/* Doubles of the cone problem of n contacts, each with d = UK_D directions, normal and tangents; of `room`, with all
 * directions and their parts in the admissible motions, and what impulses of Poisson's law need. */
#define UK_CONE_ROOM(n) (2 * UK_D * UK_D * (n) * (n) + (18 * UK_D + 2 * UK_D * UK_D + 2) * (n))
#define UK_IMPACT_ROOM(n, poisson) ((poisson) * UK_CONE_ROOM(2 * (n)) + (2 * UK_D + 1) * (n))
#define UK_CHORD_ROOM(n, velocities) (UK_D * ((velocities) + 8) * (n)) /* of the end of a step */
#define UK_CONTACT_ROOM(n, velocities, poisson)                                           \
  (UK_IMPACT_ROOM(n, poisson) + UK_CONE_ROOM(n) + (2 * UK_D * (velocities) + 2) * (n) + 1 \
   + UK_CHORD_ROOM(n, velocities))
#define UK_LOOP_ROOM (3 * UK_LOOP_FRICTION * (UK_D * UK_LOOP_FRICTION + 1)) /* behind it: what presses loop joints */

typedef struct {
  long long count;            /* of one-sided constraints, k */
  const long long *row;       /* (k, d): rows of the mechanism in their directions; below zero: none */
  const double *part;         /* (k, d): of the row, that a direction is */
  const double *friction;     /* (k) */
  const double *static_friction; /* (k): of those that stuck before a step */
  const double *restitution;  /* (k) */
  long long poisson;          /* 1: it is Poisson's, of impulses; 0: Newton's, of velocities */
  const double *gap;          /* (k): of the residual of the first row, that the gap is; 0: always closed */
  const double *pitch;        /* (k): of the teeth from the last of which the gap is counted; 0: none */
  const double *load;         /* (k, 2): of joints that stick, while they slide and at most; 0: others */
  const long long *in_loop;   /* (k): 1: a loop joint, whose load is per force in it */
  const double *load_map;     /* (k, 3, UK_M): from the multipliers of all rows to the force in a loop joint */
  double close, resting;      /* m or rad, and their rates: what is nearer is closed, slower rests */
  double *impulse;            /* (k, d): of the last step */
  double *slip;               /* (k, d - 1): velocities at its end, in the plane */
  double *before;             /* (k, 2 d - 1): both at the last instant */
  long long *mode;            /* (steps + 1, k): before the first step, and after each */
  double *lost;               /* (steps, k): energy lost in it by those that strike, NaN of others; may be null */
  long long steps, done;      /* for which there is room; that were taken up to the last instant */
  long long taken;            /* since then, too */
  long long waits;            /* 1: motions stop at the first instant where modes are others, or some slide */
  double *room;               /* (UK_CONTACT_ROOM + UK_LOOP_ROOM) */
  double error;               /* the largest of impulses, as a motion relative to that without them */
  long long iterations;       /* to find them */
  long long fell_back;        /* steps in which Newton's method alone did not */
  double *slip_out;           /* (samples, k, d - 1): slip at them; may be null */
} uk_contacts;
