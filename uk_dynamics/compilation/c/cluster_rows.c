/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Rows of a cluster: from the frames of its pairs, by functions that are traced for each kind of
 * row, and the rank rule on them. */
#pragma once

#include "cluster_motion.c"
#include "row_elimination.c"
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

/* The rows of a cluster as row_elimination.c sees them. */
static uk_row_block uk_rows_of(const uk_tree *t, int k) {
  const uk_cluster *c = t->cluster + k;
  const int first = c->first_row;
  uk_row_block m = {.n = c->joints, .rows = c->rows, .rank_tolerance = t->rank_tolerance};
  m.W = t->W + c->entry;
  m.order = t->order + first, m.square = t->square + first, m.reference = t->reference + first;
  m.beta = t->beta + first, m.R = t->R + first, m.inverse_scale = t->inverse_scale + first;
  m.kernel = t->kernel, m.scratch = t->scratch;
  m.multipliers = t->row_multipliers + first, m.determined = t->row_determined + first;
  return m;
}

/* Which rows are independent, and Z, the motions that they leave, column by column. */
static void uk_eliminate_rows(const uk_tree *t, int k) {
  const uk_cluster *c = t->cluster + k;
  const int n = c->joints;
  uk_row_block m = uk_rows_of(t, k);
  const double *A = t->A + c->entry, *scale = t->scale + c->first;
  for (int r = 0; r < c->rows; ++r) {
    double *x = m.W + r * n;
    for (int i = 0; i < n; ++i) x[i] = A[r * n + i] * scale[i];
    const double norm = sqrt(uk_square(&m, x, 0));
    const double least = UK_LEAST_PART * t->natural_scale[c->first_row + r] + UK_TINY;
    const double inverse = t->handicap[c->first_row + r] / (norm > least ? norm : least);
    m.inverse_scale[r] = inverse;
    for (int i = 0; i < n; ++i) x[i] *= inverse;
    m.square[r] = m.reference[r] = norm * inverse * norm * inverse;
  }
  const int rank = uk_eliminate(&m, m.rank_tolerance);
  t->ground[k].rank = rank;
  double *Z = t->Z + c->square;
  for (int f = rank; f < n; ++f, Z += n) {
    for (int i = 0; i < n; ++i) Z[i] = i == f;
    for (int i = rank - 1; i >= 0; --i) uk_reflect(&m, i, Z);
    for (int i = 0; i < n; ++i) Z[i] *= scale[i];
  }
}

/* The accelerations of least scaled norm that independent rows prescribe. */
static void uk_particular(const uk_tree *t, int k, const double *b) {
  const uk_cluster *c = t->cluster + k;
  const uk_row_block m = uk_rows_of(t, k);
  const int n = c->joints, rank = (int)t->ground[k].rank;
  double *x = t->particular + c->first;
  for (int i = rank; i < n; ++i) x[i] = 0.0;
  for (int i = 0; i < rank; ++i) {
    const double *row = uk_row(&m, i);
    const int r = (int)m.order[i];
    double y = b[c->first_row + r] * m.inverse_scale[r];
    for (int j = 0; j < i; ++j) y -= row[j] * x[j];
    x[i] = y / m.R[i];
  }
  for (int i = rank - 1; i >= 0; --i) uk_reflect(&m, i, x);
  for (int i = 0; i < n; ++i) x[i] *= t->scale[c->first + i];
}
