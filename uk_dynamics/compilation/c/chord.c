/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The end of a step on the constraints along M^-1 A^T of its middle, as project_along of core/equation/projection.py:
 * the factors of the middle are in the memory, and what is left is small. */
#pragma once

#include "block_elimination.c"
#include "configuration.c"
#include "contact.h"
#include "uk_evaluation.h"
#include "uk_projection.h"

typedef struct {
  const uk_eliminated *by; /* loops */
  const int *closed;       /* n one-sided constraints, */
  int n;
  const double *parts;     /* whose directions have these coordinates, (dn, UK_NV) */
  double *room;            /* (UK_CHORD_ROOM) */
  uk_basis acts;           /* directions that act, in the motions that loops leave */
  int *which, *from;       /* which of all directions each is, and where its coordinates are */
} uk_chord;

/* Directions that act, and are of a kind, eliminated. */
static void uk_chord_begin(const uk_memory *m, const uk_contacts *x, const double *kind, uk_chord *c) {
  const int rank = (int)m->rank, free = UK_NV - rank, most = UK_D * c->n;
  uk_basis *b = &c->acts;
  c->which = (int *)(c->room + most * (UK_NV + 7)), c->from = c->which + most;
  *b = uk_basis_at(free, most, 0, c->room, c->room + most * UK_NV);
  b->count = 0;
  for (int i = 0; i < most; ++i) {
    const int k = UK_D * c->closed[i / UK_D] + i % UK_D, r = (int)x->row[k];
    if (r < 0 || kind[r] * m->active[r] == 0.0) continue;
    const double *own = c->parts + i * UK_NV;
    double *row = b->rows + b->count * free;
    memcpy(row, own + rank, sizeof(double) * free);
    uk_scale_row(b, b->count, sqrt(uk_dot(row, row, free)), uk_lanes_row_scale(r, sqrt(uk_dot(own, own, UK_NV))));
    c->from[b->count] = i, c->which[b->count++] = k;
  }
  uk_eliminate_rows(b, UK_RANK_TOLERANCE);
}

/* The least motion d along these directions that changes rows by `right`, (UK_M). */
static void uk_chord_correct(uk_memory *m, const uk_contacts *x, const uk_chord *c, const double *right, double *d) {
  double *y = c->room + UK_D * c->n * (UK_NV + 6), z[UK_NV];
  const int rank = (int)m->rank;
  uk_least_coordinates(m, c->by, right, d);
  for (int j = 0; j < c->acts.count; ++j) {
    const int k = c->which[j];
    y[j] = x->part[k] * right[x->row[k]] - uk_dot(c->parts + c->from[j] * UK_NV, d, UK_NV);
  }
  if (c->acts.count) {
    uk_solve_rows(&c->acts, y, z);
    uk_add(d + rank, 1.0, z, UK_NV - rank);
  }
  uk_move_along(m, c->by, d);
}

/* From a step d, where one is known before it, the one that would be the last, were these directions off by as much as
 * that tells; `own` and `moved` are the last step as it was found, and as it was taken. */
static void uk_chord_accelerate(double *d, double *own, double *moved, int known) {
  double change[UK_NV];
  for (int i = 0; i < UK_NV; ++i) change[i] = d[i] - own[i];
  memcpy(own, d, sizeof change);
  const double share = known ? uk_dot(d, change, UK_NV) / uk_dot(change, change, UK_NV) : 0.0;
  for (int i = 0; i < UK_NV && known; ++i) d[i] -= share * (moved[i] + change[i]);
  memcpy(moved, d, sizeof change);
}

/* Moves positions, or else velocities, until rows that act are left without residuals, or rates; 0: these directions do
 * not lead there. */
static int uk_chord_lead(uk_memory *m, const uk_contacts *x, uk_chord *c, int places, double *shared) {
  const double *kind = places ? uk_position_row : uk_motion_row;
  const double near = places ? UK_CHORD_NEAR : UK_CHORD_STILL * (1.0 + uk_largest(m->v, UK_NV));
  double right[UK_M], d[UK_NV], last[UK_NV] = {0.0}, moved[UK_NV] = {0.0}, before = INFINITY;
  if (!places) uk_lanes_terms_jacobian(UK_STATE_TERMS, shared);
  for (int step = 0; step < UK_CHORD_STEPS; ++step) {
    if (places) uk_lanes_terms_residuals(UK_STATE_TERMS, shared);
    for (int r = 0; r < UK_M; ++r) {
      right[r] = -kind[r] * m->active[r];
      if (right[r] != 0.0) right[r] *= places ? m->residual[r] : uk_dot(m->A + r * UK_NV, m->v, UK_NV);
    }
    const double left = uk_largest(right, UK_M);
    if (left <= near) return 1;
    if (!step) uk_chord_begin(m, x, kind, c);
    uk_chord_correct(m, x, c, right, d);
    const double size = uk_largest(d, UK_NV);
    if (size <= near) return left <= UK_REACHED; /* what no row can change */
    if (!(size <= UK_CHORD_SLOWEST * before)) return 0;
    uk_chord_accelerate(d, last, moved, step);
    if (places) uk_reach(m->q, 1.0, d, m->q);
    else uk_add(m->v, 1.0, d, UK_NV);
    before = size;
  }
  return 0;
}
