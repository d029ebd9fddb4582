/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The closed-form servo law in the dynamics that the structure has constrained already: u of least
 * u^T W u with C u = b_t - A_t a_s, C = A_t N S, and its part toward the preload; see core/servo/servo_law.py.
 * A lane is a state. Here task rows are reflected in the order that they stand in, where that is beyond
 * doubt; by their size, with branches, they are in pivoted_law.c, for one state: in lanes each step would
 * exchange rows under masks, and all lanes would wait for the one that has most to decide. */
#pragma once

#include "uk_admissible.h"
#include "uk_correction.h"
#include "uk_allocation.h"
#include "uk_distribution.h"
#include "uk_lanes_law.h"
#include "uk_motors.h"
#include "uk_sizes.h"
#include "uk_robust.h"
#include "uk_task_rows.h"

#define UK_SURE 4.0 /* ranks are beyond doubt where they would be at so many times the tolerance */
#define UK_CLOSED (!(UK_MT > UK_NU || UK_GAUSS || UK_BY_MOTION || UK_BOUNDED)) /* whether this order is ever right */

typedef struct { /* C, sizes of the task rows in the admissible motions, and of what motors cause there */
  uk_lanes C[UK_MT][UK_NU], norm[UK_MT], largest, strength;
} uk_law_rows;

UK_INLINE uk_lanes uk_lanes_norm(const uk_lanes *x, int n) {
  uk_lanes sum = uk_all(0.0);
  UK_EACH(i, n) sum += x[i] * x[i];
  return uk_lanes_sqrt(sum);
}

/* Units of efforts in which all cost the same. */
static void uk_weigh(uk_lanes_law *w) {
  UK_EACH(j, UK_NU) {
    w->root[j] = uk_lanes_sqrt(w->weights[j]);
    w->inverse_root[j] = 1.0 / w->root[j];
  }
}

/* What tasks and structure are at the state in the memory. */
static void uk_find_law_terms(uk_lanes_memory *m, uk_lanes_law *w) {
  uk_lanes_task_terms(m->t, m->q, m->v, w->task_followed UK_P, w->A_t, w->bias_t);
#if UK_ROBUST
#if UK_WATCHES
  uk_lanes_uncertain_rows(m->t, m->q, w->friction_v, w->uncertain);
#else
  uk_lanes_uncertain_rows(m->t, m->q, m->v, w->uncertain);
#endif
#endif
#if UK_CONTACT_ROWS
  UK_EACH(r, UK_MT) {
    UK_EACH(i, UK_NV) w->A_t[r * UK_NV + i] *= w->asked[r];
    w->bias_t[r] *= w->asked[r];
  }
#endif
#if !defined(UK_OF_CLUSTERS)
  uk_lanes_terms(UK_STATE_TERMS);
#endif
}

/* The last motors are the forces of contacts: they push along the first rows, (n,) each. */
UK_INLINE void uk_push_by_contacts(uk_lanes_law *w, int n) {
#if UK_CONTACT_ROWS
  memcpy(w->motor_part + (UK_NU - UK_CONTACT_ROWS) * n, w->task_part, sizeof(uk_lanes) * UK_CONTACT_ROWS * n);
#else
  (void)w, (void)n;
#endif
}

/* Accelerations without motors, and coordinates of motors and task rows in the admissible motions, row by
 * row; how many each has. `pivoted`: 1 where forces are wanted, too, or what uk_admitted needs. */
static int uk_admit(uk_lanes_memory *m, uk_lanes_law *w, int pivoted) {
#if UK_ADMISSIBLE
  uk_lanes sure[2];
  if (!pivoted) {
    uk_lanes_admissible_terms(uk_all(m->stabilize), m->tau, m->H, m->force, m->A, m->bias, m->residual,
                              m->rate, w->A_t UK_UNCERTAIN_ROWS, m->qdd, w->task_part, w->motor_part,
                              w->task_size, sure UK_UNCERTAIN_PART);
    if (!uk_any(uk_not((sure[0] < UK_LOST_PIVOTS) & (sure[1] < 1.0)))) {
      m->failed = uk_all(0.0), m->rank = uk_all(UK_NV - UK_ADMISSIBLE);
      uk_push_by_contacts(w, UK_ADMISSIBLE);
      return UK_ADMISSIBLE;
    }
  }
#endif
  uk_answer_pivoted(m, pivoted);
  /* ranks of lanes differ: coordinates that the structure holds are zero there */
  const int first = UK_WIDTH > 1 ? 0 : (int)UK_PART(m->rank, 0), n = UK_NV - first;
  UK_EACH(k, UK_MT + UK_MOTORS) {
    uk_lanes x[UK_NV], *to = k < UK_MT ? w->task_part + k * n : w->motor_part + (k - UK_MT) * n;
#if UK_CONTACT_ROWS
    if (k < UK_MT && !uk_any(w->asked[k] != uk_all(0.0))) {
      UK_EACH(i, n) to[i] = uk_all(0.0);
      w->task_size[k] = uk_all(0.0);
      continue;
    }
#endif
    UK_EACH(i, UK_NV) x[i] = k < UK_MT ? w->A_t[k * UK_NV + i] : uk_all(uk_motors[k - UK_MT][i]);
    const uk_lanes size = uk_admissible(m, x);
    if (k < UK_MT) w->task_size[k] = size;
    UK_EACH(i, n) to[i] = x[first + i];
  }
  uk_push_by_contacts(w, n);
#if UK_ROBUST
  UK_EACH(k, UK_UNCERTAIN) {
    uk_lanes x[UK_NV];
    memcpy(x, w->uncertain + k * UK_NV, sizeof x);
    uk_admissible(m, x);
    UK_EACH(i, n) w->uncertain_part[k * n + i] = x[first + i];
  }
#endif
  return n;
}

/* What the efforts have to give, and what motors give in units of equal cost, (n,) each. */
UK_INLINE void uk_find_law_rows(const uk_lanes_memory *m, uk_lanes_law *w, uk_law_rows *x, const int n) {
  uk_lanes strength = uk_all(0.0), largest = strength;
  UK_EACH(j, UK_NU) {
    uk_lanes *y = w->motor_part + j * n;
    UK_EACH(i, n) y[i] *= w->inverse_root[j];
    UK_EACH(i, n) strength += y[i] * y[i];
  }
#if UK_RELAXED
  uk_lanes share[UK_MT];
  uk_lanes_task_share(m->q, share);
#endif
  UK_EACH(r, UK_MT) {
    x->norm[r] = uk_lanes_norm(w->task_part + r * n, n);
    largest = uk_lanes_larger(largest, w->task_size[r]);
    w->wanted[r] = w->desired[r] - w->bias_t[r];
    w->size[r] = uk_lanes_fabs(w->wanted[r]) + UK_NEGLIGIBLE_ACCELERATION;
    for (int s = uk_task_support_start[r]; s < uk_task_support_start[r + 1]; ++s) {
      const int i = uk_task_support[s];
      const uk_lanes part = w->A_t[r * UK_NV + i] * m->qdd[i];
      w->wanted[r] -= part;
      w->size[r] += uk_lanes_fabs(part);
    }
#if UK_CORRECTED
    w->free_drift[r] = w->desired[r] - w->wanted[r];
#endif
#if UK_RELAXED
    w->wanted[r] *= share[r];
#endif
    uk_lanes task[UK_NV];
    UK_EACH(i, n) task[i] = w->task_part[r * n + i];
#if UK_CONTACT_ROWS
    if (!uk_any(w->asked[r] != uk_all(0.0))) {
      UK_EACH(j, UK_NU) x->C[r][j] = w->map[r * UK_NU + j] = uk_all(0.0);
      continue;
    }
#endif
    UK_EACH(j, UK_NU) {
      uk_lanes sum = uk_all(0.0);
      UK_EACH(i, n) sum += task[i] * w->motor_part[j * n + i];
      x->C[r][j] = sum;
      w->map[r * UK_NU + j] = sum * w->root[j];
    }
  }
  x->largest = largest, x->strength = uk_lanes_sqrt(strength);
}

#if UK_CLOSED

/* y reflected by x, of which beta is two over the square. */
UK_INLINE void uk_lanes_mirror(const uk_lanes *x, uk_lanes beta, uk_lanes *y) {
  uk_lanes s = uk_all(0.0);
  UK_EACH(i, UK_NU) s += x[i] * y[i];
  s *= beta;
  UK_EACH(i, UK_NU) y[i] -= s * x[i];
}

/* Efforts by rows in the order that they stand in; the lanes where all are independent for motors beyond
 * doubt, and served. C is lost. */
UK_INLINE uk_mask uk_reflect_in_order(uk_lanes_law *w, uk_law_rows *x) {
  const uk_lanes zero = uk_all(0.0), one = uk_all(1.0);
  uk_lanes beta[UK_MT], R[UK_MT][UK_MT], inverse_R[UK_MT], scale[UK_MT], y[UK_MT], u[UK_NU], free[UK_NU];
  uk_mask sure = uk_not(uk_none());
  UK_EACH(r, UK_MT) { /* to their own size */
    sure &= x->norm[r] > UK_ZERO_ROW * x->largest;
    scale[r] = 1.0 / uk_lanes_larger(uk_lanes_norm(x->C[r], UK_NU),
                                     UK_LEAST_PART * x->norm[r] * x->strength + UK_TINY);
    UK_EACH(j, UK_NU) x->C[r][j] *= scale[r];
  }
  UK_EACH(k, UK_MT) {
    uk_lanes *row = x->C[k], square = zero;
    for (int i = k; i < UK_NU; ++i) square += row[i] * row[i];
    const uk_lanes length = uk_lanes_sqrt(square);
    const uk_lanes diagonal = uk_pick(row[k] > 0.0, -length, length);
    sure &= length > UK_SURE * UK_TASK_RANK_TOLERANCE;
    beta[k] = 1.0 / (length * (length + uk_lanes_fabs(row[k])));
    inverse_R[k] = beta[k] * (length + uk_lanes_fabs(row[k]));
    inverse_R[k] = uk_pick(row[k] > 0.0, -inverse_R[k], inverse_R[k]);
    UK_EACH(i, k) R[k][i] = row[i];
    UK_EACH(i, k) row[i] = zero; /* loops of constant length are faster than shorter ones */
    row[k] -= diagonal;
    for (int r = k + 1; r < UK_MT; ++r) uk_lanes_mirror(row, beta[k], x->C[r]);
  }
  /* any order finds the same rank where the inverse of R is small enough */
  uk_lanes inverse = zero;
  UK_EACH(c, UK_MT) {
    uk_lanes column[UK_MT];
    for (int k = c; k < UK_MT; ++k) {
      uk_lanes sum = k == c ? one : zero;
      for (int i = c; i < k; ++i) sum -= R[k][i] * column[i];
      column[k] = sum * inverse_R[k];
      inverse += column[k] * column[k];
    }
  }
  const double bound = UK_SURE * UK_TASK_RANK_TOLERANCE;
  sure &= UK_MT * bound * bound * inverse < one;
  UK_EACH(k, UK_MT) {
    y[k] = w->wanted[k] * scale[k];
    UK_EACH(i, k) y[k] -= R[k][i] * y[i];
    y[k] *= inverse_R[k];
  }
  /* of the preload the part that no row sees */
  UK_EACH(j, UK_NU) free[j] = w->root[j] * w->preload[j];
  UK_EACH(k, UK_MT) uk_lanes_mirror(x->C[k], beta[k], free);
  UK_EACH(j, UK_NU) u[j] = j < UK_MT ? y[j] : free[j];
  for (int k = UK_MT - 1; k >= 0; --k) uk_lanes_mirror(x->C[k], beta[k], u);
  uk_lanes total = zero;
  UK_EACH(j, UK_NU) total += w->efforts[j] = u[j] * w->inverse_root[j];
  UK_EACH(r, UK_MT) {
    w->shortfall[r] = w->wanted[r];
    UK_EACH(j, UK_NU) w->shortfall[r] -= w->map[r * UK_NU + j] * w->efforts[j];
    sure &= uk_lanes_fabs(w->shortfall[r]) <= UK_MET * w->size[r];
  }
  return sure & uk_finite(total);
}

#endif

/* Efforts in the dynamics that uk_admit has left, with n coordinates; the lanes where they are right. */
static uk_mask uk_law_in_order(const uk_lanes_memory *m, uk_lanes_law *w, uk_law_rows *x, int n) {
#if UK_ADMISSIBLE
  if (n == UK_ADMISSIBLE) uk_find_law_rows(m, w, x, UK_ADMISSIBLE);
  else
#endif
  uk_find_law_rows(m, w, x, n);
#if UK_CLOSED
  return uk_reflect_in_order(w, x) & (m->failed == 0.0);
#else
  return uk_none();
#endif
}
