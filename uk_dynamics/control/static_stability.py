# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Whether a mechanism stands on its contacts, how near it is to slipping, and to tipping over."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import compress
from typing import NamedTuple

import numpy as np

from uk_dynamics.control.inverse_dynamics import InverseDynamics, inverse_dynamics
from uk_dynamics.core.linalg import null_basis
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.contact import ContactReactions, Patch, contact_patches
from uk_dynamics.mechanism.dynamics import InterpretedDynamics, require_finite
from uk_dynamics.mechanism.resolution import Array, Inputs, State, Values
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.urdf import from_quaternion

_PART = 1e-7  # of the friction: what is found of it
_MOST_FRICTION = 1e3  # times that of the file
_SAME = 1e-9  # of a load: two that differ by less are one
_MOST_FACES = 100
_UNBOUNDED = 3  # status of scipy's linprog


@dataclass(frozen=True, eq=False)
class Standing:
    """A mechanism at rest on its contacts.

    Attributes:
        motion: Motor efforts and forces that hold it, or come closest to it.
        friction_needed: Part of the friction of all contacts that is enough to stand, motors doing
            their best; above 1 it slips, infinite where no friction is enough.
        tips_at: Angle by which gravity may turn until it tips over, in the direction where that is
            least, in rad, with locked joints and contacts that do not slip; the tangent of it is
            the horizontal acceleration that tips it, in g. None where nothing floats.
        tips_over: The contacts that still press then, about which it tips.
        patches: Points of one link on one surface together, by entry of the file: their centre of
            pressure with the forces found, and how far it is from where they tip.
    """

    motion: InverseDynamics
    friction_needed: float
    tips_at: float | None
    tips_over: tuple[str, ...]
    patches: Mapping[str, Patch]

    @property
    def stands(self) -> bool:
        """Whether motors within their limits and contacts within their cones hold it."""
        return self.motion.possible


def standing(
    mechanism: Mechanism,
    state: State,
    *,
    tau: Values | None = None,
    preload: Mapping[str, float] | None = None,
) -> Standing:
    """Whether a mechanism stands on its contacts, how near it is to slipping and to tipping over.

    Args:
        mechanism: With contacts.
        state: Where it stands; its velocities do not count.
        tau: Other known forces, by joint name or (nv,), in N or N·m.
        preload: Preferred motor efforts, by name, in N or N·m.

    Raises:
        StateError: The loops are not closed, a contact is inside its surface, or numbers are not
            finite.
        InputError: The mechanism has no contacts, or names do not exist.
        UkDynamicsError: Clarabel is not installed.
    """
    if not mechanism.one_sided:
        raise InputError(
            "the mechanism has no contacts, stops or ropes; add contacts",
            file=mechanism.spec.file,
            place="contacts",
        )
    require_finite(mechanism.model, state)
    rest = State(state.t, state.q, np.zeros(mechanism.model.nv))

    def hold(part: float) -> InverseDynamics:
        return inverse_dynamics(
            mechanism, rest, rest.v, tau=tau, preload=preload, friction_part=part
        )

    tips_at, over = _tipping(mechanism, rest, mechanism.inputs(tau))
    motion = hold(1.0)
    patches = contact_patches(mechanism, state.q, motion.contacts)
    needed = _least_friction(lambda part: hold(part).possible)
    return Standing(motion, needed, tips_at, over, patches)


def _least_friction(stands: Callable[[float], bool]) -> float:
    if stands(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while not stands(high):
        low, high = high, 2.0 * high
        if high > _MOST_FRICTION:
            return np.inf
    while high - low > _PART:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if stands(middle) else (middle, high)
    return high


def _tipping(
    mechanism: Mechanism, state: State, inputs: Inputs
) -> tuple[float | None, tuple[str, ...]]:
    """Least angle of tipping, and the contacts about which it tips.

    The horizontal loads that locked joints and contacts can carry are a convex set (Bretl and Lall
    2008, IEEE Trans. Robot. 24): it is bounded by half-planes as it is looked at in the direction
    of the nearest of those found so far, until it reaches that.
    """
    bases = mechanism.model.bases
    gravity = float(np.linalg.norm(mechanism.model.gravity))
    if not bases or not gravity:
        return None, ()
    problem = _Tipping(mechanism, state, inputs)
    around = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])
    faces = [face for d in around if (face := problem.furthest(d)) is not None]
    for _ in range(_MOST_FACES):
        if not faces:
            return None, ()
        nearest = min(faces, key=lambda face: face.distance)
        found = problem.furthest(nearest.normal)
        if found is None or found.load <= nearest.distance * (1.0 + _SAME):
            return float(np.arctan(nearest.distance / gravity)), nearest.pressing
        faces.append(found)
    return float(np.arctan(nearest.distance / gravity)), nearest.pressing


class _Face(NamedTuple):
    """A half-plane of loads, in which all lie that can be carried."""

    normal: Array  # unit vector, (2,)
    distance: float  # in m/s²
    load: float  # the largest that can be carried in the direction looked at
    pressing: tuple[str, ...]  # contacts that press there


class _Tipping:
    """Statics of a mechanism with locked joints under horizontal accelerations."""

    def __init__(self, mechanism: Mechanism, state: State, inputs: Inputs) -> None:
        dynamics, contacts = InterpretedDynamics(mechanism), ContactReactions(mechanism)
        inputs = replace(inputs, stabilize=False)
        prepared = dynamics.prepare(state, inputs)
        found = contacts.reactions(state, inputs, mechanism.hierarchy.initial, 0.0 * state.v)
        M, nv = np.array(prepared.terms.M), len(state.v)
        free = dynamics.solve(prepared, state, inputs).qdd
        floats = np.zeros(nv, dtype=bool)
        shake = np.zeros((nv, 2))
        down = mechanism.model.gravity
        across = null_basis(down[None] / np.linalg.norm(down), 0.5)
        for base in mechanism.model.bases:
            floats[base.velocity] = True
            twist = np.array([base.twist(unit) for unit in np.eye(nv)[base.velocity]]).T
            turned = from_quaternion(base.pose(state.q)[3:].tolist())
            seen = np.vstack((turned.T @ across, np.zeros((3, 2))))
            shake[base.velocity] = np.linalg.lstsq(twist, seen, rcond=None)[0]
        normal = found.force[:, ::3]
        tangents = found.force.reshape(nv, -1, 3)[:, :, 1:].reshape(nv, -1)
        forces = (np.eye(nv)[:, ~floats], tangents, normal, M @ shake, -(M @ free)[:, None])
        parts = prepared.factorization.admissible_coordinates(np.hstack(forces))[0]
        self._carried, self._shake, self._wanted = parts[:, :-3], parts[:, -3:-1], parts[:, -1]
        self._lower = np.full(self._carried.shape[1], -np.inf)
        self._lower[len(self._lower) - normal.shape[1] :] = 0.0
        self._names = [contacts.names[k] for k in found.closed]

    def furthest(self, direction: Array) -> _Face | None:
        """The largest acceleration in a direction (2,) that is carried; None: there is no limit."""
        from scipy.optimize import linprog

        size = float(np.linalg.norm(self._wanted)) or 1.0
        found = linprog(
            np.append(np.zeros(len(self._lower)), -1.0),
            A_eq=np.hstack((self._carried, (self._shake @ direction)[:, None])),
            b_eq=self._wanted / size,
            bounds=[(lower, np.inf) for lower in (*self._lower.tolist(), 0.0)],
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if found.status == _UNBOUNDED:
            return None
        if found.x is None:  # it does not stand as it is
            return _Face(direction, 0.0, 0.0, ())
        normal = -self._shake.T @ found.eqlin.marginals
        load, length = size * float(found.x[-1]), float(np.linalg.norm(normal))
        forces = found.x[len(self._lower) - len(self._names) : -1]
        pressing = compress(self._names, forces > _SAME * forces.max(initial=0.0))
        return _Face(normal / length, load / length, load, tuple(pressing))
