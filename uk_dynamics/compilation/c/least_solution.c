/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Rows of the servo law: room for them, and least solutions. */
#pragma once

#include "row_elimination.c"
#include "uk_allocation.h"
#include "uk_mechanism.h"
#include "uk_motors.h"
#include "uk_sizes.h"

/* Forces of contacts are the last of the efforts. */
#define UK_CONTACTS (UK_CONTACT_ROWS / 3)
#define UK_HARD_LIMITS (2 * UK_MOTORS + 5 * UK_CONTACTS) /* on them, at most */
#define UK_INEQUALITIES (UK_HARD_LIMITS + UK_BOUNDED)    /* and bounded rows */
#define UK_UNKNOWNS (UK_NU + UK_BOUNDED)                  /* of a search: and what bounded rows are beyond */

#define UK_MOST(a, b) ((a) > (b) ? (a) : (b))
#if defined(UK_OF_CLUSTERS) /* no law takes rows of the structure, or of all joints */
#define UK_BASIS_ROWS (UK_MT + 2 * UK_UNKNOWNS)
#else
#define UK_BASIS_ROWS UK_MOST(UK_MT + 2 * UK_UNKNOWNS, UK_MOST(UK_M, UK_NV)) /* most rows of a basis, and */
#endif
#define UK_LONGEST UK_MOST(UK_NV, UK_MOST(UK_MT, UK_UNKNOWNS)) /* their greatest length */

typedef struct {
  double rows[UK_BASIS_ROWS * (UK_LONGEST + 1)], others[6 * UK_BASIS_ROWS];
} uk_basis_room;

/* A basis that has room for most rows. */
static uk_basis uk_basis_in(uk_basis_room *room) {
  uk_basis b = uk_basis_at(0, UK_BASIS_ROWS, 0, room->rows, room->others);
  b.handicap = uk_task_handicap, b.sparse = UK_CONTACT_ROWS > 0;
  return b;
}

/* Coordinates of the rows that were factored, in the basis of what they span: one after the other, each of all rows. */
static UK_OPTIONAL void uk_rows_in_basis(const uk_basis *b, double *coordinates) {
  for (int place = 0; place < b->count; ++place) {
    const double *left = b->rows + place * b->n, unit = b->scale[place] > 0.0 ? 1.0 / b->scale[place] : 0.0;
    double *to = coordinates + (int)b->row[place];
    for (int k = 0; k < b->rank; ++k)
      to[k * b->count] = unit * (k < place ? left[k] : k == place ? 1.0 / b->inverse_R[k] : 0.0);
  }
}

/* A basis of what the rows reach that were factored, by one of what they span. */
static UK_OPTIONAL void uk_factor_range(const uk_basis *b, uk_basis *range) {
  range->n = b->count, range->count = b->rank;
  uk_rows_in_basis(b, range->rows);
  uk_factor_rows(range, NULL, 0.0);
}

/* The x of least norm, (n,), and of these the one of least |rows x - wanted|; a basis of the rows,
 * (count, n), and, where some of them depend on others, one of what they reach. */
static UK_APART void uk_least_solution(uk_basis *basis, uk_basis *range, const double *rows, int count,
                              int n, const double *natural, double tolerance,
                              const double *wanted, double *x) {
  basis->n = n, basis->count = count;
  memcpy(basis->rows, rows, sizeof(double) * count * n);
  uk_factor_rows(basis, natural, tolerance);
  range->n = count, range->count = range->rank = 0;
  if (basis->rank == count || basis->rank == 0) {
    uk_solve_rows(basis, wanted, x);
    return;
  }
  uk_factor_range(basis, range);
  double asked[UK_LONGEST];
  memcpy(asked, wanted, sizeof(double) * count);
  for (int i = 0; i < n; ++i) x[i] = 0.0;
  uk_nearest_combination(range, asked, x);
  uk_rotate_back(basis, x);
}
