"""The joints of a robot as a comment: what the author of a mechanism file needs at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from uk_dynamics.conversion.drafting.motor_guesses import MotorGuess
from uk_dynamics.model.urdf.description import Joint, RobotDescription


def joint_table(description: RobotDescription, motors: Mapping[str, MotorGuess]) -> Iterator[str]:
    """The joints with their limits, as a comment."""
    driven = {motor.joint for motor in motors.values()}
    moving = [joint for joint in description.joints if joint.type != "fixed"]
    width = max([len(joint.name) for joint in moving], default=5)
    yield f"# {'joint':{width}}  {'kind':9}  {'lower':>8}  {'upper':>8}  {'effort':>8}"
    for joint in moving:
        remark = "  motor (guess)" if joint.name in driven else ""
        numbers = "  ".join(f"{text:>8}" for text in _limits(joint))
        yield f"# {joint.name:{width}}  {joint.type:9}  {numbers}{remark}".rstrip()


def _limits(joint: Joint) -> tuple[str, str, str]:
    def shown(value: float) -> str:
        return f"{value:.4g}" if np.isfinite(value) else "-"

    return shown(joint.lower), shown(joint.upper), shown(joint.effort_limit)
