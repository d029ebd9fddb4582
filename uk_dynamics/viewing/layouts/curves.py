# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What layouts of plotting programs show: curves of the topics that the nodes publish."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.recording import (
    COMMANDS,
    DIAGNOSTICS,
    MOTION,
    REFERENCES,
    ROWS,
    STATES,
    TASKS,
)

JOINT_STATE = "sensor_msgs/msg/JointState"
ARRAY = "std_msgs/msg/Float64MultiArray"
TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
DIAGNOSTIC_ARRAY = "diagnostic_msgs/msg/DiagnosticArray"

_STATUS = "forward_dynamics: dynamics"


@dataclass(frozen=True)
class Curve:
    """One number of a message over time."""

    topic: str  # with its namespace
    type: str
    # array that it stands in, such as ``points[0].accelerations``; for diagnostics the name of the
    # status
    field: str
    index: int  # its place there
    name: str  # joint, row or motor that it belongs to; for diagnostics the key


@dataclass(frozen=True)
class Plot:
    """Curves over one axis."""

    title: str  # what they are, with the unit
    curves: tuple[Curve, ...]  # one or more
    lines: tuple[float, ...] = ()  # values at which horizontal lines stand, such as limits


def tabs(
    mechanism: Mechanism, namespace: str = "", tasks: Tasks | None = None
) -> dict[str, tuple[Plot, ...]]:
    """Plots by the title of their tab; a mechanism without loops or motors has fewer."""
    prefix = f"/{namespace.strip('/')}" if namespace.strip("/") else ""
    joints, motors, rows = mechanism.joint_names, mechanism.actuators.names, mechanism.row_names

    def states(field: str) -> tuple[Curve, ...]:
        return _curves(prefix + STATES, JOINT_STATE, field, joints)

    def of_rows(field: str) -> tuple[Curve, ...]:
        return _curves(prefix + ROWS, JOINT_STATE, field, rows)

    asked = tasks.row_names if tasks else ()

    def of_tasks(field: str) -> tuple[Curve, ...]:
        return _curves(prefix + TASKS, JOINT_STATE, field, asked)

    references = _curves(prefix + REFERENCES, TRAJECTORY, "points[0].positions", asked)
    accelerations = _curves(prefix + MOTION, TRAJECTORY, "points[0].accelerations", joints)
    status = f"{prefix.lstrip('/')}/{_STATUS}".lstrip("/")
    limits = mechanism.actuators.effort_limits
    finite = np.unique(limits[np.isfinite(limits)]).tolist()
    plots = {
        "motion": (
            Plot("position [rad or m]", states("position")),
            Plot("velocity [rad/s or m/s]", states("velocity")),
            Plot("acceleration [rad/s² or m/s²]", accelerations),
        ),
        "motors": (
            Plot(
                "commands and limits [N m or N]",
                _curves(prefix + COMMANDS, ARRAY, "data", motors),
                (*(-limit for limit in reversed(finite)), *finite),
            ),
            Plot("efforts at the joints [N m or N]", states("effort")),
        ),
        "tasks": (
            Plot("reference [m or rad]", references),
            Plot("tracking error [m or rad]", of_tasks("position")),
            Plot("its rate [m/s or rad/s]", of_tasks("velocity")),
            Plot("acceleration that is missing [m/s² or rad/s²]", of_tasks("effort")),
        ),
        "loops": (
            Plot("residual [m or rad]", of_rows("position")),
            Plot("rate of the residual [m/s or rad/s]", of_rows("velocity")),
            Plot("multiplier [N or N m]", of_rows("effort")),
        ),
        "health": tuple(
            Plot(title, _diagnostics(status, keys))
            for title, keys in (
                ("energy [J]", ("energy", "kinetic_energy")),
                ("largest residual [m or rad]", ("residual",)),
                ("rank", ("rank",)),
                ("condition", ("condition",)),
            )
        ),
    }
    filled = {title: tuple(plot for plot in of if plot.curves) for title, of in plots.items()}
    if not motors:
        del filled["motors"]
    return {title: of for title, of in filled.items() if of}


def _curves(topic: str, type_: str, field: str, names: Sequence[str]) -> tuple[Curve, ...]:
    return tuple(Curve(topic, type_, field, index, name) for index, name in enumerate(names))


def _diagnostics(status: str, keys: Iterable[str]) -> tuple[Curve, ...]:
    return tuple(Curve(DIAGNOSTICS, DIAGNOSTIC_ARRAY, status, 0, key) for key in keys)
