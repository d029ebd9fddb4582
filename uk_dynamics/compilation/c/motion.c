/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Fixed steps under a law of control, many periods in a call; see motion.h. */
#pragma once

#include "attributes.h"
#include "fixed_step.c"
#include "motion.h"
#include "motor_efforts.c"
#include "references.c"
#include "uk_gauss.h"

/* Efforts of the law, within what motors can; 0, or what the law says. Where it is noted, what is
 * up for the first time is. They act at once, or after the delay. */
static int uk_drive(uk_memory *m, uk_motion *c, int noted) {
  const uk_queue late = {c->late, c->waiting};
  double found[UK_SOME_MOTORS];
  if (c->delay > 0.0 && *c->waiting >= c->places) return 2;
  const int failed = c->law(c->controller, m->t, m->q, m->v, found, c->raised + UK_NU);
  if (failed) return failed;
  if (uk_limit_to_motors(found)) return 2;
  for (int j = 0; j < UK_NU; ++j) c->raised[j] = uk_any(uk_at_effort_limit(j, found[j]));
  memcpy(c->delay > 0.0 ? uk_append(&late, m->t + c->delay) : c->efforts, found, sizeof(double) * UK_NU);
  for (long long k = 0; noted && k < UK_NU + c->flags; ++k)
    if (c->raised[k] != 0.0 && m->t < c->seen[k]) c->seen[k] = m->t;
  return 0;
}

static void uk_apply(uk_memory *m, const uk_motion *c) { uk_add_motors(c->tau, c->efforts, m->tau); }

/* Acceleration of the state in the memory; where the rank of its rows is not the one before, the mean
 * of states a little further back and forth along the motion that have it, as simulation/plant.py has
 * it. */
static int uk_answer_along(uk_memory *m, uk_motion *c) {
  const int failed = c->kept ? uk_answer_there(m, c->kept, 0) : uk_answer(m, 0);
  const double usual = c->rank, here = c->rank = m->rank;
  if (failed || usual < 0.0 || here == usual) return failed;
  const double speed = uk_largest(m->v, UK_NV);
  if (!(speed > 0.0)) return 0;
  double q[UK_NQ], qdd[UK_NV], mean[UK_NV];
  memcpy(q, m->q, sizeof q), memcpy(qdd, m->qdd, sizeof qdd);
  for (double way = UK_BEYOND; c->rank == here && way <= UK_FARTHEST_BEYOND; way *= 2.0) {
    int fits = 1;
    for (int side = -1; side < 2; side += 2) {
      uk_reach(q, side * way / speed, m->v, m->q);
      fits = fits && !uk_answer(m, 0) && m->rank == usual;
      for (int i = 0; i < UK_NV; ++i) mean[i] = 0.5 * m->qdd[i] + (side < 0 ? 0.0 : mean[i]);
    }
    if (fits) c->rank = usual;
  }
  memcpy(m->q, q, sizeof q);
  if (c->kept) ((uk_kept *)c->kept)->known = 0;
  memcpy(m->qdd, c->rank == here ? qdd : mean, sizeof qdd);
  return 0;
}

/* Acceleration of the state in the memory; as uk_answer. */
static int uk_stage(uk_memory *m, uk_motion *c) {
  ++c->evaluations;
  if (c->continuous && c->law) {
    if (uk_drive(m, c, 0)) return UK_NOT_NUMBERS;
    uk_apply(m, c);
  }
  if (uk_follow_structure(m, c->followed)) return UK_NOT_NUMBERS;
  return uk_answer_along(m, c);
}

/* Integrals up to each node of what has these values at the nodes. */
static void uk_up_to(const double x[][UK_NV], double sum[][UK_NV]) {
  memset(sum, 0, sizeof(double) * UK_GAUSS_STAGES * UK_NV);
  for (int s = 0; s < UK_GAUSS_STAGES; ++s)
    for (int k = 0; k < UK_GAUSS_STAGES; ++k)
      uk_add(sum[s], uk_gauss_up_to[UK_GAUSS_STAGES * s + k], x[k], UK_NV);
}

/* A step of Gauss collocation, as core/integration/fixed_step.py has it; where its iteration does not
 * converge, the state stays, and 1 is returned. */
static int uk_collocate(uk_memory *m, uk_motion *c, double h) {
  const double t = m->t;
  double q[UK_NQ], v[UK_NV], a[UK_GAUSS_STAGES][UK_NV], velocity[UK_GAUSS_STAGES][UK_NV];
  double rate[UK_GAUSS_STAGES][UK_NV], way[UK_GAUSS_STAGES][UK_NV], before = INFINITY;
  memcpy(q, m->q, sizeof q), memcpy(v, m->v, sizeof v);
  int failed = uk_stage(m, c), settled = 0;
  for (int s = 0; s < UK_GAUSS_STAGES; ++s)
    memcpy(a[s], m->qdd, sizeof a[s]), memcpy(rate[s], v, sizeof v);
  for (int round = 0; !failed && !settled && round < UK_GAUSS_ROUNDS; ++round) {
    double size = 0.0, left = 0.0;
    uk_up_to(a, velocity), uk_up_to(rate, way);
    for (int s = 0; s < UK_GAUSS_STAGES; ++s) {
      for (int i = 0; i < UK_NV; ++i) velocity[s][i] = v[i] + h * velocity[s][i];
      uk_chart_rate(h, velocity[s], way[s]);
    }
    memcpy(rate, way, sizeof rate);
    uk_up_to(rate, way);
    for (int s = 0; !failed && s < UK_GAUSS_STAGES; ++s) {
      uk_reach(q, h, way[s], m->q), memcpy(m->v, velocity[s], sizeof v);
      m->t = t + h * uk_gauss_nodes[s];
      failed = uk_stage(m, c);
      size = fmax(size, uk_largest(m->qdd, UK_NV)), left = fmax(left, uk_apart(m->qdd, a[s]));
      memcpy(a[s], m->qdd, sizeof a[s]);
    }
    failed |= !(left < INFINITY) || left > UK_GAUSS_DIVERGED * before;
    settled = left <= UK_GAUSS_SETTLED * size || (left >= before && left <= UK_GAUSS_STALLED * size);
    before = left;
  }
  memcpy(m->q, q, sizeof q), memcpy(m->v, v, sizeof v), m->t = t;
  if (failed || !settled) return 1;
  memset(way, 0, sizeof way);
  for (int s = 0; s < UK_GAUSS_STAGES; ++s)
    uk_add(way[0], uk_gauss_weights[s], rate[s], UK_NV), uk_add(way[1], uk_gauss_weights[s], a[s], UK_NV);
  uk_reach(q, h, way[0], m->q);
  uk_add(m->v, h, way[1], UK_NV);
  m->t = t + h;
  return 0;
}

/* The same in halves where it has to be. */
static int uk_gauss_step(uk_memory *m, uk_motion *c, double h, int halvings) {
  if (!uk_collocate(m, c, h)) return 0;
  return !halvings || uk_gauss_step(m, c, 0.5 * h, halvings - 1) ||
         uk_gauss_step(m, c, 0.5 * h, halvings - 1);
}

typedef struct {
  uk_lanes_motion steps; /* the first field */
  uk_motion *motion;
  int stopped; /* 0, or why, as uk_move */
} uk_stepper;

static void uk_motion_stage(uk_lanes_motion *steps, int stage, double part) {
  uk_memory *m = steps->m;
  uk_motion *c = ((uk_stepper *)steps)->motion;
  m->t = stage == 4 ? steps->end : steps->begin + part;
  if (*steps->failed) return;
  if (stage < 4) *steps->failed = uk_stage(m, c) != 0;
  else *steps->failed = steps->project && uk_follow_structure(m, c->followed);
}

static void uk_motion_gauss(uk_lanes_motion *steps, double h) {
  *steps->failed = uk_gauss_step(steps->m, ((uk_stepper *)steps)->motion, h, UK_GAUSS_HALVINGS);
}

#if UK_ONE_SIDED
static int uk_contact_step(uk_memory *m, const double *active, double *followed, uk_contacts *x, double h);
static int uk_contacts_hold(uk_contacts *x, int moved);
static void uk_contacts_sampled(const uk_contacts *x, long long sample);

static void uk_motion_contacts(uk_lanes_motion *steps, double h) {
  const uk_motion *c = ((uk_stepper *)steps)->motion;
  steps->m->t = steps->begin;
  *steps->failed = uk_contact_step(steps->m, c->active, c->followed, c->contacts, h);
}
#else
#define uk_contacts_hold(x, moved) 1
#define uk_contacts_sampled(x, sample) (void)0
#define uk_motion_contacts NULL
#endif

/* Steps from the time in the memory on. */
static uk_stepper uk_stepper_of(uk_memory *m, uk_motion *c, uk_kept *kept, uk_mask *failed) {
  const int gauss = c->method == UK_STEP_GAUSS, euler = c->method == UK_STEP_SEMI_IMPLICIT_EULER;
  void (*const other)(uk_lanes_motion *, double) =
      c->contacts ? uk_motion_contacts : gauss ? uk_motion_gauss : NULL;
  const uk_stepper s = {{1, euler, c->project && !c->contacts, c->sampled_rows, m, kept, failed, NULL,
                         uk_motion_stage, other, {0.0}, m->t, m->t}, c, 0};
  *failed = 0;
  return s;
}

static void uk_load(uk_memory *m, const uk_motion *c) {
  memcpy(m->q, c->q, sizeof m->q);
  memcpy(m->v, c->v, sizeof m->v);
  m->stabilize = c->stabilize;
  for (int r = 0; r < UK_M; ++r) m->active[r] = c->active[r];
}

static void uk_keep(const uk_memory *m, uk_motion *c) {
  memcpy(c->q, m->q, sizeof m->q);
  memcpy(c->v, m->v, sizeof m->v);
}

/* What happens at the instant reached: the law acts, and the state is kept. */
static int uk_at_instant(uk_memory *m, uk_motion *c) {
  const int samples = c->sample[c->at] != 0.0;
  const int acts = c->continuous ? samples : c->control && c->control[c->at] != 0.0;
  const uk_queue late = {c->late, c->waiting};
  m->t = c->when[c->at];
  if (acts && c->law && uk_drive(m, c, 1)) return UK_NO_EFFORTS;
  if (c->delay > 0.0) uk_take_effect(&late, m->t + c->same, c->efforts);
  if (!samples) return 0;
  memcpy(c->q_out + c->sampled * UK_NQ, m->q, sizeof m->q);
  memcpy(c->v_out + c->sampled * UK_NV, m->v, sizeof m->v);
  memcpy(c->efforts_out + c->sampled * UK_NU, c->efforts, sizeof(double) * UK_NU);
  if (c->contacts) uk_contacts_sampled(c->contacts, c->sampled);
  for (int k = 0; k < c->watches; ++k) c->watched_out[c->sampled * c->watches + k] = c->watched[k];
  ++c->sampled;
  return 0;
}

static int uk_motion_instant(uk_lanes_motion *steps, long long at) {
  uk_stepper *s = (uk_stepper *)steps;
  uk_motion *c = s->motion;
  const int holds = !c->contacts || uk_contacts_hold(c->contacts, !*steps->failed);
  s->stopped = *steps->failed ? UK_NO_MOTION : 0;
  if (s->stopped) return 0;
  c->at = at;
  uk_keep(steps->m, c);
  s->stopped = holds || at + 1 >= c->stops ? uk_at_instant(steps->m, c) : UK_CHANGED;
  if (s->stopped || at + 1 >= c->stops) return 0;
  uk_apply(steps->m, c);
  steps->begin = c->when[at], steps->end = c->when[at + 1];
  return 1;
}

/* The whole motion; 0, UK_NO_EFFORTS, UK_NO_MOTION or UK_CHANGED. */
UK_EXPORT int uk_move(uk_memory *m, uk_motion *c) {
  uk_kept kept; /* a step begins where the one before it was projected to */
  uk_mask failed;
  kept.known = 0;
  c->kept = &kept;
  uk_load(m, c);
  uk_stepper s = uk_stepper_of(m, c, &kept, &failed);
  c->steps += uk_lanes_go(&s.steps, c->step, uk_motion_instant);
  c->kept = NULL;
  return s.stopped;
}

/* One evaluation at a time and the state in the motion; the acceleration is in the memory. */
UK_EXPORT int uk_accelerate(uk_memory *m, uk_motion *c) {
  uk_load(m, c);
  m->t = *c->when;
  uk_apply(m, c);
  return uk_stage(m, c);
}

/* Efforts of the law at a time and the state in the motion; as uk_drive. */
UK_EXPORT int uk_act(uk_memory *m, uk_motion *c) {
  uk_load(m, c);
  m->t = *c->when;
  return uk_drive(m, c, 1);
}

/* The state in the motion on the constraints at a time; as uk_project, or 4: a reference has no
 * value. */
UK_EXPORT int uk_settle(uk_memory *m, uk_motion *c) {
  uk_load(m, c);
  m->t = *c->when;
  if (uk_follow_structure(m, c->followed)) return 4;
  const int failed = uk_project(m);
  if (!failed) uk_keep(m, c);
  return failed;
}
