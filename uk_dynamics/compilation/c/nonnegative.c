/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Non-negative least squares: Lawson and Hanson's active set, with factors that are updated as Daniel, Gragg,
 * Kaufman and Stewart do (Mathematics of Computation 30, 1976). */
#pragma once

#include "least_solution.c"

#define UK_QUADS(n) (((n) + 3) / 4)
#define UK_NORMAL (4 * UK_QUADS(UK_UNKNOWNS + 1)) /* numbers of a normal: with zeros at its end, for vectors */
#define UK_PARALLEL 0.7 /* what is left of a vector that need not be made orthogonal once more */

typedef struct { /* normals = orthonormal vectors times a triangle */
  int n, used, place[UK_NORMAL];                                     /* which normals */
  double q[UK_NORMAL][UK_NORMAL], r[UK_NORMAL][UK_NORMAL]; /* vectors, columns */
  double part[UK_NORMAL], inverse[UK_NORMAL];              /* what u has of q; one over the diagonal of r */
} uk_normals;


/* x . y, apart: compilers take arrays of which a part is filled for uninitialised where they see both. */
static UK_APART double uk_inner_product(const double *x, const double *y, int n) { return uk_dot(x, y, n); }


/* x . row k to y_k, of rows that are so far apart; four at once, as in uk_reflect_rows. */
static UK_APART void uk_inner_products(const double *rows, int count, int apart, const double *restrict x, int n,
                                       double *restrict y) {
  int k = 0;
  for (; k + 4 <= count; k += 4) {
    const double *p = rows + k * apart, *q = p + apart, *r = q + apart, *s = r + apart;
    double of_p = 0.0, of_q = 0.0, of_r = 0.0, of_s = 0.0;
    for (int j = 0; j < n; ++j) of_p += x[j] * p[j], of_q += x[j] * q[j], of_r += x[j] * r[j], of_s += x[j] * s[j];
    y[k] = of_p, y[k + 1] = of_q, y[k + 2] = of_r, y[k + 3] = of_s;
  }
  for (; k < count; ++k) y[k] = uk_dot(rows + k * apart, x, n);
}

/* One more normal, and the rest without its part; 0: the others give it. */
static int uk_add_normal(uk_normals *f, int j, const double *x, double *rest) {
  const int n = f->n, k = f->used, blocks = UK_QUADS(n);
  double *v = f->q[k], *r = f->r[k];
  const double size = sqrt(uk_dot(x, x, 4 * blocks));
  double before = size, left = 0.0, along[UK_NORMAL];
  if (k == n || !(size > 0.0)) return 0;
  memcpy(v, x, sizeof(double) * 4 * blocks);
  for (int i = 0; i < k; ++i) r[i] = 0.0;
  for (int again = 0; again < 2; ++again, before = left) { /* twice is enough (Kahan; Parlett) */
    uk_inner_products(f->q[0], k, UK_NORMAL, v, 4 * blocks, along);
    for (int i = 0; i < k; ++i) r[i] += along[i], uk_add(v, -along[i], f->q[i], 4 * blocks);
    left = sqrt(uk_dot(v, v, 4 * blocks));
    if (!(left > UK_DEPENDENT * size)) return 0;
    if (left > UK_PARALLEL * before) break;
  }
  r[k] = left, f->inverse[k] = 1.0 / left;
  for (int l = 0; l < 4 * blocks; ++l) v[l] *= f->inverse[k];
  f->part[k] = uk_dot(v, rest, 4 * blocks), f->place[f->used++] = j;
  uk_add(rest, -f->part[k], v, 4 * blocks);
  return 1;
}

/* Without the normal at a place; the rest has its part again. */
static void uk_drop_normal(uk_normals *f, int at, double *rest) {
  const int last = --f->used, blocks = UK_QUADS(f->n);
  for (int k = at; k < last; ++k) {
    f->place[k] = f->place[k + 1];
    memcpy(f->r[k], f->r[k + 1], sizeof(double) * (k + 2));
  }
  for (int k = at; k < last; ++k) { /* what a column has below the diagonal is rotated into it */
    double *restrict one = f->q[k], *restrict two = f->q[k + 1];
    const double size = sqrt(f->r[k][k] * f->r[k][k] + f->r[k][k + 1] * f->r[k][k + 1]);
    const double c = f->r[k][k] / size, s = f->r[k][k + 1] / size, part = f->part[k];
    for (int j = k; j < last; ++j) {
      const double x = f->r[j][k], y = f->r[j][k + 1];
      f->r[j][k] = c * x + s * y, f->r[j][k + 1] = c * y - s * x;
    }
    f->inverse[k] = 1.0 / f->r[k][k];
    f->part[k] = c * part + s * f->part[k + 1], f->part[k + 1] = c * f->part[k + 1] - s * part;
    for (int l = 0; l < 4 * blocks; ++l) {
      const double x = one[l], y = two[l];
      one[l] = c * x + s * y, two[l] = c * y - s * x;
    }
  }
  uk_add(rest, f->part[last], f->q[last], 4 * blocks);
}

/* The y >= 0 of least |sum y_j normal_j - u|, from given ones on; normals are (count, 4 UK_QUADS(n)), zero from n on;
 * rest, as long: u less that sum, at first u. Whether it was found. Of normals that differ in their last entries only the rest is right to the size of
 * these: it is what the basis leaves, not a difference. */
static int uk_nonnegative(int count, int n, const double *normals, double *y, double *rest) {
  uk_normals f;
  int in[UK_INEQUALITIES], barred[UK_INEQUALITIES];
  const int blocks = UK_QUADS(n), stride = 4 * blocks;
  const double size = sqrt(uk_dot(rest, rest, 4 * blocks));
  f.n = n, f.used = 0;
  for (int j = 0; j < count; ++j) {
    in[j] = y[j] > 0.0 && uk_add_normal(&f, j, normals + j * stride, rest);
    barred[j] = 0;
    if (!in[j]) y[j] = 0.0;
  }
  for (int round = 0, next = -1; round < 10 * count + 1; ++round) {
    for (;;) { /* the least squares of those that are in, or as far as none gets negative */
      int worst = -1;
      double found[UK_NORMAL], step = 1.0;
      memcpy(found, f.part, sizeof(double) * f.used);
      for (int k = f.used - 1; k >= 0; --k) {
        const int j = f.place[k];
        found[k] *= f.inverse[k];
        for (int i = 0; i < k; ++i) found[i] -= f.r[k][i] * found[k];
        if (found[k] > 0.0) continue;
        const double way = y[j] > 0.0 ? y[j] / (y[j] - found[k]) : 0.0;
        if (worst < 0 || way <= step) step = way, worst = k;
      }
      for (int k = 0; k < f.used; ++k) y[f.place[k]] += step * (found[k] - y[f.place[k]]);
      if (worst < 0) break;
      const int j = f.place[worst];
      if (j == next && y[j] <= 0.0) barred[j] = 1; /* rounding said it would help */
      in[j] = 0, y[j] = 0.0;
      uk_drop_normal(&f, worst, rest);
    }
    for (int j = 0; next >= 0 && in[next] && j < count; ++j) barred[j] = 0;
    for (int again = 1; again;) {
      double steepest = 0.0, slopes[UK_INEQUALITIES];
      next = -1, again = 0;
      uk_inner_products(normals, count, stride, rest, stride, slopes);
      for (int j = 0; j < count; ++j) {
        if (in[j] || barred[j]) continue;
        const double *x = normals + j * stride, slope = slopes[j];
        if (slope > steepest && slope > UK_NO_GRADIENT * size * sqrt(uk_dot(x, x, 4 * blocks))) steepest = slope, next = j;
      }
      if (next < 0) return 1;
      in[next] = uk_add_normal(&f, next, normals + next * stride, rest);
      if (!in[next]) again = barred[next] = 1; /* nothing that the others do not give */
    }
  }
  return 0;
}
