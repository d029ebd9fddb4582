/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Constrained acceleration of the inputs in the memory. What is kept of a configuration is not computed
 * again. A lane is a state. */
#pragma once

#include "attributes.h"
#include "block_elimination.c"
#include "uk_lanes_regular.h"

static void uk_lanes_configure(uk_lanes_memory *m, uk_lanes_kept *kept) {
  if (uk_lanes_is_kept(m, kept)) return;
  uk_lanes_terms_configuration(UK_STATE_TERMS, kept->terms);
  uk_lanes_mark(m, kept);
}

static void uk_lanes_find_rates(uk_lanes_memory *m, uk_lanes_kept *kept) {
  uk_lanes_terms_rates(UK_STATE_TERMS, kept->terms);
}

static void uk_lanes_find_forces(uk_lanes_memory *m, uk_lanes_kept *kept) {
  uk_lanes_terms_forces(UK_STATE_TERMS, kept->terms);
}

static inline void uk_lanes_clear(uk_lanes_memory *m) {
  m->status = m->failed = m->rank = uk_all(0.0);
#if defined(UK_ONE_STATE)
  UK_EACH(r, UK_ROWS) m->offends[r] = 0.0;
#endif
}

/* The factor of M, b, and in the place of the acceleration that without constraints, whitened. */
UK_INLINE void uk_lanes_begin_pivoted(uk_lanes_memory *m) {
  uk_lanes_clear(m);
  uk_lanes_factor_mass(m);
  UK_EACH(i, UK_NV) m->qdd[i] = m->force[i] += m->tau[i];
  uk_lanes_whiten(m, m->qdd);
#if UK_M > 0
  UK_EACH(r, UK_M)
    m->b[r] = -m->active[r] * (m->bias[r] + m->stabilize * (uk_damping[r] * m->rate[r]
                                                            + uk_stiffness[r] * m->residual[r]));
#endif
}

/* Rows pivoted, with their multipliers where forces are wanted. */
UK_INLINE void uk_lanes_finish_pivoted(uk_lanes_memory *m) {
  const uk_lanes zero = uk_all(0.0);
#if UK_M > 0
  UK_EACH(r, UK_M) {
#if UK_SWITCHED
    UK_EACH(i, UK_NV) m->A[r * UK_NV + i] *= m->active[r];
    m->residual[r] *= m->active[r], m->rate[r] *= m->active[r];
#endif
  }
  uk_lanes_whiten_rows(m, m->active);
  uk_lanes_eliminate(m, uk_all(UK_RANK_TOLERANCE));
  const uk_basis b = uk_rows_of(m);
  uk_rotate(&b, m->qdd);
  uk_find_coordinates(&b, m->b, m->z);
  uk_lanes ideal[UK_NV];
  UK_EACH(i, UK_NV) ideal[i] = zero;
  UK_EACH(k, UK_COUNT) {
    const uk_lanes y = m->z[k];
    ideal[k] = m->z[k] = uk_pick(uk_is_independent(&b, k), y - m->qdd[k], zero);
    m->qdd[k] = uk_pick(uk_is_independent(&b, k), y, m->qdd[k]);
  }
  uk_rotate_back(&b, m->qdd);
  if (m->forces) {
    uk_rotate_back(&b, ideal);
    uk_lanes_multiply_factor(m, ideal, m->ideal_force);
    uk_lanes_multipliers(m);
  }
#else
  UK_EACH(i, UK_NV) m->ideal_force[i] = zero;
#endif
  uk_lanes_unwhiten(m, m->qdd);
  uk_lanes sum = uk_total(m->qdd, UK_NV);
#if UK_M > 0
  if (m->forces || uk_lanes_depend(m)) {
    UK_EACH(r, UK_M) sum += m->violation[r] = uk_dot(m->A + r * UK_NV, m->qdd, UK_NV) - m->b[r];
    if (uk_lanes_depend(m) && (UK_WIDTH > 1 || m->forces)) uk_lanes_check(m);
  }
#endif
  if (m->forces) UK_FIND_FORMULAS(m);
  m->failed = uk_pick(m->singular, uk_all(1.0), uk_pick(uk_finite(sum), zero, uk_all(2.0)));
}

/* Constrained accelerations of the terms in the memory, rows pivoted; as uk_lanes_solve. */
UK_EVALUATION void uk_lanes_pivoted(uk_lanes_memory *m) {
  uk_lanes_begin_pivoted(m);
  uk_lanes_finish_pivoted(m);
}

/* The same, and forces where they are wanted; `failed`. */
static UK_OPTIONAL uk_lanes uk_answer_pivoted(uk_lanes_memory *m, int forces) {
  m->forces = forces;
  uk_lanes_pivoted(m);
  return m->failed;
}

/* Whether all lanes are regular, so that straight-line code answers them, and with numbers. */
static inline int uk_lanes_solve_regular(uk_lanes_memory *m, uk_lanes_kept *kept) {
#if UK_REGULAR
  if (uk_any(uk_not(uk_lanes_regular(m, kept)))) return 0;
  uk_lanes_clear(m);
  m->rank = uk_all(UK_REGULAR);
  if (m->forces) UK_FIND_FORMULAS(m);
  return !uk_any(uk_not(uk_finite(uk_total(m->qdd, UK_NV))));
#else
  (void)m, (void)kept;
  return 0;
#endif
}

/* Constrained accelerations of the terms in the memory; `failed` as what uk_evaluate returns, by lane.
 * One irregular lane decides for all: rows are then pivoted in all of them. */
static void uk_lanes_solve(uk_lanes_memory *m, uk_lanes_kept *kept) {
  if (uk_lanes_solve_regular(m, kept)) return;
  kept->known = 0;
  uk_lanes_pivoted(m);
}

/* Constrained accelerations of groups of states, each with a memory of its own. Straight-line code
 * may be longer than the nearest cache for instructions: each part of it serves all groups. */
static void uk_lanes_evaluate(uk_lanes_memory *m, uk_lanes_kept *kept, int groups) {
  UK_EACH(g, groups) uk_lanes_configure(m + g, kept + g);
  UK_EACH(g, groups) {
    uk_lanes_find_rates(m + g, kept + g);
    uk_lanes_find_forces(m + g, kept + g);
  }
  UK_EACH(g, groups) uk_lanes_solve(m + g, kept + g);
}

#ifdef UK_ONE_STATE

typedef uk_lanes_kept uk_kept;

/* Constrained acceleration of the inputs in the memory, and forces where they are wanted; 0, or why
 * there is none: 1 the mass matrix is singular, 2 something is not finite. */
static UK_OPTIONAL int uk_answer_there(uk_memory *m, uk_kept *kept, int forces) {
  m->forces = forces;
  uk_lanes_evaluate(m, kept, 1);
  return (int)m->failed;
}

static inline int uk_answer(uk_memory *m, int forces) {
  uk_kept kept;
  kept.known = 0;
  return uk_answer_there(m, &kept, forces);
}

UK_EXPORT int uk_evaluate(uk_memory *m) { return uk_answer(m, 1); }

#endif
