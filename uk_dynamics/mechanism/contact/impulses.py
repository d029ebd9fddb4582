# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Forces of closed one-sided constraints within their cones, and impulses where they strike."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.arrays import largest
from uk_dynamics.core import Factorization
from uk_dynamics.core.contact import ConeProblem, ConeSolution, solve_cone_problem
from uk_dynamics.mechanism.resolution.state import Array

# Forces in loop joints that stick agree within this part of the largest, after so many trials.
LOOP_LOADS = {"SAME": 1e-13, "TRIALS": 100}


class Pressing(NamedTuple):
    """What presses those of closed one-sided constraints that are joints that stick."""

    loads: Array  # (k,); NaN: a contact. Of loop joints per force in them
    load_map: Array  # from the multipliers of all rows to the forces in loop joints, (k, 3, m)
    inside: NDArray[np.bool_]  # which are loop joints, (k,)
    multipliers: Array  # of all rows without their forces, (m,)

    def forces(self, multipliers: Array) -> Array:
        """In loop joints, of the multipliers of all rows, (k,)."""
        found: Array = np.linalg.norm(self.load_map @ multipliers, axis=1)
        return found


class ClosedRows(NamedTuple):
    """Rows and forces of some one-sided constraints, each with d directions."""

    factorization: Factorization  # of the mechanism without its one-sided constraints
    jacobian: Array  # (dk, nv); zero rows where there is no friction
    force: Array  # generalized force per unit force in each direction, (nv, dk)
    bias: Array  # ψ̈ at zero joint acceleration, (dk,)
    width: int  # d

    def once_more(self, which: NDArray[np.intp]) -> "ClosedRows":
        """With the tangents of some behind them, as of contacts that a constant load presses."""
        again = np.add.outer(self.width * which, np.arange(self.width)).ravel()
        tangents = np.minimum(again % self.width, 1.0)
        return ClosedRows(
            self.factorization,
            np.vstack((self.jacobian, tangents[:, None] * self.jacobian[again])),
            np.hstack((self.force, tangents * self.force[:, again])),
            np.concatenate((self.bias, self.bias[again])),
            self.width,
        )

    def moved(self, forces: Array) -> Array:
        """Accelerations by forces, (k, d), or velocities by impulses, (nv,)."""
        return self.factorization.admissible(self.force @ forces.ravel())

    def held(self, forces: Array) -> Array:
        """What these forces add to the multipliers of all rows, (m,)."""
        holding = self.factorization.holding(self.force @ forces.ravel())
        return self.factorization.multipliers(holding)

    def solve(
        self, q: Array, friction: Array, pressing: Pressing, start: Array | None = None
    ) -> ConeSolution:
        """Contact forces; joints that stick are pressed by loads, loop joints by what is in them.

        The forces in loop joints follow from all friction, which follows from them: they are
        iterated until both agree, as they do where friction is weak. Where they do not, the joint
        jams, and nothing is solved.

        Args:
            q: Motion without these forces, (dk,).
            friction: μ, (k,).
            pressing: What presses joints that stick.
            start: Forces to begin with, (k, d); None: none.
        """
        response = self.jacobian @ self.factorization.admissible(self.force)
        problem = ConeProblem(response, q, friction)
        W, q, loads, d = problem.W, problem.q, pressing.loads.copy(), self.width
        known = not pressing.inside.any()

        def pressed_by(forces: Array) -> Array:  # what is in loop joints
            return pressing.forces(pressing.multipliers + self.held(forces))

        def press(inside: Array) -> float:  # by forces in loop joints; the size of the problem
            loads[pressing.inside] = (pressing.loads * inside)[pressing.inside]
            for i in np.flatnonzero(np.isfinite(loads)).tolist():
                # as heavy against its load as along its joint
                W[d * i, d * i] = W[d * i + 1, d * i + 1] or 1.0
                q[d * i] = -W[d * i, d * i] * loads[i]
            return largest(q)

        if known:
            press(loads)
            return solve_cone_problem(problem, start)
        none, iterations = np.zeros(len(q)), 0
        size = max(press(pressed_by(none)), np.finfo(float).tiny)
        inside = pressed_by(none if start is None else start)
        for _ in range(int(LOOP_LOADS["TRIALS"])):
            larger = max(press(inside) / size, 1.0)  # forces that grow without end are none
            found = solve_cone_problem(problem, start)
            iterations += found.iterations
            found = replace(found, iterations=iterations, error=larger * found.error)
            before, start = inside, found.forces
            inside = pressed_by(start)
            off = largest(inside - before) / max(largest(inside), np.finfo(float).tiny)
            if off <= LOOP_LOADS["SAME"]:
                return found
        return replace(found, error=max(off, found.error))


@dataclass(frozen=True, eq=False)
class ImpactLaw:
    """What impulses do to closed one-sided constraints, (k,) each.

    Newton's law in the form of Moreau: u_n⁺ + e u_n⁻ ≥ 0, with an impulse only where this is zero.
    Poisson's in that of Pfeiffer and Glocker (Multibody Dynamics with Unilateral Contacts, 1996):
    an impact without restitution is compression, of impulses λ; in expansion those along the
    normals are at least e λ, more only where this keeps contacts from closing. Impulses of other
    forces act with the expansion. Friction of e λ is that of contacts which a constant load
    presses. Friction of loop joints is that of the impulses of each part in them.
    """

    restitution: Array
    friction: Array
    poisson: bool
    resting: float  # what approaches more slowly does not strike, in m/s or rad/s

    def impulses(
        self, rows: ClosedRows, speeds: Array, free: Array, pressing: Pressing, start: Array
    ) -> tuple[ConeSolution, Array]:
        """Impulses and their motion, and velocities after them, (nv,).

        Args:
            rows: Of the constraints.
            speeds: Velocities before, (nv,).
            free: Velocities after it without impulses, (nv,).
            pressing: Impulses on joints that stick, and the multipliers times the step.
            start: Impulses near those wanted, (k, d).
        """
        motion, n = rows.jacobian @ speeds, len(self.friction)
        before, none = motion[:: rows.width], np.zeros((n, rows.width))
        given, pushed = ConeSolution(none, none, 0.0, 0), np.zeros(n)
        if self.poisson and ((before < -self.resting) & (self.restitution > 0.0)).any():
            own = np.where(pressing.inside, pressing.loads, 0.0 * pressing.loads)
            alone = pressing._replace(loads=own, multipliers=0.0 * pressing.multipliers)
            given = rows.solve(motion, self.friction, alone)
            pushed = self.restitution * given.forces[:, 0]
            given.forces[:, 0] += pushed
            held = rows.held(pushed[:, None] * np.eye(1, rows.width))
            pressing = pressing._replace(multipliers=pressing.multipliers + held)
            free = free + rows.moved(given.forces)
        struck = np.flatnonzero((pushed > 0.0) & (self.friction > 0.0))
        which = np.concatenate((np.arange(n), struck))
        both = rows.once_more(struck)
        q, start = (both.jacobian @ free).reshape(-1, rows.width), start[which]
        if not self.poisson:
            q[:, 0] += self.restitution * np.minimum(before, 0.0)
        start[n:] = 0.0
        pressing = pressing._replace(
            loads=np.concatenate((pressing.loads, pushed[struck])),
            load_map=pressing.load_map[which],
            inside=np.concatenate((pressing.inside, np.zeros(len(struck), dtype=bool))),
        )
        found = both.solve(q.ravel(), self.friction[which], pressing, start)
        v = free + both.moved(found.forces)
        forces = given.forces + found.forces[:n]
        forces[struck, 1:] += found.forces[n:, 1:]
        return ConeSolution(
            forces,
            (rows.jacobian @ v).reshape(-1, rows.width),
            max(given.error, found.error),
            given.iterations + found.iterations,
            given.fell_back or found.fell_back,
        ), v
