/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Closed loops in lanes; see crowd.h. The steps are those of motion.c. */
#pragma once

#include <string.h>

#include "crowd.h"
#include "references.c"
#include "solve_lanes.c"
#include "uk_closed_loops.h"
#include "uk_following.h"
#include "uk_motors.h"

#if UK_LAW_IN_LANES
#include "control_period.h"
#endif

typedef struct {
  int lanes; /* that are motions of their own */
  double *structure[UK_WIDTH]; /* tables of what their rows follow */
  int structure_alike;         /* whether all are the same */
  uk_lanes tau[UK_NV], held[UK_NU]; /* forces besides those of motors, their efforts */
  uk_lanes efforts[UK_NU];          /* what the laws say */
#if UK_LAW_IN_LANES
  uk_controller *controller[UK_WIDTH];
  double *tasks[UK_WIDTH], *expected[UK_WIDTH]; /* what tasks follow, and the law's structure */
  int tasks_alike, expected_alike; /* at the same time, too */
#define UK_FIELD(name, n) uk_lanes name[n];
  UK_SETTINGS(UK_FIELD) UK_REMEMBERED(UK_FIELD)
  uk_lanes root[UK_NU], inverse_root[UK_NU]; /* of the weights */
  uk_lanes followed[3 * UK_MT], error[UK_MT], rate[UK_MT], desired[UK_MT];
  uk_lanes map[UK_MT * UK_NU], wanted[UK_MT];
  uk_lanes A[UK_MT * UK_NV]; /* rows of tasks; zeros are never written */
#if UK_SWITCHED
  uk_lanes active[UK_ROWS];
#endif
#endif
} uk_group;

typedef struct { /* efforts that do not act yet: how many, from when on, of the motors */
  int count;
  double *when;
  uk_lanes *efforts;
} uk_queue;

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

/* What a number of rows of all motions follow at times of the lanes. */
static void uk_follow_all(double *const *tables, int alike, uk_lanes t, int rows, uk_lanes *to,
                          uk_mask *failed) {
  double values[UK_MOST_FOLLOWED];
  UK_EACH(l, alike ? 1 : UK_WIDTH) {
    const uk_mask lost = alike ? uk_not(uk_none()) : uk_lane(l);
    if (uk_follow(tables[l], UK_PART(t, l), rows, values)) *failed |= lost;
    if (alike) UK_EACH(i, 3 * rows) to[i] = uk_all(values[i]);
    else UK_EACH(i, 3 * rows) UK_PART(to[i], l) = values[i];
  }
}

/* What structural rows follow at the time in the memory. */
static void uk_lanes_structure(uk_lanes_memory *m, const uk_group *g, uk_mask *failed) {
#if UK_FOLLOWS
  uk_follow_all(g->structure, g->structure_alike, m->t, UK_M, m->followed, failed);
#else
  (void)m, (void)g, (void)failed;
#endif
}

/* The law of one motion says what happens; whether it does. */
static int uk_crowd_ask(uk_group *g, uk_crowd *c, long long first, int l, double t,
                        const double *q, const double *v, double *flags) {
  double efforts[UK_NU > 0 ? UK_NU : 1];
  ++c->alone;
  if (c->law(c->controllers[first + l], t, q, v, efforts, flags)) return 0;
  UK_EACH(j, UK_NU) UK_PART(g->efforts[j], l) = efforts[j];
  return 1;
}

/* When flags of a motion were first up. */
static void uk_crowd_note(const uk_crowd *c, long long motion, double t, const double *flags) {
  double *seen = c->seen + motion * (UK_NU + c->flags) + UK_NU;
  UK_EACH(k, (int)c->flags) if (flags[k] != 0.0 && t < seen[k]) seen[k] = t;
}
