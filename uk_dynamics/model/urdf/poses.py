# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Poses composed and inverted."""

from __future__ import annotations

from uk_dynamics.model.urdf.description import Pose


def compose(first: Pose, second: Pose) -> Pose:
    """The pose ``second`` of a frame that is given in ``first``, seen from where that is given."""
    return Pose(
        first.translation + first.rotation @ second.translation, first.rotation @ second.rotation
    )


def inverse(pose: Pose) -> Pose:
    """The pose of the parent in the frame."""
    return Pose(-pose.rotation.T @ pose.translation, pose.rotation.T)


def relative(frame: Pose, seen: Pose) -> Pose:
    """Pose of ``seen`` in ``frame``, both given in the same frame."""
    return compose(inverse(frame), seen)
