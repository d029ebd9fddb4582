/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
#pragma once

#include "uk_mechanism.h"

/* Double precision, no allocation, no global state: one uk_memory per thread, all zeros at first.
 * Set t, q, v, tau, parameters p where there are some, stabilize and active (1 for rows that act),
 * then call uk_differentiate. It returns 0; 1 where the mass matrix is singular, 2 where something
 * is not finite. qdd_derivatives holds a row for each acceleration, with the derivatives by q, by v
 * and by t, or by p in the order above, and from column UK_STRIDE on those by tau. Those by q are
 * per change of the velocity coordinates. In the list of qdd above, x marks the derivatives by
 * q | v | tau, or by p, that may differ from zero. Parameters that are not listed are constants. */
int uk_differentiate(uk_memory *memory);

/* Called next, writes the derivatives at the same state of the multipliers of least norm,
 * (UK_M or 1, UK_STRIDE + UK_NV), and of the constraint force A^T lambda, (UK_NV, UK_STRIDE + UK_NV),
 * in N or N m per unit of the column, to arrays of the caller. Their columns are those of
 * qdd_derivatives. It cannot fail. Derivatives of multipliers by q and v where rows are redundant
 * hold along changes of the state that keep the constraints. Entries of the force are zero wherever
 * those of qdd are. */
void uk_force_derivatives(uk_memory *memory, double *multipliers, double *force);

#if UK_NP > 0
/* Writes 1 for each parameter that has derivatives at this state, and 0 for those that move
 * redundant rows apart, as lengths may: their columns have a meaning only in sums along which all
 * rows keep holding. */
void uk_exist(uk_memory *memory, double *exist);
#endif
