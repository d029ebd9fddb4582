/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Articulated bodies of clusters: from the leaves inward, from the root outward; see
 * core/tree/articulated_bodies.py.
 *
 * Inertias: those of articulated bodies have 21 numbers, the linear part A and the angular part C
 * symmetric, between them B, (3, 3): force = A v + B w, moment = B^T v + C w.
 */
#pragma once

#include "cluster_rows.c"

/* Inertias of a cluster and its rows, eliminated after the clusters that it carries; 1 where some
 * motion has no inertia. */
static int uk_factor(const uk_tree *t, int k) {
  const uk_cluster *c = t->cluster + k;
  const int n = c->joints;
  uk_ground *g = t->ground + k;
  uk_body *own = t->body + c->first;
  double *H = t->H + c->square;
  double X[21] = {0.0}, composite[10] = {0.0}; /* of all of it */
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
      for (int i = 0; i < n; ++i) {
        HZ[i] = 0.0;
        for (int j = 0; j < n; ++j) HZ[i] += H[i * n + j] * z[j];
      }
      for (int e = f; e < free; ++e) {
        double sum = 0.0;
        for (int i = 0; i < n; ++i) sum += Z[e * n + i] * HZ[i];
        L[e * free + f] = sum;
      }
      for (int i = 0; i < 6; ++i) {
        double sum = 0.0;
        for (int j = 0; j < n; ++j) sum += own[j].U[i] * z[j];
        Y[6 * f + i] = sum;
      }
    }
  } else {
    memcpy(L, H, sizeof(double) * n * n);
    for (int j = 0; j < n; ++j) memcpy(Y + 6 * j, own[j].U, sizeof own[j].U);
  }
  for (int f = 0; f < free; ++f) { /* L L^T, and Y becomes L^-1 Y */
    double *row = L + f * free;
    for (int e = 0; e < f; ++e) {
      double sum = row[e];
      for (int d = 0; d < e; ++d) sum -= row[d] * L[e * free + d];
      row[e] = sum * L[e * free + e];
    }
    double pivot = row[f];
    for (int e = 0; e < f; ++e) pivot -= row[e] * row[e];
    if (!(pivot > UK_NO_INERTIA * row[f])) return 1;
    row[f] = 1.0 / sqrt(pivot); /* the reciprocal stands on the diagonal */
    for (int i = 0; i < 6; ++i) {
      double sum = Y[6 * f + i];
      for (int e = 0; e < f; ++e) sum -= row[e] * Y[6 * e + i];
      Y[6 * f + i] = sum * row[f];
    }
    const double *y = Y + 6 * f;
    X[0] -= y[0] * y[0], X[1] -= y[0] * y[1], X[2] -= y[0] * y[2];
    X[3] -= y[1] * y[1], X[4] -= y[1] * y[2], X[5] -= y[2] * y[2];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) X[6 + 3 * i + j] -= y[i] * y[3 + j];
    X[15] -= y[3] * y[3], X[16] -= y[3] * y[4], X[17] -= y[3] * y[5];
    X[18] -= y[4] * y[4], X[19] -= y[4] * y[5], X[20] -= y[5] * y[5];
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
      for (int i = 0; i < n; ++i) rest[j] -= H[j * n + i] * x[i];
      for (int i = 0; i < 6; ++i) P[i] += own[j].U[i] * x[j];
    }
  }
  for (int f = 0; f < free; ++f) {
    double sum = rest[f];
    if (c->rows) {
      sum = 0.0;
      for (int i = 0; i < n; ++i) sum += Z[f * n + i] * rest[i];
    }
    for (int e = 0; e < f; ++e) sum -= L[f * free + e] * y[e];
    y[f] = sum * L[f * free + f];
    for (int i = 0; i < 6; ++i) P[i] += Y[6 * f + i] * y[f];
  }
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
  for (int f = free - 1; f >= 0; --f) {
    double sum = y[f] - uk_dot6(Y + 6 * f, g->a);
    for (int e = f + 1; e < free; ++e) sum -= L[e * free + f] * y[e];
    y[f] = sum * L[f * free + f];
  }
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
    double sum = 0.0;
    if (c->rows) {
      sum = t->unbalanced[c->first + j] + uk_dot6(own[j].U, t->ground[k].a);
      for (int i = 0; i < n; ++i) sum += H[j * n + i] * qdd[i];
    }
    ideal[c->first + j] = sum;
  }
  if (!c->rows) return;
  for (int i = 0; i < n; ++i) t->coordinates[i] = t->scale[c->first + i] * ideal[c->first + i];
  uk_multipliers(t, k, t->coordinates);
  for (int r = 0; r < c->rows; ++r) {
    double rest = -t->b[c->first_row + r];
    for (int i = 0; i < n; ++i) rest += A[r * n + i] * qdd[i];
    t->row_violation[c->first_row + r] = rest;
  }
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
