/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Gravity compensation and hold; see control/hold_and_gravity_compensation.py, whose steps these are, and
 * core/servo/motion_efforts.py. */
#pragma once

#include "admissible.c"
#include "configuration.c"
#include "evaluate.c"
#include "internal_forces.c"
#include "limited_allocation.c"
#include "limits.c"
#include "references.c"
#include "uk_following.h"
#include "uk_joint_space_memory.h"
#include "uk_resistance.h"

typedef struct {
  uk_memory *memory;
  double *structure; /* table of what structural rows follow; null: zero */
  uk_joint_space_memory *own;
} uk_joint_space;

/* Efforts, (UK_NU), for a measured state, as uk_control has them; flags, (2 UK_NU + UK_NV): motors
 * at a power limit, at a rate limit; velocities that motors cannot serve. */
UK_EXPORT int uk_joint_space_control(const void *controller, double t, const double *q, const double *v,
                       double *efforts, double *flags) {
  const uk_joint_space *x = controller;
  uk_joint_space_memory *c = x->own;
  const uk_limits limits = UK_LIMITS_OF(c);
  uk_memory *m = x->memory;
  double M[UK_NV * UK_NV], desired[UK_NV], lacking[UK_NV], force[UK_NV];
  double motor[UK_NU][UK_NV], map[UK_NV][UK_NU], wanted[UK_NV], natural[UK_NV], root[UK_NU];
  double preferred[UK_NU], u[UK_NU], most[UK_NU], strength = 0.0, finished;
  m->t = t, m->stabilize = 0.0;
  memcpy(m->q, q, sizeof m->q);
  if (c->holds != 0.0 && c->holding == 0.0) memcpy(c->position, q, sizeof m->q);
  if (c->holds != 0.0) uk_way_to(c->position, q, desired);
  for (int i = 0; i < UK_NV; ++i) {
    m->v[i] = c->holds != 0.0 ? v[i] : 0.0;
    desired[i] = c->holds != 0.0 ? -c->damping * v[i] - c->stiffness * desired[i] : 0.0;
  }
  c->holding = 1.0;
  for (int r = 0; r < UK_M; ++r) m->active[r] = c->active[r];
#if UK_FOLLOWS
  if (uk_follow(x->structure, t, UK_M, m->followed)) return 3;
#endif
  uk_resist(m, m->tau);
  for (int i = 0; i < UK_NV; ++i) m->tau[i] = -m->tau[i];
  uk_lanes_terms(UK_STATE_TERMS);
  memcpy(preferred, c->preload, sizeof preferred);
  if (c->internal != 0.0) {
    if (uk_internal(m, c->internal_row, c->internal_force, c->internal_unit, u)) return 5;
    for (int j = 0; j < UK_NU; ++j) preferred[j] += u[j];
  }
  for (int i = 0; i < UK_NV; ++i) /* the lower triangle has it, where the tree lets it be nonzero */
    for (int j = 0; j <= i; ++j) M[i * UK_NV + j] = M[j * UK_NV + i] = 0.0;
  for (int i = 0; i < UK_NV; ++i)
    for (int j = i; j >= 0; j = uk_parent[j])
      M[i * UK_NV + j] = M[j * UK_NV + i] = m->H[i * UK_NV + j];
  const int failed = (int)uk_answer_pivoted(m, 0);
  if (failed) return failed;
  const int rank = (int)m->rank, rows = UK_NV - rank;
  for (int i = 0; i < UK_NV; ++i) lacking[i] = desired[i] - m->qdd[i];
  for (int i = 0; i < UK_NV; ++i) force[i] = uk_dot(M + i * UK_NV, lacking, UK_NV);
  uk_admissible(m, force);
  memcpy(wanted, force + rank, sizeof(double) * rows);
  for (int j = 0; j < UK_NU; ++j) {
    root[j] = sqrt(c->weights[j]);
    for (int i = 0; i < UK_NV; ++i) motor[j][i] = uk_motors[j][i] / root[j];
    uk_admissible(m, motor[j]);
    strength += uk_dot(motor[j] + rank, motor[j] + rank, rows);
  }
  for (int i = 0; i < rows; ++i) {
    natural[i] = sqrt(strength);
    for (int j = 0; j < UK_NU; ++j) map[i][j] = motor[j][rank + i];
  }
  uk_basis_room first, second;
  uk_basis basis = uk_basis_in(&first), range = uk_basis_in(&second);
  uk_least_solution(&basis, &range, &map[0][0], rows, UK_NU, natural, UK_TASK_RANK_TOLERANCE,
                    wanted, u);
  for (int j = 0; j < UK_NU; ++j) preferred[j] *= root[j];
  uk_orthogonal_part(&basis, preferred);
  for (int j = 0; j < UK_NU; ++j) efforts[j] = (u[j] += preferred[j]) / root[j];
  if (!isfinite(uk_total(efforts, UK_NU))) return 2;
  if (flags != NULL) {
    const double size = uk_largest(desired, UK_NV) + uk_largest(m->qdd, UK_NV) + UK_NEGLIGIBLE_ACCELERATION;
    for (int j = 0; j < 2 * UK_NU; ++j) flags[j] = 0.0;
    for (int i = 0; i < rows; ++i) force[rank + i] -= uk_dot(map[i], u, UK_NU);
    uk_admitted(m, rank, force);
    for (int i = 0; i < UK_NV; ++i)
      flags[2 * UK_NU + i] = fabs(force[i]) > UK_NOTICEABLE * size;
  }
  uk_limit(&limits, v, NULL, most);
  if (!uk_within(&limits, efforts)) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < UK_NU; ++j) map[i][j] *= root[j];
    memcpy(preferred, efforts, sizeof preferred);
    const uk_allocation asked = {
        rows, NULL, NULL, 0, c->weights, c->lower, c->upper, preferred, &map[0][0], wanted,
        NULL, NULL, NULL, efforts, &finished, NULL,
    };
    if (uk_allocate_efforts(&asked)) return 4;
    if (flags != NULL) uk_reasons(&limits, most, efforts, flags);
  }
  uk_remember(&limits, efforts);
  return 0;
}
