/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Efforts within limits, with contact forces inside their friction pyramids, as core/servo/contact_allocation.py
 * has it: the nearest to the closed form where everything can be served, else by priority. */
#pragma once

#include "allocate.c"

#if UK_CONTACT_ROWS

typedef struct { /* motors, then normal, x and y of the contacts that stand, in units of equal cost */
  int count, contacts, rows, free;          /* how many; rows that ask for something; motions that no row sees */
  int place[UK_NU], contact[UK_CONTACTS];   /* among all */
  double root[UK_NU], closed[UK_NU], lower[UK_MOTORS], upper[UK_MOTORS], most[UK_CONTACTS], friction[UK_CONTACTS];
  double C[UK_MT * UK_NU], wanted[UK_MT], motions[UK_NU * UK_NU]; /* a motion behind the other */
  int level[UK_MT];
  uk_basis_room rooms[2];
  uk_basis basis, range;
} uk_pushes;

/* Whether the forces of the contacts, of which some do not stand, are inside. */
static int uk_within_pyramids(const uk_memory *m) {
  for (int k = 0; k < UK_CONTACTS; ++k) {
    const double *f = m->efforts + UK_MOTORS + 3 * k;
    if (m->asked[3 * k] == 0.0) continue;
    if (!(fabs(f[1]) + fabs(f[2]) <= m->contact_friction[k] * f[0] && f[0] <= m->contact_most[k])) return 0;
  }
  return 1;
}

static void uk_gather_pushes(const uk_memory *m, uk_pushes *p) {
  p->basis = uk_basis_in(p->rooms), p->range = uk_basis_in(p->rooms + 1);
  p->contacts = p->rows = 0;
  for (int j = 0; j < UK_MOTORS; ++j) p->place[j] = j;
  for (int k = 0; k < UK_CONTACTS; ++k) {
    if (m->asked[3 * k] == 0.0) continue;
    for (int i = 0; i < 3; ++i) p->place[UK_MOTORS + 3 * p->contacts + i] = UK_MOTORS + 3 * k + i;
    p->contact[p->contacts] = k, p->friction[p->contacts++] = m->contact_friction[k];
  }
  const int n = p->count = UK_MOTORS + 3 * p->contacts;
  for (int j = 0; j < n; ++j) {
    p->root[j] = m->root[p->place[j]];
    p->closed[j] = p->root[j] * m->efforts[p->place[j]];
  }
  for (int j = 0; j < UK_MOTORS; ++j) p->lower[j] = p->root[j] * m->lower[j], p->upper[j] = p->root[j] * m->upper[j];
  for (int k = 0; k < p->contacts; ++k) p->most[k] = p->root[UK_MOTORS + 3 * k] * m->contact_most[p->contact[k]];
  for (int r = 0; r < UK_MT; ++r) {
    if (m->asked[r] == 0.0) continue;
    for (int j = 0; j < n; ++j) p->C[p->rows * n + j] = m->map[r * UK_NU + p->place[j]] / p->root[j];
    p->level[p->rows] = uk_level[r];
    p->wanted[p->rows++] = m->wanted[r];
  }
  p->basis.n = n, p->basis.count = p->rows;
  memcpy(p->basis.rows, p->C, sizeof(double) * p->rows * n);
  uk_factor_rows(&p->basis, NULL, UK_TASK_RANK_TOLERANCE);
  p->free = n - p->basis.rank;
  for (int g = 0; g < p->free; ++g) {
    double *x = p->motions + g * n;
    for (int j = 0; j < n; ++j) x[j] = j == p->basis.rank + g;
    uk_rotate_back(&p->basis, x);
  }
}

/* Inequalities of the motions, (count, free + 1): what they are per motion, and at least. */
typedef struct {
  int count, fail;
  double most, normals[UK_INEQUALITIES * (UK_NU + 1)];
} uk_inequalities;

/* One more: of three in a row from `first`, or of the first alone, the sum by factors is at least -rest. */
static void uk_add_inequality(const uk_pushes *p, uk_inequalities *q, const double *from, int first, double normal,
                              double x, double y, double bound) {
  const int n = p->count, g = p->free, three = x != 0.0;
  double *row = q->normals + q->count * (g + 1), square = 0.0;
  double lack = bound - normal * from[first];
  if (three) lack -= x * from[first + 1] + y * from[first + 2];
  for (int k = 0; k < g; ++k) {
    const double *motion = p->motions + k * n + first;
    row[k] = normal * motion[0];
    if (three) row[k] += x * motion[1] + y * motion[2];
    square += row[k] * row[k];
  }
  if (sqrt(square) <= UK_UNCHANGED) {
    q->fail |= lack > UK_KEPT;
    return;
  }
  row[g] = lack;
  if (fabs(lack) > q->most) q->most = fabs(lack);
  ++q->count;
}

/* What is nearest to others within limits along the motions; 0: they lead to none. */
static int uk_least_distance(uk_pushes *p, const double *from, double *x) {
  const int n = p->count, g = p->free;
  uk_inequalities q = {0, 0, 0.0, {0.0}};
  for (int j = 0; j < UK_MOTORS; ++j) {
    if (!isfinite(p->upper[j] - p->lower[j])) continue;
    uk_add_inequality(p, &q, from, j, 1.0, 0.0, 0.0, p->lower[j]);
    uk_add_inequality(p, &q, from, j, -1.0, 0.0, 0.0, -p->upper[j]);
  }
  for (int k = 0; k < p->contacts; ++k) {
    const int at = UK_MOTORS + 3 * k;
    const double size = 1.0 / (1.0 + p->friction[k]), mu = p->friction[k] * size;
    if (isfinite(p->most[k])) uk_add_inequality(p, &q, from, at, -1.0, 0.0, 0.0, -p->most[k]);
    for (int face = 0; face < 4; ++face)
      uk_add_inequality(p, &q, from, at, mu, face & 1 ? -size : size, face & 2 ? -size : size, 0.0);
  }
  if (q.fail) return 0;
  double push[UK_INEQUALITIES], up[UK_NU + 1] = {0.0}, way[UK_NU] = {0.0}, A[UK_INEQUALITIES * UK_NU];
  double lacks[UK_INEQUALITIES];
  up[g] = 1.0;
  for (int i = 0; i < q.count; ++i) lacks[i] = q.normals[i * (g + 1) + g], q.normals[i * (g + 1) + g] -= UK_SLACK;
  if (!uk_nonnegative(&p->basis, q.count, g + 1, q.normals, up, push)) return 0;
  double wanted[UK_INEQUALITIES];
  int active = 0;
  for (int i = 0; i < q.count; ++i) {
    if (!(push[i] > 0.0)) continue;
    memcpy(A + active * g, q.normals + i * (g + 1), sizeof(double) * g);
    wanted[active++] = lacks[i];
  }
  if (active) uk_least_solution(&p->basis, &p->range, A, active, g, NULL, UK_DEPENDENT, wanted, way);
  for (int i = 0; i < q.count; ++i) {
    double rest = lacks[i];
    for (int k = 0; k < g; ++k) rest -= q.normals[i * (g + 1) + k] * way[k];
    if (!(rest <= UK_KEPT * (1.0 + q.most))) return 0;
  }
  memcpy(x, from, sizeof(double) * n);
  for (int k = 0; k < g; ++k)
    for (int j = 0; j < n; ++j) x[j] += p->motions[k * n + j] * way[k];
  return 1;
}

/* By priority, from where the last search ended; 1: the search failed. */
static int uk_search_pushes(uk_memory *m, uk_pushes *p, double *x) {
  uk_search s;
  const int n = p->count, total = s.n = UK_MOTORS + UK_PARTS * p->contacts;
  double parts[UK_NU * UK_UNKNOWNS], C[UK_MT * UK_UNKNOWNS];
  memset(parts, 0, sizeof parts), memset(s.motions, 0, sizeof s.motions);
  s.basis = uk_basis_in(s.rooms), s.range = uk_basis_in(s.rooms + 1), s.count = 0;
  for (int j = 0; j < UK_MOTORS; ++j) {
    parts[j * total + j] = 1.0;
    s.x[j] = fmin(fmax(m->warm != 0.0 ? m->last[j] : p->closed[j], p->lower[j]), p->upper[j]);
    s.lower[j] = p->lower[j], s.upper[j] = p->upper[j];
    if (s.lower[j] < s.upper[j]) s.motions[j][s.count++] = 1.0;
  }
  for (int k = 0; k < p->contacts; ++k) {
    const int at = UK_MOTORS + 3 * k, edge = UK_MOTORS + UK_PARTS * k;
    const double *last = m->last + UK_MOTORS + UK_PARTS * p->contact[k];
    double sum = 0.0;
    for (int i = 0; i < UK_PARTS; ++i) {
      s.lower[edge + i] = 0.0, s.upper[edge + i] = i < 4 ? INFINITY : p->most[k];
      s.x[edge + i] = m->warm != 0.0 ? last[i] : 0.0;
      for (int g = 0; g < 4; ++g) s.motions[edge + i][s.count + g] = uk_edge_motions[4 * i + g];
      if (i == 4) continue;
      sum += s.x[edge + i];
      parts[at * total + edge + i] = 1.0;
      parts[(at + 1 + i / 2) * total + edge + i] = i % 2 ? -p->friction[k] : p->friction[k];
    }
    s.count += 4;
    for (int i = 0; i < 4 && sum > p->most[k]; ++i) s.x[edge + i] *= p->most[k] / sum;
    s.x[edge + 4] = fmin(sum, p->most[k]);
  }
  for (int r = 0; r < p->rows; ++r)
    for (int i = 0; i < total; ++i) {
      double part = 0.0;
      for (int j = 0; j < n; ++j) part += p->C[r * n + j] * parts[j * total + i];
      C[r * total + i] = part;
    }
  const int found = uk_in_stages(&s, UK_LEVELS, p->level, p->rows, C, p->wanted, n, parts, p->closed);
  if (found < 0) return 1;
  m->finished = found;
  memcpy(m->last, s.x, sizeof(double) * UK_MOTORS);
  memset(m->last + UK_MOTORS, 0, sizeof(double) * UK_PARTS * UK_CONTACTS);
  for (int k = 0; k < p->contacts; ++k)
    memcpy(m->last + UK_MOTORS + UK_PARTS * p->contact[k], s.x + UK_MOTORS + UK_PARTS * k, sizeof(double) * UK_PARTS);
  m->warm = 1.0;
  for (int j = 0; j < n; ++j) {
    x[j] = 0.0;
    for (int i = 0; i < total; ++i) x[j] += parts[j * total + i] * s.x[i];
  }
  return 0;
}

/* Efforts and forces within limits at the state of the last uk_servo. 0, or 1: none. */
static UK_APART int uk_allocate_with_contacts(uk_memory *m) {
  uk_pushes p;
  double x[UK_NU], near[UK_NU], sum = 0.0;
  int reached = 1;
  uk_gather_pushes(m, &p);
  for (int r = 0; r < UK_MT; ++r) reached &= m->reachable[r] != 0.0;
  m->finished = 1.0;
  if (!reached || !uk_least_distance(&p, p.closed, x)) {
    if (uk_search_pushes(m, &p, x)) return 1;
    /* what it serves of each row is settled; where multipliers are not unique, the last stage may have had
     * less freedom than there is */
    const int n = p.count;
    double away[UK_NU];
    for (int j = 0; j < n; ++j) near[j] = x[j], away[j] = x[j] - p.closed[j];
    for (int k = 0; k < p.free; ++k) {
      double along = 0.0;
      for (int j = 0; j < n; ++j) along += p.motions[k * n + j] * away[j];
      for (int j = 0; j < n; ++j) near[j] -= p.motions[k * n + j] * along;
    }
    double better[UK_NU];
    if (uk_least_distance(&p, near, better)) memcpy(x, better, sizeof(double) * n);
  }
  memset(m->limited, 0, sizeof m->limited);
  for (int j = 0; j < p.count; ++j) sum += m->limited[p.place[j]] = x[j] / p.root[j];
  for (int j = 0; j < UK_MOTORS; ++j) m->limited[j] = fmin(fmax(m->limited[j], m->lower[j]), m->upper[j]);
  for (int k = 0; k < p.contacts; ++k) { /* rounding may have left forces just outside */
    double *f = m->limited + UK_MOTORS + 3 * p.contact[k];
    f[0] = fmin(fmax(f[0], 0.0), m->contact_most[p.contact[k]]);
    const double held = p.friction[k] * f[0], wanted = fabs(f[1]) + fabs(f[2]);
    if (wanted > held) f[1] *= UK_INSIDE_PYRAMID * held / wanted, f[2] *= UK_INSIDE_PYRAMID * held / wanted;
  }
  return !isfinite(sum);
}

#endif
