# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The motion as functions with CasADi's interface of external functions; acados takes them too."""

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.derivatives.equation_derivatives import TracedDerivatives
from uk_dynamics.compilation.derivatives.patterns import motion_patterns
from uk_dynamics.compilation.emit.c_text import header, part, table
from uk_dynamics.compilation.emit.motor_source import motors
from uk_dynamics.mechanism.resolution import ResolvedMechanism

#: The names of the functions behind that of the mechanism.
FUNCTIONS = ("ode", "expl_ode_fun", "expl_vde_forw", "expl_vde_adj")

_FUNCTION = """
/* ({inputs}) -> ({outputs}) */
UK_EXPORT int {name}(const double **arg, double **res, casadi_int *iw, double *w, int mem) {{
  (void)iw, (void)mem;
  return {body}(arg, res, (uk_memory *)(void *)w);
}}
UK_EXPORT casadi_int {name}_n_in(void) {{ return {n_in}; }}
UK_EXPORT casadi_int {name}_n_out(void) {{ return {n_out}; }}
UK_EXPORT const char *{name}_name_in(casadi_int i) {{
  static const char *const names[] = {{{names_in}}};
  return 0 <= i && i < {n_in} ? names[i] : 0;
}}
UK_EXPORT const char *{name}_name_out(casadi_int i) {{
  static const char *const names[] = {{{names_out}}};
  return 0 <= i && i < {n_out} ? names[i] : 0;
}}
UK_EXPORT const casadi_int *{name}_sparsity_in(casadi_int i) {{
  static const casadi_int *const patterns[] = {{{patterns_in}}};
  return 0 <= i && i < {n_in} ? patterns[i] : 0;
}}
UK_EXPORT const casadi_int *{name}_sparsity_out(casadi_int i) {{
  static const casadi_int *const patterns[] = {{{patterns_out}}};
  return 0 <= i && i < {n_out} ? patterns[i] : 0;
}}
UK_EXPORT int {name}_work(casadi_int *arg, casadi_int *res, casadi_int *iw, casadi_int *w) {{
  if (arg) *arg = {n_in};
  if (res) *res = {n_out};
  if (iw) *iw = 0;
  if (w) *w = sizeof(uk_memory) / sizeof(double);
  return 0;
}}
"""


class _Function(NamedTuple):
    name: str
    body: str  # function of ode.c
    inputs: dict[str, str]  # name: pattern
    outputs: dict[str, str]


def is_ode(mechanism: ResolvedMechanism, traced: TracedDerivatives) -> bool:
    """Whether the motion is x' = f(x, u): q a vector whose rate is v, and nothing depends on t."""
    time = traced.directions - 1
    timed = any(time in row for row in (*traced.motion, *traced.rows))
    model = mechanism.model
    return model.nq == model.nv and not timed and not mechanism.follows_references


def ode_source(mechanism: ResolvedMechanism, traced: TracedDerivatives, identifier: str) -> str:
    """C of the functions, behind that of the derivatives.

    Args:
        mechanism: Which one.
        traced: Derivatives of its equations.
        identifier: What their names begin with.
    """
    mask = mechanism.hierarchy.mask(None)
    acts = np.ones(len(mechanism.constraints)) if mask is None else mask
    return "\n".join(
        [
            motors(mechanism),
            header(
                "uk_ode.h",
                part("casadi_integer.h"),
                table("double", "uk_acts", acts),
                *_patterns(mechanism, traced),
            ),
            part("ode.c"),
            *map(_text, _functions(identifier)),
        ]
    )


def ode_prototypes(identifier: str) -> str:
    """Declarations of the same, without our prefix."""
    signatures = re.findall(r"^UK_EXPORT (.*\)) \{\{", _FUNCTION, re.MULTILINE)
    prototypes = "".join(f"{signature};\n" for signature in signatures)
    return "\n".join(prototypes.format(name=one.name) for one in _functions(identifier))


def _functions(identifier: str) -> tuple[_Function, ...]:
    x, u, rate = "uk_state_vector", "uk_effort_vector", "uk_state_vector"
    acados = {"p": "uk_nothing"}
    return (
        _Function(f"{identifier}_ode", "uk_ode", {"x": x, "u": u}, {"xdot": rate}),
        _Function(
            f"jac_{identifier}_ode",
            "uk_ode_jacobian",
            {"x": x, "u": u, "out_xdot": "uk_unread"},
            {"jac_xdot_x": "uk_state_pattern", "jac_xdot_u": "uk_effort_pattern"},
        ),
        _Function(
            f"{identifier}_expl_ode_fun", "uk_ode", {"x": x, "u": u} | acados, {"xdot": rate}
        ),
        _Function(
            f"{identifier}_expl_vde_forw",
            "uk_ode_forward",
            {"x": x, "Sx": "uk_state_square", "Su": "uk_effort_square", "u": u} | acados,
            {"xdot": rate, "vde_x": "uk_state_square", "vde_u": "uk_effort_square"},
        ),
        _Function(
            f"{identifier}_expl_vde_adj",
            "uk_ode_adjoint",
            {"x": x, "lambda": x, "u": u} | acados,
            {"adjoint": "uk_adjoint_vector"},
        ),
    )


def _text(function: _Function) -> str:
    def quoted(names: dict[str, str]) -> str:
        return ", ".join(f'"{name}"' for name in names)

    return _FUNCTION.format(
        name=function.name,
        body=function.body,
        inputs=", ".join(function.inputs),
        outputs=", ".join(function.outputs),
        n_in=len(function.inputs),
        n_out=len(function.outputs),
        names_in=quoted(function.inputs),
        names_out=quoted(function.outputs),
        patterns_in=", ".join(function.inputs.values()),
        patterns_out=", ".join(function.outputs.values()),
    )


def _patterns(mechanism: ResolvedMechanism, traced: TracedDerivatives) -> list[str]:
    """Sparsity as CasADi wants it: rows, columns, 1 where it is full; else starts and rows."""
    nv, nu = mechanism.model.nv, len(mechanism.actuators)
    whole = motion_patterns(mechanism, traced).acceleration
    state = np.zeros((2 * nv, 2 * nv), dtype=bool)
    state[:nv, nv:] = np.eye(nv, dtype=bool)
    state[nv:] = whole[:, : 2 * nv]
    effort = np.zeros((2 * nv, nu), dtype=bool)
    effort[nv:] = whole[:, traced.directions :] @ (mechanism.actuators.matrix != 0.0)
    tables = {
        "state_vector": [2 * nv, 1, 1],
        "effort_vector": [nu, 1, 1] if nu else [0, 1, 0, 0],
        "adjoint_vector": [2 * nv + nu, 1, 1],
        "state_square": [2 * nv, 2 * nv, 1],
        "effort_square": [2 * nv, nu, 1] if nu else [2 * nv, 0, 0],
        "nothing": [0, 0, 0],
        "unread": [2 * nv, 1, 0, 0],
        "state_pattern": _compressed(state),
        "effort_pattern": _compressed(effort),
    }
    return [table("casadi_int", f"uk_{name}", values) for name, values in tables.items()]


def _compressed(pattern: NDArray[np.bool_]) -> list[int]:
    columns, rows = np.nonzero(pattern.T)
    starts = np.searchsorted(columns, np.arange(pattern.shape[1] + 1))
    return [*pattern.shape, *starts.tolist(), *rows.tolist()]
