/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Trajectories of many states at fixed steps; arrays are the caller's. Those over contacts have `active`, `p` and
 * `followed` from elsewhere. */
#pragma once

typedef struct {
  void *tree;                          /* tables of clusters, of one call at a time; else null */
  long long count, steps, every;       /* trajectories; steps of each; steps from sample to sample */
  long long tau_state, tau_step;       /* doubles from one state, one step to the next; 0: the same */
  long long euler, project, p_stride;  /* 0: Runge-Kutta; 1: every step ends on the constraints */
  long long sampled;                   /* 1: rows follow samples, which go in steps by nature */
  double t, dt, stabilize;             /* start and step in s; as of single states, for project 0 */
  const double *q, *v;                 /* (count, UK_NQ), (count, UK_NV) */
  const double *tau;                   /* null: none */
  const double *active;                /* (UK_M): 1 for rows that act */
  const double *p;                     /* (1 or count, UK_NP): parameters; null: there are none */
  const double *followed;              /* (2 steps + 1, 3 UK_M) at all half steps; null: zero */
  double *q_out, *v_out;               /* (count, steps / every + 1, UK_NQ and UK_NV) */
  double *stopped;                     /* (count): 0; 1 where the start, k + 1 where step k fails */
  double *reason;                      /* (count): 1 singular mass, 2 infinite, 3 open loops, 4 a jump */
} uk_trajectories;
