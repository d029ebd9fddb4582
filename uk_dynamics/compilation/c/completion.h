/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Joint states from the measured joints; all memory is the caller's. */
#pragma once

#include "uk_measured.h"
#include "uk_mechanism.h"

#define UK_SIZE(count) ((count) > 0 ? (count) : 1) /* of an array: C knows no empty ones */
#define UK_CONDITIONS (UK_HELD - UK_OTHERS)        /* rows about measured joints alone */

enum {
  UK_COMPLETE,
  UK_NOT_FINITE, /* a measurement */
  UK_JUMP,       /* a measured joint has moved too far */
  UK_SINGULAR,   /* measured joints do not determine the others here */
  UK_LOST        /* loops do not close with these measurements on this assembly branch */
};

typedef struct {
  double A[UK_HELD * UK_NV], psi[UK_HELD];
  double columns[UK_SIZE(UK_OTHERS) * UK_HELD], of_columns[6 * UK_SIZE(UK_OTHERS)];
  double conditions[UK_SIZE(UK_CONDITIONS)][UK_MEASURED];
  double weighed[UK_SIZE(UK_REDUNDANT) * UK_MEASURED], of_weighed[6 * UK_SIZE(UK_REDUNDANT)];
  double regularity; /* about one over the condition of loops for joints that are not measured */
  int chosen[UK_SIZE(UK_REDUNDANT)];
  int count, singular; /* independent conditions; whether joints are not determined */
} uk_loop_factors;

typedef struct {
  double jump;                /* rad or m: largest way of a measured joint from where it is expected */
  double singular_tolerance;  /* of regularity */
  double q[UK_NV], v[UK_NV];  /* the last state that closes the loops */
  double moved[UK_MEASURED];  /* what is expected of measured joints since then, m or rad; or zero */
  double misfit[UK_MEASURED]; /* measured less estimated positions */
  double residual;            /* largest residual before the last correction, m or rad */
  int iterations;             /* corrections */
  int known;                  /* whether there has been a state */
  int near_singular;          /* a singularity may have been passed onto another branch */
  double zero[UK_NV];
  uk_loop_factors factors;
} uk_completion;
