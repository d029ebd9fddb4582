/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* A batch of motions at fixed steps, each under a law of its own, in lanes; arrays are the caller's.
 * Settings, references, starts and parameters may differ; instants are common. With UK_LAW_IN_LANES the
 * laws are uk_control of the same tasks, else any: asked one after the other. */
#pragma once

#include "uk_mechanism.h"

typedef struct {
  long long count, stops, samples;     /* motions; instants, the first the start; samples of each */
  long long euler, p_stride;           /* 0: Runge-Kutta; doubles from one motion's parameters on */
  double step;                         /* longest step in s */
  const double *when, *control, *sample; /* (stops): in s; 1 where laws act, where states are kept */
  const double *active;                /* (UK_M): 1 for rows that act */
  const double *tau;                   /* (count, UK_NV): forces besides those of motors */
  const double *p;                     /* (1 or count, UK_NP): parameters; null: there are none */
  double *const *structures;           /* (count): tables of what structural rows follow, or null */
  void *const *controllers;            /* (count): first argument of the law of each */
  int (*law)(const void *, double t, const double *q, const double *v, double *efforts,
             double *flags);           /* also for periods that lanes do not decide */
  int (*decide)(uk_memory *, const double *v, double *efforts, double *flags); /* uk_decide of the law */
  double *q, *v, *efforts;             /* (count, UK_NV), (count, UK_NU): at the start, then the end */
  double *q_out, *v_out, *efforts_out; /* (count, samples, UK_NV or UK_NU) */
  double *seen;                        /* (count, UK_NU + flags): when each was first up */
  double *stopped;                     /* (count): 1 for a motion that has to be done by itself */
  double *steps, *alone;               /* (count): counted up: steps; laws that were asked alone */
  double *late;                        /* (count, places, 1 + UK_NU) of kernels, for efforts that wait */
  long long flags, places;             /* of a law; efforts that may wait for their time */
  double delay, same;                  /* s: until efforts act; instants as near as this are one */
} uk_loop_batch;
