/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Motion of a tree of one-freedom joints, cluster by cluster from the root outward.
 *
 * Nothing here is particular to a mechanism: tables describe it. Vectors have world axes; those of a
 * cluster stand at a point of its own, the origin of its first joint, since at the world's origin
 * digits would be lost with the distance. Spatial vectors have their linear part first.
 */
#pragma once

#include <math.h>
#include <string.h>

#include "cluster_tree.h"
#include "uk_config.h"
#include "uk_free_joint.h"
#include "uk_lanes.h"
#include "uk_spatial.h"

static inline void uk_cross(const double *a, const double *b, double *c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void uk_add_cross(const double *a, const double *b, double *c) {
  c[0] += a[1] * b[2] - a[2] * b[1];
  c[1] += a[2] * b[0] - a[0] * b[2];
  c[2] += a[0] * b[1] - a[1] * b[0];
}

static inline double uk_dot3(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double uk_dot6(const double *a, const double *b) {
  return uk_dot3(a, b) + uk_dot3(a + 3, b + 3);
}

/* c = A b, (3, 3) with (3,). */
static inline void uk_turn(const double *A, const double *b, double *c) {
  for (int i = 0; i < 3; ++i) c[i] = uk_dot3(A + 3 * i, b);
}

/* C = A B, (3, 3). */
static inline void uk_matrix_product(const double *A, const double *B, double *C) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

/* A motion given at one point, at another that is `arm` away. */
static inline void uk_move_motion(const double *x, const double *arm, double *y) {
  for (int i = 0; i < 6; ++i) y[i] = x[i];
  uk_add_cross(x + 3, arm, y);
}

/* Add a wrench at a point, `arm` away from that where the sum stands. */
static inline void uk_add_wrench(const double *w, const double *arm, double *sum) {
  for (int i = 0; i < 6; ++i) sum[i] += w[i];
  uk_add_cross(arm, w, sum + 3);
}

/* Placements and inertias of the bodies of a cluster. */
static void uk_place_cluster(const uk_tree *t, int k) {
  const uk_cluster *c = t->cluster + k;
  uk_ground *g = t->ground + k;
  const uk_placed *base = t->motion + c->base;
  for (int j = c->first; j < c->first + c->joints; ++j) {
    const uk_joint *fixed = t->joint + j;
    const uk_link *link = t->link + j;
    uk_placed *b = t->motion + j;
    uk_body *body = t->body + j;
    const uk_placed *parent = t->motion + link->parent; /* of its rotation */
    const double q = t->q[link->position];
    double local[9], arm[3];
    if (link->floats == 1) {
      uk_root_place(t->q + link->position, fixed->rotation, fixed->translation, b->R, arm);
    } else if (link->floats) {
      memcpy(b->R, parent->R, sizeof b->R);
      memset(arm, 0, sizeof arm);
    } else if (link->turns) {
      double s, c;
      uk_lanes_sincos(q, &s, &c);
      for (int i = 0; i < 3; ++i) {
        const double along = (1.0 - c) * fixed->slide[i];
        for (int k = 3 * i; k < 3 * i + 3; ++k)
          local[k] = c * fixed->rotation[k] + s * fixed->sine[k] + along * fixed->axis[k - 3 * i];
      }
      uk_matrix_product(parent->R, local, b->R);
      uk_turn(parent->R, fixed->translation, arm);
    } else {
      for (int i = 0; i < 3; ++i) local[i] = fixed->translation[i] + q * fixed->slide[i];
      uk_matrix_product(parent->R, fixed->rotation, b->R);
      uk_turn(parent->R, local, arm);
    }
    if (j == c->first) {
      for (int i = 0; i < 3; ++i) g->arm[i] = base->o[i] + arm[i];
      for (int i = 0; i < 3; ++i) g->base.o[i] = base->o[i] - g->arm[i];
      memcpy(g->base.R, base->R, sizeof base->R);
    }
    if (link->parent == c->base) parent = &g->base;
    for (int i = 0; i < 3; ++i) b->o[i] = parent->o[i] + arm[i];
    double axis[3];
    uk_turn(b->R, fixed->axis, axis);
    if (link->turns) {
      uk_cross(b->o, axis, body->S);
      memcpy(body->S + 3, axis, sizeof axis);
    } else {
      memcpy(body->S, axis, sizeof axis);
      body->S[3] = body->S[4] = body->S[5] = 0.0;
    }
    uk_rigid(&fixed->mass, fixed->center, fixed->inertia, b->R, b->o, body->rigid);
    memcpy(body->composite, body->rigid, sizeof body->rigid);
    uk_as_articulated(body->composite, body->articulated);
  }
}

/* Motions of the bodies of a cluster that is placed: velocities, what they accelerate by themselves,
 * and the forces for that. */
static void uk_move_cluster(const uk_tree *t, int k) {
  const uk_cluster *c = t->cluster + k;
  uk_ground *g = t->ground + k;
  uk_move_motion(t->motion[c->base].V, g->arm, g->base.V);
  uk_move_motion(t->motion[c->base].G, g->arm, g->base.G);
  for (int j = c->first; j < c->first + c->joints; ++j) {
    const uk_link *link = t->link + j;
    const uk_placed *parent = link->parent == c->base ? &g->base : t->motion + link->parent;
    uk_placed *b = t->motion + j;
    uk_body *body = t->body + j;
    const double v = t->v[link->velocity];
    double own[6], turning[6] = {0.0};
    for (int i = 0; i < 6; ++i) own[i] = body->S[i] * v;
    if (!link->floats) { /* of a body that moves freely these cancel */
      uk_add_cross(parent->V + 3, own, turning);
      uk_add_cross(parent->V, own + 3, turning);
      uk_add_cross(parent->V + 3, own + 3, turning + 3);
    }
    for (int i = 0; i < 6; ++i) b->V[i] = parent->V[i] + own[i], b->G[i] = parent->G[i] + turning[i];
    uk_bias(body->rigid, b->V, b->G, body->P);
  }
}

/* Damping and dry friction of a joint. */
static double uk_joint_resistance(const uk_passive *c, double v) {
  return -c->damping * v - (c->friction != 0.0 ? c->friction * tanh(v / c->friction_velocity) : 0.0);
}

/* These, spring and stops of a joint, as PassiveForces of the interpreted one. */
static double uk_passive_force(const uk_passive *c, double q, double v) {
  double force = uk_joint_resistance(c, v);
  if (c->spring != 0.0) force += c->spring * (c->rest - q);
  const double under = c->lower - q, over = q - c->upper, resisting = c->stop_damping * v;
  if (under > 0.0) force += fmax(c->stop * under - resisting, 0.0);
  if (over > 0.0) force -= fmax(c->stop * over + resisting, 0.0);
  return force;
}
