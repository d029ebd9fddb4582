/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* All joints from the measured ones: Newton corrections onto loops and measurements, which stay on
 * their assembly branch, then velocities, as control/estimation and core/servo/loop_factors.py have
 * it. What is not there: directions that are singular here are a failure, not left where they are. */
#pragma once

#include <math.h>
#include <string.h>

#include "attributes.h"
#include "completion.h"
#include "row_elimination.c"
#include "uk_config.h"
#include "uk_loops.h"

#define UK_TURN 6.28318530717958647692


/* Columns of the joints that are not measured, as rows. */
static uk_basis uk_others(const uk_loop_factors *f) {
  return uk_basis_at(UK_HELD, UK_OTHERS, UK_OTHERS, (double *)f->columns, (double *)f->of_columns);
}

#if UK_REDUNDANT

/* Independent conditions on measured joints, in units of deviations. */
static uk_basis uk_weighed(const uk_loop_factors *f) {
  return uk_basis_at(UK_MEASURED, f->count, f->count, (double *)f->weighed, (double *)f->of_weighed);
}

/* Conditions on measured joints, and which are independent: judged before they are weighed. */
static void uk_factor_conditions(uk_loop_factors *f, double tolerance) {
  const uk_basis others = uk_others(f);
  double rows[UK_CONDITIONS * UK_MEASURED], room[6 * UK_CONDITIONS], column[UK_HELD];
  for (int i = 0; i < UK_MEASURED; ++i) {
    for (int r = 0; r < UK_HELD; ++r) column[r] = f->A[r * UK_NV + uk_measured[i]];
    uk_rotate(&others, column);
    for (int r = 0; r < UK_CONDITIONS; ++r) f->conditions[r][i] = column[UK_OTHERS + r];
  }
  memcpy(rows, f->conditions, sizeof rows);
  uk_basis found = uk_basis_at(UK_MEASURED, UK_CONDITIONS, 0, rows, room);
  uk_eliminate_rows(&found, tolerance * uk_begin_rows(&found));
  f->count = found.rank < UK_REDUNDANT ? found.rank : UK_REDUNDANT;
  for (int k = 0; k < f->count; ++k) {
    f->chosen[k] = (int)found.row[k];
    for (int i = 0; i < UK_MEASURED; ++i)
      f->weighed[k * UK_MEASURED + i] = f->conditions[f->chosen[k]][i] * uk_deviation[i];
  }
  uk_basis weighed = uk_weighed(f);
  uk_factor_rows(&weighed, NULL, 0.0);
}

#endif

/* Factors of the rows at a configuration; joints that they do not determine stay where they are. */
static void uk_factor_loops(uk_loop_factors *f, double tolerance) {
  for (int k = 0; k < UK_OTHERS; ++k)
    for (int r = 0; r < UK_HELD; ++r)
      f->columns[k * UK_HELD + r] = f->A[r * UK_NV + uk_other[k]] * uk_other_scale[k];
  uk_basis others = uk_others(f);
  uk_begin_rows(&others);
  uk_eliminate_rows(&others, 0.0);
  f->regularity = 1.0;
  if (others.rank < UK_OTHERS) f->regularity = 0.0;
  else if (UK_OTHERS) f->regularity = fabs(others.inverse_R[0] / others.inverse_R[UK_OTHERS - 1]);
  f->singular = !(f->regularity >= tolerance);
#if UK_REDUNDANT
  uk_factor_conditions(f, tolerance);
#endif
}

/* The d with A d = target whose measured part is nearest to the one wanted. */
static void uk_loop_move(const uk_loop_factors *f, const double *target, const double *wanted,
                         double *d) {
  const uk_basis others = uk_others(f);
  double rest[UK_HELD], part[UK_MEASURED], moved[UK_SIZE(UK_OTHERS)] = {0.0};
  memcpy(part, wanted, sizeof part);
#if UK_REDUNDANT
  const uk_basis weighed = uk_weighed(f);
  double missing[UK_REDUNDANT], more[UK_MEASURED];
  memcpy(rest, target, sizeof rest);
  uk_rotate(&others, rest);
  for (int k = 0; k < f->count; ++k) {
    const int row = f->chosen[k];
    missing[k] = rest[UK_OTHERS + row] - uk_dot(f->conditions[row], wanted, UK_MEASURED);
  }
  uk_solve_rows(&weighed, missing, more);
  for (int i = 0; i < UK_MEASURED; ++i) part[i] += uk_deviation[i] * more[i];
#endif
  for (int r = 0; r < UK_HELD; ++r) {
    rest[r] = target[r];
    for (int i = 0; i < UK_MEASURED; ++i) rest[r] -= f->A[r * UK_NV + uk_measured[i]] * part[i];
  }
  for (int i = 0; i < UK_MEASURED; ++i) d[uk_measured[i]] = part[i];
  uk_nearest_combination(&others, rest, moved);
  for (int k = 0; k < UK_OTHERS; ++k) d[uk_other[k]] = uk_other_scale[k] * moved[k];
}

static void uk_misfits(const double *q, const double *wanted, double *misfit) {
  for (int i = 0; i < UK_MEASURED; ++i) misfit[i] = wanted[i] - q[uk_measured[i]];
}

/* Whether a singularity may lie between two configurations. */
static int uk_near_singularity(double tolerance, double regularity, double other, const double *before,
                   const double *after) {
  double way[UK_SIZE(UK_OTHERS)];
  for (int k = 0; k < UK_OTHERS; ++k)
    way[k] = (after[uk_other[k]] - before[uk_other[k]]) / fmax(uk_other_scale[k], UK_LEAST_LEVER);
  const double nearest = regularity < other ? regularity : other;
  const double within = UK_SINGULARITY_WITHIN * uk_largest(way, UK_OTHERS);
  return nearest < (tolerance > within ? tolerance : within);
}

/* Factors at q, and the step onto loops and measurements; its size. */
static double uk_newton_step(uk_completion *c, double t, const double *q, const double *wanted, double *d) {
  uk_loop_factors *f = &c->factors;
  double target[UK_HELD], misfit[UK_MEASURED];
  uk_loop_rows(t, q, c->zero, f->A, f->psi);
  uk_factor_loops(f, c->singular_tolerance);
  for (int r = 0; r < UK_HELD; ++r) target[r] = -f->psi[r];
  uk_misfits(q, wanted, misfit);
  uk_loop_move(f, target, misfit, d);
  return uk_largest(d, UK_NV);
}

/* Newton corrections of q, in place, and the factors there; 0, or 1: it does not converge. */
static int uk_correct_joints(uk_completion *c, double t, double *q, const double *wanted) {
  const uk_loop_factors *f = &c->factors;
  double before = HUGE_VAL, d[UK_NV], part[UK_HELD];
  for (int count = 0; count < UK_MOST_CORRECTIONS; ++count) {
    const double size = uk_newton_step(c, t, q, wanted, d);
    if (f->singular || !(size <= UK_LARGEST_LOOP_CORRECTION)) return 1;
    for (int i = 0; i < UK_NV; ++i) q[i] += d[i];
    ++c->iterations;
    for (int r = 0; r < UK_HELD; ++r) part[r] = f->psi[r] / uk_held_scale[r];
    c->residual = uk_largest(part, UK_HELD);
    const int stalled = count > 0 && size > UK_CONTRACTION * before;
    if (size <= (stalled ? UK_STALLED_CORRECTION : UK_SMALL_CORRECTION)) return !(c->residual <= UK_OPEN_LOOP);
    if (stalled) return 1;
    before = size;
  }
  return 1;
}

/* Measurements shifted by full turns to be nearest to where joints have moved from the last state,
 * where encoders count within one; the largest way from there. */
static double uk_nearest_turn(const uk_completion *c, const double *moved, const double *measured,
                              double *wanted) {
  double way = 0.0;
  for (int i = 0; i < UK_MEASURED; ++i) {
    const double expected = c->q[uk_measured[i]] + moved[i];
    wanted[i] = measured[i];
    if (uk_turning[i]) wanted[i] += UK_TURN * nearbyint((expected - measured[i]) / UK_TURN);
    const double part = fabs(wanted[i] - expected);
    if (!(part <= way)) way = part;
  }
  return way;
}

static void uk_complete_velocities(uk_completion *c, double t, const double *rates) {
  double drift[UK_HELD];
  for (int r = 0; r < UK_HELD; ++r) drift[r] = 0.0;
  (void)t;
#if UK_MOVING
  uk_loop_drift(t, c->q, c->zero, drift);
  for (int r = 0; r < UK_HELD; ++r) drift[r] = -drift[r];
#endif
  uk_loop_move(&c->factors, drift, rates, c->v);
}

static int uk_is_finite(const double *measured, const double *rates) {
  return isfinite(uk_total(measured, UK_MEASURED) + uk_total(rates, UK_MEASURED));
}

/* From measurements near the last ones; UK_COMPLETE, or why there is no state, and the last one
 * remains. */
UK_EXPORT int uk_complete(uk_completion *c, double t, const double *measured,
                          const double *rates) {
  if (!uk_is_finite(measured, rates)) return UK_NOT_FINITE;
  double wanted[UK_MEASURED], misfit[UK_MEASURED], q[UK_NV], d[UK_NV], still[UK_HELD];
  c->iterations = 0;
  if (!(uk_nearest_turn(c, c->moved, measured, wanted) <= c->jump)) return UK_JUMP;
  const double before = c->factors.regularity;
  for (int r = 0; r < UK_HELD; ++r) still[r] = 0.0;
  uk_misfits(c->q, wanted, misfit);
  uk_loop_move(&c->factors, still, misfit, d); /* along the tangent */
  for (int i = 0; i < UK_NV; ++i) q[i] = c->q[i] + d[i];
  const uk_loop_factors kept = c->factors;
  if (uk_correct_joints(c, t, q, wanted)) {
    const int singular = c->factors.singular;
    c->factors = kept;
    return singular ? UK_SINGULAR : UK_LOST;
  }
  c->near_singular = uk_near_singularity(c->singular_tolerance, before, c->factors.regularity, c->q, q);
  memcpy(c->q, q, sizeof q);
  uk_misfits(q, wanted, c->misfit);
  uk_complete_velocities(c, t, rates);
  return UK_COMPLETE;
}

/* From a closed configuration to measurements, along a straight line in them: up to `steps`
 * corrections, which take milliseconds rather than microseconds. */
static int uk_walk(uk_completion *c, double t, const double *from, const double *measured, int steps) {
  double wanted[UK_MEASURED], begin[UK_MEASURED], target[UK_MEASURED], q[UK_NV], d[UK_NV];
  memcpy(c->q, from, sizeof c->q);
  c->near_singular = 0;
  const double way = uk_nearest_turn(c, c->zero, measured, wanted);
  for (int i = 0; i < UK_MEASURED; ++i) begin[i] = c->q[uk_measured[i]];
  double longest = UK_LONGEST_MEASURED_STEP / (way > UK_LONGEST_MEASURED_STEP ? way : UK_LONGEST_MEASURED_STEP);
  double done = 0.0, step = longest;
  for (int k = 0; k < steps; ++k) {
    const double ahead = done + step < 1.0 ? done + step : 1.0;
    for (int i = 0; i < UK_MEASURED; ++i) target[i] = begin[i] + ahead * (wanted[i] - begin[i]);
    const double size = uk_newton_step(c, t, c->q, target, d), here = c->factors.regularity;
    for (int i = 0; i < UK_NV; ++i) q[i] = c->q[i] + d[i];
    if (size <= UK_LONGEST_MOVE && !uk_correct_joints(c, t, q, target)) {
      if (uk_near_singularity(c->singular_tolerance, here, c->factors.regularity, c->q, q)) {
        if ((ahead - done) * way > UK_CAUTIOUS_STEP) {
          step = 0.5 * (ahead - done);
          continue;
        }
        c->near_singular = 1;
      }
      memcpy(c->q, q, sizeof q);
      done = ahead;
      if (done >= 1.0) {
        uk_misfits(q, wanted, c->misfit);
        return UK_COMPLETE;
      }
      step = 2.0 * step < longest ? 2.0 * step : longest;
    } else if (step < UK_SHORTEST_STEP) {
      break;
    } else {
      step *= 0.5;
      longest = 2.0 * step; /* a longer step would fail again */
    }
  }
  return c->factors.singular ? UK_SINGULAR : UK_LOST;
}

/* How far the measured joints are from a configuration. */
static double uk_way(uk_completion *c, const double *from, const double *measured) {
  double wanted[UK_MEASURED];
  memcpy(c->q, from, sizeof c->q);
  return uk_nearest_turn(c, c->zero, measured, wanted);
}

/* First measurements, reached from the last state, then from the nearest known configurations, the
 * initial one among them: up to `steps` corrections for each. */
UK_EXPORT int uk_complete_start(uk_completion *c, double t, const double *measured,
                                const double *rates, int steps) {
  if (!uk_is_finite(measured, rates)) return UK_NOT_FINITE;
  double last[UK_NV], way[UK_HOMES];
  int found = UK_LOST;
  memcpy(last, c->q, sizeof last);
  memset(c->zero, 0, sizeof c->zero);
  c->iterations = 0;
  for (int k = 0; k < UK_HOMES; ++k) way[k] = uk_way(c, uk_homes + k * UK_NV, measured);
  if (c->known) found = uk_walk(c, t, last, measured, steps);
  for (int tried = 0; found != UK_COMPLETE && tried < UK_HOMES && tried < UK_MOST_STARTS; ++tried) {
    int nearest = 0;
    for (int k = 1; k < UK_HOMES; ++k)
      if (way[k] < way[nearest]) nearest = k;
    way[nearest] = HUGE_VAL;
    found = uk_walk(c, t, uk_homes + nearest * UK_NV, measured, steps);
  }
  if (found != UK_COMPLETE) {
    memcpy(c->q, last, sizeof last);
    return found;
  }
  c->known = 1;
  uk_complete_velocities(c, t, rates);
  return UK_COMPLETE;
}

/* Velocities of all joints, (UK_NV), with given ones of the measured joints, at the last state of
 * loops that do not move by themselves. */
UK_EXPORT void uk_rates(const uk_completion *c, const double *rates, double *v) {
  double still[UK_HELD];
  for (int r = 0; r < UK_HELD; ++r) still[r] = 0.0;
  uk_loop_move(&c->factors, still, rates, v);
}
