/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* A mechanism as tables, and the memory of its evaluation. Joints have one freedom, and a floating
 * root is six of them. They stand cluster by cluster, clusters
 * from the root outward; rows stand cluster by cluster. Body number `joints` is the world.
 * runtime/cluster_tables.py fills the tables in the order of the fields. */
#pragma once

#include <stddef.h>

#include "attributes.h"
#include "uk_tree_fields.h"

typedef struct { /* constants of a joint and the body behind it */
  double rotation[9], translation[3];  /* of the joint in its carrier */
  double axis[3];                      /* in the joint */
  double slide[3];                     /* the same in the carrier: a prismatic joint moves q slide */
  double sine[9];                      /* rotation [axis]; R(q) = cos q rotation + sin q sine
                                          + (1 - cos q) slide axis^T */
  double mass, center[3], inertia[6];  /* of the body in the joint, about its centre */
  double armature;
} uk_joint;

typedef struct { /* forces that a joint exerts by itself */
  double damping, friction, friction_velocity, spring, rest, stop, stop_damping, lower, upper;
} uk_passive;

typedef struct {
  int parent;    /* number of the body that carries the joint */
  int before;    /* its place in the same cluster; -1: it is the base */
  int velocity;  /* place of the joint in v */
  int position;  /* and in q; of a floating root, where its x y z qx qy qz qw are */
  int turns;     /* 1 revolute, 0 prismatic */
  int floats;    /* 1: the first of six freedoms of a floating root, 2: another one; all are fixed in
                    the body, which the last one carries */
} uk_link;

typedef struct {
  int base;                /* body that it stands on */
  int first, joints;       /* its joints */
  int square;              /* where its (joints, joints) numbers are */
  int first_row, rows;
  int entry;               /* where its (rows, joints) numbers are */
  int first_pair, pairs;
} uk_cluster;

typedef struct { /* of frames, with their rows */
  int parent, child;       /* the bodies that carry the frames */
  int first_row, rows;
  int first_mover, movers; /* what moves one frame relative to the other */
} uk_pair;

typedef struct { /* a body in motion, seen from the point of a cluster */
  double R[9], o[3];       /* rotation, origin */
  double V[6], G[6];       /* velocity; acceleration at zero joint acceleration less gravity */
} uk_placed;

typedef struct { /* a body and its joint, seen from the point of its cluster */
  double S[6];             /* motion of the joint */
  double a[6];             /* acceleration of the body by those of the joints */
  double P[6];             /* force at zero joint acceleration, of what it carries too */
  double rigid[10];        /* its own mass, first moment, inertia */
  double U[6];             /* force on the base for an acceleration of its joint */
  double composite[10];    /* the same with all that it carries */
  double articulated[21];  /* inertia with what it carries free to yield */
} uk_body;

typedef struct { /* what a cluster stands on, seen from its point */
  uk_placed base;
  double a[6];
  double arm[3];           /* from the point of the base's cluster to its own */
  double rank;             /* independent rows */
} uk_ground;

/* The memory of an evaluation, field by field with how many there are: first inputs and answers, in the
 * order that the memory of other mechanisms has; then these.
 * extremes: smallest and largest diagonal entry of M; ready: what is known at `placed`, UK_PLACED or
 * UK_FACTORED, and with which rank tolerance; H, Z, L: squares of clusters; A, W: entries of rows; kernel,
 * scratch, coordinates: of the largest cluster. */
#define UK_OTHER_FIELDS(F)                                                                          \
  F(uk_placed, motion, n + 1) F(uk_body, body, n + 1) F(uk_ground, ground, t->clusters)             \
  F(double, extremes, 2) F(double, ready, 2)                                                        \
  F(double, placed, nq)                                                                             \
  F(double, scale, n) F(double, joint_force, n) F(double, joint_qdd, n) F(double, joint_ideal, n)   \
  F(double, particular, n) F(double, whitened, n) F(double, unbalanced, n) F(double, size, n)       \
  F(double, Y, 6 * n)                                                                               \
  F(double, H, squares) F(double, Z, squares) F(double, L, squares)                                 \
  F(double, A, entries) F(double, W, entries)                                                       \
  F(double, residual, m) F(double, rate, m) F(double, b, m) F(double, row_violation, m)             \
  F(double, row_multipliers, m) F(double, row_determined, m) F(double, row_room, 6 * m)              \
  F(double, kernel, most * (most < largest ? most : largest)) \
  F(double, scratch, 2 * most + largest) F(double, coordinates, most + largest)

#define UK_POINTER(type, name, count) type *name;

typedef struct {
  long long joints, positions, clusters, rows, answered; /* answered: doubles of inputs and answers */
  double rank_tolerance, consistency_tolerance, length, gravity[3];
  const uk_joint *joint;
  const uk_passive *passive;       /* null: there are none */
  const uk_link *link;
  const uk_cluster *cluster;
  const uk_pair *pair;
  const double *frames;            /* of each pair: rotation and origin of parent, of child */
  const int *mover;                /* places in the cluster */
  const double *sign;              /* 1: it moves the child, -1: the parent */
  const int *row, *type;           /* declared number of each row, and which function it has */
  const double *own;               /* UK_OWN numbers of each row, for that function */
  const double *damping, *stiffness, *natural_scale, *handicap;
  UK_ANSWERED_FIELDS(UK_POINTER) UK_OTHER_FIELDS(UK_POINTER)
} uk_tree;

#define UK_LAY(type, name, count)             \
  if (memory) t->name = (type *)(memory + at); \
  at += (count) * (long long)(sizeof(type) / sizeof(double));

/* How many doubles of memory an evaluation needs; where there is some, pointers into it. */
UK_EXPORT long long uk_cluster_memory(uk_tree *t, double *memory) {
  const long long n = t->joints, nq = t->positions, m = t->rows > 0 ? t->rows : 1;
  long long squares = 0, entries = 0, largest = 1, most = 1, at = 0;
  for (int k = 0; k < t->clusters; ++k) {
    const uk_cluster *c = t->cluster + k;
    squares += (long long)c->joints * c->joints, entries += (long long)c->rows * c->joints;
    if (c->joints > largest) largest = c->joints;
    if (c->rows > most) most = c->rows;
  }
  UK_ANSWERED_FIELDS(UK_LAY)
  t->answered = at;
  UK_OTHER_FIELDS(UK_LAY)
  if (memory) {
    uk_placed *world = t->motion + n;
    world->R[0] = world->R[4] = world->R[8] = 1.0;
    for (int i = 0; i < 3; ++i) world->G[i] = -t->gravity[i];
    *t->stabilize = 1.0;
    for (int r = 0; r < m; ++r) t->active[r] = 1.0;
  }
  return at;
}
