/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Rows of a cluster: from the frames of its pairs, by functions that are traced for each kind of
 * row, and the rank rule on them. */
#pragma once

#include "cluster_motion.c"
#include "least_multipliers.c"
#include "uk_row_kinds.h"

/* Place of a frame fixed in a body. */
static void uk_place(const double *frame, const uk_placed *b, double *R, double *o) {
  uk_matrix_product(b->R, frame, R);
  uk_turn(b->R, frame + 9, o);
  for (int i = 0; i < 3; ++i) o[i] += b->o[i];
}

/* A, residuals and, with velocities, rates and b of the rows of a cluster. */
static void uk_fill_rows(const uk_tree *t, int k, int moving) {
  const uk_cluster *c = t->cluster + k;
  const int n = c->joints;
  double *A = t->A + c->entry;
  memset(A, 0, sizeof(double) * c->rows * n);
  for (int p = c->first_pair; p < c->first_pair + c->pairs; ++p) {
    const uk_pair *pair = t->pair + p;
    const double *frames = t->frames + 24 * p;
    const uk_placed *parent = t->motion + pair->parent, *child = t->motion + pair->child;
    if (pair->parent == c->base) parent = &t->ground[k].base;
    if (pair->child == c->base) child = &t->ground[k].base;
    double Rp[9], op[3], Rc[9], oc[3], angular[3] = {0.0}, linear[3] = {0.0}, bias[6] = {0.0};
    uk_place(frames, parent, Rp, op);
    uk_place(frames + 12, child, Rc, oc);
    if (moving) {
      double delta[6], rate[6];
      for (int i = 0; i < 6; ++i) delta[i] = child->V[i] - parent->V[i];
      for (int i = 0; i < 6; ++i) rate[i] = child->G[i] - parent->G[i];
      uk_relative(0.0, parent->V, delta, rate, oc, angular, linear, bias);
    }
    for (int r = pair->first_row; r < pair->first_row + pair->rows; ++r) {
      double w[6], more[3]; /* wrench; residual, and what it leaves out of rate and bias */
      uk_row_of(t->type[r], Rp, op, Rc, oc, angular, linear, t->own + UK_OWN * r, w, more);
      double *row = A + (r - c->first_row) * n, rate = more[1];
      for (int s = pair->first_mover; s < pair->first_mover + pair->movers; ++s) {
        const int i = t->mover[s];
        row[i] = t->sign[s] * uk_dot6(w, t->body[c->first + i].S);
        rate += row[i] * t->v[t->link[c->first + i].velocity];
      }
      t->residual[r] = more[0];
      t->rate[r] = rate;
      t->b[r] = -(uk_dot6(w, bias) + more[2]
                  + *t->stabilize * (t->damping[r] * rate + t->stiffness[r] * more[0]));
    }
  }
}

/* The rows of a cluster, to be factored or where they are. */
static uk_basis uk_cluster_rows(const uk_tree *t, int k) {
  const uk_cluster *c = t->cluster + k;
  uk_basis b = uk_basis_at(c->joints, c->rows, (int)t->ground[k].rank, t->W + c->entry,
                           t->row_room + 6 * c->first_row);
  b.handicap = t->handicap + c->first_row;
  return b;
}

/* Which rows are independent, and Z, the motions that they leave, column by column. */
static void uk_find_motions(const uk_tree *t, int k) {
  const uk_cluster *c = t->cluster + k;
  const int n = c->joints;
  uk_basis b = uk_cluster_rows(t, k);
  const double *A = t->A + c->entry, *scale = t->scale + c->first;
  for (int r = 0; r < c->rows; ++r)
    for (int i = 0; i < n; ++i) b.rows[r * n + i] = A[r * n + i] * scale[i];
  uk_factor_rows(&b, t->natural_scale + c->first_row, t->rank_tolerance);
  t->ground[k].rank = b.rank;
  double *Z = t->Z + c->square;
  for (int f = b.rank; f < n; ++f, Z += n) {
    for (int i = 0; i < n; ++i) Z[i] = i == f;
    uk_rotate_back(&b, Z);
    for (int i = 0; i < n; ++i) Z[i] *= scale[i];
  }
}

/* The accelerations of least scaled norm that independent rows prescribe. */
static void uk_particular(const uk_tree *t, int k, const double *wanted) {
  const uk_cluster *c = t->cluster + k;
  const uk_basis b = uk_cluster_rows(t, k);
  uk_solve_rows(&b, wanted + c->first_row, t->particular + c->first);
  for (int j = c->first; j < c->first + c->joints; ++j) t->particular[j] *= t->scale[j];
}

/* Multipliers of least norm of the ideal force with coordinates z, (joints and rows), which is lost, and
 * which of them are unique. */
static void uk_multipliers(const uk_tree *t, int k, double *z) {
  const uk_basis b = uk_cluster_rows(t, k);
  const int first = t->cluster[k].first_row;
  uk_rotate(&b, z);
  uk_find_multipliers(&b, z, t->kernel, t->scratch, t->scratch + b.count, t->row_multipliers + first,
                      t->row_determined + first);
}
