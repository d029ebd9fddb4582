/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Motions of closed loops that share lanes; see closed_loops.h. */
#pragma once

#include <string.h>

#include "closed_loops.h"
#include "references.c"
#include "fundamental_equation.c"
#include "uk_closed_loops.h"
#include "uk_motors.h"

#if UK_LAW_IN_LANES
#include "control_period.c"
#endif

typedef struct {
  int lanes; /* that are motions of their own */
  double *structure[UK_WIDTH]; /* tables of what their rows follow */
  int structure_alike;         /* whether all are the same */
  uk_lanes tau[UK_NV], held[UK_SOME_MOTORS]; /* forces besides those of motors, their efforts */
#if UK_LAW_IN_LANES
  uk_controller *controller[UK_WIDTH];
  uk_period_tables tables; /* alike: at the same time, too */
  uk_lanes_law law;
#if UK_SWITCHED
  uk_lanes active[UK_ROWS];
#endif
#else
  struct { uk_lanes efforts[UK_SOME_MOTORS]; } law;
#endif
} uk_loop_group;

/* Whether the tables of all motions are the same. */
static int uk_alike(double *const *tables) {
  UK_EACH(l, UK_WIDTH) {
    const double *one = tables[0], *other = tables[l];
    if (one == other) continue;
    if (one == NULL || other == NULL || *one != *other) return 0;
    ++one, ++other;
    UK_EACH(k, (int)*tables[0]) {
      const size_t length = (size_t)one[3];
      if (other[3] != one[3] || memcmp(one, other, sizeof(double) * length)) return 0;
      one += length, other += length;
    }
  }
  return 1;
}

/* The law of one motion says what happens; whether it does. */
static int uk_ask_alone(uk_lanes *to, const uk_loop_batch *c, long long motion, int l, double t, const double *q,
                        const double *v, double *flags) {
  double efforts[UK_SOME_MOTORS];
  ++c->alone[motion];
  if (UK_LAW_OF(c)(c->controllers[motion], t, q, v, efforts, flags)) return 0;
  UK_EACH(j, UK_NU) UK_PART(to[j], l) = efforts[j];
  return 1;
}

/* When flags of a motion were first up. */
static void uk_note_flags(const uk_loop_batch *c, long long motion, double t, const double *flags) {
  double *seen = c->seen + motion * (UK_NU + c->flags) + UK_NU;
  UK_EACH(k, (int)c->flags) if (flags[k] != 0.0 && t < seen[k]) seen[k] = t;
}
