"""Links by what moves them: whose masses make a centre, and which can be one of two movers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uk_dynamics.constraints.mass_points import MassPoints
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.model.robot_model import RobotModel


def mass_points(names: Sequence[str], model: RobotModel) -> MassPoints:
    """The centre of mass of links.

    Args:
        names: Links; none: all that some joint moves, the base of a fixed machine left out.
        model: The robot.

    Raises:
        UnknownNameError: A link does not exist.
        InputError: The links have no mass.
    """
    for name in names:
        if name not in model.link_names:
            raise UnknownNameError("link", name, model.link_names)
    moves = model.ancestor_mask.max(axis=1, initial=0.0) > 0.0
    links = [
        link
        for link in model.description.links
        if link.mass > 0.0
        and (link.name in names if names else moves[model.frame_index(link.name)])
    ]
    if not links:
        raise InputError("these links have no mass; name links that do")
    frame = np.array([model.frame_index(link.name) for link in links], dtype=np.intp)
    masses = np.array([link.mass for link in links])
    return MassPoints(
        frame=frame,
        part=masses / masses.sum(),
        center=np.array([link.center_of_mass for link in links]),
        moved=model.ancestor_mask[frame],
    )


def check_moves(link: str, frame: int, model: RobotModel) -> None:
    """See that a link can be one of the two of a relative frame.

    Args:
        link: Its name.
        frame: Index of a frame on it.
        model: The robot.

    Raises:
        InputError: It is fixed in the world.
    """
    if not model.ancestor_mask[frame].any():
        raise InputError(
            f'"{link}" is fixed in the world; use type frame, '
            "relative_frame is between two links that move"
        )
