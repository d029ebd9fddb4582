/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Signorini's and Coulomb's conditions of many contacts at once: Newton steps of several kinds, at last
 * from where alternating directions lead, as core/contact/cone_problem.py has them, whose conditions these are. */
#pragma once

#include "attributes.h"
#include "contact.h"
#include "row_elimination.c"
#include "symmetric_factor.c"
#include "uk_conditions.h"
#include "uk_config.h"

typedef struct {
  int n;                   /* contacts; d = UK_D directions each */
  double *W, *q, *friction; /* (dn, dn), (dn), (n) */
  double *r, *u;           /* forces, motions (dn) */
  double *step, *left;     /* rho, and what is left of the conditions (dn) */
  double *slopes;          /* (n, d, d): how that depends on r - rho u */
  double *start;           /* forces to begin with (dn) */
  double *held, *moves;    /* forces and motions of alternating directions, in units of each contact (dn) */
  double *unit;            /* forces in these units (n) */
  double *from, *change;   /* where a step begins, and it (dn) */
  double *derivative;      /* (dn, dn) */
  double *factors;         /* (7, dn): what its elimination needs, and the step */
  double *known;           /* slopes whose derivative is eliminated (n, d, d) */
  int *place;              /* (dn): directions that a step is solved for */
  uk_basis basis;          /* the derivative in these directions, eliminated; of none: it is not */
  int sticks;              /* 1: nothing slides, and it is W there, as L L^T */
  double error;            /* of the forces found, as a motion relative to q */
  long long iterations;    /* Newton's steps, and those of alternating directions */
  int fell_back;           /* whether Newton's from the start, and from zero, did not arrive */
} uk_cone;

static uk_cone uk_cone_at(int n, double *room) {
  const int N = UK_D * n;
  uk_cone c = {.n = n, .W = room};
  double **parts[] = {&c.q,     &c.r,    &c.u,      &c.step, &c.left,   &c.start,
                      &c.held, &c.moves, &c.from, &c.change, &c.factors};
  c.derivative = c.W + N * N;
  double *at = c.derivative + N * N;
  for (int k = 0; k < 11; ++k, at += N) *parts[k] = at;
  at += 6 * N;
  c.friction = at, c.unit = at + n, c.slopes = at + 2 * n, c.known = c.slopes + UK_D * UK_D * n;
  c.place = (int *)(c.known + UK_D * UK_D * n);
  return c;
}

/* The largest error at r, as a motion relative to q; what is left, slopes and u are those there. */
static double uk_cone_error(uk_cone *c, double size) {
  const int N = UK_D * c->n;
  double most = 0.0;
  for (int i = 0; i < N; ++i) c->u[i] = c->q[i] + uk_dot(c->W + i * N, c->r, N);
  for (int i = 0; i < c->n; ++i)
    uk_conditions(c->r + UK_D * i, c->u + UK_D * i, c->step + UK_D * i, c->friction + i, c->left + UK_D * i,
                  c->slopes + UK_D * UK_D * i);
  for (int i = 0; i < N; ++i) {
    const double error = fabs(c->left[i]) / c->step[i];
    if (!(error <= most)) most = error;
  }
  return most / size;
}

/* The response in these directions as L L^T, where nothing slides in them; whether that is sure. */
static int uk_cone_stick(uk_cone *c, int size) {
  double *const L = c->derivative;
  for (int a = 0; a < size; ++a) {
    const int i = c->place[a];
    for (int k = 0; k < UK_D; ++k)
      if (c->slopes[UK_D * i + k] != (i % UK_D == k)) return 0;
    for (int b = 0; b <= a; ++b) L[a * size + b] = c->W[i * UK_D * c->n + c->place[b]];
  }
  return uk_factor_symmetric(L, size, UK_CONE_SURE);
}

/* The derivative at the slopes there, eliminated, in directions of which some slope is not zero. */
static void uk_cone_eliminate(uk_cone *c) {
  const int N = UK_D * c->n;
  double *const D = c->derivative, *const row = c->factors; /* of all directions */
  int size = 0;
  for (int i = 0; i < N; ++i)
    if (uk_largest(c->slopes + UK_D * i, UK_D) != 0.0) c->place[size++] = i;
  c->sticks = uk_cone_stick(c, size);
  for (int a = 0; a < size && !c->sticks; ++a) {
    const int i = c->place[a], own = i / UK_D * UK_D;
    /* F = r - P(y), y = r - rho (W r + q): the derivative is 1 - P' (1 - rho W) */
    memset(row, 0, sizeof(double) * N);
    for (int k = 0; k < UK_D; ++k) {
      uk_add(row, c->slopes[UK_D * i + k] * c->step[own + k], c->W + (own + k) * N, N);
      row[own + k] -= c->slopes[UK_D * i + k];
    }
    row[i] += 1.0;
    for (int b = 0; b < size; ++b) D[a * size + b] = row[c->place[b]];
  }
  memcpy(c->known, c->slopes, sizeof(double) * N * UK_D);
  c->basis = uk_basis_at(size, size, 0, D, c->factors);
  if (!c->sticks) uk_eliminate_rows(&c->basis, UK_CONE_RANK * uk_begin_rows(&c->basis));
}

/* Whether what is eliminated is the derivative at the slopes there, or about that, where that makes no difference to
 * where steps end: contacts do not share loads. */
static int uk_cone_fits(const uk_cone *c) {
  const double near = c->sticks || c->basis.rank == c->basis.n ? UK_CONE_NEAR : 0.0;
  int fits = c->basis.n > 0;
  for (int i = 0; i < UK_D * c->n && fits; ++i) {
    const double *now = c->slopes + UK_D * i, *then = c->known + UK_D * i;
    fits = (uk_largest(now, UK_D) == 0.0) == (uk_largest(then, UK_D) == 0.0);
    for (int k = 0; k < UK_D; ++k) fits &= fabs(now[k] - then[k]) <= near;
  }
  return fits;
}

/* Newton's step from r, at the error there; directions of open contacts go to zero by themselves. Where contacts
 * share a load, the derivative is singular, and those that are closed take the step of least norm. */
static void uk_cone_step(uk_cone *c) {
  const int N = UK_D * c->n;
  if (!uk_cone_fits(c)) uk_cone_eliminate(c);
  const int size = c->basis.n;
  double *const way = c->factors + 6 * size;
  for (int i = 0; i < N; ++i) c->change[i] = -c->left[i];
  for (int a = 0; a < size; ++a) c->change[c->place[a]] = 0.0;
  for (int a = 0; a < size; ++a) { /* what those that go by themselves leave to these */
    const int i = c->place[a], own = i / UK_D * UK_D;
    c->from[a] = -c->left[i];
    for (int k = own; k < own + UK_D; ++k)
      if (c->slopes[UK_D * i + k - own] != 0.0)
        c->from[a] -= c->slopes[UK_D * i + k - own] * (c->step[k] * uk_dot(c->W + k * N, c->change, N) - c->change[k]);
  }
  if (c->sticks) {
    for (int a = 0; a < size; ++a) way[a] = c->from[a] / c->step[c->place[a]];
    uk_solve_lower(c->derivative, size, way);
    uk_solve_upper(c->derivative, size, way);
  } else {
    uk_solve_rows(&c->basis, c->from, way);
  }
  for (int a = 0; a < size; ++a) c->change[c->place[a]] = way[a];
}

/* Newton's change from r, of the function with this part of rho. */
static void uk_cone_change(uk_cone *c, double factor, double size) {
  if (factor != 1.0) {
    for (int i = 0; i < UK_D * c->n; ++i) c->step[i] *= factor;
    uk_cone_error(c, size);
    c->basis.n = 0; /* of another function */
  }
  uk_cone_step(c);
  if (factor != 1.0) c->basis.n = 0;
  for (int i = 0; i < UK_D * c->n; ++i) c->step[i] /= factor;
  memcpy(c->from, c->r, sizeof(double) * UK_D * c->n);
}

/* Go from where a step begins by a part of it; the error there. */
static double uk_cone_try(uk_cone *c, double part, double size) {
  for (int i = 0; i < UK_D * c->n; ++i) c->r[i] = c->from[i] + part * c->change[i];
  return uk_cone_error(c, size);
}

/* Newton's steps, shortened while they do not help, or whole ones, which find their way where no shorter one
 * leads down; 0, or 1 where they end before the conditions are met. */
static int uk_cone_steps_from(uk_cone *c, double factor, double size, int whole) {
  double error = uk_cone_error(c, size), least = error;
  for (int taken = 0, stalled = 0; !(least <= UK_CONE_REACHED); ++taken) {
    if (taken == (whole ? UK_CONE_FULL_STEPS : UK_CONE_NEWTON_STEPS) || stalled == UK_CONE_STALLED) return 1;
    uk_cone_change(c, factor, size);
    double part = 1.0, found = uk_cone_try(c, part, size);
    while (!whole && !(found < error) && part > UK_CONE_SHORTEST) found = uk_cone_try(c, part *= 0.5, size);
    if (part < 1.0 && !(found < error)) found = uk_cone_try(c, 1.0, size); /* a bend: over it */
    if (!isfinite(found)) return 1;
    if (!(found < UK_CONE_KEPT * error)) c->basis.n = 0; /* no longer near enough */
    error = found;
    stalled = whole || error < UK_CONE_WORTH * least ? 0 : stalled + 1;
    if (error < least) least = error;
    ++c->iterations;
  }
  c->error = error;
  return 0;
}

typedef struct {
  double penalty, wait; /* iterations until it changes */
  int next, done;       /* when it does; iterations */
} uk_alternation;

/* The response in units of each contact, with the penalty on its diagonal, as L L^T; whether there is such a factor. */
static int uk_cone_factor(uk_cone *c, double penalty) {
  const int N = UK_D * c->n;
  double *const L = c->derivative;
  c->basis.n = 0;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j)
      L[i * N + j] = c->unit[i / UK_D] * c->W[i * N + j] * c->unit[j / UK_D] + (i == j ? penalty : 0.0);
  return uk_factor_symmetric(L, N, 0.0);
}


/* Begin with alternating directions, as core/contact/alternating_directions.py has them. */
static uk_alternation uk_cone_begin(uk_cone *c) {
  const int N = UK_D * c->n;
  double largest = 0.0, most = 0.0;
  for (int i = 0; i < N; ++i) largest = c->W[i * (N + 1)] > largest ? c->W[i * (N + 1)] : largest;
  for (int i = 0; i < c->n; ++i) {
    double own = UK_CONE_LIGHTEST * largest + UK_TINY;
    for (int k = 0; k < UK_D; ++k) own = fmax(own, c->W[(UK_D * i + k) * (N + 1)]);
    c->unit[i] = 1.0 / sqrt(own);
  }
  for (int i = 0; i < N; ++i) {
    double sum = 0.0;
    for (int j = 0; j < N; ++j) sum += fabs(c->unit[i / UK_D] * c->W[i * N + j] * c->unit[j / UK_D]);
    most = sum > most ? sum : most;
  }
  memset(c->held, 0, sizeof(double) * N), memset(c->moves, 0, sizeof(double) * N);
  return (uk_alternation){UK_CONE_PENALTY * most, UK_CONE_FIRST, UK_CONE_FIRST, 0};
}

/* Further iterations; whether there are any. */
static int uk_cone_alternate(uk_cone *c, uk_alternation *a, int iterations) {
  const int N = UK_D * c->n;
  double *const L = c->derivative, *const r = c->held, *const u = c->moves;
  double *const way = c->from, *const sent = c->change;
  int factored = uk_cone_factor(c, a->penalty);
  for (; factored && iterations; --iterations) {
    for (int i = 0; i < N; ++i) {
      way[i] = a->penalty * r[i] + u[i] - c->unit[i / UK_D] * c->q[i];
      if (i % UK_D == 0) way[i] -= c->friction[i / UK_D] * sqrt(uk_dot(u + i + 1, u + i + 1, UK_D - 1));
    }
    uk_solve_lower(L, N, way);
    uk_solve_upper(L, N, way);
    for (int i = 0; i < N; i += UK_D) {
      double aim[UK_D], relaxed[UK_D], nearest[UK_D];
      for (int k = 0; k < UK_D; ++k) {
        relaxed[k] = UK_CONE_RELAXATION * way[i + k] + (1.0 - UK_CONE_RELAXATION) * r[i + k];
        aim[k] = relaxed[k] - u[i + k] / a->penalty;
      }
      uk_nearest_in_cone(aim, c->friction + i / UK_D, nearest);
      for (int k = i; k < i + UK_D; ++k) {
        sent[k] = nearest[k - i] - r[k], r[k] = nearest[k - i];
        u[k] -= a->penalty * (relaxed[k - i] - r[k]), way[k] -= r[k];
      }
    }
    if (++a->done < a->next) continue; /* what is left of both conditions is to shrink alike */
    const double left = uk_largest(way, N) / (uk_largest(r, N) + UK_TINY) + UK_TINY;
    const double off = a->penalty * uk_largest(sent, N) / (uk_largest(u, N) + UK_TINY) + UK_TINY;
    a->penalty *= fmin(fmax(sqrt(left / off), 1.0 / UK_CONE_MOST), UK_CONE_MOST);
    a->wait *= UK_CONE_LATER, a->next = a->done + (int)a->wait;
    factored = uk_cone_factor(c, a->penalty);
  }
  return factored;
}

/* Forces from those in r, then from none, at last from where alternating directions lead, and their motion; 0, or 1
 * where the conditions are not met. */
static int uk_cone_solve(uk_cone *c) {
  const int N = UK_D * c->n;
  const double size = fmax(uk_largest(c->q, N), UK_TINY), largest = fmax(uk_largest(c->W, N * N), UK_TINY);
  for (int i = 0; i < c->n; ++i) {
    double own[UK_D], floor = UK_CONE_FLOOR * largest;
    for (int k = 0; k < UK_D; ++k) own[k] = fabs(c->W[(UK_D * i + k) * (N + 1)]);
    uk_cone_steps(own, &floor, c->step + UK_D * i);
  }
  memcpy(c->start, c->r, sizeof(double) * N);
  for (int none = 0; none < 2; ++none)
    for (int k = 0; k < UK_CONE_FACTORS; ++k)
      for (int whole = 0; whole < 2; ++whole) {
        for (int i = 0; i < N; ++i) c->r[i] = none ? 0.0 : c->start[i];
        if (!uk_cone_steps_from(c, uk_cone_factors[k], size, whole)) return 0;
      }
  uk_alternation a = uk_cone_begin(c);
  c->fell_back = 1;
  for (int k = 0; k < UK_CONE_ITERATIONS; ++k) {
    c->iterations += (long long)uk_cone_iterations[k];
    if (!uk_cone_alternate(c, &a, (int)uk_cone_iterations[k])) return 1;
    for (int whole = 0; whole < 2; ++whole) {
      for (int i = 0; i < N; ++i) c->r[i] = c->unit[i / UK_D] * c->held[i];
      if (!uk_cone_steps_from(c, 1.0, size, whole)) return 0;
    }
  }
  return 1;
}
