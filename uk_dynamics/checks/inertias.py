"""Inertias that are physically impossible or implausible."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from uk_dynamics.checks.subject import Finding, Subject
from uk_dynamics.model.urdf import Link, inertia_problem

_WIDE = 3.0  # radius of gyration relative to the size of the machine
_REMEDY = (
    "export mass and inertia from CAD again, about the centre of mass and in the axes of <inertial>"
)
_warning = partial(Finding, "inertia", "warning")


def inertias(subject: Subject) -> Iterator[Finding]:
    """Principal moments against the triangle inequality, the mass, and the machine's size."""
    model = subject.mechanism.model
    for link in model.description.links:
        if model.ancestry.carriers[model.frame_index(link.name)] < 0:
            continue  # it does not move
        problem, _ = inertia_problem(link.mass, link.inertia)
        if problem:
            yield _warning((link.name,), problem, _REMEDY)
        elif link.mass > 0.0:
            yield from _radius(link, subject.size)


def _radius(link: Link, size: float) -> Iterator[Finding]:
    moment = float(np.linalg.eigvalsh(link.inertia)[-1])
    radius = float(np.sqrt(moment / link.mass))
    if radius > _WIDE * size:
        yield _warning(
            (link.name,),
            f"its radius of gyration is {radius:.3g} m, and the size of the machine is"
            f" {size:.3g} m",
            "check the units: URDF uses kg and kg m² (1 kg mm² is 1e-6 kg m²)",
        )
