# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A body that is fixed on a link: new inertial parameters of what it is fixed on."""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.arrays import Array
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution.parameters import MOMENTS, Parameter
from uk_dynamics.model import (
    RobotModel,
    body_of_parameters,
    parameters_of,
    parameters_of_body,
    pseudo_inertia,
)

_SLIGHT = 1e-9  # of the largest moment: rounding


def with_payload(
    model: RobotModel,  # with the link
    known: Mapping[str, Parameter],  # parameters by name
    link: str,  # that carries the payload
    mass: float,  # in kg
    center: ArrayLike,  # in the link's frame, (3,), in m
    # about the centre, in axes of the link, (3, 3), in kg m²; None: a point
    inertia: ArrayLike | None,
) -> dict[str, float]:
    """New values of the parameters of the rigid body with mass that a link is part of; checked."""
    load = _checked(link, mass, center, inertia)
    frames = model.body_frames
    own = frames[model.frame_index(link)]
    if own.body < 0:
        raise InputError("does not move, and a payload on it has no effect", place=link)
    together = [
        name
        for name in dict.fromkeys((link, *model.link_names))
        if frames[model.frame_index(name)].body == own.body and f"links.{name}.mass" in known
    ]
    if not together:
        raise InputError("carries a payload only with a mass of its own", place=link)
    carrier = together[0]
    frame = frames[model.frame_index(carrier)]
    pose = np.linalg.inv(_pose(frame.rotation, frame.translation)) @ _pose(
        own.rotation, own.translation
    )
    place = f"links.{carrier}"
    values = {name: known[f"{place}.{name}"].value for name in ("mass",)}
    middle = np.array([known[f"{place}.center.{x}"].value for x in "xyz"])
    moments = np.zeros((3, 3))
    for name, (i, j) in MOMENTS.items():
        moments[i, j] = moments[j, i] = known[f"{place}.inertia.{name}"].value
    both = (
        pseudo_inertia(parameters_of_body(values["mass"], middle, moments)) + pose @ load @ pose.T
    )
    return link_values(carrier, parameters_of(both))


def link_values(
    link: str,  # its name
    ten: Array,  # mass, first moments, moments about the link's origin, (10,)
) -> dict[str, float]:
    """Values of a mechanism's parameters from the ten inertial parameters of a link."""
    mass, center, inertia = body_of_parameters(ten)
    found = {f"links.{link}.mass": mass}
    found |= {f"links.{link}.center.{x}": c for x, c in zip("xyz", center.tolist(), strict=True)}
    return found | {f"links.{link}.inertia.{m}": float(inertia[ij]) for m, ij in MOMENTS.items()}


def _pose(rotation: Array, translation: Array) -> Array:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, translation
    return pose


def _checked(link: str, mass: float, center: ArrayLike, inertia: ArrayLike | None) -> Array:
    """The pseudo-inertia of a payload in the link's frame, (4, 4)."""
    place = f"payload on {link}"
    if not (math.isfinite(mass) and mass >= 0.0):
        raise InputError(f"mass: expected a number >= 0 in kg, found {mass}", place=place)
    middle = np.asarray(center, dtype=float)
    moments = np.zeros((3, 3)) if inertia is None else np.asarray(inertia, dtype=float)
    for name, found, shape in (("center", middle, (3,)), ("inertia", moments, (3, 3))):
        if found.shape != shape or not np.isfinite(found).all():
            size = " by ".join(map(str, shape))
            raise InputError(f"{name}: expected {size} finite numbers", place=place)
    values = np.linalg.eigvalsh(moments)
    least = -_SLIGHT * max(values[-1], 0.0)
    if not np.allclose(moments, moments.T) or values[0] < least:
        raise InputError("inertia: expected a symmetric matrix of a body", place=place)
    if values[0] + values[1] < values[2] + least:
        raise InputError("inertia: no body has a moment above the sum of the others", place=place)
    return pseudo_inertia(parameters_of_body(mass, middle, moments))
