# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Parts of a MuJoCo model without a counterpart, each with the reason."""

from __future__ import annotations

from typing import Any

import numpy as np

from uk_dynamics.conversion.mjcf.names import Names
from uk_dynamics.conversion.robot.imported_robot import ImportedRobot

# Kind of object, its count in the model, and why it stays behind.
_KINDS = (
    ("sensor", "nsensor", "sensors are no part of the dynamics"),
    ("camera", "ncam", "cameras are no part of the dynamics"),
    ("light", "nlight", "lights are no part of the dynamics"),
    ("key", "nkey", "keyframes: write one as initial_guess"),
    ("flex", "nflex", "deformable bodies have no counterpart"),
    ("skin", "nskin", "skins are for the eye"),
    ("plugin", "nplugin", "plugins are programs of the simulator"),
)


def add_remarks(model: Any, names: Names, robot: ImportedRobot) -> None:
    """Add a remark for everything that has not been converted."""
    for kind, count, reason in _KINDS:
        number = int(getattr(model, count, 0))
        if number:
            robot.lost(f"{kind}s {names.all(kind, number)}", reason)
    colliding = (np.array(model.geom_contype) != 0) | (np.array(model.geom_conaffinity) != 0)
    if colliding.any() or model.npair:
        robot.lost("contacts", "contact is out of scope; geoms are shapes here")
    for medium in ("density", "viscosity"):
        if getattr(model.opt, medium):
            robot.lost(f"option {medium}", "forces of a fluid have no counterpart")
    if np.any(model.opt.wind):
        robot.lost("option wind", "forces of a fluid have no counterpart")
    limited = [names.joint(j) for j in range(model.njnt) if model.jnt_limited[j]]
    if limited:
        robot.changed(
            f"limits of {', '.join(limited)}",
            "are reported here, not enforced, unless joints: {NAME: {stop: ...}} is given",
        )
