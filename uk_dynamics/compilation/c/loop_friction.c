/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Loop joints that stick, in steps over one-sided constraints: what presses them are the forces in them, which follow
 * from all friction, as mechanism/contact/impulses.py has it. */
#pragma once

#include "cone_problem.c"
#include "contact.h"
#include "uk_evaluation.h"

/* Impulses in loop joints without those of one-sided constraints, (k, 3), and behind them those per impulse in each
 * direction of what is closed, (dn, k, 3). */
static double *uk_loop_impulses(const uk_contacts *x) {
  return x->room + UK_CONTACT_ROOM(x->count, UK_NV, x->poisson);
}

/* Adds h times the forces in loop joints while rows hold a generalized force and accelerate by `right`; null: not. */
static void uk_loop_add(uk_memory *m, const uk_contacts *x, const double *right, const double *force, double h,
                        double *to) {
  uk_basis b = uk_rows_of(m);
  double held[UK_NV];
  b.rank = (int)m->rank;
  memcpy(held, force, sizeof held);
  uk_lanes_whiten(m, held);
  uk_rotate(&b, held);
  memset(m->z, 0, sizeof m->z);
  if (right) uk_find_coordinates(&b, right, m->z);
  for (int i = 0; i < b.rank; ++i) m->z[i] -= held[i];
  uk_lanes_multipliers(m);
  for (int i = 0; i < 3 * x->count; ++i)
    if (x->in_loop[i / 3]) to[i] += h * uk_dot(x->load_map + i * UK_M, m->multipliers, UK_M);
}

/* Those in the motion without one-sided constraints, of the terms in the memory. */
static void uk_loop_begin(uk_memory *m, const uk_contacts *x, double h) {
  double *alone = uk_loop_impulses(x);
  memset(alone, 0, sizeof(double) * 3 * x->count);
  uk_loop_add(m, x, m->b, m->force, h, alone);
}

/* Those per impulse in each direction of n closed constraints. */
static void uk_loop_respond(uk_memory *m, const uk_contacts *x, const int *closed, int n, const double *rows) {
  double *to = uk_loop_impulses(x) + 3 * x->count;
  memset(to, 0, sizeof(double) * 3 * x->count * UK_D * n);
  for (int i = 0; i < UK_D * n; ++i, to += 3 * x->count) {
    const int row = UK_D * closed[i / UK_D] + i % UK_D;
    if (x->row[row] >= 0) uk_loop_add(m, x, NULL, rows + row * UK_NV, 1.0, to);
  }
}

/* Adds those of an impulse in a direction of what is closed. */
static void uk_loop_press(const uk_contacts *x, int direction, double impulse, double *to) {
  uk_add(to, impulse, uk_loop_impulses(x) + 3 * x->count * (1 + direction), 3 * (int)x->count);
}

/* The cone problem with directions `of` closed constraints, which are its first n; impulses `alone` and its own press
 * loop joints, and are iterated until both agree, as they do where friction is weak. 0, or 1: they do not. */
static int uk_loop_solve(const uk_contacts *x, const int *closed, const int *of, uk_cone *c, int n,
                         const long long *mode, const double *alone) {
  double before[UK_LOOP_FRICTION + 1] = {0.0}, pressing[3 * UK_LOOP_FRICTION + 1], size = 1.0, error = 0.0;
  if (!UK_LOOP_FRICTION) return uk_cone_solve(c);
  for (int trial = -1;; ++trial) {
    double most = UK_TINY, off = 0.0;
    memcpy(pressing, alone, sizeof(double) * 3 * x->count);
    for (int i = 0; i < UK_D * c->n && trial >= 0; ++i)
      if (of[i] >= 0) uk_loop_press(x, of[i], c->r[i], pressing);
    for (int i = 0; i < n; ++i) {
      const int k = closed[i], at = UK_D * i;
      const double now = sqrt(uk_dot(pressing + 3 * k, pressing + 3 * k, 3));
      if (!x->in_loop[k]) continue;
      most = fmax(most, now), off = fmax(off, fabs(now - before[k])), before[k] = now;
      c->q[at] = -c->W[at * (UK_D * c->n + 1)] * x->load[2 * k + (mode[k] == UK_STICKS)] * now;
    }
    const int settled = off <= UK_LOOP_SAME * most;
    if (trial == UK_LOOP_TRIALS || (trial > 0 && settled)) {
      c->error = settled ? error : fmax(off / most, error);
      return !(c->error <= UK_CONE_ADMITTED);
    }
    const double now = uk_largest(c->q, UK_D * c->n);
    if (trial < 0) size = fmax(now, UK_TINY);
    else if (uk_cone_solve(c)) return 1;
    else error = fmax(now / size, 1.0) * c->error; /* forces that grow without end are none */
  }
}
