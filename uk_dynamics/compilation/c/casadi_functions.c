/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The interface of CasADi's external functions, which acados asks for, too: UK_ODE puts the mechanism's name
 * between the words of their names. */
#pragma once

#include "ode.c"

#define UK_COUNT_OF(array) ((casadi_int)(sizeof(array) / sizeof *(array)))
#define UK_CASADI(name, body, in, out) UK_CASADI_OF(name, body, in, out) /* with `name` put together */
#define UK_CASADI_OF(name, body, in, out) \
  UK_EXPORT int name(const double **arg, double **res, casadi_int *iw, double *w, int mem) { \
    (void)iw, (void)mem; \
    return body(arg, res, (uk_memory *)(void *)w); \
  } \
  UK_EXPORT casadi_int name##_n_in(void) { return UK_COUNT_OF(in); } \
  UK_EXPORT casadi_int name##_n_out(void) { return UK_COUNT_OF(out); } \
  UK_EXPORT const char *name##_name_in(casadi_int i) { return uk_named(in, UK_COUNT_OF(in), i).word; } \
  UK_EXPORT const char *name##_name_out(casadi_int i) { return uk_named(out, UK_COUNT_OF(out), i).word; } \
  UK_EXPORT const casadi_int *name##_sparsity_in(casadi_int i) { return uk_named(in, UK_COUNT_OF(in), i).pattern; } \
  UK_EXPORT const casadi_int *name##_sparsity_out(casadi_int i) { \
    return uk_named(out, UK_COUNT_OF(out), i).pattern; \
  } \
  UK_EXPORT int name##_work(casadi_int *arg, casadi_int *res, casadi_int *iw, casadi_int *w) { \
    if (arg) *arg = UK_COUNT_OF(in); \
    if (res) *res = UK_COUNT_OF(out); \
    if (iw) *iw = 0; \
    if (w) *w = sizeof(uk_memory) / sizeof(double); \
    return 0; \
  }

typedef struct {
  const char *word;
  const casadi_int *pattern;
} uk_argument;

static uk_argument uk_named(const uk_argument *of, casadi_int count, casadi_int i) {
  const uk_argument none = {0, 0};
  return 0 <= i && i < count ? of[i] : none;
}

static const uk_argument uk_rate_out[] = {{"xdot", uk_state_vector}};
static const uk_argument uk_ode_in[] = {{"x", uk_state_vector}, {"u", uk_effort_vector}};
static const uk_argument uk_jacobian_in[] = {{"x", uk_state_vector}, {"u", uk_effort_vector}, {"out_xdot", uk_unread}};
static const uk_argument uk_jacobian_out[] = {{"jac_xdot_x", uk_state_pattern}, {"jac_xdot_u", uk_effort_pattern}};
static const uk_argument uk_rate_in[] = {{"x", uk_state_vector}, {"u", uk_effort_vector}, {"p", uk_nothing}};
static const uk_argument uk_forward_in[] = {
  {"x", uk_state_vector}, {"Sx", uk_state_square}, {"Su", uk_effort_square}, {"u", uk_effort_vector}, {"p", uk_nothing}
};
static const uk_argument uk_forward_out[] = {
  {"xdot", uk_state_vector}, {"vde_x", uk_state_square}, {"vde_u", uk_effort_square}
};
static const uk_argument uk_adjoint_in[] = {
  {"x", uk_state_vector}, {"lambda", uk_state_vector}, {"u", uk_effort_vector}, {"p", uk_nothing}
};
static const uk_argument uk_adjoint_out[] = {{"adjoint", uk_adjoint_vector}};

UK_CASADI(UK_ODE(, _ode), uk_ode, uk_ode_in, uk_rate_out)
UK_CASADI(UK_ODE(jac_, _ode), uk_ode_jacobian, uk_jacobian_in, uk_jacobian_out)
UK_CASADI(UK_ODE(, _expl_ode_fun), uk_ode, uk_rate_in, uk_rate_out)
UK_CASADI(UK_ODE(, _expl_vde_forw), uk_ode_forward, uk_forward_in, uk_forward_out)
UK_CASADI(UK_ODE(, _expl_vde_adj), uk_ode_adjoint, uk_adjoint_in, uk_adjoint_out)
