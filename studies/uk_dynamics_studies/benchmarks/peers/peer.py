# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The interface of other engines, and checks that they simulate the same mechanism."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from uk_dynamics.constraints.rows import Constraint
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.kinematics import Body

_SAME = 1e-9  # relative: files and conversions of units lose no more


class PeerError(InputError):
    """Another engine cannot be compared: it cannot express the mechanism, or has another one."""


def load(module: str, engine: str) -> Any:
    """A module of another engine."""
    if importlib.util.find_spec(module.partition(".")[0]) is None:
        raise PeerError(f"{engine} is not installed")
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise PeerError(f"{engine} cannot be imported: {error}") from error


def single_joints(mechanism: Mechanism, engine: str) -> tuple[Body, ...]:
    """The bodies of a mechanism whose joints have one freedom each."""
    for body in mechanism.model.bodies:
        if body.kind not in ("revolute", "prismatic"):
            problem = f"{mechanism.name}: a {body.kind} joint has other coordinates in {engine}"
            raise PeerError(problem)
    return tuple(mechanism.model.bodies)


class Peer(Protocol):
    """Another engine with one mechanism in it."""

    def mass_matrix(self, state: State) -> Array:
        """M, (nv, nv), in the order of the mechanism."""

    def bias(self, state: State) -> Array:
        """Coriolis, centrifugal and gravity forces, (nv,)."""

    def acceleration(self, state: State, tau: Array) -> Array:
        """Constrained acceleration under generalized forces, (nv,)."""


def check_same_machine(peer: Peer, mechanism: Mechanism, states: Sequence[State]) -> None:
    """Compare mass matrix and bias forces."""
    workspace = mechanism.model.workspace()
    for state in states:
        workspace.update(state.q, state.v)
        for what, expected, found in (
            ("mass matrix", np.asarray(workspace.mass), peer.mass_matrix(state)),
            ("bias force", workspace.bias, peer.bias(state)),
        ):
            off = float(np.abs(found - expected).max())
            if not off <= _SAME * float(np.abs(expected).max()):
                name = type(peer).__name__
                raise PeerError(f"the {what} of {mechanism.name} in {name} is off by {off:.2g}")


#: Loops that the other engines know. In a planar mechanism the row across the plane is satisfied
#: by construction, so three rows of a point do what a frame on x and z does.
CLOSURES = {"point": "point", "weld": "weld", "frame": "point"}


def closures(mechanism: Mechanism) -> list[tuple[str, Constraint]]:
    """What closes each loop, as ``point`` or ``weld``, and the constraint."""
    found = mechanism.constraints.constraints
    if not found:
        raise PeerError(f"{mechanism.name} has no loop")
    if mechanism.hierarchy.switchable or not mechanism.hierarchy.rigid.all():
        raise PeerError(f"{mechanism.name} has constraints that are switched or compliant")
    return [closure(mechanism, constraint) for constraint in found]


def closure(mechanism: Mechanism, constraint: Constraint) -> tuple[str, Constraint]:
    """What closes a loop, as ``point`` or ``weld``, and its constraint."""
    planar = {f"{constraint.name}.{label}" for label in "xz"}
    if constraint.kind not in CLOSURES or (
        constraint.kind == "frame" and set(constraint.row_names) != planar
    ):
        raise PeerError(f"{mechanism.name}: other engines have no {constraint.kind}")
    return CLOSURES[constraint.kind], constraint
