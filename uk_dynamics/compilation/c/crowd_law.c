/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The closed form of a servo law in lanes, with what surrounds it in control_period.c. What motions
 * remember is in lanes too; it goes to the memory of a motion, and comes back, where a period is left
 * to the law of that motion alone. */
#pragma once

#include "control_period.c"
#include "crowd_group.c"
#include "uk_allocation.h"
#include "uk_distribution.h"
#include "uk_lanes_task_rows.h"

#define UK_SURE 4.0 /* ranks are decided in lanes where they would be at so many times the tolerance */

/* A field of the memories of all controllers. */
#define UK_GATHER(to, field, n)                                                   \
  do {                                                                            \
    UK_EACH(l, UK_WIDTH) {                                                        \
      const double *from = (const double *)&g->controller[l]->memory->field;      \
      UK_EACH(i, n) (to)[i][l] = from[i];                                         \
    }                                                                             \
  } while (0)
#define UK_GATHER_FIELD(name, n) UK_GATHER(g->name, name, n);

/* What a motion remembers, in its own memory. */
static void uk_lane_to_memory(const uk_group *g, int l) {
  uk_memory *own = g->controller[l]->memory;
#define UK_TO_MEMORY(name, n) UK_EACH(i, n) ((double *)&own->name)[i] = g->name[i][l];
  UK_REMEMBERED(UK_TO_MEMORY)
}

static uk_lanes uk_lanes_norm(const uk_lanes *x, int n) {
  uk_lanes sum = uk_all(0.0);
  UK_EACH(i, n) sum += x[i] * x[i];
  return uk_lanes_sqrt(sum);
}

/* Coordinates of a whitened force behind those that the structure holds, in place. */
static void uk_lanes_held(const uk_lanes_memory *m, uk_lanes *x) {
#if UK_M > 0
  UK_EACH(k, UK_COUNT) uk_lanes_reflect(m, k, x);
  UK_EACH(k, UK_COUNT) x[k] = uk_pick(m->independent[k], uk_all(0.0), x[k]);
#else
  (void)m, (void)x;
#endif
}

#if !(UK_MT > UK_NU || UK_GAUSS || UK_BY_MOTION)
#define UK_CLOSED 1 /* whether there is a closed form in lanes */
#endif

#if UK_CLOSED
typedef struct { /* what motors and task rows are in the admissible motions, and their sizes */
  uk_lanes bias[UK_MT], task[UK_MT * UK_NV], motor[UK_NU * UK_NV], size[UK_MT];
  int n; /* coordinates of each */
} uk_lanes_admitted;

static void uk_lanes_find_terms(uk_lanes_memory *m, uk_group *g, uk_lanes_admitted *to) {
  uk_lanes_task_terms(m->t, m->q, m->v, g->followed UK_P, g->A, to->bias);
  uk_lanes_terms(m->t, m->q, m->v, m->followed UK_P, m->H, m->force, m->A, m->bias, m->residual,
                 m->rate);
}

/* Accelerations without motors, and what motors and task rows A are in the admissible motions, as
 * uk_admit has it. */
static void uk_lanes_admit(uk_lanes_memory *m, const uk_lanes *A, uk_lanes_admitted *to) {
  uk_lanes *task = to->task, *motor = to->motor, *size = to->size;
#if UK_ADMISSIBLE
  uk_lanes sure[2];
  to->n = UK_ADMISSIBLE;
  uk_lanes_admissible_terms(uk_all(m->stabilize), m->tau, m->H, m->force, m->A, m->bias,
                            m->residual, m->rate, A, m->qdd, task, motor, size, sure);
  if (!uk_any(~((sure[0] < UK_LOST_PIVOTS) & (sure[1] < 1.0)))) {
    m->failed = uk_all(0.0);
    return;
  }
#endif
  to->n = UK_NV;
  uk_lanes_pivoted(m);
  UK_EACH(j, UK_NU) {
    UK_EACH(i, UK_NV) motor[j * UK_NV + i] = uk_all(uk_motors[j][i]);
    uk_lanes_whiten(m, motor + j * UK_NV);
    uk_lanes_held(m, motor + j * UK_NV);
  }
  UK_EACH(r, UK_MT) {
    uk_lanes *x = task + r * UK_NV;
    UK_EACH(i, UK_NV) x[i] = A[r * UK_NV + i];
    uk_lanes_whiten(m, x);
    size[r] = uk_lanes_norm(x, UK_NV);
    uk_lanes_held(m, x);
  }
}

/* y reflected by x, of which beta is two over the square. */
static inline void uk_lanes_mirror(const uk_lanes *x, uk_lanes beta, uk_lanes *y) {
  uk_lanes s = uk_all(0.0);
  UK_EACH(i, UK_NU) s += x[i] * y[i];
  s *= beta;
  UK_EACH(i, UK_NU) y[i] -= s * x[i];
}

/* Closed-form efforts at the state in the memory, as uk_law has them; the lanes where all task rows
 * are independent for motors beyond doubt, and served. */
static inline uk_mask uk_lanes_law_of(const uk_lanes_memory *m, uk_group *g, uk_lanes_admitted *admitted,
                                      const int n) {
  const uk_lanes zero = uk_all(0.0), one = uk_all(1.0);
  const uk_lanes *task = admitted->task;
  uk_lanes *motor = admitted->motor, rows[UK_MT][UK_NU], norm[UK_MT], size[UK_MT];
  uk_lanes strength = zero, largest = zero;
  uk_lanes beta[UK_MT], R[UK_MT][UK_MT], inverse_R[UK_MT], scale[UK_MT], y[UK_MT], u[UK_NU], free[UK_NU];
  uk_mask sure = m->failed == zero;
  UK_EACH(j, UK_NU) {
    uk_lanes *x = motor + j * n;
    UK_EACH(i, n) x[i] *= g->inverse_root[j];
    UK_EACH(i, n) strength += x[i] * x[i];
  }
  strength = uk_lanes_sqrt(strength);
#if UK_RELAXED
  uk_lanes share[UK_MT];
  uk_lanes_task_share(m->q, share);
#endif
  UK_EACH(r, UK_MT) {
    norm[r] = uk_lanes_norm(task + r * n, n);
    largest = uk_lanes_larger(largest, admitted->size[r]);
    g->wanted[r] = g->desired[r] - admitted->bias[r];
    size[r] = uk_lanes_fabs(g->wanted[r]) + UK_NEGLIGIBLE_ACCELERATION;
    for (int s = uk_task_support_start[r]; s < uk_task_support_start[r + 1]; ++s) {
      const int i = uk_task_support[s];
      const uk_lanes part = g->A[r * UK_NV + i] * m->qdd[i];
      g->wanted[r] -= part;
      size[r] += uk_lanes_fabs(part);
    }
#if UK_RELAXED
    g->wanted[r] *= share[r];
#endif
    uk_lanes x[UK_NV];
    UK_EACH(i, n) x[i] = task[r * n + i];
    UK_EACH(j, UK_NU) {
      uk_lanes sum = zero;
      UK_EACH(i, n) sum += x[i] * motor[j * n + i];
      rows[r][j] = sum;
      g->map[r * UK_NU + j] = sum * g->root[j];
    }
  }
  /* rows to their own size, by reflections in the order they stand in */
  UK_EACH(r, UK_MT) {
    sure &= norm[r] > UK_ZERO_ROW * largest;
    scale[r] = 1.0 / uk_lanes_larger(uk_lanes_norm(rows[r], UK_NU),
                                     UK_LEAST_PART * norm[r] * strength + UK_TINY);
    UK_EACH(j, UK_NU) rows[r][j] *= scale[r];
  }
  UK_EACH(k, UK_MT) {
    uk_lanes *x = rows[k], square = zero;
    for (int i = k; i < UK_NU; ++i) square += x[i] * x[i];
    const uk_lanes length = uk_lanes_sqrt(square);
    const uk_lanes diagonal = uk_pick(x[k] > 0.0, -length, length);
    sure &= length > UK_SURE * UK_TASK_RANK_TOLERANCE;
    beta[k] = 1.0 / (length * (length + uk_lanes_fabs(x[k])));
    inverse_R[k] = beta[k] * (length + uk_lanes_fabs(x[k]));
    inverse_R[k] = uk_pick(x[k] > 0.0, -inverse_R[k], inverse_R[k]);
    UK_EACH(i, k) R[k][i] = x[i];
    UK_EACH(i, k) x[i] = zero; /* loops of constant length are faster than shorter ones */
    x[k] -= diagonal;
    for (int r = k + 1; r < UK_MT; ++r) uk_lanes_mirror(x, beta[k], rows[r]);
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
    y[k] = g->wanted[k] * scale[k];
    UK_EACH(i, k) y[k] -= R[k][i] * y[i];
    y[k] *= inverse_R[k];
  }
  /* of the preload the part that no row sees */
  UK_EACH(j, UK_NU) free[j] = g->root[j] * g->preload[j];
  UK_EACH(k, UK_MT) uk_lanes_mirror(rows[k], beta[k], free);
  UK_EACH(j, UK_NU) u[j] = j < UK_MT ? y[j] : free[j];
  for (int k = UK_MT - 1; k >= 0; --k) uk_lanes_mirror(rows[k], beta[k], u);
  uk_lanes total = zero;
  UK_EACH(j, UK_NU) total += g->efforts[j] = u[j] * g->inverse_root[j];
  UK_EACH(r, UK_MT) {
    uk_lanes missed = g->wanted[r];
    UK_EACH(j, UK_NU) missed -= g->map[r * UK_NU + j] * g->efforts[j];
    sure &= uk_lanes_fabs(missed) <= UK_MET * size[r];
  }
  return sure & uk_finite(total);
}

static uk_mask uk_lanes_law(const uk_lanes_memory *m, uk_group *g, uk_lanes_admitted *admitted) {
#if UK_ADMISSIBLE
  if (admitted->n == UK_ADMISSIBLE) return uk_lanes_law_of(m, g, admitted, UK_ADMISSIBLE);
#endif
  return uk_lanes_law_of(m, g, admitted, admitted->n);
}
#endif

/* As uk_predict: the state half a period ahead of the one in the memory. */
static void uk_lanes_predict(uk_lanes_memory *m, uk_group *g) {
  const uk_lanes zero = uk_all(0.0), one = uk_all(1.0), h = 0.5 * g->period[0];
  uk_lanes told[4];
  uk_lanes_measurement(g->past_known, g->past_t, g->acceleration_known, &m->t, g->period, told);
  const uk_mask fresh = told[0] != zero;
  g->past_known[0] = uk_pick(fresh, one, g->past_known[0]);
  g->past_t[0] = uk_pick(fresh, m->t, g->past_t[0]);
  g->acceleration_known[0] = told[2];
  UK_EACH(i, UK_NV) {
    const uk_lanes v = m->v[i];
    uk_lanes seen[3];
    uk_lanes_foreseen(told, &v, g->past_v + i, g->measured_qdd + i, &h, seen);
    g->measured_qdd[i] = seen[0], g->past_v[i] = seen[1], m->v[i] = seen[2];
    m->q[i] += 0.5 * h * (v + m->v[i]);
  }
  m->t += h;
}

/* As uk_desire: feedback of errors measured at t, for the time in the memory. */
static void uk_lanes_desire(const uk_lanes_memory *m, uk_group *g, uk_lanes t) {
  const uk_lanes zero = uk_all(0.0);
  if (uk_any(g->begun[0] == zero)) UK_EACH(l, UK_WIDTH) {
    uk_memory *own = g->controller[l]->memory;
    if (g->begun[0][l] != 0.0) continue;
    UK_EACH(r, UK_MT) own->tracking_error[r] = g->error[r][l], own->tracking_rate[r] = g->rate[r][l];
    uk_begin_approach(own, t[l]);
    g->begun[0][l] = own->begun, g->begin[0][l] = own->begin;
    g->approach_time[0][l] = own->approach_time;
    UK_EACH(k, UK_POWERS * UK_MT) g->approach[k][l] = own->approach[k];
  }
  const uk_lanes now = t - g->begin[0], ahead = m->t - g->begin[0];
  const uk_mask blends = now < g->approach_time[0];
  const int any = uk_any(blends);
  UK_EACH(r, UK_MT) {
    uk_lanes error = g->error[r], rate = g->rate[r], acceleration = zero;
    if (any) {
      const uk_lanes position = uk_all(uk_task_position[r]);
      uk_lanes along[3];
      uk_lanes_along_path(g->approach + UK_POWERS * r, &position, &now, &ahead, g->approach_time,
                          along);
      error -= uk_pick(blends, along[0], zero);
      rate -= uk_pick(blends, along[1], zero);
      acceleration = uk_pick(blends, along[2], zero);
    }
    g->desired[r] = acceleration - (g->task_damping[r] * rate + g->task_stiffness[r] * error);
  }
}

/* Where the efforts of the law are within limits, as uk_limit has them for a velocity and another
 * one expected later. */
static uk_mask uk_lanes_within(const uk_group *g, const uk_lanes *v, const uk_lanes *later) {
  const uk_lanes zero = uk_all(0.0);
  uk_mask within = ~(uk_mask)zero;
  uk_lanes now[UK_NU], then[UK_NU];
  UK_EACH(j, UK_NU) now[j] = then[j] = zero;
  UK_EACH(e, UK_DRIVES) {
    now[uk_drive_motor[e]] += uk_drive_ratio[e] * v[uk_drive_joint[e]];
    then[uk_drive_motor[e]] += uk_drive_ratio[e] * later[uk_drive_joint[e]];
  }
  UK_EACH(j, UK_NU) {
    const uk_lanes speed = uk_lanes_larger(uk_lanes_fabs(now[j]), uk_lanes_fabs(then[j]));
    uk_lanes limits[UK_LIMITS], past[UK_PAST], bounds[3];
    UK_EACH(k, UK_LIMITS) limits[k] = g->limits[k * UK_NU + j];
    UK_EACH(k, UK_PAST) past[k] = g->commands[k * UK_NU + j];
    uk_lanes_effort_bounds(limits, past, g->known_commands, &speed, bounds);
    within &= (bounds[0] <= g->efforts[j]) & (g->efforts[j] <= bounds[1]);
  }
  return within;
}

/* A period that lanes do not decide: efforts of the law of one motion, or within its limits where
 * the closed form is sure. Whether there are some. */
static int uk_crowd_alone(uk_group *g, uk_crowd *c, long long first, int l, double t,
                          const double *q, const double *v, const double *later, int sure,
                          double *flags) {
  uk_memory *own = g->controller[l]->memory;
  double efforts[UK_NU], most[UK_NU];
  const uk_limits limits = {own->limits, own->commands, &own->known_commands, own->lower, own->upper};
  uk_lane_to_memory(g, l);
  if (sure) {
    UK_EACH(j, UK_NU) own->efforts[j] = efforts[j] = g->efforts[j][l];
    uk_limit(&limits, v, later, most);
    if (!uk_within(&limits, efforts)) {
      UK_EACH(k, UK_MT * UK_NU) own->map[k] = g->map[k][l];
      UK_EACH(r, UK_MT) own->wanted[r] = g->wanted[r][l];
      if (c->allocate(own)) return 0;
      memcpy(efforts, own->limited, sizeof efforts);
      uk_reasons(&limits, most, efforts, flags);
    }
    UK_EACH(j, UK_NU) g->efforts[j][l] = efforts[j];
    return 1;
  }
  if (!uk_crowd_ask(g, c, first, l, t, q, v, flags)) return 0;
  UK_PART(g->regular_rank[0], l) = own->regular_rank;
  UK_PART(g->periods_held[0], l) = own->periods_held;
  return 1;
}

/* What laws want at measured states, and the memory at the states that they are for. */
static void uk_lanes_want(const uk_lanes_memory *measured, uk_lanes_memory *m, uk_group *g, double t,
                          uk_mask *failed) {
  const uk_lanes zero = uk_all(0.0), now = uk_all(t), *q = measured->q, *v = measured->v;
  m->t = now;
  memcpy(m->q, q, sizeof m->q);
  memcpy(m->v, v, sizeof m->v);
  uk_follow_all(g->tasks, g->tasks_alike, now, UK_MT, g->followed, failed);
  uk_lanes_task_errors(now, q, v, g->followed UK_P, g->error, g->rate);
  uk_lanes_predict(m, g);
  uk_lanes_desire(m, g, now);
  uk_follow_all(g->tasks, g->tasks_alike, m->t, UK_MT, g->followed, failed);
#if UK_FOLLOWS
  uk_follow_all(g->expected, g->expected_alike, m->t, UK_M, m->followed, failed);
#endif
#if UK_SWITCHED
  memcpy(m->active, g->active, sizeof m->active);
#endif
  memset(m->tau, 0, sizeof m->tau);
  const uk_mask left = g->friction[0] == zero; /* friction is left to the feedback */
  if (uk_any(left)) {
    uk_lanes_resistance(m->t, m->q, m->v UK_P, m->tau);
    UK_EACH(i, UK_NV) m->tau[i] = uk_pick(left, -m->tau[i], zero);
  }
  m->stabilize = 1.0;
}

/* Efforts of laws, of which the closed form is sure in some lanes. */
static void uk_lanes_decide(const uk_lanes_memory *measured, const uk_lanes_memory *m, uk_group *g,
                            uk_crowd *c, long long first, double t, double rank, uk_mask sure,
                            uk_mask *failed) {
  const uk_lanes zero = uk_all(0.0), *q = measured->q, *v = measured->v;
  uk_lanes later[UK_NV];
  UK_EACH(i, UK_NV) later[i] = 2.0 * m->v[i] - v[i];
  g->regular_rank[0] = uk_pick(sure, uk_all(rank), g->regular_rank[0]);
  g->periods_held[0] = uk_pick(sure, zero, g->periods_held[0]);
  sure &= g->internal[0] == zero;
  const uk_mask served = sure & uk_lanes_within(g, v, later) & ~*failed;
  if (uk_any(~served)) UK_EACH(l, g->lanes) {
    double own_q[UK_NV], own_v[UK_NV], expected[UK_NV], flags[UK_FLAGS] = {0.0};
    if (served[l] || (*failed)[l]) continue;
    UK_EACH(i, UK_NV) own_q[i] = q[i][l], own_v[i] = v[i][l], expected[i] = later[i][l];
    if (!uk_crowd_alone(g, c, first, l, t, own_q, own_v, expected, sure[l] != 0, flags)) {
      (*failed)[l] = -1;
      continue;
    }
    uk_crowd_note(c, first + l, t, flags);
  }
  UK_EACH(j, UK_NU) {
    uk_lanes past[UK_PAST], left[UK_PAST];
    UK_EACH(k, UK_PAST) past[k] = g->commands[k * UK_NU + j];
    uk_lanes_remembered(past, g->known_commands, g->efforts + j, left);
    UK_EACH(k, UK_PAST) g->commands[k * UK_NU + j] = left[k];
  }
  g->known_commands[0] = uk_all(1.0);
}

/* Efforts of all laws at measured states, with a memory of their own. */
static void uk_lanes_control(const uk_lanes_memory *measured, uk_lanes_memory *m, uk_group *g, int groups,
                             uk_crowd *c, const long long *first, double t, uk_mask *failed) {
  UK_EACH(k, groups) uk_lanes_want(measured + k, m + k, g + k, t, failed + k);
#if UK_CLOSED
  uk_lanes_admitted admitted[groups];
  UK_EACH(k, groups) uk_lanes_find_terms(m + k, g + k, admitted + k);
  UK_EACH(k, groups) uk_lanes_admit(m + k, g[k].A, admitted + k);
#endif
  UK_EACH(k, groups) {
#if UK_CLOSED
    const uk_mask sure = uk_lanes_law(m + k, g + k, admitted + k);
    const double rank = UK_NV - admitted[k].n;
#else
    const uk_mask sure = (uk_mask)uk_all(0.0);
    const double rank = 0.0;
#endif
    uk_lanes_decide(measured + k, m + k, g + k, c, first[k], t, rank, sure, failed + k);
  }
}

/* Take over what laws are set to and remember. */
static void uk_lanes_take_over(uk_group *g, uk_crowd *c, long long first) {
  UK_EACH(l, UK_WIDTH) {
    g->controller[l] = c->controllers[first + (l < g->lanes ? l : g->lanes - 1)];
    g->tasks[l] = g->controller[l]->tasks, g->expected[l] = g->controller[l]->structure;
  }
  UK_SETTINGS(UK_GATHER_FIELD)
  UK_REMEMBERED(UK_GATHER_FIELD)
#if UK_SWITCHED
  UK_GATHER(g->active, active, UK_M);
#endif
  UK_EACH(j, UK_NU) g->root[j] = uk_lanes_sqrt(g->weights[j]);
  UK_EACH(j, UK_NU) g->inverse_root[j] = 1.0 / g->root[j];
  memset(g->A, 0, sizeof g->A);
  const int together = !uk_any(g->period[0] != uk_all(g->period[0][0]));
  g->tasks_alike = together && uk_alike(g->tasks);
  g->expected_alike = together && uk_alike(g->expected);
}
