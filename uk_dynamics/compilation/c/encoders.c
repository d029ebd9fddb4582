/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* A law that knows its machine by encoders alone, as control/estimation/encoder_readings.py has it. */
#pragma once

#include "completion.c"
#include "uk_readings.h"

typedef struct {
  uk_completion *room;
  uk_encoder_memory *own;     /* what Python works on as well */
  int (*law)(const void *, double t, const double *q, const double *v, double *efforts,
             double *flags);
  const void *controller;     /* its first argument */
  double resolution, filter;  /* rad or m; time constant of differences in s, 0: none */
  const double *noise;        /* (places, UK_MEASURED): of the readings to come; null: none */
  long long places;
} uk_encoders;

UK_EXPORT long long uk_completion_size(void) { return sizeof(uk_completion); }

/* The state that is told, in the room; as uk_complete. */
static int uk_tell(const uk_encoders *e, double t, const double *told) {
  const uk_encoder_memory *own = e->own;
  uk_completion *c = e->room;
  if (own->known == 0.0) return uk_complete_start(c, t, told, told + UK_MEASURED, UK_MOST_STEPS);
  memcpy(c->q, own->q, sizeof c->q);
  if (own->in_c == 0.0) { /* Python has come here */
    uk_loop_rows(own->t, c->q, c->zero, c->factors.A, c->factors.psi);
    uk_factor_loops(&c->factors, c->singular_tolerance);
  }
  const int failed = uk_complete(c, t, told, told + UK_MEASURED);
  return failed ? failed : c->near_singular; /* shorter steps, as Python takes, may show that there is none */
}

/* Efforts of the law for what encoders tell of a state; as uk_control. 5: the loops do not lead there in
 * one step, or there is no noise left. Where there are no efforts, nothing has been read. */
UK_EXPORT int uk_read_encoders(const void *encoders, double t, const double *q, const double *v,
                               double *efforts, double *flags) {
  const uk_encoders *e = (const uk_encoders *)encoders;
  uk_encoder_memory *own = e->own;
  const double none[UK_MEASURED] = {0.0}, *noise = none;
  double place[UK_MEASURED], rate[UK_MEASURED], told[2 * UK_MEASURED];
  const double elapsed = own->known != 0.0 && t > own->t ? t - own->t : 0.0;
  if (e->noise != NULL) {
    if (own->used >= (double)e->places) return 5;
    noise = e->noise + (long long)own->used * UK_MEASURED;
  }
  for (int i = 0; i < UK_MEASURED; ++i) place[i] = q[uk_measured[i]], rate[i] = v[uk_measured[i]];
  uk_reading(place, rate, noise, own->positions, own->velocities, &elapsed, &e->resolution, &e->filter, told);
  const int lost = uk_tell(e, t, told);
  const int failed = lost ? 5 : e->law(e->controller, t, e->room->q, e->room->v, efforts, flags);
  own->in_c = !failed;
  if (failed) return failed;
  own->known = 1.0, own->t = t, own->used += 1.0;
  memcpy(own->positions, told, sizeof own->positions);
  memcpy(own->velocities, told + UK_MEASURED, sizeof own->velocities);
  memcpy(own->q, e->room->q, sizeof own->q);
  return 0;
}
