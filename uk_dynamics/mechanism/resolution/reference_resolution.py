"""From a declared reference to a function of time."""

from __future__ import annotations

import numpy as np

from uk_dynamics.constraints.references.live_reference import Live
from uk_dynamics.constraints.references.polynomial_reference import Polynomial
from uk_dynamics.constraints.references.references import Constant, Reference, Sinusoid
from uk_dynamics.constraints.references.spline_reference import Spline
from uk_dynamics.mechanism.files.reference_specification import ReferenceSpec

STANDING = (Constant, Live)  # references that do not move by themselves


def resolve_reference(spec: ReferenceSpec) -> Reference:
    """The function of time that a file declares."""
    if spec.expression is not None:
        return spec.expression
    if spec.type == "constant":
        return Constant(np.array(spec.value))
    if spec.type == "live":
        return Live(np.array(spec.value))
    if spec.type == "polynomial":
        return Polynomial.of(spec.coefficients)
    if spec.type == "spline":
        return Spline.through(
            spec.times, spec.waypoints, degree=spec.degree, boundary=spec.boundary
        )
    return Sinusoid(
        offset=np.array(spec.offset),
        amplitude=np.array(spec.amplitude),
        frequency=np.array(spec.frequency),
        phase=np.array(spec.phase),
    )
