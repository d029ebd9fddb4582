/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* All joints from the measured ones: Newton corrections onto loops and measurements, which stay on
 * their assembly branch, then velocities, as control/estimation and core/servo/loop_factors.py have
 * it. What is not there: directions that are singular here are a failure, not left where they are. */
#pragma once

#include <math.h>
#include <string.h>

#include "attributes.h"
#include "completion.h"
#include "uk_config.h"
#include "uk_loops.h"

#define UK_TURN 6.28318530717958647692

/* Largest size; no number where one of them is none. */
static double uk_largest_of(const double *x, int count) {
  double largest = 0.0;
  for (int i = 0; i < count && !isnan(largest); ++i)
    if (!(fabs(x[i]) <= largest)) largest = fabs(x[i]);
  return largest;
}

/* Reflects columns from `row` down, with 1 before the rest of v. */
static void uk_reflect_column(const double *v, double beta, int row, double *x) {
  double s = x[row];
  for (int i = row + 1; i < UK_HELD; ++i) s += v[i] * x[i];
  s *= beta;
  x[row] -= s;
  for (int i = row + 1; i < UK_HELD; ++i) x[i] -= s * v[i];
}

/* Q^T x in place. */
static void uk_reflect_rows(const uk_loop_factors *f, double *x) {
  for (int k = 0; k < UK_OTHERS; ++k) uk_reflect_column(f->columns[k], f->beta[k], k, x);
}

/* Which rows of the conditions on measured joints are independent, and those weighed, as R^T Q^T. */
static void uk_factor_conditions(uk_loop_factors *f, double tolerance) {
#if UK_REDUNDANT
  double rest[UK_CONDITIONS][UK_MEASURED], first = 0.0;
  memcpy(rest, f->conditions, sizeof rest);
  for (f->count = 0; f->count < UK_REDUNDANT; ++f->count) {
    int best = 0;
    double most = -1.0;
    for (int r = 0; r < UK_CONDITIONS; ++r) {
      double square = 0.0;
      for (int i = 0; i < UK_MEASURED; ++i) square += rest[r][i] * rest[r][i];
      if (square > most) most = square, best = r;
    }
    const double norm = sqrt(most);
    if (f->count == 0) first = norm;
    if (!(norm > tolerance * first)) break;
    f->chosen[f->count] = best;
    double unit[UK_MEASURED];
    for (int i = 0; i < UK_MEASURED; ++i) unit[i] = rest[best][i] / norm;
    for (int r = 0; r < UK_CONDITIONS; ++r) {
      double s = 0.0;
      for (int i = 0; i < UK_MEASURED; ++i) s += unit[i] * rest[r][i];
      for (int i = 0; i < UK_MEASURED; ++i) rest[r][i] -= s * unit[i];
    }
    for (int i = 0; i < UK_MEASURED; ++i) rest[best][i] = 0.0;
  }
  for (int k = 0; k < f->count; ++k) { /* Gram-Schmidt, twice for orthogonality to rounding */
    double *unit = f->weighed[k];
    for (int i = 0; i < UK_MEASURED; ++i)
      unit[i] = f->conditions[f->chosen[k]][i] * uk_deviation[i];
    for (int j = 0; j < k; ++j) f->lower[k][j] = 0.0;
    for (int again = 0; again < 2; ++again)
      for (int j = 0; j < k; ++j) {
        double s = 0.0;
        for (int i = 0; i < UK_MEASURED; ++i) s += f->weighed[j][i] * unit[i];
        f->lower[k][j] += s;
        for (int i = 0; i < UK_MEASURED; ++i) unit[i] -= s * f->weighed[j][i];
      }
    double square = 0.0;
    for (int i = 0; i < UK_MEASURED; ++i) square += unit[i] * unit[i];
    const double norm = f->lower[k][k] = sqrt(square);
    for (int i = 0; i < UK_MEASURED; ++i) unit[i] /= norm;
  }
#else
  (void)f, (void)tolerance;
#endif
}

/* Factors of the rows at a configuration: columns of joints that are not measured are reduced by
 * reflections, the largest first. */
static void uk_factor_loops(uk_loop_factors *f, double tolerance) {
  for (int k = 0; k < UK_OTHERS; ++k) {
    f->order[k] = k;
    for (int r = 0; r < UK_HELD; ++r)
      f->columns[k][r] = f->A[r * UK_NV + uk_other[k]] * uk_other_scale[k];
  }
  double first = 1.0, last = 1.0;
  for (int k = 0; k < UK_OTHERS; ++k) {
    int best = k;
    double most = -1.0;
    for (int j = k; j < UK_OTHERS; ++j) {
      double square = 0.0;
      for (int r = k; r < UK_HELD; ++r) square += f->columns[j][r] * f->columns[j][r];
      if (square > most) most = square, best = j;
    }
    if (best != k) {
      double column[UK_HELD];
      memcpy(column, f->columns[k], sizeof column);
      memcpy(f->columns[k], f->columns[best], sizeof column);
      memcpy(f->columns[best], column, sizeof column);
      const int place = f->order[k];
      f->order[k] = f->order[best], f->order[best] = place;
    }
    double *v = f->columns[k];
    const double norm = sqrt(most);
    if (k == 0) first = norm;
    last = norm;
    if (!(norm > 0.0)) {
      f->beta[k] = 0.0;
      continue;
    }
    const double diagonal = v[k] > 0.0 ? -norm : norm, head = v[k] - diagonal;
    f->beta[k] = -head / diagonal;
    for (int r = k + 1; r < UK_HELD; ++r) v[r] /= head;
    v[k] = diagonal;
    for (int j = k + 1; j < UK_OTHERS; ++j) uk_reflect_column(v, f->beta[k], k, f->columns[j]);
  }
  f->regularity = first > 0.0 ? last / first : 0.0;
  f->singular = !(f->regularity >= tolerance);
#if UK_REDUNDANT
  for (int i = 0; i < UK_MEASURED; ++i) {
    double column[UK_HELD];
    for (int r = 0; r < UK_HELD; ++r) column[r] = f->A[r * UK_NV + uk_measured[i]];
    uk_reflect_rows(f, column);
    for (int r = 0; r < UK_CONDITIONS; ++r) f->conditions[r][i] = column[UK_OTHERS + r];
  }
#endif
  uk_factor_conditions(f, tolerance);
}

/* The d with A d = target whose measured part is nearest to the one wanted. */
static void uk_loop_move(const uk_loop_factors *f, const double *target, const double *wanted,
                         double *d) {
  double rest[UK_HELD], part[UK_MEASURED];
  memcpy(part, wanted, sizeof part);
#if UK_REDUNDANT
  double missing[UK_REDUNDANT];
  memcpy(rest, target, sizeof rest);
  uk_reflect_rows(f, rest);
  for (int k = 0; k < f->count; ++k) {
    const int r = f->chosen[k];
    double y = rest[UK_OTHERS + r];
    for (int i = 0; i < UK_MEASURED; ++i) y -= f->conditions[r][i] * wanted[i];
    for (int j = 0; j < k; ++j) y -= f->lower[k][j] * missing[j];
    missing[k] = y / f->lower[k][k];
    for (int i = 0; i < UK_MEASURED; ++i)
      part[i] += uk_deviation[i] * f->weighed[k][i] * missing[k];
  }
#endif
  for (int r = 0; r < UK_HELD; ++r) {
    rest[r] = target[r];
    for (int i = 0; i < UK_MEASURED; ++i) rest[r] -= f->A[r * UK_NV + uk_measured[i]] * part[i];
  }
  for (int i = 0; i < UK_MEASURED; ++i) d[uk_measured[i]] = part[i];
#if UK_OTHERS
  uk_reflect_rows(f, rest);
  for (int k = UK_OTHERS - 1; k >= 0; --k) {
    double y = rest[k];
    for (int j = k + 1; j < UK_OTHERS; ++j) y -= f->columns[j][k] * rest[j];
    rest[k] = f->columns[k][k] != 0.0 ? y / f->columns[k][k] : 0.0;
    d[uk_other[f->order[k]]] = uk_other_scale[f->order[k]] * rest[k];
  }
#endif
}

static void uk_misfits(const double *q, const double *wanted, double *misfit) {
  for (int i = 0; i < UK_MEASURED; ++i) misfit[i] = wanted[i] - q[uk_measured[i]];
}

/* Whether a singularity may lie between two configurations. */
static int uk_near_singularity(double tolerance, double regularity, double other, const double *before,
                   const double *after) {
  double way = 0.0;
  for (int k = 0; k < UK_OTHERS; ++k) {
    const double lever = uk_other_scale[k] > UK_LEAST_LEVER ? uk_other_scale[k] : UK_LEAST_LEVER;
    const double part = fabs(after[uk_other[k]] - before[uk_other[k]]) / lever;
    if (!(part <= way)) way = part;
  }
  const double nearest = regularity < other ? regularity : other;
  const double within = UK_SINGULARITY_WITHIN * way;
  return nearest < (tolerance > within ? tolerance : within);
}

/* Newton corrections of q, in place, and the factors there; 0, or 1: it does not converge. */
static int uk_correct_joints(uk_completion *c, double t, double *q, const double *wanted) {
  double before = HUGE_VAL, target[UK_HELD], misfit[UK_MEASURED], d[UK_NV];
  for (int count = 0; count < UK_MOST_CORRECTIONS; ++count) {
    uk_loop_factors *f = &c->factors;
    uk_loop_rows(t, q, c->zero, f->A, f->psi);
    uk_factor_loops(f, c->singular_tolerance);
    for (int r = 0; r < UK_HELD; ++r) target[r] = -f->psi[r];
    uk_misfits(q, wanted, misfit);
    uk_loop_move(f, target, misfit, d);
    const double size = uk_largest_of(d, UK_NV);
    if (f->singular || !(size <= UK_LARGEST_LOOP_CORRECTION)) return 1;
    for (int i = 0; i < UK_NV; ++i) q[i] += d[i];
    ++c->iterations;
    c->residual = 0.0;
    for (int r = 0; r < UK_HELD; ++r) {
      const double part = fabs(f->psi[r]) / uk_held_scale[r];
      if (!(part <= c->residual)) c->residual = part;
    }
    const int stalled = count > 0 && size > UK_CONTRACTION * before;
    if (size <= (stalled ? UK_STALLED_CORRECTION : UK_SMALL_CORRECTION)) return !(c->residual <= UK_OPEN_LOOP);
    if (stalled) return 1;
    before = size;
  }
  return 1;
}

/* Measurements shifted by full turns to be nearest to the last state, where encoders count within
 * one; the largest way from there. */
static double uk_nearest_turn(const uk_completion *c, const double *measured, double *wanted) {
  double way = 0.0;
  for (int i = 0; i < UK_MEASURED; ++i) {
    const double last = c->q[uk_measured[i]];
    wanted[i] = measured[i];
    if (uk_turning[i]) wanted[i] += UK_TURN * nearbyint((last - measured[i]) / UK_TURN);
    const double part = fabs(wanted[i] - last);
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
  double sum = 0.0;
  for (int i = 0; i < UK_MEASURED; ++i) sum += measured[i] + rates[i];
  return isfinite(sum);
}

/* From measurements near the last ones; UK_COMPLETE, or why there is no state, and the last one
 * remains. */
UK_EXPORT int uk_complete(uk_completion *c, double t, const double *measured,
                          const double *rates) {
  if (!uk_is_finite(measured, rates)) return UK_NOT_FINITE;
  double wanted[UK_MEASURED], misfit[UK_MEASURED], q[UK_NV], d[UK_NV], still[UK_HELD];
  c->iterations = 0;
  if (!(uk_nearest_turn(c, measured, wanted) <= c->jump)) return UK_JUMP;
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

/* From the initial configuration to the first measurements, along a straight line in them: up to
 * `steps` corrections, which take milliseconds rather than microseconds. */
UK_EXPORT int uk_complete_start(uk_completion *c, double t, const double *measured,
                                const double *rates, int steps) {
  if (!uk_is_finite(measured, rates)) return UK_NOT_FINITE;
  double wanted[UK_MEASURED], begin[UK_MEASURED], target[UK_MEASURED], misfit[UK_MEASURED];
  double q[UK_NV], d[UK_NV], residual[UK_HELD];
  memcpy(c->q, uk_home, sizeof c->q);
  memset(c->zero, 0, sizeof c->zero);
  c->iterations = 0, c->near_singular = 0;
  const double way = uk_nearest_turn(c, measured, wanted);
  for (int i = 0; i < UK_MEASURED; ++i) begin[i] = c->q[uk_measured[i]];
  double longest = UK_LONGEST_MEASURED_STEP / (way > UK_LONGEST_MEASURED_STEP ? way : UK_LONGEST_MEASURED_STEP);
  double done = 0.0, step = longest;
  for (int k = 0; k < steps; ++k) {
    const double ahead = done + step < 1.0 ? done + step : 1.0;
    uk_loop_factors *f = &c->factors;
    for (int i = 0; i < UK_MEASURED; ++i) target[i] = begin[i] + ahead * (wanted[i] - begin[i]);
    uk_loop_rows(t, c->q, c->zero, f->A, f->psi);
    uk_factor_loops(f, c->singular_tolerance);
    const double here = f->regularity;
    for (int r = 0; r < UK_HELD; ++r) residual[r] = -f->psi[r];
    uk_misfits(c->q, target, misfit);
    uk_loop_move(f, residual, misfit, d);
    for (int i = 0; i < UK_NV; ++i) q[i] = c->q[i] + d[i];
    if (uk_largest_of(d, UK_NV) <= UK_LONGEST_MOVE && !uk_correct_joints(c, t, q, target)) {
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
        uk_complete_velocities(c, t, rates);
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

/* Velocities of all joints, (UK_NV), with given ones of the measured joints, at the last state of
 * loops that do not move by themselves. */
UK_EXPORT void uk_rates(const uk_completion *c, const double *rates, double *v) {
  double still[UK_HELD];
  for (int r = 0; r < UK_HELD; ++r) still[r] = 0.0;
  uk_loop_move(&c->factors, still, rates, v);
}
