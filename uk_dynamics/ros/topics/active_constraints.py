# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The message that lists the active switchable constraints.

A latched JointState: ``name`` lists the rows of the active switchable constraints, ``position`` the
values captured at their activation.
"""

from __future__ import annotations

import numpy as np
from sensor_msgs.msg import JointState

from uk_dynamics.mechanism.resolution import ActiveConstraints
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.ros.topics.messages import first_unusable, view

TOPIC = "simulator/active_constraints"


def to_message(mechanism: Mechanism, active: ActiveConstraints) -> JointState:
    """Rows of the active switchable constraints of a mechanism, with their captured values."""
    names: list[str] = []
    values: list[float] = []
    for name, rows in mechanism.constraints.slices.items():
        if name in active.names:
            labels = mechanism.row_names[rows]
            names += labels
            values += active.captured.get(name, np.zeros(len(labels))).tolist()
    return JointState(name=names, position=values)


def from_message(mechanism: Mechanism, message: JointState) -> tuple[ActiveConstraints | None, str]:
    """Inverse of :func:`to_message`; None and the problem where the message is not valid."""
    if len(message.name) != len(message.position):
        return None, f"{len(message.name)} names, but {len(message.position)} positions"
    values = view(message.position)
    if first_unusable(values) is not None:
        return None, "positions that are not finite"
    by_row = dict(zip(message.name, values.tolist(), strict=True))
    names: set[str] = set()
    captured: dict[str, np.ndarray] = {}
    for name, spec in mechanism.hierarchy.switchable.items():
        labels = mechanism.row_names[mechanism.constraints.slices[name]]
        found = [by_row.pop(label) for label in labels if label in by_row]
        if not found:
            continue
        if len(found) < len(labels):
            return None, f'some rows of "{name}" are missing'
        names.add(name)
        if spec.on_activation == "capture":
            captured[name] = np.array(found)
    if by_row:
        return None, f'"{next(iter(by_row))}" is not a row of a switchable constraint'
    return ActiveConstraints(frozenset(names), captured), ""
