/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Both of an angle: code that needs one of them mostly needs the other. */
#pragma once

#include <math.h>

static inline void uk_sincos(double x, double *sine, double *cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}
