/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Articulated bodies of clusters: from the leaves inward, from the root outward; see
 * core/tree/articulated_bodies.py.
 *
 * Inertias: those of articulated bodies have 21 numbers, the linear part A and the angular part C
 * symmetric, between them B, (3, 3): force = A v + B w, moment = B^T v + C w.
 */
#pragma once

#include "cluster_rows.c"
#include "symmetric_factor.c"

/* Inertias of a cluster and its rows, eliminated after the clusters that it carries; 1 where some
 * motion has no inertia. */
static int uk_factor(const uk_tree *t, int k) {
  const uk_cluster *c = t->cluster + k;
  const int n = c->joints;
  uk_ground *g = t->ground + k;
  uk_body *own = t->body + c->first;
  double *H = t->H + c->square;
  double X[21] = {0.0}, composite[10] = {0.0}, held[21]; /* of all of it */
  memset(H, 0, sizeof(double) * n * n);
  for (int j = n - 1; j >= 0; --j) {
    uk_body *b = own + j;
    const uk_link *link = t->link + c->first + j;
    double momentum[6];
    uk_momentum(b->composite, b->S, momentum);
    const double armature = t->joint[c->first + j].armature;
    const double diagonal = uk_dot6(b->S, momentum) + armature;
    if (!(diagonal > 0.0)) return 1;
    t->scale[c->first + j] = 1.0 / sqrt(diagonal);
    if (diagonal < t->extremes[0]) t->extremes[0] = diagonal;
    if (diagonal > t->extremes[1]) t->extremes[1] = diagonal;
    uk_apply_articulated(b->articulated, b->S, b->U);
    H[j * n + j] = uk_dot6(b->S, b->U) + armature;
    for (int i = link->before; i >= 0; i = t->link[c->first + i].before)
      H[i * n + j] = H[j * n + i] = uk_dot6(own[i].S, b->U);
    double *yielding = link->before < 0 ? X : own[link->before].articulated;
    double *rigid = link->before < 0 ? composite : own[link->before].composite;
    for (int i = 0; i < 21; ++i) yielding[i] += b->articulated[i];
    for (int i = 0; i < 10; ++i) rigid[i] += b->composite[i];
  }
  g->rank = 0.0;
  if (c->rows) uk_find_motions(t, k);
  const int free = n - (int)g->rank;
  const double *Z = t->Z + c->square;
  double *L = t->L + c->square, *Y = t->Y + 6 * c->first;
  if (c->rows) { /* Z^T H Z and Z^T U^T */
    double *HZ = t->scratch;
    for (int f = 0; f < free; ++f) {
      const double *z = Z + f * n;
      for (int i = 0; i < n; ++i) HZ[i] = uk_dot(H + i * n, z, n);
      for (int e = f; e < free; ++e) L[e * free + f] = uk_dot(Z + e * n, HZ, n);
      memset(Y + 6 * f, 0, 6 * sizeof *Y);
      for (int j = 0; j < n; ++j) uk_add(Y + 6 * f, z[j], own[j].U, 6);
    }
  } else {
    memcpy(L, H, sizeof(double) * n * n);
    for (int j = 0; j < n; ++j) memcpy(Y + 6 * j, own[j].U, sizeof own[j].U);
  }
  if (!uk_factor_symmetric(L, free, UK_NO_INERTIA)) return 1;
  for (int f = 0; f < free; ++f) { /* Y becomes L^-1 Y */
    const double *row = L + f * free;
    double *y = Y + 6 * f;
    for (int e = 0; e < f; ++e) uk_add(y, -row[e], Y + 6 * e, 6);
    for (int i = 0; i < 6; ++i) y[i] *= row[f];
    uk_held_articulated(y, held);
    uk_add(X, -1.0, held, 21);
  }
  if (c->base < t->joints) {
    double moved[21];
    uk_body *base = t->body + c->base;
    uk_move_articulated(X, g->arm, moved);
    for (int i = 0; i < 21; ++i) base->articulated[i] += moved[i];
    uk_move_rigid(composite, g->arm, moved);
    for (int i = 0; i < 10; ++i) base->composite[i] += moved[i];
  }
  return 0;
}

/* Forces of a cluster on its base; `force` acts in its joints, null: none. */
static void uk_load_cluster(const uk_tree *t, int k, const double *force) {
  const uk_cluster *c = t->cluster + k;
  const int n = c->joints, free = n - (int)t->ground[k].rank;
  uk_ground *g = t->ground + k;
  uk_body *own = t->body + c->first;
  const double *x = t->particular + c->first, *H = t->H + c->square, *L = t->L + c->square;
  const double *Z = t->Z + c->square, *Y = t->Y + 6 * c->first;
  double *rest = t->scratch, *y = t->whitened + c->first, P[6] = {0.0};
  for (int j = n - 1; j >= 0; --j) {
    const int before = t->link[c->first + j].before;
    double *carrier = before < 0 ? P : own[before].P;
    rest[j] = (force ? force[c->first + j] : 0.0) - uk_dot6(own[j].S, own[j].P);
    t->unbalanced[c->first + j] = -rest[j];
    for (int i = 0; i < 6; ++i) carrier[i] += own[j].P[i];
  }
  if (c->rows) {
    for (int j = 0; j < n; ++j) {
      rest[j] -= uk_dot(H + j * n, x, n);
      uk_add(P, x[j], own[j].U, 6);
    }
  }
  for (int f = 0; f < free; ++f) y[f] = c->rows ? uk_dot(Z + f * n, rest, n) : rest[f];
  uk_solve_lower(L, free, y);
  for (int f = 0; f < free; ++f) uk_add(P, y[f], Y + 6 * f, 6);
  if (c->base < t->joints) uk_add_wrench(P, g->arm, t->body[c->base].P);
}

/* Accelerations of the joints and bodies of a cluster. */
static void uk_outward(const uk_tree *t, int k) {
  const uk_cluster *c = t->cluster + k;
  const int n = c->joints, free = n - (int)t->ground[k].rank;
  uk_ground *g = t->ground + k;
  uk_body *own = t->body + c->first;
  const double *x = t->particular + c->first, *L = t->L + c->square, *Z = t->Z + c->square;
  const double *Y = t->Y + 6 * c->first;
  double *y = t->whitened + c->first, *qdd = t->joint_qdd + c->first;
  uk_move_motion(t->body[c->base].a, g->arm, g->a);
  for (int f = 0; f < free; ++f) y[f] -= uk_dot6(Y + 6 * f, g->a);
  uk_solve_upper(L, free, y);
  for (int j = 0; j < n; ++j) {
    if (c->rows) {
      qdd[j] = x[j];
      for (int f = 0; f < free; ++f) qdd[j] += Z[f * n + j] * y[f];
    } else {
      qdd[j] = y[j];
    }
    const int before = t->link[c->first + j].before;
    const double *carrier = before < 0 ? g->a : own[before].a;
    for (int i = 0; i < 6; ++i) own[j].a[i] = carrier[i] + own[j].S[i] * qdd[j];
  }
}

/* Ideal force in the joints of a cluster, its multipliers, and what its rows leave. */
static void uk_react(const uk_tree *t, int k, double *ideal) {
  const uk_cluster *c = t->cluster + k;
  const int n = c->joints;
  const uk_body *own = t->body + c->first;
  const double *H = t->H + c->square, *A = t->A + c->entry, *qdd = t->joint_qdd + c->first;
  for (int j = 0; j < n; ++j) {
    double *sum = ideal + c->first + j;
    *sum = c->rows ? t->unbalanced[c->first + j] + uk_dot6(own[j].U, t->ground[k].a) : 0.0;
    if (c->rows) *sum += uk_dot(H + j * n, qdd, n);
  }
  if (!c->rows) return;
  for (int i = 0; i < n; ++i) t->coordinates[i] = t->scale[c->first + i] * ideal[c->first + i];
  uk_multipliers(t, k, t->coordinates);
  for (int r = 0; r < c->rows; ++r)
    t->row_violation[c->first_row + r] = uk_dot(A + r * n, qdd, n) - t->b[c->first_row + r];
}

/* F: all forces in the joints but those of the constraints; P is lost. */
static void uk_free_force(const uk_tree *t, const double *force, double *F) {
  for (int k = 0; k < t->clusters; ++k)
    for (int j = t->cluster[k].first; j < t->cluster[k].first + t->cluster[k].joints; ++j)
      uk_bias(t->body[j].rigid, t->motion[j].V, t->motion[j].G, t->body[j].P);
  for (int k = t->clusters - 1; k >= 0; --k) {
    const uk_cluster *c = t->cluster + k;
    double sum[6] = {0.0};
    for (int j = c->joints - 1; j >= 0; --j) {
      uk_body *b = t->body + c->first + j;
      const int before = t->link[c->first + j].before;
      double *carrier = before < 0 ? sum : t->body[c->first + before].P;
      F[c->first + j] = force[c->first + j] - uk_dot6(b->S, b->P);
      for (int i = 0; i < 6; ++i) carrier[i] += b->P[i];
    }
    if (c->base < t->joints) uk_add_wrench(sum, t->ground[k].arm, t->body[c->base].P);
  }
}

/* Tell dependent rows that hold from near-dependent and from contradicting ones; the status. */
static double uk_check_clusters(const uk_tree *t, const double *force) {
  double worst = UK_OK, *size = t->size, *off = t->coordinates;
  uk_free_force(t, force, size);
  for (int j = 0; j < t->joints; ++j)
    size[j] = t->scale[j] * t->scale[j] * fabs(size[j]) + fabs(t->joint_qdd[j]);
  for (int k = 0; k < t->clusters; ++k) {
    const uk_cluster *c = t->cluster + k;
    const int first = c->first_row;
    const uk_basis b = uk_cluster_rows(t, k);
    const double found = uk_check_rows(&b, t->A + c->entry, t->b + first, t->row_violation + first,
                                       size + c->first, t->consistency_tolerance, t->scratch, off);
    for (int r = 0; r < c->rows; ++r) t->offends[t->row[first + r]] = off[r];
    if (found > worst) worst = found;
  }
  return worst;
}
