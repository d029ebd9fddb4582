/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* A motion with error control; see adaptive.h. Stages and errors are those of Hairer, Norsett and
 * Wanner, Solving Ordinary Differential Equations I, II.5 and II.10; the positions of a step are
 * increments from its start, as in core/integration/adaptive.py. */
#pragma once

#include "adaptive.h"
#include "dormand_prince.h"
#include "motion.c"

#define UK_STAGES 12
#define UK_ALL_STAGES 16 /* with those of the interpolant */
#define UK_INTERPOLANT 7      /* of the interpolant */

typedef struct {
  double t, q[UK_NQ], v[UK_NV];
} uk_moment;

typedef struct {
  uk_moment end, start;        /* of the last step */
  uk_moment point;             /* within it, where it was integrated to */
  double bound, next;         /* end of the way; step to try next, in s */
  double dq[UK_NV], w[UK_NV]; /* increment and end of the step before projection */
  double V[UK_ALL_STAGES][UK_NV], K[UK_ALL_STAGES][UK_NV]; /* rates and accelerations */
  double F[UK_INTERPOLANT][2][UK_NV];                  /* interpolant of the last step */
  double dense, steps;                        /* whether there is an interpolant; steps so far */
} uk_way;

UK_EXPORT long long uk_way_size(void) { return (long long)sizeof(uk_way); }

static void uk_set_state(uk_memory *m, const uk_moment *x) {
  m->t = x->t;
  memcpy(m->q, x->q, sizeof m->q);
  memcpy(m->v, x->v, sizeof m->v);
}

static uk_moment uk_moment_of(const uk_memory *m) {
  uk_moment x = {.t = m->t};
  memcpy(x.q, m->q, sizeof x.q);
  memcpy(x.v, m->v, sizeof x.v);
  return x;
}

/* Acceleration of the state in the memory; no number where it has none, so that a trial is taken
 * again, shorter. 1: the mass matrix is singular. */
static int uk_derivative(uk_memory *m, uk_motion *c, double *a) {
  const int failed = uk_stage(m, c);
  if (failed == UK_SINGULAR_MASS) return 1;
  for (int i = 0; i < UK_NV; ++i) a[i] = failed ? NAN : m->qdd[i];
  return 0;
}


/* The next stage, from those before it. */
static int uk_next_stage(uk_memory *m, uk_motion *c, uk_way *w, int stage, double h, double part,
                         const double *weights) {
  double dq[UK_NV] = {0.0}, dv[UK_NV] = {0.0};
  for (int s = 0; s < stage; ++s) {
    if (weights[s] == 0.0) continue;
    const double x = h * weights[s];
    for (int i = 0; i < UK_NV; ++i) dq[i] += x * w->V[s][i], dv[i] += x * w->K[s][i];
  }
  m->t = w->start.t + part * h;
  for (int i = 0; i < UK_NV; ++i) m->v[i] = w->start.v[i] + dv[i];
  uk_reach(w->start.q, 1.0, dq, m->q);
  uk_chart_rate(1.0, m->v, dq);
  memcpy(w->V[stage], dq, sizeof dq);
  return uk_derivative(m, c, w->K[stage]);
}

/* Mean square of what belongs to positions and velocities, over the tolerances there. */
static double uk_norm(const double *positions, const double *velocities, const double *scale) {
  double sum = 0.0;
  for (int i = 0; i < UK_NV; ++i) {
    const double x = positions[i] / scale[i], y = velocities[i] / scale[UK_NV + i];
    sum += x * x + y * y;
  }
  return sqrt(sum / (2.0 * UK_NV));
}

/* A first step from the start, whose acceleration is known (Hairer and others, II.4). */
static int uk_first_step(uk_memory *m, uk_motion *c, uk_way *w, const uk_adaptive *a) {
  const double zero[UK_NV] = {0.0}, left = w->bound - w->start.t;
  double scale[2 * UK_NV], bend[2][UK_NV];
  for (int i = 0; i < UK_NV; ++i) {
    scale[i] = a->atol;
    scale[UK_NV + i] = a->atol + fabs(w->start.v[i]) * a->rtol;
  }
  const double d0 = uk_norm(zero, w->start.v, scale);
  const double d1 = uk_norm(w->start.v, w->K[0], scale);
  double h = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
  if (h > left) h = left;
  m->t = w->start.t + h;
  uk_reach(w->start.q, h, w->start.v, m->q);
  memcpy(bend[0], w->start.v, sizeof bend[0]);
  for (int i = 0; i < UK_NV; ++i) m->v[i] = w->start.v[i] + h * w->K[0][i];
  uk_chart_rate(h, m->v, bend[0]);
  for (int i = 0; i < UK_NV; ++i) bend[0][i] -= w->start.v[i];
  if (uk_derivative(m, c, bend[1])) return 1;
  for (int i = 0; i < UK_NV; ++i) bend[1][i] -= w->K[0][i];
  const double d2 = uk_norm(bend[0], bend[1], scale) / h, most = d1 > d2 ? d1 : d2;
  double next = most <= 1e-15 ? (h > 1e-3 ? 1e-3 * h : 1e-6) : pow(0.01 / most, 1.0 / 8.0);
  if (!(next <= 100.0 * h)) next = 100.0 * h;
  if (next > left) next = left;
  w->next = next;
  return 0;
}

/* All stages of a step, then its end and its error in tolerances; no number where a stage has none.
 * 1: the mass matrix is singular. */
static int uk_trial(uk_memory *m, uk_motion *c, uk_way *w, double h, double rtol, double atol,
                    double *error) {
  *error = NAN;
  for (int s = 1; s < UK_STAGES; ++s) {
    if (uk_next_stage(m, c, w, s, h, uk_dop_c[s], uk_dop_a + s * UK_STAGES)) return 1;
    if (!isfinite(uk_total(w->K[s], UK_NV))) return 0;
  }
  double fifth = 0.0, third = 0.0;
  for (int i = 0; i < UK_NV; ++i) {
    double dq = 0.0, dv = 0.0, five[2] = {0.0, 0.0}, three[2] = {0.0, 0.0};
    for (int s = 0; s < UK_STAGES; ++s) {
      dq += uk_dop_b[s] * w->V[s][i], dv += uk_dop_b[s] * w->K[s][i];
      five[0] += uk_dop_e5[s] * w->V[s][i], five[1] += uk_dop_e5[s] * w->K[s][i];
      three[0] += uk_dop_e3[s] * w->V[s][i], three[1] += uk_dop_e3[s] * w->K[s][i];
    }
    w->dq[i] = h * dq, w->w[i] = w->start.v[i] + h * dv;
    const double faster = fabs(w->w[i]) > fabs(w->start.v[i]) ? w->w[i] : w->start.v[i];
    const double scale[] = {atol + rtol * fabs(w->dq[i]), atol + rtol * fabs(faster)};
    for (int k = 0; k < 2; ++k) {
      const double x = five[k] / scale[k], y = three[k] / scale[k];
      fifth += x * x, third += y * y;
    }
  }
  const double both = (fifth + 0.01 * third) * (2.0 * UK_NV);
  *error = fifth == 0.0 && third == 0.0 ? 0.0 : h * fifth / sqrt(both);
  return 0;
}

/* The state in the memory at the end of some step on the constraints, and what that corrects; 1: there is
 * none, or they jumped. */
static int uk_settle_end(uk_memory *m, uk_motion *c, uk_way *w, double *position, double *velocity) {
  const uk_moment before = uk_moment_of(m);
  uk_kept kept = {.known = 0};
  uk_mask failed;
  uk_stepper s = uk_stepper_of(m, c, &kept, &failed);
  if (uk_follow_structure(m, c->followed)) return 1;
  uk_lanes_settle_step(&s.steps, &w->start.q, &w->start.v, m->t - w->start.t);
  if (failed) return 1;
  *position = uk_farthest(before.q, m->q), *velocity = uk_apart(m->v, before.v);
  return 0;
}

static void uk_start_way(uk_way *w, uk_moment start, double bound) {
  w->end = start, w->bound = bound, w->dense = w->steps = 0.0;
}

/* The end of the last step before projection. */
static void uk_set_end(uk_memory *m, const uk_way *w, double t) {
  m->t = t;
  uk_reach(w->start.q, 1.0, w->dq, m->q);
  memcpy(m->v, w->w, sizeof m->v);
}

/* One accepted step; 1 where there is none. */
static int uk_stride(uk_memory *m, uk_motion *c, uk_way *w, uk_adaptive *a, double loose) {
  const double rtol = loose * a->rtol, atol = loose * a->atol;
  w->start = w->point = w->end, w->dense = 0.0;
  uk_set_state(m, &w->start);
  memcpy(w->V[0], m->v, sizeof m->v);
  if (uk_derivative(m, c, w->K[0]) || !isfinite(uk_total(w->K[0], UK_NV))) return 1;
  if (w->next == 0.0 && uk_first_step(m, c, w, a)) return 1;
  const double shortest = 10.0 * (nextafter(w->end.t, INFINITY) - w->end.t);
  double h = w->next, error, end;
  if (h > a->max_step) h = a->max_step;
  if (h < shortest) h = shortest;
  for (int again = 0;; again = 1) {
    if (!(h >= shortest)) return 1;
    end = w->start.t + h;
    if (end > w->bound) end = w->bound;
    h = end - w->start.t;
    if (uk_trial(m, c, w, h, rtol, atol, &error)) return 1;
    if (error < 1.0) {
      double factor = error == 0.0 ? 10.0 : 0.9 * pow(error, -1.0 / 8.0);
      if (factor > 10.0) factor = 10.0;
      if (again && factor > 1.0) factor = 1.0;
      w->next = h * factor;
      break;
    }
    const double factor = 0.9 * pow(error, -1.0 / 8.0);
    h *= factor > 0.2 ? factor : 0.2;
    ++a->rejected;
  }
  double position, velocity;
  uk_set_end(m, w, end);
  if (uk_settle_end(m, c, w, &position, &velocity)) return 1;
  a->largest = fmax(a->largest, fmax(position, velocity));
  w->end = uk_moment_of(m), w->steps += 1.0;
  return 0;
}

/* The interpolant of the last step, before projection; 1: the mass matrix is singular. */
static int uk_interpolate(uk_memory *m, uk_motion *c, uk_way *w) {
  const double h = w->end.t - w->start.t;
  uk_set_end(m, w, w->end.t);
  memcpy(w->V[UK_STAGES], w->dq, sizeof w->dq);
  uk_chart_rate(1.0, w->w, w->V[UK_STAGES]);
  if (uk_derivative(m, c, w->K[UK_STAGES])) return 1;
  for (int s = UK_STAGES + 1, k = 0; s < UK_ALL_STAGES; ++s, ++k)
    if (uk_next_stage(m, c, w, s, h, uk_dop_extra_c[k], uk_dop_extra_a + k * UK_ALL_STAGES))
      return 1;
  for (int k = 0; k < 2; ++k) {
    double(*rates)[UK_NV] = k ? w->K : w->V;
    for (int i = 0; i < UK_NV; ++i) {
      const double delta = k ? w->w[i] - w->start.v[i] : w->dq[i];
      const double first = h * rates[0][i], last = h * rates[UK_STAGES][i];
      w->F[0][k][i] = delta;
      w->F[1][k][i] = first - delta;
      w->F[2][k][i] = 2.0 * delta - (first + last);
      for (int p = 3; p < UK_INTERPOLANT; ++p) {
        double sum = 0.0;
        for (int s = 0; s < UK_ALL_STAGES; ++s)
          sum += uk_dop_d[(p - 3) * UK_ALL_STAGES + s] * rates[s][i];
        w->F[p][k][i] = h * sum;
      }
    }
  }
  w->dense = 1.0;
  return 0;
}

/* The state at a time within the last step by a way of its own, with ten times the tolerances:
 * those that a sound interpolant keeps. */
static int uk_detour(uk_memory *m, uk_motion *c, uk_way *w, const uk_adaptive *a, double t) {
  if (t < w->point.t) w->point = w->start;
  uk_way detour;
  uk_start_way(&detour, w->point, t);
  detour.next = t - w->point.t;
  uk_adaptive apart = *a; /* what it counts is not said of the steps */
  while (detour.end.t < t)
    if (uk_stride(m, c, &detour, &apart, 10.0)) return 1;
  w->point = detour.end;
  uk_set_state(m, &w->point);
  return 0;
}

/* The state at a time within the last step, interpolated and projected, in the memory. No error
 * control watches the interpolant, and one of its points may be where the rank drops: a large
 * correction shows it, and then the way is integrated. */
static int uk_sample_way(uk_memory *m, uk_motion *c, uk_way *w, const uk_adaptive *a, double t) {
  if (t >= w->end.t || w->steps == 0.0) {
    uk_set_state(m, &w->end);
    m->t = t;
    return 0;
  }
  if (w->dense == 0.0 && uk_interpolate(m, c, w)) return 1;
  const double x = (t - w->start.t) / (w->end.t - w->start.t);
  double way[2][UK_NV], position, velocity;
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < UK_NV; ++i) {
      double y = 0.0;
      for (int p = UK_INTERPOLANT - 1; p >= 0; --p) y = (y + w->F[p][k][i]) * (p % 2 ? 1.0 - x : x);
      way[k][i] = y;
    }
  uk_reach(w->start.q, 1.0, way[0], m->q);
  for (int i = 0; i < UK_NV; ++i) m->v[i] = w->start.v[i] + way[1][i];
  m->t = t;
  const int failed = uk_settle_end(m, c, w, &position, &velocity);
  const double allowed = UK_SOUND * (a->atol + a->rtol * uk_largest(m->v, UK_NV));
  if (!failed && velocity <= allowed) return 0;
  const int lost = uk_detour(m, c, w, a, t);
  m->t = t;
  return lost;
}

/* The whole motion as uk_move, where integration begins afresh wherever it breaks; 0,
 * UK_NO_EFFORTS, UK_NO_MOTION or UK_PAUSED. */
UK_EXPORT int uk_move_adaptively(uk_memory *m, uk_motion *c, uk_adaptive *a) {
  uk_way *w = a->way;
  uk_load(m, c);
  uk_apply(m, c);
  for (;; ++c->at) {
    if (!a->under_way) {
      if (uk_at_instant(m, c)) return UK_NO_EFFORTS;
      if (c->at + 1 >= c->stops) return 0;
      if (c->at == 0 || a->breaks[c->at] != 0.0) {
        long long end = c->at + 1;
        while (end + 1 < c->stops && a->breaks[end] == 0.0) ++end;
        uk_apply(m, c);
        uk_start_way(w, uk_moment_of(m), c->when[end]);
        const double left = w->bound - w->end.t;
        w->next = a->next < left ? a->next : left;
      }
    }
    const double stop = c->when[c->at + 1];
    do {
      a->under_way = c->sampled >= a->room || c->evaluations >= a->patience;
      if (a->under_way) return UK_PAUSED;
      if (w->end.t >= stop - UK_SAME_TIME) break;
      if (uk_stride(m, c, w, a, 1.0)) return UK_NO_MOTION;
      a->next = w->next;
      ++c->steps;
    } while (1);
    if (uk_sample_way(m, c, w, a, stop)) return UK_NO_MOTION;
    uk_keep(m, c);
  }
}
