/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Efforts within limits, with contact forces inside their friction pyramids, as core/servo/contact_allocation.py
 * has it: the nearest to the closed form where everything can be served, else by priority. */
#pragma once

#include "allocate.c"

#if UK_CONTACT_ROWS

typedef struct { /* motors, then normal, x and y of the contacts that stand, in units of equal cost */
  int count, contacts, rows;              /* how many; rows that ask for something */
  int place[UK_NU], contact[UK_CONTACTS]; /* among all */
  double root[UK_NU], closed[UK_NU], lower[UK_MOTORS], upper[UK_MOTORS], most[UK_CONTACTS], friction[UK_CONTACTS];
  double C[UK_MT * UK_NU], wanted[UK_MT];
  int level[UK_MT];
  int free;                                /* motions along which they may change, one behind the other */
  double x[UK_NU], motions[UK_NU * UK_NU]; /* where they are, and these, orthonormal */
  int limits;                              /* of inequalities, row by row: row . x >= least */
  double limit[UK_INEQUALITIES * UK_NU], least[UK_INEQUALITIES];
  uk_basis_room rooms[3];
  uk_basis basis, range, second;
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

/* One more inequality: a times the one at `first`, b and c times the next two, is at least this. */
static void uk_add_limit(uk_pushes *p, int first, double a, double b, double c, double least) {
  double *row = p->limit + p->limits * p->count;
  for (int j = 0; j < p->count; ++j) row[j] = 0.0;
  row[first] = a;
  if (b != 0.0) row[first + 1] = b, row[first + 2] = c;
  p->least[p->limits++] = least;
}

static void uk_gather_pushes(const uk_memory *m, uk_pushes *p) {
  p->basis = uk_basis_in(p->rooms), p->range = uk_basis_in(p->rooms + 1), p->second = uk_basis_in(p->rooms + 2);
  p->contacts = p->rows = p->limits = 0;
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
  for (int j = 0; j < UK_MOTORS; ++j) {
    p->lower[j] = p->root[j] * m->lower[j], p->upper[j] = p->root[j] * m->upper[j];
    if (!isfinite(p->upper[j] - p->lower[j])) continue;
    uk_add_limit(p, j, 1.0, 0.0, 0.0, p->lower[j]);
    uk_add_limit(p, j, -1.0, 0.0, 0.0, -p->upper[j]);
  }
  for (int k = 0; k < p->contacts; ++k) {
    const int at = UK_MOTORS + 3 * k;
    const double size = 1.0 / (1.0 + p->friction[k]);
    p->most[k] = p->root[at] * m->contact_most[p->contact[k]];
    if (isfinite(p->most[k])) uk_add_limit(p, at, -1.0, 0.0, 0.0, -p->most[k]);
    for (int face = 0; face < 4; ++face)
      uk_add_limit(p, at, p->friction[k] * size, face & 1 ? -size : size, face & 2 ? -size : size, 0.0);
  }
  for (int r = 0; r < UK_MT; ++r) {
    if (m->asked[r] == 0.0) continue;
    for (int j = 0; j < n; ++j) p->C[p->rows * n + j] = m->map[r * UK_NU + p->place[j]] / p->root[j];
    p->level[p->rows] = uk_level[r];
    p->wanted[p->rows++] = m->wanted[r];
  }
}

/* y = sum of x_k times row k, of which each has n numbers. */
static void uk_combine(const double *rows, int count, int n, const double *x, double *y) {
  for (int j = 0; j < n; ++j) y[j] = 0.0;
  for (int k = 0; k < count; ++k)
    for (int j = 0; j < n; ++j) y[j] += x[k] * rows[k * n + j];
}

static double uk_product(const double *x, const double *y, int n) {
  double sum = 0.0;
  for (int j = 0; j < n; ++j) sum += x[j] * y[j];
  return sum;
}

/* Motions, (free, n), that a basis of rows of them leaves. */
static int uk_left_motions(const uk_basis *b, const double *motions, int n, double *left) {
  const int free = b->n, rank = b->rank;
  for (int k = 0; k < free - rank; ++k) {
    double one[UK_NU];
    for (int i = 0; i < free; ++i) one[i] = i == rank + k;
    uk_rotate_back(b, one);
    uk_combine(motions, free, n, one, left + k * n);
  }
  return free - rank;
}

/* Let x come as near as motions allow to the closed form. */
static void uk_toward_closed(const uk_pushes *p, const double *motions, int free, double *x) {
  for (int k = 0; k < free; ++k) {
    double along = 0.0;
    for (int j = 0; j < p->count; ++j) along += motions[k * p->count + j] * (p->closed[j] - x[j]);
    for (int j = 0; j < p->count; ++j) x[j] += along * motions[k * p->count + j];
  }
}

/* Multipliers of the least |way| with along . way >= lack, (limits, g) and (limits); 0: there is none. */
static int uk_find_pushes(uk_pushes *p, const double *along, const double *lack, int g, double *push) {
  double scaled[UK_INEQUALITIES * (UK_NU + 1)], size[UK_INEQUALITIES], found[UK_INEQUALITIES], up[UK_NU + 1] = {0.0};
  int moves[UK_INEQUALITIES], count = 0;
  for (int i = 0; i < p->limits; ++i) {
    const double norm = sqrt(uk_squares(along + i * g, 0, g));
    push[i] = 0.0;
    if (norm > UK_UNCHANGED) {
      double *to = scaled + count * (g + 1);
      for (int k = 0; k < g; ++k) to[k] = along[i * g + k] / norm;
      to[g] = (lack[i] - UK_SLACK) / norm;
      size[count] = norm, moves[count++] = i;
    } else if (lack[i] > UK_KEPT) {
      return 0;
    }
  }
  up[g] = 1.0;
  if (count && !uk_nonnegative(&p->basis, count, g + 1, scaled, up, found)) return 0;
  double rest = 1.0;
  for (int i = 0; i < count; ++i) rest -= found[i] * scaled[i * (g + 1) + g];
  for (int i = 0; i < count; ++i) push[moves[i]] = found[i] / size[i] / (rest > 0.0 ? rest : 1.0);
  return 1;
}

/* What is within limits and nearest to x along motions, (g, n); 0: nothing is. */
static int uk_nearest_within(uk_pushes *p, const double *x, const double *motions, int g, double *answer) {
  const int n = p->count, count = p->limits;
  double along[UK_INEQUALITIES * UK_NU], lack[UK_INEQUALITIES], push[UK_INEQUALITIES], way[UK_NU] = {0.0}, most = 0.0;
  for (int i = 0; i < count; ++i) {
    lack[i] = p->least[i] - uk_product(p->limit + i * n, x, n);
    if (fabs(lack[i]) > most) most = fabs(lack[i]);
    for (int k = 0; k < g; ++k) along[i * g + k] = uk_product(p->limit + i * n, motions + k * n, n);
  }
  if (!uk_find_pushes(p, along, lack, g, push)) return 0;
  double active[UK_INEQUALITIES * UK_NU], wanted[UK_INEQUALITIES];
  int held = 0;
  for (int i = 0; i < count; ++i) {
    if (!(push[i] > 0.0)) continue;
    memcpy(active + held * g, along + i * g, sizeof(double) * g);
    wanted[held++] = lack[i];
  }
  if (held) uk_least_solution(&p->basis, &p->range, active, held, g, NULL, UK_DEPENDENT, wanted, way);
  for (int i = 0; i < count; ++i)
    if (!(uk_product(along + i * g, way, g) >= lack[i] - UK_KEPT * (1.0 + most))) return 0;
  uk_combine(motions, g, n, way, answer);
  for (int j = 0; j < n; ++j) answer[j] += x[j];
  return 1;
}

/* Limits that rows push against where they are served less than they could be, and a point near the best one
 * within them. p->second has the rows, (count, free), of which `left` motions see none. */
static int uk_find_pushed(uk_pushes *p, const double *rows, int count, double size, const double *best,
                          const double *left, int *held, double *around) {
  const int n = p->count, free = p->free, rank = p->second.rank, g = free;
  double along[UK_INEQUALITIES * UK_NU], lack[UK_INEQUALITIES], push[UK_INEQUALITIES], way[UK_NU] = {0.0};
  const double cost = UK_FREE_STEP * size;
  p->range.n = count, p->range.count = rank;
  for (int r = 0; r < count; ++r) {
    double turned[UK_LONGEST];
    memcpy(turned, rows + r * free, sizeof(double) * free);
    uk_rotate(&p->second, turned);
    for (int k = 0; k < rank; ++k) p->range.rows[k * count + r] = turned[k];
  }
  uk_factor_rows(&p->range, NULL, 0.0);
  for (int i = 0; i < p->limits; ++i) { /* in coordinates of what rows get, then of other steps at their cost */
    double seen[UK_NU];
    lack[i] = p->least[i] - uk_product(p->limit + i * n, best, n);
    for (int k = 0; k < free; ++k) seen[k] = uk_product(p->limit + i * n, p->motions + k * n, n);
    uk_rotate(&p->second, seen);
    uk_find_coordinates(&p->range, seen, along + i * g);
    for (int k = rank; k < g; ++k) along[i * g + k] = uk_product(p->limit + i * n, left + (k - rank) * n, n) / cost;
  }
  const int found = uk_find_pushes(p, along, lack, g, push);
  memcpy(around, best, sizeof(double) * n);
  for (int i = 0; i < p->limits; ++i) held[i] = 0;
  if (!found) return 0;
  uk_combine(along, p->limits, g, push, way);
  const double on = sqrt(uk_squares(way, 0, rank)), off = sqrt(uk_squares(way, rank, g));
  const double least = fmax(UK_PUSHED * size * on, UK_PUSHED_FREELY * cost * off);
  for (int i = 0; i < p->limits; ++i) held[i] = push[i] > least;
  double step[UK_NU] = {0.0}, turned[UK_NU];
  uk_solve_triangle(&p->range, way);
  for (int k = 0; k < rank; ++k) step[(int)p->range.row[k]] = way[k] * p->range.scale[k];
  uk_rotate_back(&p->second, step);
  uk_combine(p->motions, free, n, step, turned);
  for (int j = 0; j < n; ++j) around[j] += turned[j];
  for (int k = rank; k < g; ++k)
    for (int j = 0; j < n; ++j) around[j] += way[k] / cost * left[(k - rank) * n + j];
  return 1;
}

/* Serve the rows of a level from where p is along its motions, both of which it leaves for the next one; 1 where
 * the answer is within limits and the best, 0 where it is near the best. */
static UK_APART int uk_serve_level(uk_pushes *p, int level, double *answer) {
  const int n = p->count, free = p->free;
  double rows[UK_MT * UK_NU], rest[UK_MT], sizes[UK_MT], step[UK_NU], best[UK_NU], left[UK_NU * UK_NU], size = 0.0;
  int count = 0, held[UK_INEQUALITIES];
  for (int r = 0; r < p->rows; ++r) {
    if (p->level[r] != level) continue;
    const double *C = p->C + r * n;
    double *row = rows + count * free;
    for (int k = 0; k < free; ++k) row[k] = uk_product(C, p->motions + k * n, n);
    sizes[count] = sqrt(uk_squares(row, 0, free));
    if (sizes[count] <= UK_TASK_RANK_TOLERANCE * sqrt(uk_squares(C, 0, n))) { /* fixed before */
      for (int k = 0; k < free; ++k) row[k] = 0.0;
      sizes[count] = 0.0;
    }
    size += sizes[count] * sizes[count];
    rest[count++] = p->wanted[r] - uk_product(C, p->x, n);
  }
  size = sqrt(size);
  if (!count) return 1;
  for (int again = 0; again < 2; ++again) {
    int next;
    if (!again) {
      uk_least_solution(&p->second, &p->range, rows, count, free, sizes, UK_TASK_RANK_TOLERANCE, rest, step);
      next = uk_left_motions(&p->second, p->motions, n, left);
    } else { /* limits that are pushed are equations */
      double along[UK_INEQUALITIES * UK_NU], lack[UK_INEQUALITIES], ones[UK_INEQUALITIES], more[UK_NU] = {0.0};
      double inner[UK_MT * UK_NU], part[UK_MT], kept[UK_NU * UK_NU];
      int normals = 0;
      for (int i = 0; i < p->limits; ++i) {
        if (!held[i]) continue;
        for (int k = 0; k < free; ++k) along[normals * free + k] = uk_product(p->limit + i * n, p->motions + k * n, n);
        ones[normals] = 1.0;
        lack[normals++] = p->least[i] - uk_product(p->limit + i * n, p->x, n);
      }
      uk_least_solution(&p->basis, &p->range, along, normals, free, ones, UK_DEPENDENT, lack, step);
      const int rank = p->basis.rank, g = free - rank;
      for (int r = 0; r < count; ++r) {
        double turned[UK_LONGEST];
        memcpy(turned, rows + r * free, sizeof(double) * free);
        part[r] = rest[r] - uk_product(turned, step, free);
        uk_rotate(&p->basis, turned);
        memcpy(inner + r * g, turned + rank, sizeof(double) * g);
      }
      uk_least_solution(&p->second, &p->range, inner, count, g, sizes, UK_TASK_RANK_TOLERANCE, part, more + rank);
      uk_rotate_back(&p->basis, more);
      for (int k = 0; k < free; ++k) step[k] += more[k];
      uk_left_motions(&p->basis, p->motions, n, kept);
      next = uk_left_motions(&p->second, kept, n, left);
    }
    uk_combine(p->motions, free, n, step, best);
    for (int j = 0; j < n; ++j) best[j] += p->x[j];
    uk_toward_closed(p, left, next, best);
    const int found = uk_nearest_within(p, best, left, next, answer);
    if (!found && !again) {
      uk_find_pushed(p, rows, count, size, best, left, held, answer);
      continue;
    }
    if (!found) memcpy(best, answer, sizeof best);
    memcpy(p->x, best, sizeof(double) * n);
    memcpy(p->motions, left, sizeof(double) * next * n);
    p->free = next;
    return found;
  }
  return 0;
}

/* Efforts and forces within limits at the state of the last uk_servo. 0, or 1: none. */
static UK_APART int uk_allocate_with_contacts(uk_memory *m) {
  uk_pushes p;
  double x[UK_NU], sum = 0.0;
  int reached = 1, found = 0;
  uk_gather_pushes(m, &p);
  const int n = p.count;
  for (int r = 0; r < UK_MT; ++r) reached &= m->reachable[r] != 0.0;
  m->finished = 1.0;
  if (reached) { /* the nearest one that serves everything */
    p.second.n = n, p.second.count = p.rows;
    memcpy(p.second.rows, p.C, sizeof(double) * p.rows * n);
    uk_factor_rows(&p.second, NULL, UK_TASK_RANK_TOLERANCE);
    double unit[UK_NU * UK_NU];
    for (int i = 0; i < n * n; ++i) unit[i] = i % (n + 1) == 0;
    p.free = uk_left_motions(&p.second, unit, n, p.motions);
    found = uk_nearest_within(&p, p.closed, p.motions, p.free, x);
  }
  if (!found) {
    p.free = 0;
    for (int j = 0; j < n; ++j) { /* a motor whose limits leave no choice has no motion */
      const int fixed = j < UK_MOTORS && p.lower[j] >= p.upper[j];
      x[j] = p.x[j] = fixed ? p.lower[j] : p.closed[j];
      for (int i = 0; i < n && !fixed; ++i) p.motions[p.free * n + i] = i == j;
      p.free += !fixed;
    }
    for (int level = 0; level < UK_LEVELS; ++level)
      if (!uk_serve_level(&p, level, x)) m->finished = 0.0;
  }
  memset(m->limited, 0, sizeof m->limited);
  for (int j = 0; j < n; ++j) sum += m->limited[p.place[j]] = x[j] / p.root[j];
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
