# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which tasks laws do not have: one-sided ones, robust ones, and those that are observed."""

from typing import Literal

import numpy as np

from uk_dynamics.constraints.rows import ConstraintSet
from uk_dynamics.exceptions import InputError, expect_names
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.resolution.state import Array


def check_bounded(spec: TasksSpec, rows: ConstraintSet) -> None:
    """Refuse bounds that the law would not keep, and what it does not have with them."""
    others = "contacts", "robust", "observer", "velocity_observer"
    found = [key for key in others if getattr(spec, key)]
    found += ["distribution"] * (spec.distribution != "effort")
    for task, constraint in zip(spec.tasks, rows.constraints, strict=True):
        place = f"tasks.{task.name}"
        if task.feedback == "generalized_inverse":
            found.append(f"{place}.feedback")
        if task.one_sided is None:
            continue
        own, problem = rows.slices[task.name], ""
        if task.relaxed is not None:
            problem = "is one-sided, and asks for nothing away from its bound; remove relaxed"
        elif rows.motion_rows[own].all() and not constraint.frequency:
            problem = "is one-sided, and brakes by its feedback; give it a frequency above 0"
        elif rows.position_rows[own].any() and constraint.damping_ratio < 1.0:
            problem = (
                f"found a damping_ratio of {constraint.damping_ratio:g}, with which it would"
                " cross its bound; one-sided tasks need 1 or more"
            )
        if problem:
            raise InputError(problem, file=spec.file, place=place)
    for place in found:
        problem = "the law with one-sided tasks does not know this; remove one of the two"
        raise InputError(problem, file=spec.file, place=place)


def check_surfaces(spec: TasksSpec, rows: ConstraintSet) -> None:
    """Refuse tasks whose errors form no surface s = ė + k e."""
    for task, constraint in zip(spec.tasks, rows.constraints, strict=True):
        own = rows.slices[task.name]
        problem = ""
        if task.relaxed is not None:
            problem = "asks for nothing near a configuration, where no bound holds"
        elif task.feedback == "generalized_inverse":
            problem = "a robust law has feedback: metric alone"
        elif not rows.motion_rows[own].all() or not constraint.frequency:
            problem = "has no feedback, and its error no bound; give it a frequency"
        elif rows.position_rows[own].any() and constraint.damping_ratio < 1.0:
            problem = (
                f"found a damping_ratio of {constraint.damping_ratio:g}; robust needs 1 or more"
            )
        if problem:
            raise InputError(problem, file=spec.file, place=f"tasks.{task.name}")


def bandwidths(
    spec: TasksSpec, rows: ConstraintSet, place: Literal["observer", "velocity_observer"]
) -> Array:
    """Of an observer, of each row, (mt,), in rad/s."""
    found, given = np.zeros(len(rows)), dict(getattr(spec, place))
    expect_names("task", given, rows.names, file=spec.file, place=place)
    for task in spec.tasks:
        own = rows.slices[task.name]
        if task.name not in given:
            continue
        problem = ""
        if task.relaxed is not None:
            problem = "is relaxed near a configuration, where nothing is observed"
        elif not rows.motion_rows[own].all():
            problem = "is of accelerations, which are not measured"
        elif place != "observer" and not rows.position_rows[own].all():
            problem = "is of velocities; there is no position from which they are observed"
        if problem:
            raise InputError(problem, file=spec.file, place=f"{place}.{task.name}")
        found[own] = 2.0 * np.pi * given[task.name]
    if found.any() and any(task.relaxed is not None for task in spec.tasks):
        problem = "observes tasks beside a relaxed one; remove one of the two"
        raise InputError(problem, file=spec.file, place=place)
    return found
