# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The equations of motion of the machine, loops included, as a linear function of parameters.

Along the motions that the constraints allow, v = Z y, constraint forces do no work:

    Zᵀ Y π = Zᵀ S u,

with Y the regressor of the tree (Pinocchio's), of friction, springs and motors. Z is taken in
coordinates y that are joints, so that an equation has the unit of its joint, and is the motor's
where one drives it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from uk_dynamics.control.estimation import IndependentJoints, allowed_motions
from uk_dynamics.exceptions import InputError
from uk_dynamics.identification.linear_parameters import LinearParameter
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, DynamicsTerms, Flags, Indices, Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model import PARAMETERS_OF_A_LINK, InertialRegressor

_RANK = 1e-9  # of the largest singular value
_ROUNDING = 1e-6  # of a window, that counts as no time
_FLAT = 1e-5  # change of v/v₀ from which differences of log cosh, exact to 1e-16, are used


class HeldCommands:
    """Efforts of motors at regular times, each held until the next."""

    def __init__(self, start: float, period: float, efforts: Array, usable: Flags) -> None:
        """Integrate them, (N, motors), where they were usable, (N,)."""
        self._times = start + period * np.arange(len(efforts) + 1)
        columns = np.column_stack([efforts, ~usable])
        self._sums = period * np.vstack([np.zeros(columns.shape[1]), np.cumsum(columns, axis=0)])

    def mean(self, t: Array, window: float, delay: float = 0.0) -> Array:
        """Mean efforts around some times, less a delay, (K, motors); NaN where unusable."""
        ends = (np.asarray(t) - delay + side * 0.5 * window for side in (-1.0, 1.0))
        early, late = (
            np.column_stack([np.interp(end, self._times, x) for x in self._sums.T]) for end in ends
        )
        found: Array = (late - early) / window
        return np.where((found[:, -1] > _ROUNDING)[:, None], np.nan, found[:, :-1])


@dataclass(frozen=True)
class Motions:
    """Samples of a motion that agrees with the constraints."""

    t: Array  # times, (K,), in s
    q: Array  # configurations, (K, nq), in m or rad
    v: Array  # velocities, (K, nv)
    qdd: Array  # accelerations, (K, nv)
    efforts: Array  # of the motors, (K, motors), in N or N·m; NaN where they are not known
    window: float = 0.0  # time around each sample over which efforts are averaged, in s; 0: none
    commands: HeldCommands | None = None  # where the efforts come from, for those at other times
    highest: float = np.inf  # frequency above which there is only noise, in Hz

    def part(self, chosen: Sequence[int] | slice | Array) -> "Motions":
        """Some of the samples."""
        t, q, v, qdd, efforts = (
            x[chosen] for x in (self.t, self.q, self.v, self.qdd, self.efforts)
        )
        return replace(self, t=t, q=q, v=v, qdd=qdd, efforts=efforts)


@dataclass(frozen=True)
class Equations:
    """W δ = r in the deviations δ of parameters from their values in the files."""

    joints: tuple[str, ...]  # whose equations these are, (k,)
    matrix: Array  # W, (K, k, p)
    missing: Array  # r, what the values of the files leave of the efforts, (K, k), in N or N·m
    efforts: Array  # Zᵀ S u, (K, k), in N or N·m
    used: Flags  # samples that are not left out, (K,); equations of the others are zero
    applied: Array  # Zᵀ S, efforts of the coordinates per effort of a motor, (K, k, motors)
    # places of parameters that are motor constants, and of their motors
    motors: tuple[list[int], list[int]]

    def changed(self, efforts: Array) -> "Equations":
        """The equations with other efforts: by how much they differ, (K, motors), NaN: left out."""
        used = self.used & np.isfinite(efforts).all(axis=1)
        more = np.einsum("nkm,nm->nk", self.applied, np.where(used[:, None], efforts, 0.0))
        matrix, (places, motors) = self.matrix * used[:, None, None], self.motors
        if places:
            own = self.applied[:, :, motors] * efforts[:, None, motors]
            matrix[:, :, places] -= np.where(used[:, None, None], own, 0.0)
        missing, total = ((x + more) * used[:, None] for x in (self.missing, self.efforts))
        return replace(self, matrix=matrix, missing=missing, efforts=total, used=used)


#: What acts on a motion that is known to keep the constraints.
UNSTABILIZED = Inputs(stabilize=False)


def rms(values: Array) -> Array:
    """Root mean square over the first axis."""
    root: Array = np.sqrt((values**2).mean(axis=0))
    return root


def bound_acceleration(terms: DynamicsTerms) -> Array:
    """The least acceleration that satisfies all constraint rows, (nv,)."""
    if not len(terms.A):
        return np.zeros(len(terms.F))
    return np.linalg.lstsq(terms.A, terms.b, rcond=_RANK)[0].astype(float)


def driving_efforts(terms: DynamicsTerms, Z: Array, S: Array, qdd: Array) -> Array:
    """The least motor efforts that cause an acceleration along the motions Z, (motors,)."""
    return np.linalg.lstsq(Z.T @ S, Z.T @ (terms.M @ qdd - terms.F), rcond=_RANK)[0].astype(float)


class Regressor:
    """Equations of motion of a mechanism in some of its parameters."""

    def __init__(self, mechanism: Mechanism, parameters: Sequence[LinearParameter]) -> None:
        """Check that equations are linear: no friction in loops, compliance or user's forces."""
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
        passive = mechanism.passive.columns()
        self._friction, self._friction_velocity = passive["friction"], passive["friction_velocity"]
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

    def tree(
        self,
        state: State,  # of the machine
        qdd: Array,  # its accelerations, (nv,)
        efforts: Array,  # of the motors, (motors,)
        window: float = 0.0,  # time over which friction is averaged, in s
    ) -> Array:
        """Y, (nv, p): joint forces per unit of each parameter, without loops."""
        self._inertial.update(state.q, state.v, qdd)
        columns = np.zeros((len(qdd), len(self.parameters)))
        for link, places, parts in self._links:
            columns[:, places] = self._inertial.of_link(link)[:, parts]
        for force, places, parts in self._forces:
            columns[:, places] = force.at(state)[:, parts]
        for kind, places, at in self._joints:
            if kind == "friction":
                columns[at, places] = self._rubbing(state.v, qdd, window)[at]
            else:
                columns[at, places] = self._of_joints(kind, at, state, qdd)
        columns[:, self._motors[0]] = -self._motor_matrix * efforts[self._motors[1]]
        return columns

    def _of_joints(self, kind: str, at: Indices, state: State, qdd: Array) -> Array | float:
        if kind == "damping":
            return state.v[at]
        if kind == "armature":
            return qdd[at]
        return -1.0 if kind == "preload" else state.q[self._position[at]]

    def _rubbing(self, v: Array, qdd: Array, window: float) -> Array:
        """Mean of tanh(v/v₀) over a time in which the acceleration stays, (nv,)."""
        # friction changes its sign within the time over which efforts are averaged: its value in
        # the middle makes friction 0.5 % too small and damping, which makes up for it, too large
        ratio, half = v / self._friction_velocity, 0.5 * window * qdd / self._friction_velocity
        half = np.maximum(np.abs(half), _FLAT)
        late, early = ratio + half, ratio - half
        mean: Array = (np.logaddexp(late, -late) - np.logaddexp(early, -early)) / (2.0 * half)
        return np.where(half > _FLAT, mean, np.tanh(ratio))

    def equations(self, motions: Motions, joints: Sequence[str] | None = None) -> Equations:
        """The equations at all samples; zero near singular configurations and without efforts.

        They are those of independent joints; None: of motors, if they determine the others.
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
            qdd, window = motions.qdd[n], motions.window
            matrix[n] = Z.T @ self.tree(state, qdd, motions.efforts[n], window)
            now, mean = (self._rubbing(state.v, qdd, x) for x in (0.0, window))
            forces = terms.F + self._friction * (now - mean)
            missing[n] = Z.T @ (applied + forces - terms.M @ qdd)
            efforts[n] = Z.T @ applied
            transmitted[n] = Z.T @ self.mechanism.actuators.matrix
        if not used.any():
            raise InputError(
                "no sample is left: throughout a motor is at its limit, or the machine near a"
                " singular configuration",
                place=self.mechanism.name,
            )
        return Equations(
            independent.names, matrix, missing, efforts, used, transmitted, self._motors
        )


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
