# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The equations of motion of the machine, loops included, as a linear function of parameters.

Along the motions that the constraints allow, v = Z y, constraint forces do no work:

    Zᵀ Y π = Zᵀ S u,

with Y the regressor of the tree (Pinocchio's), of friction, springs and motors. Z is taken in
coordinates y that are joints, so that an equation has the unit of its joint, and is the motor's
where one drives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.control.estimation import IndependentJoints, allowed_motions
from uk_dynamics.exceptions import InputError
from uk_dynamics.identification.linear_parameters import LinearParameter
from uk_dynamics.mechanism import Mechanism
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.model import PARAMETERS_OF_A_LINK, InertialRegressor

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Motions:
    """Samples of a motion that agrees with the constraints.

    Attributes:
        t: Times, (K,), in s.
        q: Configurations, (K, nq), in m or rad.
        v: Velocities, (K, nv).
        qdd: Accelerations, (K, nv).
        efforts: Of the motors, (K, motors), in N or N·m; NaN where they are not known.
    """

    t: Array
    q: Array
    v: Array
    qdd: Array
    efforts: Array

    def part(self, chosen: Sequence[int] | slice | Array) -> Motions:
        """Some of the samples."""
        return Motions(*(x[chosen] for x in (self.t, self.q, self.v, self.qdd, self.efforts)))


@dataclass(frozen=True)
class Equations:
    """W δ = r in the deviations δ of parameters from their values in the files.

    Attributes:
        joints: Whose equations these are, (k,).
        matrix: W, (K, k, p).
        missing: r, what the values of the files leave of the efforts, (K, k), in N or N·m.
        efforts: Zᵀ S u, (K, k), in N or N·m.
        used: Samples that are not left out, (K,); equations of the others are zero.
        applied: Zᵀ S, efforts of the coordinates per effort of a motor, (K, k, motors).
    """

    joints: tuple[str, ...]
    matrix: Array
    missing: Array
    efforts: Array
    used: NDArray[np.bool_]
    applied: Array


class Regressor:
    """Equations of motion of a mechanism in some of its parameters."""

    def __init__(self, mechanism: Mechanism, parameters: Sequence[LinearParameter]) -> None:
        """Check that the equations are linear.

        Raises:
            InputError: The mechanism has friction in loop joints, forces of a user, or compliant
                constraints.
        """
        problem = ""
        if mechanism.friction.active or mechanism.nonideal is not None:
            problem = "friction in loop joints, or a non-ideal force"
        elif not mechanism.hierarchy.rigid.all():
            problem = "compliant constraints"
        if problem:
            raise InputError(
                f"parameters are identified without constraint forces; found {problem}",
                place=mechanism.name,
            )
        self.mechanism = mechanism
        self.parameters = tuple(parameters)
        self._inertial = InertialRegressor(mechanism.model)
        self._dynamics = InterpretedDynamics(mechanism)
        self._friction_velocity = mechanism.passive.columns()["friction_velocity"]
        model, motors = mechanism.model, mechanism.actuators
        self._position = np.zeros(model.nv, dtype=np.intp)
        for name in model.joint_names:
            self._position[model.velocity_index(name)] = model.position_index(name)
        groups: dict[tuple[str, str, str], list[int]] = {}
        for p, x in enumerate(self.parameters):
            section = x.name.partition(".")[0]
            key = {"link": (section, x.owner), "force": ("", x.owner), "motor": ("", "")}
            joint = x.part if x.kind == "joint_spring" else x.kind
            groups.setdefault((x.kind, *key.get(x.kind, ("", joint))), []).append(p)
        self._links: list[tuple[str, list[int], list[int]]] = []
        self._forces: list[tuple[_ForceColumns, list[int], list[int]]] = []
        self._joints: list[tuple[str, list[int], Indices]] = []
        self._motors: tuple[list[int], list[int]] = [], []
        for (kind, _, owner), places in groups.items():
            members = [self.parameters[p] for p in places]
            if kind == "link":
                parts = [PARAMETERS_OF_A_LINK.index(x.part) for x in members]
                self._links.append((owner, places, parts))
            elif kind == "force":
                parts = [_ForceColumns.PARTS.index(x.part) for x in members]
                self._forces.append((_ForceColumns(mechanism, owner), places, parts))
            elif kind == "motor":
                self._motors = places, [motors.names.index(x.owner) for x in members]
            else:
                at = np.array([model.velocity_index(x.owner) for x in members], dtype=np.intp)
                self._joints.append((owner, places, at))
        self._motor_matrix = motors.matrix[:, self._motors[1]]

    def tree(self, state: State, qdd: Array, efforts: Array) -> Array:
        """Y, (nv, p): joint forces per unit of each parameter, without loops."""
        self._inertial.update(state.q, state.v, qdd)
        columns = np.zeros((len(qdd), len(self.parameters)))
        for link, places, parts in self._links:
            columns[:, places] = self._inertial.of_link(link)[:, parts]
        for force, places, parts in self._forces:
            columns[:, places] = force.at(state)[:, parts]
        for kind, places, at in self._joints:
            columns[at, places] = self._of_joints(kind, at, state, qdd)
        columns[:, self._motors[0]] = -self._motor_matrix * efforts[self._motors[1]]
        return columns

    def _of_joints(self, kind: str, at: Indices, state: State, qdd: Array) -> Array | float:
        if kind == "damping":
            return state.v[at]
        if kind == "friction":
            return np.tanh(state.v[at] / self._friction_velocity[at])
        if kind == "armature":
            return qdd[at]
        return -1.0 if kind == "preload" else state.q[self._position[at]]

    def equations(self, motions: Motions, joints: Sequence[str] | None = None) -> Equations:
        """The equations at all samples; zero near singular configurations and without efforts.

        Args:
            motions: Samples.
            joints: Independent joints whose equations to take; None: those of motors, if they
                determine the others.

        Raises:
            InputError: The mechanism cannot move, or no sample can be used.
        """
        states = [
            State(float(t), q, v) for t, q, v in zip(motions.t, motions.q, motions.v, strict=True)
        ]
        bases = [allowed_motions(self._dynamics.terms(x).A, self.mechanism) for x in states]
        independent = IndependentJoints(self.mechanism, bases, joints)
        K, k, p = len(states), len(independent.names), len(self.parameters)
        matrix = np.zeros((K, k, p))
        transmitted = np.zeros((K, k, len(self.mechanism.actuators.names)))
        missing, efforts, used = np.zeros((K, k)), np.zeros((K, k)), np.zeros(K, dtype=bool)
        for n, (state, basis) in enumerate(zip(states, bases, strict=True)):
            Z = independent.motions(basis)
            if Z is None or not np.isfinite(motions.efforts[n]).all():
                continue
            used[n] = True
            terms = self._dynamics.terms(state)
            applied = self.mechanism.actuators.matrix @ motions.efforts[n]
            matrix[n] = Z.T @ self.tree(state, motions.qdd[n], motions.efforts[n])
            missing[n] = Z.T @ (applied + terms.F - terms.M @ motions.qdd[n])
            efforts[n] = Z.T @ applied
            transmitted[n] = Z.T @ self.mechanism.actuators.matrix
        if not used.any():
            raise InputError(
                "no sample is left: throughout a motor is at its limit, or the machine near a"
                " singular configuration",
                place=self.mechanism.name,
            )
        return Equations(independent.names, matrix, missing, efforts, used, transmitted)


class _ForceColumns:
    """Joint forces that balance a spring, per unit of its numbers.

    What balances it is stiffness·length − preload + damping·rate: differences of unit springs are
    exact.
    """

    PARTS = ("stiffness", "preload", "damping")

    def __init__(self, mechanism: Mechanism, name: str) -> None:
        rest = "rest" if f"forces.{name}.rest" in mechanism.parameters else "length"
        place = f"forces.{name}"
        length = mechanism.parameters[f"{place}.{rest}"].value

        def variant(stiffness: float, length: float, damping: float) -> InterpretedDynamics:
            values = {"stiffness": stiffness, rest: length, "damping": damping}
            return InterpretedDynamics(
                mechanism.with_parameters({f"{place}.{key}": x for key, x in values.items()})
            )

        self._none, self._damper = variant(0.0, length, 0.0), variant(0.0, length, 1.0)
        self._stiff, self._preloaded = variant(1.0, 0.0, 0.0), variant(1.0, 1.0, 0.0)

    def at(self, state: State) -> Array:
        """A column for each part, (nv, 3)."""
        none, stiff = self._none.terms(state).F, self._stiff.terms(state).F
        preload = stiff - self._preloaded.terms(state).F
        return np.column_stack([none - stiff, preload, none - self._damper.terms(state).F])
