/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* A motion at fixed steps under a law of control; arrays are the caller's. */
#pragma once

#include "contact.h"
#include "uk_mechanism.h"

typedef struct {
  long long stops, flags;    /* instants, the first of which is the start; flags of the law */
  long long method, project; /* UK_STEP_…; 1: every step ends on the constraints */
  long long continuous;      /* 1: the law acts at every evaluation, 0: efforts are held */
  long long sampled_rows;    /* 1: rows follow samples, which go in steps by nature */
  double step, stabilize;    /* longest step in s; as of single states, for project 0 */
  const double *when;        /* (stops): in s */
  const double *control;     /* (stops): 1 where the law acts; null: nowhere */
  const double *sample;      /* (stops): 1 where the state is kept */
  int (*law)(const void *, double t, const double *q, const double *v, double *efforts,
             double *flags);
  const void *controller;    /* its first argument; without a law both are null */
  double *followed;          /* table of what structural rows follow; null: zero */
  const double *active;      /* (UK_M): 1 for rows that act */
  const double *tau;         /* (UK_NV): forces besides those of motors */
  double *q, *v, *efforts;   /* (UK_NQ), (UK_NV), (UK_NU): at the start, then at the end */
  double *q_out, *v_out, *efforts_out; /* a row per sample */
  const double *watched;     /* (watches): of the law's memory, kept with each sample */
  double *watched_out;       /* a row per sample */
  long long watches;
  double *raised;            /* (UK_NU + flags): 1 for a motor at its effort limit, then the flags */
  double *seen;              /* (UK_NU + flags): when each was first up; infinite: never */
  long long at, sampled, steps, evaluations; /* counted up: instant reached, samples … */
  double rank;               /* of the rows, at the last evaluation; below zero: unknown */
  double delay;              /* from a state until its efforts act, in s; not with continuous */
  double same;               /* s: instants that are nearer to one another are one */
  long long places;          /* of efforts that do not act yet */
  long long *waiting;        /* how many there are */
  double *late;              /* (places, 1 + UK_NU): when each takes effect, and the efforts */
  void *kept;                /* of the last configuration, uk_kept; null: nothing */
  uk_contacts *contacts;     /* over which steps go, by Moreau's rule; null: there are none */
} uk_motion;

/* A law given the state in which its efforts act, as control/delay_compensation.py has it. */
typedef struct {
  uk_memory *memory;       /* of the prediction */
  uk_motion *motion;       /* what acts on the machine, and what its rows follow */
  int (*law)(const void *, double t, const double *q, const double *v, double *efforts,
             double *flags);
  const void *controller;  /* its first argument */
  double delay, longest;   /* s: what is predicted, and what may be */
  long long places;        /* of the efforts sent */
  long long *count;        /* how many there are */
  double *sent;            /* (places, 1 + UK_NU): when each takes effect, and the efforts */
} uk_delay_compensation;

#define UK_NO_EFFORTS 1 /* the law has none at the instant reached */
#define UK_CHANGED 4 /* what is closed, sticks or slides is something else since this instant */
#define UK_NO_MOTION 2  /* the way to the next instant failed; the state is that of this one */
