# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Kane's equations (50) of the review, made by SymPy, against the fundamental equation.

Generalized speeds, partial velocities and inertia forces know neither A nor b: a closed loop and a
knife edge, each written down once more with SymPy's own vocabulary.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from support.mechanism_builder import joint, link, mechanism, shipped

from uk_dynamics.mechanism.resolution.state import Inputs
from uk_dynamics.mechanism_class import Mechanism

sympy: Any
me: Any

GRAVITY = 9.81
# Conditions of up to 1e3 in accelerations of up to 1e3.
RELATIVE = 1e-9


@pytest.fixture(scope="module", autouse=True)
def _sympy() -> None:
    """Import it where it is needed, not in every process that collects tests: it takes seconds."""
    global sympy, me
    sympy = pytest.importorskip("sympy")
    me = pytest.importorskip("sympy.physics.mechanics")


class Kane(NamedTuple):
    """Kane's method with its symbols."""

    method: Any
    q: tuple[Any, ...]
    u: tuple[Any, ...]
    force: Any

    def accelerations(self, q: np.ndarray, u: np.ndarray, force: float) -> np.ndarray:
        """u̇ that fulfils (50) and the constraints, (n,)."""
        values = self._values(q, u, force)
        M = self.method.mass_matrix_full.subs(values).evalf()
        F = self.method.forcing_full.subs(values).evalf()
        rates = np.linalg.solve(np.array(M, dtype=float), np.array(F, dtype=float).ravel())
        # SymPy puts dependent speeds behind independent ones.
        order = [list(self.method.u).index(speed) for speed in self.u]
        return rates[len(self.q) :][order]

    def residual(self, q: np.ndarray, u: np.ndarray, force: float, udot: np.ndarray) -> np.ndarray:
        """F̃ᵣ + F̃ᵣ* for given accelerations: (50), one number per degree of freedom."""
        t = me.dynamicsymbols._t
        rates = {speed.diff(t): value for speed, value in zip(self.u, udot, strict=True)}
        fr, fr_star = self.method.kanes_equations(self.method.bodies, self.method.loads)
        total = (fr + fr_star).subs(rates).subs(self._values(q, u, force)).evalf()
        return np.array(total, dtype=float).ravel()

    def _values(self, q: np.ndarray, u: np.ndarray, force: float) -> dict[Any, float]:
        symbols = (*self.q, *self.u, self.force)
        return dict(zip(symbols, (*q, *u, force), strict=True))


def kane(frame, q, u, force, bodies, loads, dependent, configuration, velocity) -> Kane:
    """Kane's method; ``dependent`` are the coordinates and speeds left to the constraints."""
    t = me.dynamicsymbols._t
    free_q = [c for c in q if c not in dependent]
    free_u = [s for s in u if s not in dependent]
    method = me.KanesMethod(
        frame,
        q_ind=free_q,
        u_ind=free_u,
        kd_eqs=[c.diff(t) - s for c, s in zip(q, u, strict=True)],
        q_dependent=[c for c in q if c in dependent],
        configuration_constraints=configuration,
        u_dependent=[s for s in u if s in dependent],
        velocity_constraints=velocity,
    )
    method.kanes_equations(bodies, loads)
    return Kane(method, q, u, force)


def slider_crank() -> Kane:
    """The shipped slider-crank: joint motor with armature, viscous joints, a closed loop."""
    steel, radius, length = 7850.0, 0.05, 0.18
    flywheel = steel * np.pi * 0.09**2 * 0.012
    bar = steel * length * 0.02 * 0.01
    q = q1, q2, q3 = me.dynamicsymbols("q1:4")
    u = u1, u2, u3 = me.dynamicsymbols("u1:4")
    torque = sympy.Symbol("torque")
    N = me.ReferenceFrame("N")
    crank, rod = N.orientnew("crank", "Axis", (q1, N.z)), me.ReferenceFrame("rod")
    rod.orient_axis(crank, q2, N.z)
    crank.set_ang_vel(N, u1 * N.z)
    rod.set_ang_vel(crank, u2 * N.z)
    O = me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    pin, piston = O.locatenew("pin", radius * crank.x), O.locatenew("piston", q3 * N.x)
    pin.v2pt_theory(O, N, crank)
    piston.set_vel(N, u3 * N.x)
    middle = pin.locatenew("middle", 0.5 * length * rod.x)
    middle.v2pt_theory(pin, N, rod)
    end = pin.locatenew("end", length * rod.x)
    gap = end.pos_from(piston)
    closed = [gap.dot(N.x), gap.dot(N.y)]
    t = me.dynamicsymbols._t
    speeds = {c.diff(t): s for c, s in zip(q, u, strict=True)}
    turning = [
        (crank, O, flywheel, flywheel * 0.09**2 / 2 + 0.001),  # and the rotor of the motor
        (rod, middle, bar, bar * (length**2 + 0.02**2) / 12),
    ]
    bodies = [
        me.RigidBody(f.name, point, f, mass, (me.inertia(f, 0, 0, inertia), point))
        for f, point, mass, inertia in turning
    ]
    bodies.append(me.Particle("piston", piston, 0.5))
    loads = [
        (middle, -bar * GRAVITY * N.y),  # the flywheel hangs on its shaft, the piston on its guide
        (crank, (torque - 0.005 * u1 + 0.001 * u2) * N.z),
        (rod, -0.001 * u2 * N.z),
        (piston, -5.0 * u3 * N.x),
    ]
    velocity = [c.diff(t).subs(speeds) for c in closed]
    return kane(N, q, u, torque, bodies, loads, (q2, q3, u2, u3), closed, velocity)


def sleigh() -> Kane:
    """Chaplygin's sleigh on a knife edge below its origin, the mass ahead of it; pushed along x."""
    q = x, y, yaw = me.dynamicsymbols("x y yaw")
    u = vx, vy, spin = me.dynamicsymbols("vx vy spin")
    push = sympy.Symbol("push")
    N = me.ReferenceFrame("N")
    body = N.orientnew("body", "Axis", (yaw, N.z))
    body.set_ang_vel(N, spin * N.z)
    O = me.Point("O")  # noqa: E741
    O.set_vel(N, 0)
    edge = O.locatenew("edge", x * N.x + y * N.y)
    edge.set_vel(N, vx * N.x + vy * N.y)
    mass = edge.locatenew("mass", 0.3 * body.x)
    mass.v2pt_theory(edge, N, body)
    bodies = [me.RigidBody("sleigh", mass, body, 2.0, (me.inertia(body, 0, 0, 0.1), mass))]
    across = [vy * sympy.cos(yaw) - vx * sympy.sin(yaw)]
    return kane(N, q, u, push, bodies, [(edge, push * N.x)], (vy,), [], across)


def sleigh_mechanism() -> Mechanism:
    parts = "".join(link(name, mass=0.0) for name in ("base", "l1", "l2"))
    parts += link("l3", mass=2.0, inertia=0.1, com="0.3 0 0")
    parts += joint("x", "base", "l1", kind="prismatic", axis="1 0 0")
    parts += joint("y", "l1", "l2", kind="prismatic", axis="0 1 0")
    parts += joint("yaw", "l2", "l3", axis="0 0 1")
    edge = "d(y) * cos(yaw) - d(x) * sin(yaw)"
    return mechanism(parts, f'constraints: {{edge: {{type: expression, expression: "{edge}"}}}}')


def compare(machine: Mechanism, other: Kane, driven: str, states: list) -> None:
    dynamics = machine.dynamics()
    for state, force in states:
        tau = machine.inputs({driven: force}).tau
        qdd = dynamics.evaluate(state, Inputs(tau=tau, stabilize=False)).qdd
        size = 1.0 + np.abs(qdd).max()
        expected = other.accelerations(state.q, state.v, force)
        np.testing.assert_allclose(qdd, expected, rtol=0, atol=RELATIVE * size)
        residual = other.residual(state.q, state.v, force, qdd)
        np.testing.assert_allclose(residual, 0.0, atol=RELATIVE * size)


@pytest.mark.slow
def test_a_closed_loop() -> None:
    machine = shipped("slider_crank")
    rng = np.random.default_rng(0)
    states = []
    for crank in rng.uniform(-3.0, 3.0, 5):
        state = machine.state(machine.assemble(crank=crank), 5.0 * rng.standard_normal(3))
        states.append((machine.dynamics().project(state), float(rng.standard_normal())))
    compare(machine, slider_crank(), "crank", states)


@pytest.mark.slow
def test_a_knife_edge() -> None:
    machine = sleigh_mechanism()
    rng = np.random.default_rng(1)
    states = []
    for _ in range(5):
        state = machine.state(rng.standard_normal(3), rng.standard_normal(3))
        states.append((machine.dynamics().project(state), float(rng.standard_normal())))
    compare(machine, sleigh(), "x", states)
