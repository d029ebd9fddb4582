# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What is fixed in a link, seen from another frame of it; frames as a file declares them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from uk_dynamics.model.urdf import Array, Link, Pose, Visual, compose

_IDENTITY = 1e-15  # of a rotation matrix: what is left of rounding


def moved_link(link: Link, pose: Pose) -> Link:
    """The same body in another frame, in which its frame has a pose."""
    turned = pose.rotation @ link.inertia @ pose.rotation.T
    return replace(
        link,
        center_of_mass=pose.translation + pose.rotation @ link.center_of_mass,
        inertia=0.5 * (turned + turned.T),
    )


def moved_visual(visual: Visual, pose: Pose) -> Visual:
    """The same shape in another frame of the link, in which the link's frame has a pose."""
    return replace(visual, pose=compose(pose, visual.pose))


def frame_data(link: str, pose: Pose) -> dict[str, object]:
    """A frame as a mechanism file declares it."""
    data: dict[str, object] = {"link": link}
    if np.any(pose.translation):
        data["xyz"] = [float(value) for value in pose.translation]
    if float(np.abs(pose.rotation - np.eye(3)).max()) > _IDENTITY:
        data["quaternion"] = [float(value) for value in quaternion(pose.rotation)]
    return data


def quaternion(rotation: Array) -> Array:
    """As x y z w, (4,), with w at least zero."""
    found: Array = Rotation.from_matrix(rotation).as_quat()
    return -found if found[3] < 0.0 else found
