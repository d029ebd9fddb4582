/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Efforts within limits, with contact forces inside their friction pyramids, as core/servo/limited_allocation.py
 * has it: the nearest to the closed form where everything can be served, else by priority. */
#pragma once

#include "nonnegative.c"

typedef struct {
  int rows;                /* of the map */
  const int *level;        /* of each row; null: all have the first one */
  const double *side;      /* 1 or -1 where a row is bounded, 0 where not; null: none is */
  int served;              /* whether the closed form serves all rows that are not */
  const double *weights, *lower, *upper, *closed; /* (UK_NU), limits of motors (UK_MOTORS) */
  const double *map, *wanted;                     /* (rows, UK_NU), (rows) */
  const double *asked, *friction, *most; /* whether rows are there; of contacts (UK_CONTACTS); null: no contacts */
  double *efforts, *finished;            /* answers: (UK_NU), and 1 where there are no better ones */
  double *pushed; /* (UK_HARD_LIMITS): for which priority, from 1, limits were pushed last, or 0; null: unknown */
} uk_allocation;

typedef struct { /* an inequality: a row at x is at least so much */
  int row, first;       /* times part[0]; or, where it is below zero, part is from the first unknown on */
  double part[3], least;
} uk_inequality;

typedef struct { /* motors, then normal, x and y of the contacts that stand, in units of equal cost */
  int count, contacts, rows;           /* how many; rows that ask for something */
  int place[UK_NU], contact[UK_CONTACTS + 1]; /* among all */
  double root[UK_NU], closed[UK_NU];
  double C[UK_MT * UK_NU], wanted[UK_MT], side[UK_MT], length[UK_MT];
  int level[UK_MT];
  int free, axes;                          /* motions along which they may change, and whether these are axes */
  double x[UK_NU], motions[UK_NU * UK_NU]; /* where they are, and these, orthonormal */
  int limits;
  uk_inequality limit[UK_INEQUALITIES];
  double push[UK_INEQUALITIES]; /* multipliers found last, with which the next search begins */
  int levels, known, short_of_all; /* up to the last one that asks; not everything can be served; and all so far are */
  double why[UK_INEQUALITIES];     /* then, multipliers that show it */
  int trusting, within; /* so many levels are taken to be served within limits until a later one says so; it has */
  double *pushed;               /* as of uk_allocation */
  uk_basis_room rooms[3];
  uk_basis basis, range, second;
} uk_pushes;

#define UK_TRUSTED (UK_CONTACT_ROWS > 0) /* levels of contacts */
#define UK_CHANGES (2 * UK_INEQUALITIES) /* of the limits in the way, after a search: rounding has them without end */

/* A contact force, normal, x and y, that is outside of its pyramid is brought inside. */
static void uk_into_pyramid(double *f, double friction, double most) {
  f[0] = fmin(fmax(f[0], 0.0), most);
  const double held = friction * f[0], wanted = fabs(f[1]) + fabs(f[2]);
  if (wanted > held) f[1] *= UK_INSIDE_PYRAMID * held / wanted, f[2] *= UK_INSIDE_PYRAMID * held / wanted;
}

/* y = sum of x_k times row k, of which each has n numbers. */
static UK_APART void uk_combine(const double *rows, int count, int n, const double *x, double *restrict y) {
  for (int j = 0; j < n; ++j) y[j] = 0.0;
  int k = 0;
  for (; k + 4 <= count; k += 4) {
    const double *p = rows + k * n, *q = p + n, *r = q + n, *s = r + n;
    for (int j = 0; j < n; ++j) y[j] += x[k] * p[j] + x[k + 1] * q[j] + x[k + 2] * r[j] + x[k + 3] * s[j];
  }
  for (; k < count; ++k) uk_add(y, x[k], rows + k * n, n);
}

/* What an inequality has of x. */
static double uk_of_limit(const uk_pushes *p, int i, const double *x) {
  const uk_inequality *l = p->limit + i;
  if (l->row >= 0) return l->part[0] * uk_inner_product(p->C + l->row * p->count, x, p->count);
  double sum = l->part[0] * x[l->first];
  if (l->part[1] != 0.0) sum += l->part[1] * x[l->first + 1] + l->part[2] * x[l->first + 2];
  return sum;
}

/* One more inequality: a times the unknown at `first`, b and c times the next two, is at least this. */
static void uk_add_limit(uk_pushes *p, int first, double a, double b, double c, double least) {
  uk_inequality *l = p->limit + p->limits;
  p->limits += isfinite(least) != 0;
  l->row = -1, l->first = first, l->part[0] = a, l->part[1] = b, l->part[2] = c, l->least = least;
}

/* A bounded row as an inequality. */
static void uk_add_bound(uk_pushes *p, int r) {
  const double part = p->side[r] / (p->length[r] > 0.0 ? p->length[r] : 1.0);
  uk_inequality *l = p->limit + p->limits++;
  l->row = r, l->part[0] = part, l->least = part * p->wanted[r];
}

static void uk_gather_pushes(const uk_allocation *a, uk_pushes *p) {
  p->basis = uk_basis_in(p->rooms), p->range = uk_basis_in(p->rooms + 1), p->second = uk_basis_in(p->rooms + 2);
  p->contacts = p->rows = p->limits = p->known = 0;
  p->levels = 1;
  memset(p->push, 0, sizeof p->push);
  p->pushed = a->pushed;
  for (int j = 0; j < UK_MOTORS; ++j) p->place[j] = j;
  for (int k = 0; k < UK_CONTACTS; ++k) {
    if (a->asked[3 * k] == 0.0) continue;
    for (int i = 0; i < 3; ++i) p->place[UK_MOTORS + 3 * p->contacts + i] = UK_MOTORS + 3 * k + i;
    p->contact[p->contacts++] = k;
  }
  const int n = p->count = UK_MOTORS + 3 * p->contacts;
  for (int j = 0; j < n; ++j) {
    p->root[j] = sqrt(a->weights[p->place[j]]);
    p->closed[j] = p->root[j] * a->closed[p->place[j]];
  }
  for (int j = 0; j < UK_MOTORS; ++j) {
    uk_add_limit(p, j, 1.0, 0.0, 0.0, p->root[j] * a->lower[j]);
    uk_add_limit(p, j, -1.0, 0.0, 0.0, -p->root[j] * a->upper[j]);
  }
  for (int k = 0; k < p->contacts; ++k) {
    const int at = UK_MOTORS + 3 * k;
    const double friction = a->friction[p->contact[k]], size = 1.0 / (1.0 + friction);
    uk_add_limit(p, at, -1.0, 0.0, 0.0, -p->root[at] * a->most[p->contact[k]]);
    for (int face = 0; face < 4; ++face)
      uk_add_limit(p, at, friction * size, face & 1 ? -size : size, face & 2 ? -size : size, 0.0);
  }
  for (int r = 0; r < a->rows; ++r) {
    if (a->asked && a->asked[r] == 0.0) continue;
    double *row = p->C + p->rows * n;
    for (int j = 0; j < n; ++j) row[j] = a->map[r * UK_NU + p->place[j]] / p->root[j];
    p->level[p->rows] = a->level ? a->level[r] : 0;
    if (p->level[p->rows] >= p->levels) p->levels = p->level[p->rows] + 1;
    p->side[p->rows] = UK_BOUNDED && a->side ? a->side[r] : 0.0;
    p->length[p->rows] = sqrt(uk_inner_product(row, row, n));
    p->wanted[p->rows++] = a->wanted[r];
  }
}

/* Motions, (count, n), whose coordinates in a basis of rows of others are given, and lost; others null: axes. */
static void uk_motions_of(const uk_basis *b, double *coordinates, int count, const double *motions, int n,
                          double *found) {
  for (int r = b->rank - 1; r >= 0; --r) uk_reflect_rows(b, r, coordinates, count);
  if (motions == NULL) memcpy(found, coordinates, sizeof(double) * count * n);
  for (int k = 0; k < count && motions; ++k) uk_combine(motions, b->n, n, coordinates + k * b->n, found + k * n);
}

/* Motions, (free, n), that a basis of rows of them leaves. */
static int uk_left_motions(const uk_basis *b, const double *motions, int n, double *left) {
  const int free = b->n, count = free - b->rank;
  double unit[UK_NU * UK_NU];
  memset(unit, 0, sizeof(double) * count * free);
  for (int i = 0; i < count; ++i) unit[i * free + b->rank + i] = 1.0;
  uk_motions_of(b, unit, count, motions, n, left);
  return count;
}

/* Let x come as near as motions allow to the closed form. */
static void uk_toward_closed(const uk_pushes *p, const double *motions, int free, double *x) {
  double way[UK_NU], along[UK_NU];
  for (int j = 0; j < p->count; ++j) way[j] = p->closed[j] - x[j];
  uk_inner_products(motions, free, p->count, way, p->count, along);
  uk_combine(motions, free, p->count, along, way);
  uk_add(x, 1.0, way, p->count);
}

/* Multipliers of the least |way| with along . way >= lack, (limits, g) and (limits), and that way; 0: there is none, and
 * limits with multipliers leave none. */
static int uk_find_pushes(uk_pushes *p, const double *along, const double *lack, int g, double *way) {
  double scaled[UK_INEQUALITIES * UK_NORMAL], size[UK_INEQUALITIES], found[UK_INEQUALITIES];
  double rest[UK_NORMAL] = {0.0};
  int moves[UK_INEQUALITIES], count = 0;
  const int stride = 4 * UK_QUADS(g + 1);
  for (int i = 0; i < p->limits; ++i) {
    const double norm = sqrt(uk_inner_product(along + i * g, along + i * g, g));
    if (norm > UK_UNCHANGED) {
      found[count] = p->push[i] > 0.0;
      double *to = scaled + count * stride;
      for (int k = 0; k < g; ++k) to[k] = along[i * g + k] / norm;
      to[g] = (lack[i] - UK_SLACK) / norm;
      for (int k = g + 1; k < stride; ++k) to[k] = 0.0;
      size[count] = norm, moves[count++] = i;
    } else if (lack[i] > UK_KEPT) {
      memset(p->push, 0, sizeof p->push);
      p->push[i] = 1.0;
      return 0;
    }
    p->push[i] = 0.0;
  }
  rest[g] = 1.0;
  if (!uk_nonnegative(count, g + 1, scaled, found, rest)) return 0;
  const double scale = rest[g] > 0.0 ? 1.0 / rest[g] : 1.0;
  for (int i = 0; i < count; ++i) p->push[moves[i]] = found[i] / size[i] * scale;
  for (int k = 0; k < g; ++k) way[k] = -rest[k] * scale;
  return 1;
}

/* What is within limits and nearest to x along motions, (g, n); 0: nothing is, and limits with multipliers are why. */
static int uk_nearest_within(uk_pushes *p, const double *x, const double *motions, int g, double *answer) {
  const int n = p->count, count = p->limits;
  double along[UK_INEQUALITIES * UK_NU], lack[UK_INEQUALITIES], way[UK_UNKNOWNS], most = 0.0;
  along[0] = lack[0] = 0.0; /* there may be none */
  for (int i = 0; i < count; ++i) {
    lack[i] = p->limit[i].least - uk_of_limit(p, i, x);
    if (fabs(lack[i]) > most) most = fabs(lack[i]);
    for (int k = 0; k < g; ++k) along[i * g + k] = uk_of_limit(p, i, motions + k * n);
  }
  if (!uk_find_pushes(p, along, lack, g, way)) return 0;
  double active[UK_INEQUALITIES * UK_NU], wanted[UK_INEQUALITIES];
  int held = 0;
  for (int i = 0; i < count; ++i) {
    if (!(p->push[i] > 0.0)) continue;
    memcpy(active + held * g, along + i * g, sizeof(double) * g);
    wanted[held++] = lack[i];
  }
  if (held) uk_least_solution(&p->basis, &p->range, active, held, g, NULL, UK_DEPENDENT, wanted, way);
  for (int i = 0; i < count; ++i)
    if (!(uk_inner_product(along + i * g, way, g) >= lack[i] - UK_KEPT * (1.0 + most))) return 0;
  uk_combine(motions, g, n, way, answer);
  for (int j = 0; j < n; ++j) answer[j] += x[j];
  return 1;
}

/* Limits that rows push against where they are served less than they could be, and bounded rows, the last limits,
 * that are exceeded; and a point near the best one within them. 0: the search has not ended. p->second has the rows,
 * of which `left` motions see none; soft: what a bounded row exceeds, in units of its limit. */
static int uk_find_pushed(uk_pushes *p, const double *soft, int bounded, double size, const double *best,
                          const double *left, int *held, double *around) {
  const int n = p->count, free = p->free, rank = p->second.rank, off = free - rank, g = free + bounded;
  double along[UK_INEQUALITIES * UK_UNKNOWNS], lack[UK_INEQUALITIES], way[UK_UNKNOWNS];
  double seen[UK_NU * UK_NU], unit[UK_NU * UK_NU] = {0.0}, part[UK_NU];
  const double cost = UK_FREE_STEP * size;
  uk_factor_range(&p->second, &p->range);
  for (int k = 0; k < rank; ++k) { /* motions that change what rows get by one, each another part of it */
    for (int i = 0; i < rank; ++i) part[i] = i == k;
    uk_solve_triangle(&p->range, part);
    for (int i = 0; i < rank; ++i) unit[k * free + (int)p->range.row[i]] = part[i] * p->range.scale[i];
  }
  uk_motions_of(&p->second, unit, rank, p->motions, n, seen);
  for (int i = 0; i < p->limits; ++i) { /* in coordinates of steps at their cost, then of what rows get */
    double *way_of = along + i * g;
    lack[i] = p->limit[i].least - uk_of_limit(p, i, best);
    for (int k = 0; k < rank; ++k) way_of[off + k] = uk_of_limit(p, i, seen + k * n);
    for (int k = 0; k < bounded; ++k) way_of[free + k] = i == p->limits - bounded + k ? soft[k] : 0.0;
    for (int k = 0; k < off; ++k) way_of[k] = uk_of_limit(p, i, left + k * n) / cost;
  }
  memcpy(around, best, sizeof(double) * n);
  if (!uk_find_pushes(p, along, lack, g, way)) return 0;
  const double most = UK_PUSHED * size * sqrt(uk_inner_product(way + off, way + off, g - off));
  const double least = fmax(most, UK_PUSHED_FREELY * cost * sqrt(uk_inner_product(way, way, off)));
  for (int i = 0; i < p->limits; ++i) held[i] = p->push[i] > least;
  for (int k = 0; k < rank; ++k) uk_add(around, way[off + k], seen + k * n, n);
  for (int k = 0; k < off; ++k) uk_add(around, way[k] / cost, left + k * n, n);
  return 1;
}

/* Multipliers with which rows, (count, free), that stay short by `rest` push against the limits that are equations, which
 * p->basis has; 0: others would do, too. */
static int uk_limit_multipliers(const uk_pushes *p, const double *rows, int count, const double *rest, double *push) {
  double gradient[UK_NU];
  uk_combine(rows, count, p->free, rest, gradient);
  for (int k = 0; k < p->free; ++k) gradient[k] *= -1.0;
  uk_nearest_combination(&p->basis, gradient, push);
  return p->basis.rank == p->basis.count;
}

/* Serve the rows of a level from where p is along its motions, both of which it leaves for the next one, with its
 * bounded rows as limits; 1 where the answer is within limits and the best, 0 where it is near the best. */
static UK_APART int uk_serve_level(uk_pushes *p, int level, double *answer) {
  const int n = p->count, free = p->free, hard = p->limits;
  double rows[UK_MT * UK_NU], rest[UK_MT], sizes[UK_MT], step[UK_NU], best[UK_NU], left[UK_NU * UK_NU];
  double soft[UK_BOUNDED + 1] = {0.0}, pushes[UK_INEQUALITIES], size = 0.0;
  int count = 0, of[UK_MT], served[UK_MT], bound[UK_BOUNDED + 1] = {0}, held[UK_INEQUALITIES] = {0};
  for (int r = 0; r < p->rows; ++r) {
    if (p->level[r] != level) continue;
    const double *C = p->C + r * n;
    double *row = rows + count * free;
    if (p->axes) memcpy(row, C, sizeof(double) * n);
    else uk_inner_products(p->motions, free, n, C, n, row);
    sizes[count] = sqrt(uk_inner_product(row, row, free));
    if (sizes[count] <= UK_TASK_RANK_TOLERANCE * p->length[r]) { /* fixed before */
      for (int k = 0; k < free; ++k) row[k] = 0.0;
      sizes[count] = 0.0;
    }
    of[count] = r;
    rest[count] = p->wanted[r] - uk_inner_product(C, p->x, n);
    served[count] = !UK_BOUNDED || p->side[r] == 0.0;
    if (served[count]) {
      size += sizes[count] * sizes[count];
    } else if (sizes[count] > 0.0) {
      size += p->length[r] * p->length[r];
      bound[p->limits - hard] = count, soft[p->limits - hard] = 1.0 / p->length[r];
      uk_add_bound(p, r);
    }
    ++count;
  }
  if (!count && level < p->levels - 1) return 1;
  size = size > 0.0 ? sqrt(size) : 1.0;
  const int bounded = p->limits - hard;
  int guess = 0;
  for (int i = 0; i < hard && p->pushed; ++i) guess |= held[i] = p->pushed[i] == level + 1;
  /* 0: with limits that were pushed last, 1: with none, 2: with those that are as far as a search tells, later: with
   * others that leave none within limits, and without those that then pull (Goldfarb and Idnani, Mathematical
   * Programming 27, 1983); each of these changes makes the rows miss more, so that none comes back */
  for (int round = !guess;; ++round) {
    double along[UK_INEQUALITIES * UK_NU], lack[UK_INEQUALITIES], ones[UK_INEQUALITIES], more[UK_NU];
    double inner[UK_MT * UK_NU], part[UK_MT], natural[UK_MT], kept[UK_NU * UK_NU], moved[UK_NU], miss[UK_MT];
    const double *within = p->axes ? NULL : p->motions;
    int normals = 0, chosen = 0, which[UK_INEQUALITIES];
    for (int i = 0; i < hard; ++i) { /* limits that are pushed are equations */
      if (!held[i]) continue;
      for (int k = 0; k < free; ++k) along[normals * free + k] = uk_of_limit(p, i, p->motions + k * n);
      ones[normals] = 1.0, which[normals] = i;
      lack[normals++] = p->limit[i].least - uk_of_limit(p, i, p->x);
    }
    uk_least_solution(&p->basis, &p->range, along, normals, free, ones, UK_DEPENDENT, lack, step);
    const int rank = p->basis.rank, g = free - rank;
    if (rank) uk_left_motions(&p->basis, within, n, kept), within = kept;
    for (int k = 0; k < count; ++k) {
      if (!served[k]) continue;
      const double *C = p->C + of[k] * n;
      double *row = inner + chosen * g;
      if (!rank) memcpy(row, rows + k * free, sizeof(double) * free);
      else if (sizes[k] > 0.0) uk_inner_products(kept, g, n, C, n, row);
      else memset(row, 0, sizeof(double) * g);
      part[chosen] = rest[k] - uk_inner_product(rows + k * free, step, free);
      natural[chosen++] = sizes[k];
    }
    uk_least_solution(&p->second, &p->range, inner, chosen, g, natural, UK_TASK_RANK_TOLERANCE, part, more);
    const int next = uk_left_motions(&p->second, within, n, left);
    uk_combine(p->motions, free, n, step, best);
    uk_combine(rank ? kept : p->motions, g, n, more, moved);
    for (int j = 0; j < n; ++j) best[j] += p->x[j] + moved[j];
    uk_toward_closed(p, left, next, best);
    int found = 1;
    if (round == 0 || round > 2) {
      const double scale = size * sqrt(uk_inner_product(step, step, free)) + sqrt(uk_inner_product(rest, rest, count));
      const double least = UK_PUSHED * size * scale;
      double push[UK_INEQUALITIES], most = 1.0;
      int pulls = -1;
      for (int k = 0, i = 0; k < count; ++k) {
        miss[k] = 0.0;
        if (served[k]) miss[k] = part[i] - uk_inner_product(inner + i * g, more, g), ++i;
      }
      found = uk_limit_multipliers(p, rows, count, miss, push) || round > 2;
      for (int k = 0; k < normals; ++k) { /* the first that pulls on the way from the multipliers before */
        const double before = pushes[which[k]];
        if (round == 0) found &= push[k] > least;
        else if (push[k] < -least && before < most * (before - push[k]))
          most = before / (before - push[k]), pulls = which[k];
      }
      for (int k = 0; k < normals && round; ++k) pushes[which[k]] += most * (push[k] - pushes[which[k]]);
      if (pulls >= 0 && round < UK_CHANGES) {
        held[pulls] = 0;
        continue;
      }
    }
    if (round == 1 && p->short_of_all && level == p->levels - 1) /* known to be in vain */
      memcpy(p->push, p->why, sizeof p->push), found = 0;
    else if (round == 1 && level < p->trusting) p->within = 0;
    else found = found && uk_nearest_within(p, best, left, next, answer), p->within |= found;
    p->short_of_all &= found;
    if (!found && round == 1 && p->trusting == p->levels - 1) {
      memcpy(p->why, p->push, sizeof p->push);
      p->known = 1;
      if (p->trusting > UK_TRUSTED) return 0; /* which of the levels is it that cannot be served? */
    }
    if (!found && round == 0) {
      memset(held, 0, sizeof held);
      continue;
    }
    int further = 0;
    if (!found && round == 1) {
      if (!uk_find_pushed(p, soft, bounded, size, best, left, held, answer)) return 0;
      memcpy(pushes, p->push, sizeof pushes);
      further = 1;
    }
    for (int i = 0; i < p->limits && !found && round > 1; ++i)
      if (p->push[i] > 0.0 && !held[i]) held[i] = further = 1, pushes[i] = 0.0;
    if (further && round < UK_CHANGES) {
      const int last = p->limits;
      p->limits = hard;
      for (int i = hard; i < last; ++i) { /* those that have to be exceeded are rows, and no limits */
        const int row = bound[i - hard];
        if (held[i]) served[row] = 1;
        else bound[p->limits - hard] = row, p->limit[p->limits++] = p->limit[i];
        held[i] = 0;
      }
      continue;
    }
    for (int i = 0; i < hard && p->pushed; ++i)
      if (held[i] || p->pushed[i] == level + 1) p->pushed[i] = held[i] * (level + 1);
    memcpy(p->x, found ? best : answer, sizeof(double) * n);
    memcpy(p->motions, left, sizeof(double) * next * n);
    p->free = next, p->axes = 0;
    return found;
  }
}

/* Efforts and forces within limits. 0, or 1: none. */
static UK_APART int uk_allocate_efforts(const uk_allocation *a) {
  uk_pushes p;
  double x[UK_NU], sum = 0.0;
  int found = 0, pushed = 0;
  uk_gather_pushes(a, &p);
  const int n = p.count, hard = p.limits;
  *a->finished = 1.0;
  for (int i = 0; i < UK_HARD_LIMITS && a->pushed; ++i) pushed |= a->pushed[i] != 0.0;
  /* Where all can be served, nothing is to be looked for before the last level. Where not, the levels are searched one
   * after the other, but that feet cannot stand is so seldom that it is tried at last. */
  p.trusting = (!pushed && a->served) || p.levels <= UK_TRUSTED ? p.levels - 1 : UK_TRUSTED;
  for (int last = 0; !found && !last; p.trusting = p.trusting > UK_TRUSTED ? UK_TRUSTED : 0) {
    last = !p.trusting, found = p.within = 1, p.free = 0, p.limits = hard, p.short_of_all = p.known;
    for (int j = 0; j < n; ++j) { /* a motor whose limits leave no choice has no motion */
      const int fixed = j < UK_MOTORS && a->lower[j] >= a->upper[j];
      x[j] = p.x[j] = fixed ? p.root[j] * a->lower[j] : p.closed[j];
      for (int i = 0; i < n && !fixed; ++i) p.motions[p.free * n + i] = i == j;
      p.free += !fixed;
    }
    p.axes = p.free == n;
    for (int level = 0; level < p.levels; ++level) found &= uk_serve_level(&p, level, x);
    found &= p.within;
    *a->finished = found;
  }
  for (int j = 0; j < UK_NU; ++j) a->efforts[j] = 0.0;
  for (int j = 0; j < n; ++j) sum += a->efforts[p.place[j]] = x[j] / p.root[j];
  for (int j = 0; j < UK_MOTORS; ++j) a->efforts[j] = fmin(fmax(a->efforts[j], a->lower[j]), a->upper[j]);
  for (int k = 0; k < p.contacts; ++k) { /* rounding may have left forces just outside */
    const int c = p.contact[k];
    uk_into_pyramid(a->efforts + UK_MOTORS + 3 * c, a->friction[c], a->most[c]);
  }
  return !isfinite(sum);
}
