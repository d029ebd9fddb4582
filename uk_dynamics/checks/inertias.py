# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Inertias that are impossible or implausible, and joints that move none."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from uk_dynamics.checks.subject import Finding, Subject
from uk_dynamics.exceptions import UndeterminedMotionError
from uk_dynamics.model.urdf import Link, inertia_problem, moves_no_mass

_WIDE = 3.0  # radius of gyration relative to the size of the machine
_CAD_REMEDY = (
    "export mass and inertia from CAD again, about the centre of mass and in the axes of <inertial>"
)
_inertia_warning = partial(Finding, "inertia", "warning")

_SLIGHT = 1e-10  # of the largest inertia at a joint of the same kind
REMEDY = "give the link an <inertial>, or the joint an armature (joints: {NAME: {armature: ...}})"


def inertias(subject: Subject) -> Iterator[Finding]:
    """Principal moments against the triangle inequality, the mass, and the machine's size."""
    model = subject.mechanism.model
    for link in model.description.links:
        if model.ancestry.carriers[model.frame_index(link.name)] < 0:
            continue  # it does not move
        problem, _ = inertia_problem(link.mass, link.inertia)
        if problem:
            yield _inertia_warning((link.name,), problem, _CAD_REMEDY)
        elif link.mass > 0.0:
            yield from _radius(link, subject.size)


def _radius(link: Link, size: float) -> Iterator[Finding]:
    moment = float(np.linalg.eigvalsh(link.inertia)[-1])
    radius = float(np.sqrt(moment / link.mass))
    if radius > _WIDE * size:
        yield _inertia_warning(
            (link.name,),
            f"its radius of gyration is {radius:.3g} m, and the size of the machine is"
            f" {size:.3g} m",
            "check the units: URDF uses kg and kg m² (1 kg mm² is 1e-6 kg m²)",
        )


_massless_warning = partial(Finding, "massless", "warning")


def massless(subject: Subject) -> Iterator[Finding]:
    """Massless leaves, and undetermined motions."""
    mechanism = subject.mechanism
    model, description = mechanism.model, mechanism.model.description
    undetermined: tuple[str, ...] = ()
    if subject.closed and isinstance(subject.solution, UndeterminedMotionError):
        undetermined = subject.solution.directions
        yield Finding(
            "massless",
            "error",
            undetermined,
            "have neither inertia nor constraint: their acceleration is undetermined",
            f"{REMEDY}, or constrain it",
        )
    for name in moves_no_mass(description.links, description.joints):
        indices = [i for i, v in enumerate(model.velocity_names) if v.partition(".")[0] == name]
        if name not in undetermined and not model.armature[indices].all():
            yield _massless_warning(
                (name,),
                "moves no mass: only constraints determine its motion, and the mass matrix is"
                " singular",
                REMEDY,
            )
    yield from _slight(subject)


def _slight(subject: Subject) -> Iterator[Finding]:
    """Inertias so small compared with the others that rounding errors exceed them."""
    model = subject.mechanism.model
    inertia = np.asarray(subject.workspace.mass).diagonal()
    angular = np.linalg.norm(np.asarray(subject.workspace.jacobian)[3:], axis=0) > 0.5
    for turning in (True, False):
        chosen = np.flatnonzero(angular == turning)
        largest = float(inertia[chosen].max(initial=0.0))
        for index in chosen.tolist():
            if 0.0 < inertia[index] < _SLIGHT * largest:
                yield _massless_warning(
                    (model.velocity_names[index],),
                    f"moves an inertia of {inertia[index]:.2g}, others one of {largest:.2g}:"
                    " rounding errors exceed so small an inertia",
                    "omit the mass, or give the link its real mass",
                )
