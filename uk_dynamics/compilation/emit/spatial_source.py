# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""C of spatial inertias as the loops over clusters keep them, traced from their matrices.

Vectors have their linear part first. A rigid inertia has 10 numbers: mass, first moment, inertia
about the point. An articulated one has 21: of [[A, B], [Bᵀ, C]] the symmetric A, B and the
symmetric C. Symmetric matrices are xx, xy, xz, yy, yz, zz.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from uk_dynamics.compilation.emit.c_text import header, part
from uk_dynamics.compilation.emit.pieces import function, places
from uk_dynamics.compilation.trace.symbols import Graph, Objects

_UPPER = np.triu_indices(3)


@cache
def spatial() -> str:
    """Functions of rigid and articulated inertias."""
    graph = Graph()
    sizes = {"rigid": 10, "yielding": 21, "R": 9, "arm": 3, "center": 3, "own": 6, "mass": 1}
    arrays: list[Any] = [graph.variables(*one) for one in (sizes | {"x": 6, "y": 6}).items()]
    rigid, yielding, R, arm, center, own, mass, x, y = arrays
    momentum, force = _rigid(rigid) @ x, _rigid(rigid) @ y
    turning = np.concatenate(  # of the momentum that moves with the body
        [_skew(x[3:]) @ momentum[:3], _skew(x[3:]) @ momentum[3:] + _skew(x[:3]) @ momentum[:3]]
    )
    rotation = R.reshape(3, 3)
    to_center = arm + rotation @ center
    turned = _moved(_rigid(np.concatenate([mass, 0.0 * center, own])), np.zeros(3))
    turned[3:, 3:] = rotation @ _symmetric(own) @ rotation.T
    functions: dict[str, tuple[tuple[str, ...], Any]] = {
        "uk_momentum": (("rigid", "x"), momentum),
        # the force that a body needs to move at x and accelerate at y
        "uk_bias": (("rigid", "x", "y"), force + turning),
        # of a body whose origin is `arm` away from the point and whose rotation is R
        "uk_rigid": (("mass", "center", "own", "R", "arm"), _ten(_moved(turned, to_center))),
        # about a point from which that of the inertia is `arm` away
        "uk_move_rigid": (("rigid", "arm"), _ten(_moved(_rigid(rigid), arm))),
        "uk_move_articulated": (("yielding", "arm"), _many(_moved(_articulated(yielding), arm))),
        "uk_as_articulated": (("rigid",), _many(_rigid(rigid))),
        "uk_apply_articulated": (("yielding", "x"), _articulated(yielding) @ x),
    }
    written = (
        function(name, given, ("found",), places(found=values), scalars=())
        for name, (given, values) in functions.items()
    )
    return header("uk_spatial.h", part("attributes.h"), *written, _root())


def _root() -> str:
    """Where a floating root is: its place in that of its joint."""
    graph = Graph()
    sizes = {"place": 7, "rotation": 9, "translation": 3}
    arrays: list[Any] = [graph.variables(*one) for one in sizes.items()]
    place, rotation, translation = arrays
    turn, carrier = _skew(place[3:6]), rotation.reshape(3, 3)
    turned = np.eye(3) + 2.0 * (place[6:] * turn + turn @ turn)
    targets = places(R=carrier @ turned, o=carrier @ place[:3] + translation)
    return function("uk_root_place", tuple(sizes), ("R", "o"), targets, scalars=())


def _skew(x: Any) -> Objects:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]], dtype=object)


def _symmetric(x: Any) -> Objects:
    return np.array([[x[0], x[1], x[2]], [x[1], x[3], x[4]], [x[2], x[4], x[5]]], dtype=object)


def _rigid(x: Any) -> Objects:
    moment = _skew(x[1:4])
    return np.block([[np.eye(3).astype(object) * x[:1], -moment], [moment, _symmetric(x[4:])]])


def _articulated(x: Any) -> Objects:
    couple = np.reshape(x[6:15], (3, 3))
    return np.block([[_symmetric(x[:6]), couple], [couple.T, _symmetric(x[15:])]])


def _moved(inertia: Objects, arm: Any) -> Objects:
    one = np.eye(3).astype(object)
    motion = np.block([[one, -_skew(arm)], [0.0 * one, one]])
    moved: Objects = motion.T @ inertia @ motion
    return moved


def _ten(x: Objects) -> Objects:
    return np.concatenate([x[:1, 0], [x[5, 1], x[3, 2], x[4, 0]], x[3:, 3:][_UPPER]])


def _many(x: Objects) -> Objects:
    return np.concatenate([x[:3, :3][_UPPER], x[:3, 3:].ravel(), x[3:, 3:][_UPPER]])
