/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
#pragma once

/* Functions x, u -> xdot, x = (q, v) and u the motor efforts, and their Jacobians have the interface
 * of CasADi's external functions; acados asks for those with expl in their names. Their memory is
 * the work vector w, and they set all of it.
 * The integer type is that of CasADi; of functions that acados calls: cc -Dcasadi_int=int */
#ifndef casadi_int
#define casadi_int long long int
#endif
