"""Full, under- and redundant actuation, told apart by ranks."""

from __future__ import annotations


def actuation(motors: int, moved: int, wanted: int) -> str:
    """Compare the motors with the motions that they have to cause.

    Args:
        motors: Number of motors.
        moved: Independent motions that the motors cause: rank of S, or of A_t N S for tasks, within
            the motions that the structure leaves.
        wanted: Independent motions that there are, or that tasks ask for.

    Returns:
        "fully actuated", "underactuated", "redundantly actuated", "not actuated", or
        "underactuated and redundantly actuated": some motions lack a motor, others have too many.
    """
    if motors == 0 or moved == 0:
        return "not actuated"
    under = moved < wanted
    redundant = motors > moved
    if under and redundant:
        return "underactuated and redundantly actuated"
    if under:
        return "underactuated"
    return "redundantly actuated" if redundant else "fully actuated"
