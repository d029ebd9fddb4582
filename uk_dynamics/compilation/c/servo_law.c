/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The closed-form servo law in the dynamics that the structure has constrained already: u of least
 * u^T W u with C u = b_t - A_t a_s, C = A_t N S, and its part toward the preload; see core/servo/servo_law.py.
 * A lane is a state. Here task rows are reflected in the order that they stand in, where that is beyond
 * doubt; by their size, with branches, they are in pivoted_law.c, for one state: in lanes each step would
 * exchange rows under masks, and all lanes would wait for the one that has most to decide. */
#pragma once

#include "row_elimination.c"
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

/* Coordinates of task rows and motors, from the first one on that the structure does not hold. */
UK_INLINE void uk_admit_rows(const uk_lanes_memory *m, uk_lanes_law *w, int first) {
  enum { count = UK_MT + UK_MOTORS };
  const int n = UK_NV - first;
#if UK_CONTACT_ROWS && !defined(UK_OF_CLUSTERS) /* one state, and many rows */
  uk_lanes x[UK_NV * count], size[count], room[count];
  UK_EACH(i, UK_NV)
    UK_EACH(k, count) x[i * count + k] = k < UK_MT ? w->A_t[k * UK_NV + i] : uk_all(uk_motors[k - UK_MT][i]);
  uk_admissible_columns(m, x, count, size, room);
  memcpy(w->task_size, size, sizeof w->task_size);
  UK_EACH(k, count) {
    uk_lanes *to = k < UK_MT ? w->task_part + k * n : w->motor_part + (k - UK_MT) * n;
    UK_EACH(i, n) to[i] = x[(first + i) * count + k];
  }
#else
  UK_EACH(k, count) {
    uk_lanes x[UK_NV], *to = k < UK_MT ? w->task_part + k * n : w->motor_part + (k - UK_MT) * n;
    UK_EACH(i, UK_NV) x[i] = k < UK_MT ? w->A_t[k * UK_NV + i] : uk_all(uk_motors[k - UK_MT][i]);
    const uk_lanes size = uk_admissible(m, x);
    if (k < UK_MT) w->task_size[k] = size;
    UK_EACH(i, n) to[i] = x[first + i];
  }
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
  uk_admit_rows(m, w, first);
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
    strength += uk_dot(y, y, n);
  }
#if UK_RELAXED
  uk_lanes share[UK_MT];
  uk_lanes_task_share(m->q, share);
#endif
#if UK_CONTACT_ROWS /* so that sums of all motors are side by side */
  uk_lanes by[UK_NV * UK_NU];
  UK_EACH(j, UK_NU) UK_EACH(i, n) by[i * UK_NU + j] = w->motor_part[j * n + i];
#endif
  UK_EACH(r, UK_MT) {
    x->norm[r] = uk_lanes_sqrt(uk_dot(w->task_part + r * n, w->task_part + r * n, n));
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
#if UK_CONTACT_ROWS
    UK_EACH(j, UK_NU) x->C[r][j] = uk_all(0.0);
    UK_EACH(i, n) uk_add(x->C[r], task[i], by + i * UK_NU, UK_NU);
#else
    UK_EACH(j, UK_NU) x->C[r][j] = uk_dot(task, w->motor_part + j * n, n);
#endif
    UK_EACH(j, UK_NU) w->map[r * UK_NU + j] = x->C[r][j] * w->root[j];
  }
  x->largest = largest, x->strength = uk_lanes_sqrt(strength);
}

#if UK_CLOSED


/* Efforts by rows in the order that they stand in; the lanes where all are independent for motors beyond
 * doubt, and served. C is lost. */
UK_INLINE uk_mask uk_reflect_in_order(uk_lanes_law *w, uk_law_rows *x) {
  const double bound = UK_SURE * UK_TASK_RANK_TOLERANCE;
  uk_lanes room[6 * UK_MT], u[UK_NU], inverse = uk_all(0.0);
  const uk_mask all = uk_not(uk_none());
  uk_mask sure = all;
  uk_basis b = uk_basis_at(UK_NU, UK_MT, UK_MT, &x->C[0][0], room);
  b.ordered = 1;
  UK_EACH(r, UK_MT) { /* to their own size */
    const uk_lanes size = uk_lanes_sqrt(uk_dot(x->C[r], x->C[r], UK_NU));
    sure &= x->norm[r] > UK_ZERO_ROW * x->largest;
    uk_scale_row(&b, r, size, 1.0 / uk_lanes_larger(size, UK_LEAST_PART * x->norm[r] * x->strength + UK_TINY));
  }
  UK_EACH(k, UK_MT) {
    const uk_lanes length = uk_lanes_sqrt(uk_dot(x->C[k] + k, x->C[k] + k, UK_NU - k));
    sure &= length > bound;
    uk_make_reflector(&b, k, length, all);
    for (int r = k + 1; r < UK_MT; ++r) uk_reflect(&b, k, x->C[r]);
  }
  UK_EACH(c, UK_MT) { /* any order finds the same rank where the inverse of R is small enough */
    uk_lanes column[UK_MT];
    for (int k = c; k < UK_MT; ++k) {
      column[k] = (uk_all(k == c) - uk_dot(x->C[k] + c, column + c, k - c)) * b.inverse_R[k];
      inverse += column[k] * column[k];
    }
  }
  sure &= UK_MT * bound * bound * inverse < uk_all(1.0);
  UK_EACH(j, UK_NU) u[j] = w->root[j] * w->preload[j];
  uk_rotate(&b, u); /* of the preload the part that no row sees */
  uk_find_coordinates(&b, w->wanted, u);
  uk_rotate_back(&b, u);
  UK_EACH(j, UK_NU) w->efforts[j] = u[j] * w->inverse_root[j];
  UK_EACH(r, UK_MT) {
    w->shortfall[r] = w->wanted[r] - uk_dot(w->map + r * UK_NU, w->efforts, UK_NU);
    sure &= uk_lanes_fabs(w->shortfall[r]) <= UK_MET * w->size[r];
  }
  return sure & uk_finite(uk_total(w->efforts, UK_NU));
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
