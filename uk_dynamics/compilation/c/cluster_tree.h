/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* A mechanism as tables, and the memory of its evaluation. Joints have one freedom, and a floating
 * root is six of them. They stand cluster by cluster, clusters
 * from the root outward; rows stand cluster by cluster. Body number `joints` is the world.
 * runtime/cluster_tables.py fills the tables in the order of the fields. */
#pragma once

#include <stddef.h>

#include "attributes.h"

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
  /* inputs and answers, which come first, as in the memory of other mechanisms */
  double *t, *stabilize, *q, *v, *tau, *active, *status, *rank, *qdd, *violation, *offends;
  double *ideal_force, *multipliers, *determined;
  uk_placed *motion;
  uk_body *body;
  uk_ground *ground;
  double *extremes;                /* smallest and largest diagonal entry of M */
  double *ready;                   /* what is known at `placed`: UK_PLACED or UK_FACTORED; with which
                                      rank tolerance */
  double *scale, *joint_force, *joint_qdd, *joint_ideal, *particular, *whitened, *unbalanced, *size;
  double *best, *start_q, *start_v, *sum_q, *sum_v, *rate_q, *moved, *placed;
  double *Y;                       /* (6) of each joint */
  double *H, *Z, *L;               /* squares of clusters */
  double *A, *W;                   /* entries of rows */
  double *residual, *rate, *b, *row_violation, *row_multipliers, *row_determined;
  double *order, *square, *reference, *beta, *R, *inverse_scale;
  double *kernel, *scratch, *coordinates; /* of the largest cluster */
} uk_tree;

/* The rows of one cluster, for row_elimination.c. */
typedef struct {
  int n, rows;
  double rank_tolerance;
  double *W, *order, *square, *reference, *beta, *R, *inverse_scale;
  double *kernel, *scratch, *multipliers, *determined;
} uk_row_block;

#define uk_memory uk_row_block
#define UK_NV (m->n)
#define UK_M (m->rows)
#define UK_RANK_TOLERANCE (m->rank_tolerance)

/* How many doubles of memory an evaluation needs; where there is some, pointers into it. */
UK_EXPORT long long uk_cluster_memory(uk_tree *t, double *memory) {
  const long long n = t->joints, nq = t->positions, m = t->rows, wide = m > 0 ? m : 1;
  long long squares = 0, entries = 0, largest = 1, most = 1, at = 0;
  for (int k = 0; k < t->clusters; ++k) {
    const uk_cluster *c = t->cluster + k;
    squares += (long long)c->joints * c->joints, entries += (long long)c->rows * c->joints;
    if (c->joints > largest) largest = c->joints;
    if (c->rows > most) most = c->rows;
  }
  double **const one[] = {&t->t, &t->stabilize, NULL};
  double **const placed[] = {&t->placed, &t->best, &t->start_q, NULL}, **const q[] = {&t->q, NULL};
  double **const inputs[] = {&t->v, &t->tau, NULL};
  double **const answers[] = {&t->violation, &t->offends, NULL};
  double **const forces[] = {&t->multipliers, &t->determined, NULL};
  double **const of_joints[] = {
      &t->scale, &t->joint_force, &t->joint_qdd, &t->joint_ideal, &t->particular, &t->whitened,
      &t->unbalanced, &t->size, &t->start_v, &t->sum_q, &t->sum_v, &t->rate_q, &t->moved, NULL};
  double **const of_rows[] = {
      &t->residual, &t->rate, &t->b, &t->row_violation, &t->row_multipliers, &t->row_determined,
      &t->order, &t->square, &t->reference, &t->beta, &t->R, &t->inverse_scale, NULL};
  double **const squared[] = {&t->H, &t->Z, &t->L, NULL}, **const entered[] = {&t->A, &t->W, NULL};
  double **const active[] = {&t->active, NULL}, **const found[] = {&t->status, &t->rank, NULL};
  double **const qdd[] = {&t->qdd, NULL}, **const ideal[] = {&t->ideal_force, NULL};
  double **const two[] = {&t->extremes, &t->ready, NULL}, **const Y[] = {&t->Y, NULL};
  double **const kernel[] = {&t->kernel, NULL};
  double **const little[] = {&t->scratch, &t->coordinates, NULL};
  double *motion = NULL, *body = NULL, *ground = NULL;
  double **const motions[] = {&motion, NULL}, **const bodies[] = {&body, NULL};
  double **const grounds[] = {&ground, NULL};
  const struct {
    double **const *places;
    long long count;
  } parts[] = {{one, 1}, {q, nq}, {inputs, n}, {active, wide}, {found, 1}, {qdd, n}, {answers, wide},
               {ideal, n}, {forces, wide},
               {motions, (n + 1) * (long long)(sizeof(uk_placed) / sizeof(double))},
               {bodies, (n + 1) * (long long)(sizeof(uk_body) / sizeof(double))},
               {grounds, t->clusters * (long long)(sizeof(uk_ground) / sizeof(double))},
               {two, 2}, {placed, nq}, {of_joints, n}, {Y, 6 * n}, {squared, squares}, {entered, entries},
               {of_rows, wide}, {kernel, most * (most < largest ? most : largest)}, {little, largest > most ? largest : most}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    for (double **const *place = parts[i].places; *place; ++place) {
      if (memory) **place = memory + at;
      at += parts[i].count;
    }
  }
  if (memory) {
    t->motion = (uk_placed *)motion;
    t->body = (uk_body *)body, t->ground = (uk_ground *)ground;
    uk_placed *world = t->motion + n;
    world->R[0] = world->R[4] = world->R[8] = 1.0;
    for (int i = 0; i < 3; ++i) world->G[i] = -t->gravity[i];
    t->answered = motion - memory;
    *t->stabilize = 1.0;
    for (int r = 0; r < wide; ++r) t->active[r] = 1.0;
  }
  return at;
}
